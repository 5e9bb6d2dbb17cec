#include "features/relational_task.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/errors.h"
#include "base/hash.h"

namespace hstar {
namespace {

void check_range(std::span<const int32_t> numbers, int32_t low, int32_t high, const char* what) {
  for (const int32_t number : numbers)
    if (number < low || number >= high)
      throw InputError("relational task: there is no " + std::string(what) + " " + std::to_string(number));
}

class Numbers {
 public:
  explicit Numbers(const Names& names) {
    for (const std::string& name : names) numbers_.emplace(name, static_cast<int32_t>(numbers_.size()));
  }
  const int32_t* find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &found->second;
  }
  int32_t at(std::string_view name, const char* what) const {
    if (const int32_t* number = find(name)) return *number;
    throw InputError("relational task: there is no " + std::string(what) + " " + std::string(name));
  }

 private:
  std::unordered_map<std::string_view, int32_t> numbers_;
};

// Adds ground atoms to a task, each once.
class AtomNumbers {
 public:
  explicit AtomNumbers(RelationalTask& task) : task_(task), slots_(1024, -1) {}

  // `key`: a predicate, then its objects.
  int32_t find_or_add(const std::vector<int32_t>& key) {
    if (2 * (task_.predicates.size() + 1) > slots_.size()) grow();
    int32_t& slot = slots_[place(key)];
    if (slot != -1) return slot;
    slot = task_.atoms();
    task_.predicates.push_back(static_cast<uint32_t>(key[0]));
    task_.arguments.push_row(std::span(key).subspan(1));
    task_.goal.push_back(GoalMark::kNone);
    return slot;
  }

 private:
  // Where the atom is, or the empty slot where it would be.
  size_t place(const std::vector<int32_t>& key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = HashNumbers()(key) & mask;
    while (slots_[at] != -1 && !is(slots_[at], key)) at = (at + 1) & mask;
    return at;
  }
  bool is(int32_t atom, const std::vector<int32_t>& key) const {
    return task_.predicates[atom] == static_cast<uint32_t>(key[0]) &&
           std::ranges::equal(task_.arguments[atom], std::span(key).subspan(1));
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    std::vector<int32_t> key;
    for (int32_t atom = 0; atom < task_.atoms(); ++atom) {
      const std::span<const int32_t> objects = task_.arguments[atom];
      key.assign(1, static_cast<int32_t>(task_.predicates[atom]));
      key.insert(key.end(), objects.begin(), objects.end());
      slots_[place(key)] = atom;
    }
  }

  RelationalTask& task_;
  std::vector<int32_t> slots_;  // a power of two, at most half full
};

}  // namespace

void RelationalTask::check() const {
  if (arguments.size() != predicates.size())
    throw InputError("relational task: not one list of arguments an atom");
  if (goal.size() != predicates.size()) throw InputError("relational task: not one goal mark an atom");
  for (int32_t atom = 0; atom < atoms(); ++atom) check_range(arguments[atom], 0, objects(), "object");
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
  std::vector<int32_t> key;

  // 1. Facts, which read "Atom on(a, b)". An atom that two variables stand for counts once.
  for (const Variable& variable : task.variables) {
    for (const std::string_view fact : variable.fact_names) {
      constexpr std::string_view kAtom = "Atom ";
      const size_t open = fact.find('('), close = fact.rfind(')');
      const int32_t* predicate = nullptr;
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
