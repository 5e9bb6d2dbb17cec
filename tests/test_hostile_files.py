"""Files from strangers: whatever is in them, the answer is one line, soon, and in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hstar.errors import HstarError
from hstar.experiments.suite import read_suite
from hstar.spaces.grid_files import load_map, load_scenarios
from hstar.spaces.load import kind_of
from hstar.spaces.pddl import read_task
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.task import load_task, parse_atom
from hstar.spaces.validate import read_plan
from hstar.units import parse_count, parse_memory, parse_time

MOST_S = 5.0
N = 100_000
BLANKS, ZEROS, WORDS, BRACKETS = " " * N, "0" * N, "a " * N, "(" * N
DOMAIN = "(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))"


def _pddl(path: Path) -> None:
    path.with_name("domain.pddl").write_text(DOMAIN)
    read_task(path.with_name("domain.pddl"), path)


READERS: dict[str, tuple[str, Callable[[Path], Any], list[str]]] = {
    "pgm": (
        "map.pgm",
        load_map,
        [
            f"P2{BLANKS}x",
            f"P2 {'#' * N}",
            "P2" + "#\n" * N,
            f"P5 1{BLANKS}x",
            f"P2 1 1 1 {ZEROS}",
            f"P2 {ZEROS}",
        ],
    ),
    "map": (
        "a.map",
        load_map,
        [f"type{BLANKS}x", f"type octile\nheight{BLANKS}x", f"type octile\nheight {ZEROS}"],
    ),
    "scenarios": (
        "a.scen",
        load_scenarios,
        [f"version{BLANKS}x", f"version 1\n{WORDS}", f"version 1\n0\t{BLANKS}"],
    ),
    "ros": ("a.yaml", load_map, [f"image:{BLANKS}", f"negate: {ZEROS}x", ":" * N]),
    "plan": (
        "plan",
        read_plan,
        [f"({BLANKS}", f"({WORDS}", f"{ZEROS}{BLANKS}x", f"(a){BLANKS}[", f"(a) [{ZEROS}", BRACKETS],
    ),
    "pddl": (
        "p.pddl",
        _pddl,
        [BRACKETS, f"({BLANKS}", f"(define (problem p) (:goal {'(not ' * N}", "(" + "() " * N],
    ),
    "sas": (
        "a.sas",
        load_task,
        ["begin_state\n" * N, f"begin_version\n3{BLANKS}x", f"begin_version\n{ZEROS}"],
    ),
    "suite": (
        "a.toml",
        read_suite,
        [
            f"a = {'[' * N}",
            f"[{BLANKS}x",
            f"[[plan]]\nname = 1{BLANKS}",
            f'[[plan]]\n"{ZEROS}" = 1',
            "[a]\n" * N,
            f"[limits]\nmemory = {'{ a = ' * N}",
        ],
    ),
    "instances": (
        "a.csv",
        parse_puzzle("tiles:3x3").read,
        [f"id,tiles\n1,{ZEROS}", f"id,tiles\n1,{BLANKS}x", '"' * N],
    ),
}
CASES = [(name, i) for name, (_, _, texts) in READERS.items() for i in range(len(texts))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_readers_take_linear_time(tmp_path: Path, name: str, number: int) -> None:
    file, read, texts = READERS[name]
    path = tmp_path / file
    path.write_text(texts[number])
    started = time.monotonic()
    with pytest.raises(HstarError):
        read(path)
    assert time.monotonic() - started < MOST_S


@pytest.mark.parametrize(
    "text", [f"1{BLANKS}!", f"{ZEROS}!", f"{ZEROS}.{ZEROS}!", f"{BLANKS}x", BRACKETS, "(), " * N]
)
@pytest.mark.parametrize("parse", [parse_time, parse_memory, parse_count, parse_atom, parse_puzzle, kind_of])
def test_words_take_linear_time(parse: Callable[[str], Any], text: str) -> None:
    started = time.monotonic()
    try:
        parse(text)
    except HstarError as error:
        assert str(error)
    assert time.monotonic() - started < MOST_S
