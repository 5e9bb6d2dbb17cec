// Colour refinement (1-dimensional Weisfeiler-Leman) of the instance learning graph of a state.
//
// Chen, Trevizan and Thiébaux, "Return to Tradition: Learning Reliable Heuristics with Classical Machine
// Learning" (ICAPS 2024). Nodes are the objects and the atoms that hold or that the goal asks for; an edge
// labelled i joins an atom with its i-th argument. The first colour of an object is its kind, that of an atom
// its predicate and whether it is a goal that holds, a goal that does not, or holds without being a goal.
// Not in the paper: negative goals, whose atoms have two more first colours.
// Each iteration gives a node the colour (own colour, set or multiset of (label, colour) of its neighbours).
//
// A colour is a 64-bit hash of what it stands for, equal in all tasks and on all machines, so that no
// dictionary is needed to refine: one maps colours to features at the end. With a million colours two of them
// are the same by accident with a probability of 3e-8.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/errors.h"
#include "features/colour.h"
#include "features/relational_task.h"
#include "task/task.h"

namespace hstar {

class ColourRefinement {
 public:
  // `multiset`: neighbours of the same colour are counted, not only noted.
  ColourRefinement(RelationalTask relations, int32_t iterations, bool multiset);
  // For states of a task; throws InputError if the relations are for other facts.
  ColourRefinement(const Task& task, RelationalTask relations, int32_t iterations, bool multiset);

  const RelationalTask& relations() const { return relations_; }
  int32_t iterations() const { return iterations_; }
  bool multiset() const { return multiset_; }
  const std::vector<int32_t>& goals() const { return goals_; }  // atoms
  int32_t variables() const { return static_cast<int32_t>(offsets_.size()); }
  // The atom that a value of a variable of the task stands for, or -1.
  int32_t atom(int32_t variable, Value value) const {
    return relations_.atom_of_fact[offsets_[variable] + value];
  }

  // The colours of all nodes, before the first and after each iteration; valid until the next call.
  std::span<const Colour> colours(const Value* values);
  // The same for a state given by all its atoms, each once.
  std::span<const Colour> colours(std::span<const int32_t> atoms);

 private:
  std::span<const Colour> colours_of_present();
  void refine(uint64_t iteration);
  void sum_sets();

  RelationalTask relations_;
  std::vector<int32_t> offsets_;  // per variable of the task: its first fact
  int32_t iterations_;
  bool multiset_;
  std::vector<int32_t> goals_;
  std::vector<Colour> object_start_;
  std::vector<Colour> atom_start_;  // per atom: held; without being held it is a goal

  // Of the state at hand.
  std::vector<uint8_t> holds_;  // per atom, all 0 between calls
  std::vector<int32_t> present_;
  std::vector<Colour> present_colours_;
  std::vector<Colour> object_colours_;
  std::vector<Colour> sums_;   // per object, over its neighbours
  std::vector<int32_t> ends_;  // per object, of its neighbours in the next
  std::vector<Colour> neighbours_;
  std::vector<Colour> all_;
};

// Numbers for colours, in the order in which they are met: an open-addressing map that only grows.
class ColourTable {
 public:
  ColourTable() : slots_(kFirstSlots, -1) {}
  // Distinct colours, numbered in this order.
  explicit ColourTable(std::span<const Colour> colours) : ColourTable() {
    for (const Colour colour : colours) find_or_add(colour);
    if (colours_.size() != colours.size()) throw InputError("a colour of the features is given twice");
  }

  int32_t size() const { return static_cast<int32_t>(colours_.size()); }
  const std::vector<Colour>& colours() const { return colours_; }

  // -1 if it has not been met.
  int32_t find(Colour colour) const { return slots_[slot(colour)]; }
  int32_t find_or_add(Colour colour) {
    size_t at = slot(colour);
    if (slots_[at] != -1) return slots_[at];
    if (2 * (colours_.size() + 1) > slots_.size()) {
      slots_.assign(2 * slots_.size(), -1);
      for (int32_t i = 0; i < size(); ++i) slots_[slot(colours_[i])] = i;
      at = slot(colour);
    }
    slots_[at] = size();
    colours_.push_back(colour);
    return slots_[at];
  }

 private:
  static constexpr size_t kFirstSlots = 1024;

  // Where the colour is, or the empty slot where it would be. Colours are hashes already.
  size_t slot(Colour colour) const {
    const size_t mask = slots_.size() - 1;
    size_t at = colour & mask;
    while (slots_[at] != -1 && colours_[slots_[at]] != colour) at = (at + 1) & mask;
    return at;
  }

  std::vector<Colour> colours_;
  std::vector<int32_t> slots_;  // a power of two, at most half full
};

}  // namespace hstar
