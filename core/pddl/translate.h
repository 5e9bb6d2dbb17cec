// From PDDL to a task in finite-domain representation (Helmert, "Concise finite-domain representations for
// PDDL planning tasks", AIJ 173, 2009), in one pass and in memory.
//
// parse -> normalise -> explore (reachable atoms and instances) -> invariants -> groups (variables) ->
// encode (operators, axioms) -> simplify (unreachable values, order of variables).
//
// Invariant: the same texts give the same task; operators are in the order of their names. A task whose goal
// holds at once, or cannot hold, has one variable and no operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/control.h"
#include "pddl/source.h"
#include "pddl/watch.h"
#include "task/task.h"

namespace hstar::pddl {

struct PddlFile {
  std::string name;  // for errors
  std::string_view text;
};

struct TranslateOptions {
  bool keep_unimportant = false;  // also variables that do not matter for the goal
  Limits limits;
  Observer observer;
};

// Where the time went, in seconds of processor time, and what is worth a warning.
struct TranslateReport {
  double parse = 0, join = 0, invariants = 0, variables = 0, encode = 0, simplify = 0;
  std::vector<std::string> warnings;
};

// Throws PddlError, UnsupportedError, InputError and LimitError.
Task translate(const PddlFile& domain, const PddlFile& problem, const TranslateOptions& options,
               TranslateReport& report);

}  // namespace hstar::pddl
