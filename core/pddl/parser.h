// Reads a domain and a problem: PDDL 2.2 without numbers other than action costs and without time (Fox and
// Long, JAIR 20, 2003; Edelkamp and Hoffmann, 2004).
//
// Lenient where the public benchmarks need it: requirements are never enforced, sections come in any order,
// `object` is implicit, types of arguments are not checked, a problem may name another domain. What is
// unusual becomes a warning.
#pragma once

#include "pddl/lifted.h"
#include "pddl/source.h"

namespace hstar::pddl {

// Throws PddlError and UnsupportedError.
LiftedTask parse_task(const Source& domain, const Source& problem);

}  // namespace hstar::pddl
