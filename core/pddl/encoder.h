// From ground literals to facts of variables (Helmert, AIJ 173, 2009, section 7).
//
// 1. A negative literal on a variable of two values is the other value. On one of more values it is any of
//    the others: the operator, effect or axiom is split.
// 2. A removed atom sets its variable to "none of those", if it held and no effect sets the variable.
// 3. What asks for two atoms that exclude each other is left out.
#pragma once

#include <vector>

#include "pddl/flat_task.h"
#include "pddl/ground.h"
#include "pddl/groups.h"

namespace hstar::pddl {

class Encoder {
 public:
  Encoder(const Groups& groups, const Atoms& atoms, FlatTask& task, Watch& watch);

  // Appends it to the task, unless it is impossible or does nothing. `words` are those of its name.
  void add_operator(std::span<const int32_t> words, Cost cost, const std::vector<GroundLiteral>& precondition,
                    const std::vector<GroundEffect>& effects);
  void add_axiom(const std::vector<GroundLiteral>& body, int32_t head);
  // All ways to say the literals; none if they cannot hold together.
  std::vector<std::vector<Fact>> conditions(const std::vector<GroundLiteral>& literals);
  Fact fact(int32_t atom) const { return facts_[atom]; }

 private:
  struct Change {
    Fact fact;
    std::vector<Fact> conditions;
    bool added;
    bool operator==(const Change&) const = default;
  };
  bool exclusive(const std::vector<GroundLiteral>& literals);
  // What holds, and the facts that must not; false if the literals cannot hold together.
  bool split(const std::vector<GroundLiteral>& literals, std::vector<Fact>& sure,
             std::vector<Fact>& excluded);
  void add_way(std::span<const int32_t> words, Cost cost, const std::vector<Fact>& precondition,
               const std::vector<GroundEffect>& effects);
  void find_changes(const std::vector<Fact>& precondition, const std::vector<GroundEffect>& effects,
                    std::vector<Change>& result);
  void encode_variable(const std::vector<Fact>& precondition, std::span<const Change> changes,
                       std::vector<Change>& found);
  void removal(const std::vector<Fact>& precondition, const Change& change, std::span<const Change> changes,
               std::vector<Change>& found);

  FlatTask& task_;
  Watch& watch_;
  std::vector<Fact> facts_;                    // per atom
  std::vector<int32_t> first_group_, groups_;  // mutex groups of each atom
  std::vector<int64_t> seen_;                  // per group: the last call that met it
  std::vector<int32_t> met_;                   // per group: the atom
  int64_t calls_ = 0;
  std::vector<Fact> sure_, excluded_;    // scratch
  std::vector<Change> changes_, found_;  // scratch
};

}  // namespace hstar::pddl
