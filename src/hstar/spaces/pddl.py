"""Read PDDL files into a `LiftedTask`, with the file and line of every mistake.

PDDL 2.2 without numbers other than action costs and without time (Fox and Long, JAIR 20, 2003;
Edelkamp and Hoffmann, 2004).

Lenient where the public benchmarks need it: requirements are never enforced, sections come in any
order, `object` is implicit, types of arguments are not checked, a problem may name another domain.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hstar.errors import PDDLError, UnsupportedError
from hstar.files import read_bytes
from hstar.spaces.lifted import (
    TRUE,
    Action,
    And,
    Atom,
    Domain,
    Effect,
    Exists,
    ForAll,
    Formula,
    GroundAtom,
    Imply,
    LiftedTask,
    Not,
    Or,
    Parameter,
    Predicate,
    Problem,
    Rule,
    literals,
)

__all__ = [
    "LiftedTask",
    "parse_domain",
    "parse_problem",
    "parse_task",
    "read_task",
]

logger = logging.getLogger(__name__)


def read_task(domain: Path, problem: Path) -> LiftedTask:
    """The task of two PDDL files; an `InputError` with file and line where they are wrong."""
    return parse_task(read_text(domain), read_text(problem), str(domain), str(problem))


def parse_task(
    domain: str, problem: str, domain_file: str = "domain", problem_file: str = "problem"
) -> LiftedTask:
    """The task of two PDDL texts; the file names are for error messages."""
    parsed = parse_domain(domain, domain_file)
    return LiftedTask(parsed, parse_problem(problem, parsed, problem_file))


def parse_domain(text: str, file: str = "domain") -> Domain:
    """The domain of a PDDL text."""
    return _DomainParser(file).parse(_parse_blocks(text, file))


def parse_problem(text: str, domain: Domain, file: str = "problem") -> Problem:
    """The problem of a PDDL text that belongs to `domain`."""
    return _ProblemParser(file, domain).parse(_parse_blocks(text, file))


def read_text(path: Path) -> str:
    """The text of a PDDL file. As for Fast Downward, a comment may hold any character."""
    data = read_bytes(path)
    if b"\0" in data:
        raise PDDLError("not a text file", file=path, line=data[: data.index(b"\0")].count(b"\n") + 1)
    text = data.decode("latin-1").removeprefix("\xef\xbb\xbf")
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Block(list["str | _Block"]):
    """A parenthesised list with its line and the lines of its items."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []

    def __str__(self) -> str:
        return f"({' '.join(map(str, self))})"


_TOKEN = re.compile(r"[()]|\?[^\s()?]*|[^\s()?]+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")
# Deeper nesting would exhaust the stack of whoever walks the formula; real tasks stay below 30.
_MAX_DEPTH = 150
_MAX_DIGITS = 18


def _parse_blocks(text: str, file: str) -> _Block:
    """The one parenthesised expression that a PDDL text consists of."""
    top = _Block(1)
    current = top
    enclosing: list[_Block] = []
    line = 0
    for line, content in enumerate(text.split("\n"), 1):
        code = content.partition(";")[0]
        if not code.isascii():
            raise PDDLError("not PDDL: non-ASCII character outside a comment", file=file, line=line)
        for token in _TOKEN.findall(code.lower()):
            if token == "(":
                block = _Block(line)
                current.append(block)
                current.lines.append(line)
                enclosing.append(current)
                current = block
                if len(enclosing) > _MAX_DEPTH:
                    raise PDDLError("parentheses are nested too deeply", file=file, line=line)
            elif token == ")":
                if not enclosing:
                    raise PDDLError("unexpected ')'", file=file, line=line)
                current = enclosing.pop()
            else:
                current.append(token)
                current.lines.append(line)
    if enclosing:
        raise _unclosed(top, file) or PDDLError(
            "missing ')' for the '(' of this line", file=file, line=current.line
        )
    if not top:
        raise PDDLError("the file is empty", file=file)
    if isinstance(top[0], str):
        raise PDDLError(f"expected '(define', got '{top[0]}'", file=file, line=top.lines[0])
    if len(top) > 1:
        raise PDDLError(f"unexpected '{_brief(top[1])}' after the end", file=file, line=top.lines[1])
    return top[0]


def _unclosed(top: _Block, file: str) -> PDDLError | None:
    """The error at the first section that begins inside another: that one misses its ')'."""
    for definition in top:
        for section in definition:
            if not isinstance(section, _Block):
                continue
            for item in section:
                if isinstance(item, _Block) and str(item[:1]).startswith("[':"):
                    message = f"missing ')': '({item[0]}' is inside the '(' of line {section.line}"
                    return PDDLError(message, file=file, line=item.line)
    return None


def _brief(item: str | _Block) -> str:
    text = str(item)
    return text if len(text) <= 60 else text[:57] + "..."


def _split_sections(
    block: _Block, kind: str, known: Sequence[str], file: str
) -> tuple[str, dict[str, list[_Block]]]:
    """The name in `(define (kind name) ...)` and its sections by keyword."""
    header = block[1] if len(block) > 1 else ""
    if block[:1] != ["define"] or not isinstance(header, _Block) or header[:1] != [kind]:
        raise PDDLError(f"expected '(define ({kind} NAME)'", file=file, line=block.line)
    if len(header) != 2 or not isinstance(header[1], str):
        raise PDDLError(f"expected one name after '{kind}'", file=file, line=header.line)
    sections: dict[str, list[_Block]] = {}
    for item, line in zip(block[2:], block.lines[2:], strict=True):
        if not isinstance(item, _Block) or not item or not isinstance(item[0], str):
            raise PDDLError(f"expected '(:section ...', got '{_brief(item)}'", file=file, line=line)
        keyword = item[0]
        if keyword in (":durative-action", ":constraints", ":process", ":event"):
            raise UnsupportedError(f"{file}:{line}: '{keyword}' is not supported")
        if keyword not in known:
            raise PDDLError(f"unknown section '{keyword}' of a {kind}", file=file, line=line)
        if keyword in sections and keyword not in (":action", ":derived"):
            raise PDDLError(f"second '{keyword}' section", file=file, line=line)
        sections.setdefault(keyword, []).append(item)
    return header[1], sections


_DOMAIN_SECTIONS = (
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":derived",
    ":action",
)
_PROBLEM_SECTIONS = (
    ":domain",
    ":requirements",
    ":objects",
    ":init",
    ":goal",
    ":metric",
    ":length",
)
_NUMERIC = ("<", ">", "<=", ">=", "assign", "decrease", "scale-up", "scale-down", "preference")


class _Parser:
    """What domains and problems share: names, typed lists, conditions."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.types: Mapping[str, str] = {}
        self.objects: dict[str, str] = {}
        self.predicates: dict[str, Predicate] = {}
        self.functions: dict[str, Predicate] = {}
        # All variables met so far in the current action, rule or goal.
        self.variables: set[str] = set()

    def error(self, message: str, line: int) -> PDDLError:
        return PDDLError(message, file=self.file, line=line)

    def unsupported(self, message: str, line: int) -> UnsupportedError:
        return UnsupportedError(f"{self.file}:{line}: {message}")

    def words(self, block: _Block) -> tuple[str, ...]:
        """The items after the keyword, all of which must be words."""
        for item, line in zip(block, block.lines, strict=True):
            if not isinstance(item, str):
                raise self.error(f"expected a word, got '{_brief(item)}'", line)
        return tuple(str(item) for item in block[1:])

    def typed_list(
        self, block: _Block, start: int = 0
    ) -> Iterator[tuple[str | _Block, tuple[str, ...], int]]:
        """Items with their types and lines, from `a b - t c - (either t u)`."""
        group: list[tuple[str | _Block, int]] = []
        items = iter(zip(block[start:], block.lines[start:], strict=True))
        for item, line in items:
            if item != "-":
                group.append((item, line))
                continue
            kind, line = next(items, ("-", line))
            if isinstance(kind, str):
                types: tuple[str, ...] = (kind,)
            else:
                types = self.words(kind) if kind[:1] == ["either"] else ()
            if not types or "-" in types:
                raise self.error("expected a type after '-'", line)
            yield from ((entry, types, at) for entry, at in group)
            group = []
        yield from ((entry, ("object",), at) for entry, at in group)

    def check_types(self, types: tuple[str, ...], line: int) -> None:
        for kind in types:
            if kind != "object" and kind not in self.types:
                raise self.error(f"undeclared type '{kind}'", line)

    def parse_objects(self, block: _Block) -> dict[str, str]:
        """The objects or constants of a section; entered into the known ones."""
        found: dict[str, str] = {}
        for name, types, line in self.typed_list(block, 1):
            if not isinstance(name, str) or name.startswith("?"):
                raise self.error(f"expected the name of an object, got '{_brief(name)}'", line)
            if len(types) > 1:
                raise self.unsupported(f"object '{name}' has more than one type", line)
            self.check_types(types, line)
            if self.objects.get(name, types[0]) != types[0]:
                raise self.error(f"object '{name}' is declared twice, with different types", line)
            self.objects[name] = found[name] = types[0]
        return found

    def parse_parameters(
        self, block: str | _Block, line: int, scope: dict[str, str], start: int = 0
    ) -> tuple[Parameter, ...]:
        """Typed variables, entered into `scope` under a name that is unique within the formula."""
        if not isinstance(block, _Block):
            raise self.error(f"expected a list of variables, got '{block}'", line)
        found: list[Parameter] = []
        seen: set[str] = set()
        for name, types, at in self.typed_list(block, start):
            if not isinstance(name, str) or not name.startswith("?") or name == "?":
                raise self.error(f"expected a variable, got '{_brief(name)}'", at)
            if name in seen:
                raise self.error(f"variable '{name}' is declared twice", at)
            seen.add(name)
            self.check_types(types, at)
            unique, copy = name, 1
            while unique in self.variables:
                copy += 1
                unique = f"{name}@{copy}"
            self.variables.add(unique)
            scope[name] = unique
            found.append(Parameter(unique, types))
        return tuple(found)

    def parse_terms(self, block: _Block, scope: Mapping[str, str]) -> tuple[str, ...]:
        terms: list[str] = []
        for term, line in zip(block[1:], block.lines[1:], strict=True):
            if not isinstance(term, str):
                raise self.error(f"expected a variable or an object, got '{_brief(term)}'", line)
            if term.startswith("?"):
                if term not in scope:
                    raise self.error(f"unknown variable '{term}'", line)
                term = scope[term]
            elif term not in self.objects:
                raise self.error(f"unknown object '{term}'", line)
            terms.append(term)
        return tuple(terms)

    def parse_atom(self, block: str | _Block, line: int, scope: Mapping[str, str]) -> Atom:
        if not isinstance(block, _Block) or not block or not isinstance(block[0], str):
            raise self.error(f"expected '(predicate ...)', got '{_brief(block)}'", line)
        name = block[0]
        if name in _NUMERIC or (name == "=" and any(isinstance(i, _Block) for i in block)):
            raise self.unsupported(f"'{name}' on numbers is not supported, only action costs", line)
        if name == "=":
            arity = 2
        elif name in self.predicates:
            arity = self.predicates[name].arity
        else:
            raise self.error(f"undeclared predicate '{name}'", block.line)
        if len(block) - 1 != arity:
            raise self.error(f"'{name}' has {arity} arguments, got {len(block) - 1}", block.line)
        return Atom(name, self.parse_terms(block, scope))

    def parse_formula(self, block: str | _Block, line: int, scope: Mapping[str, str]) -> Formula:
        if not isinstance(block, _Block):
            raise self.error(f"expected a condition in parentheses, got '{block}'", line)
        if not block:
            return TRUE
        head = block[0]
        if head in ("forall", "exists"):
            inner = dict(scope)
            self.check_length(block, 3)
            parameters = self.parse_parameters(block[1], block.lines[1], inner)
            part = self.parse_formula(block[2], block.lines[2], inner)
            return ForAll(parameters, part) if head == "forall" else Exists(parameters, part)
        if head not in ("and", "or", "not", "imply"):
            return self.parse_atom(block, line, scope)
        parts = tuple(
            self.parse_formula(item, at, scope) for item, at in zip(block[1:], block.lines[1:], strict=True)
        )
        if head == "and":
            return And(parts)
        if head == "or":
            return Or(parts)
        if head == "not":
            self.check_length(block, 2)
            return Not(parts[0])
        self.check_length(block, 3)
        return Imply(*parts)

    def check_length(self, block: _Block, length: int) -> None:
        if len(block) != length:
            raise self.error(f"'{block[0]}' takes {length - 1} arguments, got {len(block) - 1}", block.line)

    def parse_number(self, item: str | _Block, line: int) -> int:
        if not isinstance(item, str) or not _NUMBER.fullmatch(item):
            raise self.error(f"expected a number, got '{_brief(item)}'", line)
        if not item.isdigit() or len(item) > _MAX_DIGITS:
            raise self.unsupported(f"'{_brief(item)}' as a cost, only natural numbers", line)
        return int(item)

    def parse_function(self, block: _Block, scope: Mapping[str, str]) -> Atom:
        """A function term. Undeclared functions pass: many domains leave `total-cost` out."""
        if not block or not isinstance(block[0], str):
            raise self.error(f"expected '(function ...)', got '{_brief(block)}'", block.line)
        name = block[0]
        if name in self.functions and self.functions[name].arity != len(block) - 1:
            arity = self.functions[name].arity
            raise self.error(f"'{name}' has {arity} arguments, got {len(block) - 1}", block.line)
        return Atom(name, self.parse_terms(block, scope))


class _DomainParser(_Parser):
    def parse(self, block: _Block) -> Domain:
        name, sections = _split_sections(block, "domain", _DOMAIN_SECTIONS, self.file)
        for section in sections.get(":types", ()):
            self.types = self.parse_types(section)
        for section in sections.get(":constants", ()):
            self.parse_objects(section)
        for section in sections.get(":predicates", ()):
            for item, line in zip(section[1:], section.lines[1:], strict=True):
                self.declare(self.predicates, item, line)
        for section in sections.get(":functions", ()):
            for item, types, line in self.typed_list(section, 1):
                if types not in (("number",), ("object",)):
                    raise self.unsupported(f"functions of type '{types[0]}' are not supported", line)
                self.declare(self.functions, item, line)
        rules = tuple(self.parse_rule(section) for section in sections.get(":derived", ()))
        derived = {rule.predicate for rule in rules}
        actions: dict[str, Action] = {}
        for section in sections.get(":action", ()):
            action = self.parse_action(section, derived)
            if action.name in actions:
                raise self.error(f"second action '{action.name}'", section.line)
            actions[action.name] = action
        requirements = self.words(sections.get(":requirements", [_Block(0)])[0])
        domain = Domain(
            name,
            requirements,
            self.types,
            self.objects,
            self.predicates,
            self.functions,
            actions,
            rules,
        )
        self.check_stratified(domain, sections.get(":derived", []))
        return domain

    def parse_types(self, section: _Block) -> dict[str, str]:
        types: dict[str, str] = {}
        for name, parents, line in self.typed_list(section, 1):
            if not isinstance(name, str) or len(parents) > 1:
                raise self.error(f"expected one type with one parent, got '{_brief(name)}'", line)
            if types.get(name, "object") not in ("object", parents[0]):
                raise self.error(f"type '{name}' has two parents", line)
            # A type may be listed before, after, or only as the parent of others.
            types.setdefault(parents[0], "object")
            types[name] = parents[0]
            kind = name
            while kind != "object":
                kind = types[kind]
                if kind == name:
                    raise self.error(f"type '{name}' is its own ancestor", line)
        types.pop("object", None)
        return types

    def declare(self, table: dict[str, Predicate], item: str | _Block, line: int) -> None:
        """Enter a predicate or function; an unknown type is harmless here and only warned about."""
        if not isinstance(item, _Block) or not item or not isinstance(item[0], str):
            raise self.error(f"expected '(name ?variable ...)', got '{_brief(item)}'", line)
        parameters: list[Parameter] = []
        for variable, types, at in self.typed_list(item, 1):
            if not isinstance(variable, str) or not variable.startswith("?"):
                raise self.error(f"expected a variable, got '{_brief(variable)}'", at)
            for kind in types:
                if kind != "object" and kind not in self.types:
                    logger.warning("%s:%d: undeclared type '%s' taken as object", self.file, at, kind)
                    types = ("object",)
            parameters.append(Parameter(variable, types))
        name = item[0]
        if name in ("=", "and", "or", "not", "imply", "forall", "exists", "when"):
            raise self.error(f"'{name}' cannot be declared", line)
        if name in table and table[name].arity != len(parameters):
            raise self.error(f"'{name}' is declared twice, with different arguments", line)
        table.setdefault(name, Predicate(name, tuple(parameters)))

    def parse_rule(self, section: _Block) -> Rule:
        self.check_length(section, 3)
        head = section[1]
        if not isinstance(head, _Block) or not head or not isinstance(head[0], str):
            raise self.error(f"expected '(predicate ...)', got '{_brief(head)}'", section.line)
        if head[0] not in self.predicates:
            raise self.error(f"undeclared predicate '{head[0]}'", head.line)
        self.variables = set()
        scope: dict[str, str] = {}
        parameters = self.parse_parameters(head, head.line, scope, start=1)
        if len(parameters) != self.predicates[head[0]].arity:
            arity = self.predicates[head[0]].arity
            raise self.error(f"'{head[0]}' has {arity} arguments, got {len(parameters)}", head.line)
        return Rule(head[0], parameters, self.parse_formula(section[2], section.lines[2], scope))

    def check_stratified(self, domain: Domain, sections: Iterable[_Block]) -> None:
        for rule, section in zip(domain.rules, sections, strict=True):
            for atom, positive in literals(rule.condition):
                if not positive and rule.predicate in domain.derived.get(atom.predicate, ()):
                    raise self.error(
                        f"derived predicate '{rule.predicate}' depends on its own negation "
                        f"through '{atom.predicate}'",
                        section.line,
                    )

    def parse_action(self, section: _Block, derived: set[str]) -> Action:
        if len(section) < 2 or not isinstance(section[1], str):
            raise self.error("expected the name of the action", section.line)
        name = section[1]
        fields: dict[str, tuple[str | _Block, int]] = {}
        for i in range(2, len(section), 2):
            field = section[i]
            if field not in (":parameters", ":precondition", ":effect") or field in fields:
                got = _brief(field)
                raise self.error(
                    f"action '{name}': expected :parameters, :precondition or :effect, got '{got}'",
                    section.lines[i],
                )
            if i + 1 == len(section):
                raise self.error(f"action '{name}': '{field}' has no value", section.lines[i])
            fields[str(field)] = (section[i + 1], section.lines[i + 1])
        nothing = (_Block(section.line), section.line)
        self.variables = set()
        scope: dict[str, str] = {}
        parameters = self.parse_parameters(*fields.get(":parameters", nothing), scope)
        precondition = self.parse_formula(*fields.get(":precondition", nothing), scope)
        effects: list[Effect] = []
        costs: list[int | Atom] = []
        block, line = fields.get(":effect", nothing)
        for part in self.parse_effect(block, line, scope, (), (), derived):
            if isinstance(part, Effect):
                effects.append(part)
            else:
                costs.append(part)
        if len(costs) > 1:
            raise self.unsupported(f"action '{name}' increases (total-cost) twice", section.line)
        cost = costs[0] if costs else None
        return Action(name, parameters, precondition, tuple(effects), cost)

    def parse_effect(
        self,
        block: str | _Block,
        line: int,
        scope: Mapping[str, str],
        parameters: tuple[Parameter, ...],
        conditions: tuple[Formula, ...],
        derived: set[str],
    ) -> Iterator[Effect | int | Atom]:
        """Flatten a nested effect into conditional literals and what the cost grows by."""
        if not isinstance(block, _Block):
            raise self.error(f"expected an effect in parentheses, got '{block}'", line)
        head = block[0] if block else "and"
        if head == "and":
            for item, at in zip(block[1:], block.lines[1:], strict=True):
                yield from self.parse_effect(item, at, scope, parameters, conditions, derived)
        elif head == "forall":
            self.check_length(block, 3)
            inner = dict(scope)
            more = self.parse_parameters(block[1], block.lines[1], inner)
            yield from self.parse_effect(
                block[2], block.lines[2], inner, parameters + more, conditions, derived
            )
        elif head == "when":
            self.check_length(block, 3)
            condition = self.parse_formula(block[1], block.lines[1], scope)
            yield from self.parse_effect(
                block[2], block.lines[2], scope, parameters, (*conditions, condition), derived
            )
        elif head == "increase":
            self.check_length(block, 3)
            if str(block[1]) not in ("(total-cost)", "total-cost") or parameters or conditions:
                message = "only an unconditional (increase (total-cost) ...) is supported"
                raise self.unsupported(message, line)
            amount = block[2]
            if isinstance(amount, _Block):
                yield self.parse_function(amount, scope)
            else:
                yield self.parse_number(amount, block.lines[2])
        else:
            if head == "not":
                self.check_length(block, 2)
            atom = self.parse_atom(block[1] if head == "not" else block, line, scope)
            if atom.predicate == "=" or atom.predicate in derived:
                raise self.error(f"no effect can change '{atom.predicate}'", line)
            condition = conditions[0] if len(conditions) == 1 else And(conditions)
            yield Effect(parameters, condition, atom, head != "not")


class _ProblemParser(_Parser):
    def __init__(self, file: str, domain: Domain) -> None:
        super().__init__(file)
        self.domain = domain
        self.types = domain.types
        self.objects = dict(domain.constants)
        self.predicates = dict(domain.predicates)
        self.functions = dict(domain.functions)

    def parse(self, block: _Block) -> Problem:
        name, sections = _split_sections(block, "problem", _PROBLEM_SECTIONS, self.file)
        for keyword in (":domain", ":init", ":goal"):
            if keyword not in sections:
                raise self.error(f"the problem has no '{keyword}'", block.line)
        domain_name = self.parse_domain_name(sections[":domain"][0])
        objects: dict[str, str] = {}
        for section in sections.get(":objects", ()):
            objects = self.parse_objects(section)
        init, costs = self.parse_init(sections[":init"][0])
        goal_block = sections[":goal"][0]
        self.check_length(goal_block, 2)
        goal = self.parse_formula(goal_block[1], goal_block.lines[1], {})
        metric = any(self.parse_metric(section) for section in sections.get(":metric", ()))
        requirements = self.words(sections.get(":requirements", [_Block(0)])[0])
        return Problem(name, domain_name, requirements, objects, init, costs, goal, metric)

    def parse_domain_name(self, section: _Block) -> str:
        self.check_length(section, 2)
        (name,) = self.words(section)
        if name != self.domain.name:
            message = "%s:%d: the problem is for domain '%s', the domain is called '%s'"
            logger.warning(message, self.file, section.line, name, self.domain.name)
        return name

    def parse_init(self, section: _Block) -> tuple[frozenset[GroundAtom], dict[GroundAtom, int]]:
        """Facts and function values. A negated fact adds nothing: what is not listed is false."""
        facts: set[GroundAtom] = set()
        costs: dict[GroundAtom, int] = {}
        for item, line in zip(section[1:], section.lines[1:], strict=True):
            if isinstance(item, _Block) and item[:1] == ["="]:
                self.check_length(item, 3)
                term = item[1] if isinstance(item[1], _Block) else _Block(line)
                function = self.parse_function(term, {})
                value = self.parse_number(item[2], item.lines[2])
                key = (function.predicate, *function.terms)
                if costs.setdefault(key, value) != value:
                    raise self.error(f"{function} has two values", line)
                continue
            negated = isinstance(item, _Block) and item[:1] == ["not"]
            if negated:
                assert isinstance(item, _Block)
                self.check_length(item, 2)
            atom = self.parse_atom(item[1] if negated else item, line, {})
            if atom.predicate in self.domain.derived:
                raise self.error(f"derived predicate '{atom.predicate}' in :init", line)
            if not negated:
                facts.add((atom.predicate, *atom.terms))
        return frozenset(facts), costs

    def parse_metric(self, section: _Block) -> bool:
        """Whether the metric is the total cost; `total-time` of a sequential plan is its length."""
        text = " ".join(map(str, section[1:]))
        if text in ("minimize (total-cost)", "minimize total-cost"):
            return True
        if text in ("minimize (total-time)", "minimize total-time"):
            return False
        raise self.unsupported(f"metric '{_brief(text)}'; only minimize (total-cost)", section.line)
