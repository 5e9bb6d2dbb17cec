"""Which requirements a PDDL task uses without declaring them."""

from __future__ import annotations

from hstar.spaces.lifted import TRUE, And, Atom, Formula, Imply, LiftedTask, Not, Or

_IMPLIED_REQUIREMENTS = {
    ":adl": (
        ":typing",
        ":negative-preconditions",
        ":disjunctive-preconditions",
        ":equality",
        ":quantified-preconditions",
        ":conditional-effects",
    ),
    ":negation": (":negative-preconditions",),
    ":fluents": (":action-costs",),
    ":numeric-fluents": (":action-costs",),
}


def undeclared_requirements(task: LiftedTask) -> list[str]:
    """The requirements that the task uses without declaring them."""
    domain, problem = task.domain, task.problem
    declared = set(domain.requirements) | set(problem.requirements)
    for requirement in tuple(declared):
        declared.update(_IMPLIED_REQUIREMENTS.get(requirement, ()))
    # Either half of the quantifiers may be declared on its own.
    if declared & {":existential-preconditions", ":universal-preconditions"}:
        declared.add(":quantified-preconditions")

    used: set[str] = set()
    effects = [effect for action in domain.actions.values() for effect in action.effects]
    stack: list[Formula] = [problem.goal]
    stack += [action.precondition for action in domain.actions.values()]
    stack += [rule.condition for rule in domain.rules]
    stack += [effect.condition for effect in effects]
    while stack:
        part = stack.pop()
        if isinstance(part, Atom):
            used |= {":equality"} if part.predicate == "=" else set()
        elif isinstance(part, Not):
            plain = isinstance(part.part, Atom)
            used.add(":negative-preconditions" if plain else ":disjunctive-preconditions")
            stack.append(part.part)
        elif isinstance(part, And):
            stack.extend(part.parts)
        elif isinstance(part, Or):
            used.add(":disjunctive-preconditions")
            stack.extend(part.parts)
        elif isinstance(part, Imply):
            used.add(":disjunctive-preconditions")
            stack += [part.premise, part.conclusion]
        else:
            used.add(":quantified-preconditions")
            stack.append(part.part)
    if domain.types:
        used.add(":typing")
    if any(effect.parameters or effect.condition != TRUE for effect in effects):
        used.add(":conditional-effects")
    if domain.rules:
        used.add(":derived-predicates")
    if problem.metric or any(action.cost is not None for action in domain.actions.values()):
        used.add(":action-costs")
    return sorted(used - declared)
