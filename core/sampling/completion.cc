#include "sampling/completion.h"

#include <algorithm>
#include <numeric>

namespace hstar {

Completion::Completion(const Regression& regression, const Atoms& atoms)
    : regression_(regression), atoms_(atoms) {
  const Task& task = regression.space().task();
  for (int32_t v = 0; v < static_cast<int32_t>(task.variables.size()); ++v) {
    std::vector<int32_t> group(atoms.first(v + 1) - atoms.first(v));
    std::iota(group.begin(), group.end(), atoms.first(v));
    if (group.size() > 1) groups_.push_back(std::move(group));
  }
  for (const std::vector<Fact>& facts : task.mutex_groups) {
    std::vector<int32_t> group;
    for (const Fact& fact : facts)
      if (atoms.atom(fact) != -1) group.push_back(atoms.atom(fact));
    if (group.size() > 1) groups_.push_back(std::move(group));
  }
}

bool Completion::by_variables(std::vector<Value>& values, Random& random, int32_t tries) const {
  const Task& task = regression_.space().task();
  PartialState base = regression_.empty();
  std::vector<int32_t> unset;
  for (int32_t v = 0; v < static_cast<int32_t>(values.size()); ++v) {
    if (values[v] == kUnset)
      unset.push_back(v);
    else if (!regression_.assign(base, {v, values[v]}))
      return false;
  }
  std::vector<Value> domain;
  for (int32_t attempt = 0; attempt < tries; ++attempt) {
    PartialState state = base;
    random.shuffle(unset);
    const bool complete = std::ranges::all_of(unset, [&](int32_t v) {
      domain.resize(task.variables[v].domain_size());
      std::iota(domain.begin(), domain.end(), 0);
      // Random values until one fits; each is tried once.
      while (!domain.empty()) {
        const uint32_t i = random.below(static_cast<uint32_t>(domain.size()));
        if (regression_.assign(state, {v, domain[i]})) return true;
        domain[i] = domain.back();
        domain.pop_back();
      }
      return false;
    });
    if (!complete) continue;
    values = state.values();
    return true;
  }
  return false;
}

void Completion::by_atoms(const std::vector<Value>& partial, Random& random, BitWord* bits) const {
  const size_t words = atoms_.words();
  std::vector<BitWord> fixed(words, 0);
  for (size_t i = 0; i < words; ++i) bits[i] = random.next();
  if (atoms_.size() % 64 != 0 && words > 0) bits[words - 1] &= (BitWord{1} << (atoms_.size() % 64)) - 1;
  for (int32_t v = 0; v < static_cast<int32_t>(partial.size()); ++v) {
    if (partial[v] == kUnset) continue;
    const int32_t atom = atoms_.atom({v, partial[v]});
    // A negated value is part of the partial state, too: none of the variable's atoms holds.
    if (atom == -1) {
      for (int32_t other = atoms_.first(v); other < atoms_.first(v + 1); ++other) clear_bit(bits, other);
    } else {
      set_bit(fixed.data(), atom);
      set_bit(bits, atom);
    }
  }
  std::vector<int32_t> order(groups_.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::vector<int32_t> held;
  for (const int32_t g : order) {
    held.clear();
    int32_t keep = -1;
    for (const int32_t atom : groups_[g]) {
      if (!test_bit(bits, atom)) continue;
      held.push_back(atom);
      if (test_bit(fixed.data(), atom)) keep = atom;
    }
    if (held.size() < 2) continue;
    if (keep == -1) keep = held[random.below(static_cast<uint32_t>(held.size()))];
    for (const int32_t atom : held)
      if (atom != keep) clear_bit(bits, atom);
  }
}

}  // namespace hstar
