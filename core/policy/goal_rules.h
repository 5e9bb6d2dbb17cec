// Goal rules: lifted macros that achieve one goal each, and the policy that follows them without grounding.
//
// Regressing a goal through a plan gives the condition under which a part of the plan achieves it; with
// variables instead of objects that is a rule for a whole domain. Chen, Hofmann, Klassen and McIlraith,
// "Satisficing and Optimal Generalised Planning via Goal Regression" (AAAI 2026) learn such rules; how hstar
// learns them is in recipes/goal_rules.py.
//
// The policy takes the open goal with the cheapest rule instance and follows that instance step by step.
// Differences from the paper: (1) movements, actions that change one argument of one atom under static
// conditions, are a step of a rule that stands for a shortest path of any length; places on the way may have
// to be free. (2) Before a movement,
// other goals make progress by actions that apply without moving, as long as that costs the goal at hand
// nothing. (3) An atom that a goal at hand is going to use up is reserved for it. (4) Where no instance is
// applicable, the missing conditions of one become subgoals, which rules of their own achieve (backward
// chaining): so rules of one action take a tower of any height apart. (5) Goals come in learned orders: one
// that must be undone for another to be achieved is not pursued before it.
//
// Invariant: every step of the plan is applicable, and at the end of a solved run all goals hold.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/control.h"

namespace hstar {

// A predicate and its terms. In schemas and rules a term from 0 on is a variable, ~o is the object o; in
// ground atoms a term is an object.
using Words = std::vector<int32_t>;

struct RuleSchema {
  std::vector<Words> candidates;  // per parameter: the objects that it may stand for
  std::vector<Words> positive, negative, adds, deletes;
  std::vector<Words> different;  // pairs of terms
};

// Actions that replace one atom by another, which differs in the argument at `place` (from 1 on). Their
// effects begin with these atoms. The guard, unless it is -1, is a predicate that must hold of the object
// that leads to; with `swaps` it is taken from there, and given to the object left.
struct RuleMovement {
  int32_t predicate = 0, place = 1;
  Words schemas;
  int32_t guard = -1;
  bool swaps = false;
};

struct RuleTask {
  int32_t objects = 0;
  Words arities;  // per predicate
  std::vector<RuleSchema> schemas;
  std::vector<RuleMovement> movements;
  std::vector<Words> init, goals;

  // Throws InputError if a number points to nothing.
  void check() const;
};

// A step is {0, schema, arguments ...}, or {1, movement, terms of the atom before it ..., where to}.
struct GoalRule {
  Words goal;
  std::vector<Words> conditions, steps;
  int32_t variables = 0;
  int32_t rank = 0;  // goals of rules with a lower rank come first
};

// The numbers of two goals, the first of which comes before the second.
using GoalOrder = std::pair<int32_t, int32_t>;

struct PolicyResult : Outcome {
  std::vector<Words> plan;  // schema, arguments
  int32_t open_goals = 0;
};

// `mixed`: goals of a higher rank make progress beside those of a lower one, too.
PolicyResult follow_goal_rules(const RuleTask& task, const std::vector<GoalRule>& rules,
                               const std::vector<GoalOrder>& orders, bool mixed, const Limits& limits,
                               const Observer& observer);

}  // namespace hstar
