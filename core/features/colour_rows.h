// The rows of a model that the colours of a state have, as changes from another state.
//
// Most states that a search evaluates one after the other differ by an action or two, so most nodes of the
// graph (colour_refinement.h) keep their colours. A reference state is kept with the colours of all nodes
// after each iteration and the sums over the neighbours of objects. Another state is compared with it: the
// atoms that differ get new colours, and in each iteration so do the nodes beside those that have one. Sums
// follow by differences; for sets of neighbours there is a count of each colour that an object sees. Nothing
// of the reference is written meanwhile, so that the successors of one state are compared with it in turn.
//
// Invariant: the rows are those of ColourRefinement::colours, whatever was asked for before. Where a
// comparison would recolour a large part of the graph, all colours are computed afresh instead; where most
// comparisons do, none are made for a while.
//
// Memory: a few numbers for each node and iteration. Atoms have places: one for each atom that always holds,
// one for each variable of the task, which stands for one atom at a time, and one for each atom of the goal,
// in use while that atom does not hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "features/colour_refinement.h"

namespace hstar {

// How often an object sees a colour in an iteration. Counts of the reference, and what they are in the state
// that is compared with it.
class NeighbourCounts {
 public:
  NeighbourCounts() : entries_(kFirstEntries) {}

  void clear();
  // From here on counts are those of the reference again, for all colours.
  void begin(uint32_t comparison);
  // What a sum over the set of neighbours changes by when `owner` sees a colour once more or once less.
  Colour add(uint32_t owner, Colour colour) { return change(owner, colour, 1) == 1 ? colour : 0; }
  Colour remove(uint32_t owner, Colour colour) { return change(owner, colour, -1) == 0 ? -colour : 0; }
  // The state that is compared becomes the reference.
  void keep();

 private:
  struct Entry {
    Colour colour = 0;
    uint32_t owner = kNobody;
    int32_t count = 0;
    uint32_t comparison = 0;  // in which it was looked at
    int32_t now = 0;          // the count in it
  };
  static constexpr uint32_t kNobody = ~uint32_t{0};
  static constexpr size_t kFirstEntries = 256;

  int32_t change(uint32_t owner, Colour colour, int32_t by) {
    size_t at = place(owner, colour);
    if (entries_[at].owner == kNobody) at = insert(owner, colour);
    Entry& entry = entries_[at];
    if (entry.comparison != comparison_) {
      entry.comparison = comparison_;
      entry.now = entry.count;
      seen_.push_back(static_cast<uint32_t>(at));
    }
    return entry.now += by;
  }
  // Where the entry is, or the empty one where it would be.
  size_t place(uint32_t owner, Colour colour) const {
    const size_t mask = entries_.size() - 1;
    size_t at = (colour ^ owner * 0x9e3779b97f4a7c15ULL) & mask;
    while ((entries_[at].colour != colour || entries_[at].owner != owner) && entries_[at].owner != kNobody)
      at = (at + 1) & mask;
    return at;
  }
  size_t insert(uint32_t owner, Colour colour);
  void make_room();

  std::vector<Entry> entries_;  // a power of two, at most half full
  size_t used_ = 0;             // entries with an owner; many a count of them is 0
  uint32_t comparison_ = 0;
  std::vector<uint32_t> seen_;  // entries of this comparison
};

class ColourRows {
 public:
  ColourRows(ColourRefinement refinement, ColourTable table);
  ColourRows(const ColourRows&) = delete;

  // The rows of a state: those of the reference (or none) with some added and some removed, each as often as
  // it occurs. Valid until the next call.
  struct Rows {
    bool from_reference;
    bool is_reference;  // the state is the reference now
    std::span<const int32_t> added, removed;
  };
  // `keep`: make it the reference, if that pays.
  Rows rows(const Value* values, bool keep);
  // Makes a state the reference, if that pays.
  Rows approach(const Value* values);

  // Colours of a state, at most.
  size_t most_colours() const { return nodes() * (static_cast<size_t>(refinement_.iterations()) + 1); }

 private:
  struct Link {  // of the places whose atom has an object as an argument
    int32_t next, previous;
  };
  struct NewColour {
    size_t at;
    Colour colour;
    int32_t row;
  };
  struct NewSum {
    size_t at;
    Colour sum;
  };

  int32_t objects() const { return relations_.objects(); }
  int32_t constants() const { return static_cast<int32_t>(relations_.constant.size()); }
  size_t nodes() const { return objects() + places_.size(); }
  std::span<const int32_t> arguments(int32_t atom) const { return relations_.arguments[atom]; }

  Rows follow(const Value* values, bool keep);
  Rows afresh(const Value* values);
  Rows rebuild(const Value* values);
  // False if it takes more work; then it is of no use.
  bool compare(const Value* values, bool keep, uint64_t most_work);
  void compare_variables(const Value* values);
  void put(int32_t place, int32_t atom);
  Colour first_colour(int32_t place, int32_t atom) const;
  void compare_neighbours(size_t iteration);
  void reach_atoms(size_t iteration, size_t begin);
  void recolour_atoms(size_t iteration, bool keep);
  void recolour_objects(size_t iteration, bool keep);
  void set_row(size_t iteration, size_t node, bool keep);
  void commit(const Value* values);
  void link(int32_t place, int32_t atom);
  void unlink(int32_t place, int32_t atom);

  ColourRefinement refinement_;
  ColourTable table_;
  const RelationalTask& relations_;
  size_t width_ = 1;                 // arguments of an atom, at most
  std::vector<int32_t> goal_place_;  // per atom, -1 for none
  hstar::Rows constant_places_;      // per object: of constant atoms about it

  // The reference. Nodes are the objects, then the places of atoms.
  bool valid_ = false;
  std::vector<Value> values_;
  std::vector<int32_t> places_;  // the atom that is there, or -1
  std::vector<Colour> colours_;  // (iterations + 1, nodes)
  std::vector<int32_t> rows_;    // of the colours, -1 for none
  std::vector<Colour> sums_;     // (iterations, objects): over the neighbours
  NeighbourCounts counts_;       // of sets; an owner is an iteration and an object
  std::vector<int32_t> heads_;   // per object
  std::vector<Link> links_;      // (places of atoms that are not constant, width)

  // The state that is compared with it: nodes that may have another colour than in the reference.
  uint32_t comparison_ = 0;
  std::vector<uint32_t> reached_;   // per node: the comparison that did
  std::vector<Colour> now_;         // per node: its colour, in the iteration at hand
  std::vector<int32_t> atoms_now_;  // per place
  std::vector<int32_t> changed_places_, changed_objects_;
  std::vector<int32_t> touched_;     // objects that see another neighbour
  std::vector<uint8_t> is_touched_;  // per object
  std::vector<Colour> differences_;  // per object, of its sum; 0 between iterations
  std::vector<int32_t> added_, removed_;
  std::vector<NewColour> new_colours_;
  std::vector<NewSum> new_sums_;
  uint64_t work_ = 0;  // nodes and edges looked at

  // Whether comparisons pay, which is looked at every few states.
  uint64_t full_work_ = 0;  // of all colours
  uint64_t spent_ = 0;
  int32_t states_ = 0;
  int32_t rest_ = 0;       // states for which none is made
  int32_t last_rest_ = 0;  // how many they were, the last time
};

}  // namespace hstar
