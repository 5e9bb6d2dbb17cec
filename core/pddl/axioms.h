// Ground rules of derived atoms: the superfluous ones go, and atoms get layers (Thiébaux, Hoffmann and Nebel,
// AIJ 168, 2005): an atom is above what it depends on the absence of, and not below what it depends on.
#pragma once

#include <vector>

#include "pddl/ground.h"

namespace hstar::pddl {

struct GroundRule {
  int32_t head;
  std::vector<GroundLiteral> body;
};

// Removes rules for atoms that nothing asks for: neither `needed`, which is per atom, nor another rule that
// stays.
void drop_unneeded(std::vector<GroundRule>& rules, std::vector<bool> needed);

// Removes rules whose body holds only if that of another rule for the same head does. Bodies become sorted.
void drop_dominated(std::vector<GroundRule>& rules, Watch& watch);

// Per atom: its layer, -1 if no rule has it as a head. Throws UnsupportedError if an atom depends on its
// absence.
std::vector<int32_t> axiom_layers(const std::vector<GroundRule>& rules, const Atoms& atoms);

}  // namespace hstar::pddl
