#include "pddl/groups.h"

#include <algorithm>
#include <numeric>

#include "pddl/relation.h"

namespace hstar::pddl {
namespace {

// Calls visit(atom, key) for every atom of the parts, where `key` are the values of the parameters.
template <class Visit>
void for_atoms(const Invariant& invariant, const Atoms& atoms, Watch& watch, Visit&& visit) {
  std::vector<int32_t> key(invariant.parameters);
  for (const InvariantPart& part : invariant.parts) {
    for (int32_t atom = atoms.first(part.predicate); atom < atoms.first(part.predicate + 1); ++atom) {
      watch();
      const std::span<const int32_t> objects = atoms.objects(atom);
      for (size_t i = 0; i < objects.size(); ++i)
        if (part.parameters[i] >= 0) key[part.parameters[i]] = objects[i];
      visit(atom, key.data());
    }
  }
}

std::vector<std::vector<int32_t>> instantiate(const std::vector<Invariant>& invariants, const Atoms& atoms,
                                              const std::vector<bool>& initial, Watch& watch) {
  std::vector<std::vector<int32_t>> groups;
  for (const Invariant& invariant : invariants) {
    Relation keys(invariant.parameters);
    std::vector<int32_t> weights;
    for_atoms(invariant, atoms, watch, [&](int32_t atom, const int32_t* key) {
      if (!initial[atom]) return;
      if (keys.insert(key)) weights.push_back(0);
      ++weights[keys.find(key)];
    });
    const size_t first = groups.size();
    std::vector<int32_t> numbers;  // of the groups
    for (const int32_t weight : weights) {
      numbers.push_back(weight == 1 ? static_cast<int32_t>(groups.size()) : -1);
      if (weight == 1) groups.emplace_back();
    }
    if (groups.size() == first) continue;
    for_atoms(invariant, atoms, watch, [&](int32_t atom, const int32_t* key) {
      const int32_t row = keys.find(key);
      if (row >= 0 && numbers[row] >= 0) groups[numbers[row]].push_back(atom);
    });
  }
  return groups;
}

void sort_groups(std::vector<std::vector<int32_t>>& groups, const Atoms& atoms) {
  const std::vector<int32_t>& ranks = atoms.ranks();
  const auto rank = [&](int32_t atom) { return ranks[atom]; };
  for (std::vector<int32_t>& group : groups) std::ranges::sort(group, {}, rank);
  std::ranges::sort(groups, [&](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(a, b, {}, rank, rank);
  });
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
}

// The largest group becomes a variable, its atoms leave the others, and so on.
std::vector<std::vector<int32_t>> choose(std::vector<std::vector<int32_t>> groups, const Atoms& atoms,
                                         const std::vector<bool>& alone, Watch& watch) {
  std::vector<bool> covered = alone;
  std::vector<int32_t> begin(atoms.size() + 1, 0), of;  // groups of each atom
  for (const auto& group : groups)
    for (const int32_t atom : group) ++begin[atom + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  of.resize(begin.back());
  std::vector<int32_t> place(begin.begin(), begin.end() - 1), sizes(groups.size(), 0);
  size_t most = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const int32_t atom : groups[g]) {
      of[place[atom]++] = static_cast<int32_t>(g);
      sizes[g] += !covered[atom];
    }
    most = std::max<size_t>(most, sizes[g]);
  }
  // Buckets by size; a group is moved down when it is met with fewer atoms than its bucket has.
  std::vector<std::vector<int32_t>> buckets(most + 1);
  for (size_t g = 0; g < groups.size(); ++g) buckets[sizes[g]].push_back(static_cast<int32_t>(g));
  std::vector<std::vector<int32_t>> chosen;
  for (size_t size = most; size >= 2; --size) {
    std::vector<int32_t>& bucket = buckets[size];
    std::ranges::sort(bucket);  // of equal size the last one first
    while (!bucket.empty()) {
      watch();
      const int32_t g = bucket.back();
      bucket.pop_back();
      if (static_cast<size_t>(sizes[g]) < size) {
        if (sizes[g] >= 2) buckets[sizes[g]].push_back(g);
        continue;
      }
      std::vector<int32_t>& variable = chosen.emplace_back();
      for (const int32_t atom : groups[g]) {
        if (covered[atom]) continue;
        variable.push_back(atom);
        covered[atom] = true;
        for (int32_t i = begin[atom]; i < begin[atom + 1]; ++i) --sizes[of[i]];
      }
    }
  }
  std::ranges::reverse(chosen);  // small ones first
  std::vector<int32_t> rest;
  for (int32_t atom = 0; atom < atoms.size(); ++atom)
    if (!covered[atom] || alone[atom]) rest.push_back(atom);
  std::ranges::sort(rest, {}, [&](int32_t atom) { return atoms.ranks()[atom]; });
  for (const int32_t atom : rest) chosen.push_back({atom});
  return chosen;
}

}  // namespace

Groups find_groups(const std::vector<Invariant>& invariants, const Atoms& atoms,
                   const std::vector<bool>& initial, const std::vector<bool>& alone, Watch& watch) {
  Groups groups;
  groups.mutexes = instantiate(invariants, atoms, initial, watch);
  std::erase_if(groups.mutexes, [](const auto& group) { return group.size() < 2; });
  sort_groups(groups.mutexes, atoms);
  groups.variables = choose(groups.mutexes, atoms, alone, watch);
  return groups;
}

}  // namespace hstar::pddl
