// Which atoms exclude each other, and which of them become the values of a variable (Helmert, AIJ 173, 2009,
// sections 5 and 7).
#pragma once

#include <vector>

#include "pddl/ground.h"
#include "pddl/invariants.h"

namespace hstar::pddl {

struct Groups {
  std::vector<std::vector<int32_t>> mutexes;    // atoms of which exactly one or none holds
  std::vector<std::vector<int32_t>> variables;  // each atom in one of them
};

// `initial` says per atom whether it holds at first. The atoms `alone` get variables of their own.
Groups find_groups(const std::vector<Invariant>& invariants, const Atoms& atoms,
                   const std::vector<bool>& initial, const std::vector<bool>& alone, Watch& watch);

}  // namespace hstar::pddl
