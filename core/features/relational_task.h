// A task as objects and ground atoms over them, for models that work with any number of objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rows.h"
#include "features/colour.h"
#include "task/task.h"

namespace hstar {

// Atoms are those that facts of the task stand for, those that hold in every state (static ones, and what the
// translator found to be constant), and those of the goal. Plain data.
struct RelationalTask {
  std::vector<uint32_t> object_kinds;  // per object: its type, or which constant of the domain it is
  std::vector<uint32_t> predicates;    // per atom
  Rows arguments;                      // per atom: objects
  std::vector<GoalMark> goal;          // per atom: whether the goal asks for it, or for its absence
  std::vector<int32_t> constant;       // atoms that hold in every state
  std::vector<int32_t> atom_of_fact;   // per fact of the task, -1 for none; no atom twice; or empty

  int32_t objects() const { return static_cast<int32_t>(object_kinds.size()); }
  int32_t atoms() const { return static_cast<int32_t>(predicates.size()); }
  // Throws InputError if a number points to nothing.
  void check() const;
};

using Names = std::vector<std::string>;

// What the PDDL of a task says beyond its variables. A ground atom is its predicate, then its objects.
struct RelationalNames {
  Names predicates;  // numbered by their places, as the next
  Names objects;
  std::vector<uint32_t> object_kinds;
  std::vector<Names> initial, goal, negative_goal;  // ground atoms
};

// Atoms of the initial state that no fact stands for hold in every state. Facts of other predicates (those
// that a translator makes up) stand for no atom. Throws InputError for a name that there is not.
RelationalTask relational_task(const Task& task, const RelationalNames& names);

}  // namespace hstar
