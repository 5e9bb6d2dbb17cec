#include "features/colour_refinement.h"

#include <algorithm>

#include "base/control.h"

namespace hstar {
ColourRefinement::ColourRefinement(RelationalTask relations, int32_t iterations, bool multiset)
    : relations_(std::move(relations)), iterations_(iterations), multiset_(multiset) {
  relations_.check();
  for (const uint32_t kind : relations_.object_kinds) object_start_.push_back(object_colour(kind));
  for (int32_t atom = 0; atom < relations_.atoms(); ++atom) {
    const GoalMark mark = relations_.goal[atom];
    if (mark != GoalMark::kNone) goals_.push_back(atom);
    atom_start_.push_back(atom_colour(relations_.predicates[atom], goal_status(mark, true)));
  }
  holds_.resize(relations_.atoms());
}

ColourRefinement::ColourRefinement(const Task& task, RelationalTask relations, int32_t iterations,
                                   bool multiset)
    : ColourRefinement(std::move(relations), iterations, multiset) {
  const FactIds ids(task);
  if (relations_.atom_of_fact.size() != static_cast<size_t>(ids.size()))
    throw InputError("relational task: it is not for the facts of this task");
  for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) offsets_.push_back(ids.offset(v));
}

std::span<const Colour> ColourRefinement::colours(const Value* values) {
  present_.assign(relations_.constant.begin(), relations_.constant.end());
  for (int32_t v = 0; v < variables(); ++v)
    if (const int32_t atom = this->atom(v, values[v]); atom != -1) present_.push_back(atom);
  return colours_of_present();
}

std::span<const Colour> ColourRefinement::colours(std::span<const int32_t> atoms) {
  present_.assign(atoms.begin(), atoms.end());
  return colours_of_present();
}

std::span<const Colour> ColourRefinement::colours_of_present() {
  present_colours_.clear();
  for (const int32_t atom : present_) {
    holds_[atom] = 1;
    present_colours_.push_back(atom_start_[atom]);
  }
  const size_t holding = present_.size();
  for (const int32_t atom : goals_) {
    if (holds_[atom]) continue;
    present_.push_back(atom);
    present_colours_.push_back(
        atom_colour(relations_.predicates[atom], goal_status(relations_.goal[atom], false)));
  }
  for (size_t i = 0; i < holding; ++i) holds_[present_[i]] = 0;
  object_colours_ = object_start_;
  all_.clear();
  for (int32_t iteration = 0;; ++iteration) {
    all_.insert(all_.end(), object_colours_.begin(), object_colours_.end());
    all_.insert(all_.end(), present_colours_.begin(), present_colours_.end());
    if (iteration == iterations_) return all_;
    refine(iteration);
    keep_limits(static_cast<uint32_t>(all_.size() / kColoursPerMicrosecond));
  }
}

void ColourRefinement::refine(uint64_t iteration) {
  // 1. What the objects see, from the colours of atoms as they are.
  sums_.assign(object_colours_.size(), 0);
  if (multiset_) {
    for (size_t i = 0; i < present_.size(); ++i) {
      uint64_t label = 0;
      for (const int32_t object : relations_.arguments[present_[i]])
        sums_[object] += across(label++, present_colours_[i]);
    }
  } else {
    sum_sets();
  }
  // 2. What the atoms see: the labels of their edges differ, so a set is a multiset.
  for (size_t i = 0; i < present_.size(); ++i) {
    uint64_t label = 0;
    Colour sum = 0;
    for (const int32_t object : relations_.arguments[present_[i]])
      sum += across(label++, object_colours_[object]);
    present_colours_[i] = refined(present_colours_[i], iteration, sum);
  }
  for (size_t o = 0; o < object_colours_.size(); ++o)
    object_colours_[o] = refined(object_colours_[o], iteration, sums_[o]);
}

void ColourRefinement::sum_sets() {
  // Neighbours by object, as in a counting sort.
  ends_.assign(object_colours_.size() + 1, 0);
  for (const int32_t atom : present_)
    for (const int32_t object : relations_.arguments[atom]) ++ends_[object + 1];
  for (size_t o = 0; o + 1 < ends_.size(); ++o) ends_[o + 1] += ends_[o];
  neighbours_.resize(ends_.back());
  for (size_t i = 0; i < present_.size(); ++i) {
    uint64_t label = 0;
    for (const int32_t object : relations_.arguments[present_[i]])
      neighbours_[ends_[object]++] = across(label++, present_colours_[i]);
  }
  // Each object's end is where it is now; it begins where the one before it ends.
  int32_t begin = 0;
  for (size_t o = 0; o < object_colours_.size(); begin = ends_[o++]) {
    const auto from = neighbours_.begin() + begin, to = neighbours_.begin() + ends_[o];
    std::sort(from, to);
    for (auto at = from; at != to; ++at)
      if (at == from || *at != *(at - 1)) sums_[o] += *at;
  }
}

}  // namespace hstar
