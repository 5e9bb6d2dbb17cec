#include "features/relational_task.h"

#include <algorithm>
#include <string>

#include "base/errors.h"

namespace hstar {
namespace {

void check_range(const std::vector<int32_t>& numbers, int32_t low, int32_t high, const char* what) {
  for (const int32_t number : numbers)
    if (number < low || number >= high)
      throw InputError("relational task: there is no " + std::string(what) + " " + std::to_string(number));
}

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

}  // namespace hstar
