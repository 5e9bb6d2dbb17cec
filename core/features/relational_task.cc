#include "features/relational_task.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/errors.h"
#include "base/hash.h"

namespace hstar {
namespace {

void check_range(const std::vector<int32_t>& numbers, int32_t low, int32_t high, const char* what) {
  for (const int32_t number : numbers)
    if (number < low || number >= high)
      throw InputError("relational task: there is no " + std::string(what) + " " + std::to_string(number));
}

class Numbers {
 public:
  explicit Numbers(const Names& names) {
    for (const std::string& name : names) numbers_.emplace(name, static_cast<uint32_t>(numbers_.size()));
  }
  const uint32_t* find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &found->second;
  }
  uint32_t at(std::string_view name, const char* what) const {
    if (const uint32_t* number = find(name)) return *number;
    throw InputError("relational task: there is no " + std::string(what) + " " + std::string(name));
  }

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

// Adds ground atoms to a task, each once.
class AtomNumbers {
 public:
  explicit AtomNumbers(RelationalTask& task) : task_(task), slots_(1024, -1) { task_.first = {0}; }

  // `key`: a predicate, then its objects.
  int32_t find_or_add(const std::vector<uint32_t>& key) {
    if (2 * (task_.predicates.size() + 1) > slots_.size()) grow();
    int32_t& slot = slots_[place(key)];
    if (slot != -1) return slot;
    slot = task_.atoms();
    task_.predicates.push_back(key[0]);
    task_.arguments.insert(task_.arguments.end(), key.begin() + 1, key.end());
    task_.first.push_back(static_cast<int32_t>(task_.arguments.size()));
    task_.goal.push_back(GoalMark::kNone);
    return slot;
  }

 private:
  // Where the atom is, or the empty slot where it would be.
  size_t place(const std::vector<uint32_t>& key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash_words(key.data(), key.size()) & mask;
    while (slots_[at] != -1 && !is(slots_[at], key)) at = (at + 1) & mask;
    return at;
  }
  bool is(int32_t atom, const std::vector<uint32_t>& key) const {
    const auto begin = task_.arguments.begin();
    return task_.predicates[atom] == key[0] &&
           std::equal(begin + task_.first[atom], begin + task_.first[atom + 1], key.begin() + 1, key.end(),
                      [](int32_t object, uint32_t other) { return static_cast<uint32_t>(object) == other; });
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    std::vector<uint32_t> key;
    for (int32_t atom = 0; atom < task_.atoms(); ++atom) {
      const auto begin = task_.arguments.begin();
      key.assign(1, task_.predicates[atom]);
      key.insert(key.end(), begin + task_.first[atom], begin + task_.first[atom + 1]);
      slots_[place(key)] = atom;
    }
  }

  RelationalTask& task_;
  std::vector<int32_t> slots_;  // a power of two, at most half full
};

}  // namespace

void RelationalTask::check() const {
  const auto arguments_end = static_cast<int32_t>(arguments.size());
  if (first.size() != predicates.size() + 1 || first.front() != 0 || first.back() != arguments_end ||
      !std::ranges::is_sorted(first))
    throw InputError("relational task: the arguments of atoms are not in order");
  if (goal.size() != predicates.size()) throw InputError("relational task: not one goal mark an atom");
  check_range(arguments, 0, objects(), "object");
  check_range(constant, 0, atoms(), "atom");
  check_range(atom_of_fact, -1, atoms(), "atom");
  std::vector<uint8_t> seen(predicates.size(), 0);
  for (const std::vector<int32_t>* list : {&constant, &atom_of_fact})
    for (const int32_t atom : *list)
      if (atom != -1 && seen[atom]++) throw InputError("relational task: an atom is given twice");
}

RelationalTask relational_task(const Task& task, const RelationalNames& names) {
  RelationalTask relations;
  relations.object_kinds = names.object_kinds;
  const Numbers predicates(names.predicates), objects(names.objects);
  AtomNumbers atoms(relations);
  std::vector<uint32_t> key;

  // 1. Facts, which read "Atom on(a, b)". An atom that two variables stand for counts once.
  for (const Variable& variable : task.variables) {
    for (const std::string_view fact : variable.fact_names) {
      constexpr std::string_view kAtom = "Atom ";
      const size_t open = fact.find('('), close = fact.rfind(')');
      const uint32_t* predicate = nullptr;
      if (fact.starts_with(kAtom) && open != fact.npos && close != fact.npos)
        predicate = predicates.find(fact.substr(kAtom.size(), open - kAtom.size()));
      relations.atom_of_fact.push_back(-1);
      if (!predicate) continue;
      key.assign(1, *predicate);
      std::string_view rest = fact.substr(open + 1, close - open - 1);
      while (!rest.empty()) {
        const size_t end = std::min(rest.find(','), rest.size());
        key.push_back(objects.at(rest.substr(0, end), "object"));
        rest.remove_prefix(std::min(rest.find_first_not_of(", ", end), rest.size()));
      }
      const int32_t known = relations.atoms(), atom = atoms.find_or_add(key);
      if (atom == known) relations.atom_of_fact.back() = atom;
    }
  }

  // 2. What no variable tells.
  const auto number = [&](const Names& atom) {
    key.assign(1, predicates.at(atom.at(0), "predicate"));
    for (size_t i = 1; i < atom.size(); ++i) key.push_back(objects.at(atom[i], "object"));
    return atoms.find_or_add(key);
  };
  for (const Names& atom : names.initial) {
    const int32_t known = relations.atoms(), found = number(atom);
    if (found == known) relations.constant.push_back(found);
  }
  for (const Names& atom : names.goal) relations.goal[number(atom)] = GoalMark::kGoal;
  for (const Names& atom : names.negative_goal) relations.goal[number(atom)] = GoalMark::kNegativeGoal;
  return relations;
}

}  // namespace hstar
