// Colour refinement (1-dimensional Weisfeiler-Leman) of the instance learning graph of a state.
//
// Chen, Trevizan and Thiébaux, "Return to Tradition: Learning Reliable Heuristics with Classical Machine
// Learning" (ICAPS 2024). Nodes are the objects and the atoms that hold or that the goal asks for; an edge
// labelled i joins an atom with its i-th argument. The first colour of an object is its kind, that of an atom
// its predicate and whether it is a goal that holds, a goal that does not, or holds without being a goal.
// Each iteration gives a node the colour (own colour, set or multiset of (label, colour) of its neighbours).
//
// A colour is a 64-bit hash of what it stands for, equal in all tasks and on all machines, so that no
// dictionary is needed to refine: one maps colours to features at the end. With a million colours two of them
// are the same by accident with a probability of 3e-8.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/relational_task.h"
#include "task/task.h"

namespace hstar {

using Colour = uint64_t;

class ColourRefinement {
 public:
  // `multiset`: neighbours of the same colour are counted, not only noted.
  ColourRefinement(RelationalTask relations, int32_t iterations, bool multiset);
  // For states of a task; throws InputError if the relations are for other facts.
  ColourRefinement(const Task& task, RelationalTask relations, int32_t iterations, bool multiset);

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

}  // namespace hstar
