"""The reader of `.sas` files: agrees with the oracle on good text, answers bad text with one InputError."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import HAND_MADE, RANDOM, Case, Cases, random_text
from hstar import _core
from hstar.errors import InputError
from oracles import sas

TEXTS = [*HAND_MADE.values(), *(random_text(*arguments) for arguments in RANDOM.values())]
HOSTILE = [-1, -(2**31), -(2**63), 2**31 - 1, 2**31, 2**32, 2**63, 10**30, 1_000_000]


def parse(text: str) -> _core.Task | None:
    """The task, or None for an InputError that names a line of the text."""
    try:
        return _core.Task.parse(text.encode())
    except InputError as error:
        assert error.line is not None
        assert 1 <= error.line <= text.count("\n") + 2
        assert error.message
        assert "\n" not in error.message
        return None


def test_good_text_is_read_as_the_oracle_reads_it(case: Case) -> None:
    core, oracle = case.task.core, case.oracle
    assert core.num_variables == len(oracle.variables)
    assert core.fact_names == [list(v.facts) for v in oracle.variables]
    assert core.variable_names == [v.name for v in oracle.variables]
    assert core.axiom_layers == [v.layer for v in oracle.variables]
    assert core.num_facts == sum(len(v.facts) for v in oracle.variables)
    assert core.goal == list(oracle.goal)
    assert core.default_values == list(oracle.defaults)
    assert core.initial_state == list(oracle.initial)
    assert core.mutex_groups == [list(group) for group in oracle.mutexes]
    assert core.uses_metric == oracle.metric
    assert core.num_operators == len(oracle.operators)
    for index, wanted in enumerate(oracle.operators):
        got = core.operator(index)
        assert (got.name.strip(), got.cost) == (wanted.name, wanted.cost)
        assert set(got.preconditions) == set(wanted.preconditions)
        effects = [(set(e.conditions), *e.fact) for e in wanted.effects]
        assert [(set(conditions), v, value) for conditions, v, value in got.effects] == effects
    assert core.num_axioms == len(oracle.axioms)
    for index, wanted in enumerate(oracle.axioms):
        got = core.axiom(index)
        assert (set(got.conditions), (got.variable, got.value)) == (set(wanted.conditions), wanted.fact)
    for bad in (core.num_operators, core.num_operators + 7):
        with pytest.raises(IndexError):
            core.operator(bad)
    with pytest.raises(IndexError):
        core.axiom(core.num_axioms)


def test_line_endings_and_spaces_do_not_matter(cases: Cases) -> None:
    text = cases["blocks"].text
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "  \n"), text.rstrip("\n"), text + "\n \n"):
        task = parse(other)
        assert task is not None
        assert task.goal == cases["blocks"].task.core.goal


@pytest.mark.parametrize("text", TEXTS)
def test_truncation_at_every_line_is_refused(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for end in range(len(lines)):
        short = "".join(lines[:end])
        with pytest.raises(InputError) as caught:
            _core.Task.parse(short.encode())
        assert caught.value.line is not None
        assert caught.value.line <= max(end, 0) + 1
        assert parse(short + "\0") is None


@pytest.mark.parametrize("text", [HAND_MADE["axioms"], HAND_MADE["conditional"], HAND_MADE["zero-costs"]])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_numbers_are_refused_at_once(text: str, hostile: int) -> None:
    """Each number of the file in turn becomes negative, huge or out of range."""
    lines = text.split("\n")
    start = time.perf_counter()
    before = _core.peak_memory()
    refused = 0
    for at, line in enumerate(lines):
        words = line.split()
        for word, value in enumerate(words):
            if not value.lstrip("-").isdigit():
                continue
            changed = " ".join([*words[:word], str(hostile), *words[word + 1 :]])
            task = parse("\n".join([*lines[:at], changed, *lines[at + 1 :]]))
            if task is None:
                refused += 1
                continue
            # What stays legal: -1 for "no value before" or "not derived", names, layers and costs.
            assert hostile in (-1, 1_000_000, 2**31 - 1), (line, changed)
            assert task.num_variables < 10
    assert refused > 0
    assert time.perf_counter() - start < 2
    assert _core.peak_memory() - before < 50e6


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda t: "", 1, "not a .sas file"),
        (lambda t: "(define (problem x))", 1, "not a .sas file"),
        (lambda t: t.replace("\n3\n", "\n4\n", 1), 2, "version 4 of the format; only 3"),
        (lambda t: t.replace("begin_metric\n1", "begin_metric\n2"), 5, "metric flag must be 0 or 1"),
        (lambda t: t.replace("end_metric\n1\n", "end_metric\n99\n"), 7, "99. is more than the file can hold"),
        (lambda t: t.replace("end_metric\n1\n", "end_metric\n-1\n"), 7, "is negative"),
        (lambda t: t.replace("begin_state\n0\n", "begin_state\n4\n"), 19, r"value 4 of v is not in 0\.\.3"),
        (lambda t: t.replace("0 0 0 1\n2", "0 9 0 1\n2"), 30, "variable 9 does not exist"),
        (lambda t: t.replace("0 0 0 1\n2", "0 0 0 1 7\n2"), 30, "unexpected '7' at the end of the line"),
        (lambda t: t.replace("0 0 0 1\n2", "0 0 0 1\n-2"), 31, "cost of 'a' is negative"),
        (lambda t: t.replace("0 0 0 1\n2", "0 0 0 1\n999999999"), 31, r"cost of 'a' is above 2\^29"),
        (lambda t: t.replace("0 0 0 1\n2", "0 0 0 x\n2"), 30, "expected a value, got 'x'"),
        (lambda t: t + "more\n", 55, "text after the last section"),
        (lambda t: t.replace("1\n0 2\nend_goal", "2\n0 2\n0 1\nend_goal"), 24, "asks for two values of v"),
    ],
)
def test_messages_name_the_line_and_what_is_wrong(
    change: Callable[[str], str], line: int, message: str
) -> None:
    text = HAND_MADE["chain"]
    assert change(text) != text
    with pytest.raises(InputError, match=message) as caught:
        _core.Task.parse(change(text).encode())
    assert caught.value.line == line


def test_axioms_and_operators_keep_to_their_variables() -> None:
    axioms = HAND_MADE["axioms"]
    with pytest.raises(InputError, match="sets the derived variable"):
        _core.Task.parse(axioms.replace("0 0 0 1\n1\nend_operator", "0 2 0 1\n1\nend_operator", 1).encode())
    with pytest.raises(InputError, match="which is not derived"):
        _core.Task.parse(axioms.replace("2 1 0\nend_rule", "1 1 0\nend_rule").encode())
    with pytest.raises(InputError, match="higher layer"):
        _core.Task.parse(axioms.replace("0 1\n2 1 0", "4 0\n2 1 0").encode())


WORDS = st.one_of(
    st.sampled_from(
        ["", "0", "1", "-1", "2", "begin_state", "end_rule", "begin_operator", "Atom x", "\r", "\0"]
    ),
    st.sampled_from(HOSTILE).map(str),
    st.text(max_size=8),
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good text with a few lines or words replaced, doubled, dropped or swapped."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["replace", "word", "insert", "drop", "double", "swap", "number"]))
        if kind == "replace":
            lines[at] = draw(WORDS)
        elif kind in ("word", "number"):
            words = lines[at].split(" ")
            chosen = draw(st.integers(0, len(words) - 1))
            words[chosen] = str(draw(st.integers(-2, 6))) if kind == "number" else draw(WORDS)
            lines[at] = " ".join(words)
        elif kind == "insert":
            lines.insert(at, draw(WORDS))
        elif kind == "drop" and len(lines) > 1:
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines)


@settings(max_examples=600, deadline=1000)
@given(text=mutated())
def test_mutated_text_is_read_or_refused(text: str) -> None:
    """Never a crash; and what is still read can be searched and has a state of the right shape."""
    task = parse(text)
    if task is None:
        return
    state = task.initial_state
    assert len(state) == task.num_variables
    for operator in task.applicable_operators(state):
        assert len(task.successor(state, operator)) == task.num_variables
    for name in ("blind", "goalcount", "hmax", "ff"):
        _core.search(task, "gbfs", [_core.symbolic_heuristic(task, name)], limits=_core.Limits(expansions=50))


@settings(max_examples=200, deadline=1000)
@given(
    data=st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(lambda b: b"begin_version\n3\n" + b))
)
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        _core.Task.parse(data)


@settings(max_examples=150, deadline=2000)
@given(text=mutated())
def test_what_both_read_means_the_same(text: str) -> None:
    """The oracle is more lenient, but where both read a text they see the same initial state."""
    task = parse(text)
    if task is None:
        return
    try:
        oracle = sas.parse(text)
    except (sas.FormatError, ValueError, IndexError):
        return
    if any(len({axiom.fact for axiom in oracle.axioms if axiom.fact[0] == v}) > 1 for v in range(9)):
        return  # two derived values of one variable: outside the format
    if not stratified(oracle):
        return
    state = oracle.initial
    assert task.initial_state == list(state)
    wanted = sorted(index for index, _ in sas.successors(oracle, state))
    assert sorted(task.applicable_operators(state)) == wanted


def stratified(oracle: sas.Task) -> bool:
    """No axiom asks for the default of its own layer, and none derives a default."""
    for axiom in oracle.axioms:
        layer = oracle.variables[axiom.fact[0]].layer
        if oracle.defaults[axiom.fact[0]] == axiom.fact[1]:
            return False
        for v, value in axiom.conditions:
            if oracle.variables[v].layer == layer and value == oracle.defaults[v]:
                return False
    return True


def test_unit_cost_and_no_metric_make_every_cost_one(cases: Cases) -> None:
    text = cases["chain"].text
    plain = _core.Task.parse(text.encode())
    assert [plain.operator(i).cost for i in range(4)] == [2, 3, 7, 1]
    assert not plain.unit_cost
    for task in (
        _core.Task.parse(text.encode(), unit_cost=True),
        _core.Task.parse(text.replace("begin_metric\n1", "begin_metric\n0").encode()),
    ):
        assert [task.operator(i).cost for i in range(4)] == [1, 1, 1, 1]
        assert task.unit_cost
