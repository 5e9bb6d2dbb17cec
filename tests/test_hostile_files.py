"""Files from strangers: whatever is in them, the answer is one line, soon, and in bounded memory."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar import container
from hstar.errors import HstarError, InputError
from hstar.experiments.job import Job, Outcome
from hstar.experiments.store import Store
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
            f"P2 2 1 1 {ZEROS}",
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


# Memory: a few times the size of the file, beside what the imports take.

MOST_MEMORY = 800 << 20
# The peak of this program alone; what wait4 tells includes the process that it was forked from.
MEASURED = """
import atexit, pathlib, re, sys
status = pathlib.Path("/proc/self/status")
atexit.register(lambda: print(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1]))
from hstar.cli import main
main()
"""


def run(*words: str | Path) -> tuple[int, str, int]:
    """Exit code, messages and peak memory of a command."""
    command = [sys.executable, "-c", MEASURED, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, int(done.stdout.split()[-1]) << 10


def refused(*words: str | Path) -> str:
    """The one line of a command that refuses its input without much memory."""
    code, errors, memory = run(*words)
    assert code in (31, 33) and errors.count("\n") == 1 and errors.startswith("hstar: error: "), errors
    assert memory < MOST_MEMORY
    return errors


HEADER: dict[str, Any] = {
    "estimate": {"name": "point"},
    "rule": {"name": "mean"},
    "recipe": "prolonged",
    "recipe_config": {},
    "seed": 0,
    "encoder": None,
    "base": None,
    "lower": None,
    "upper": None,
    "search": {},
    "summary": {},
    "versions": {},
    "trained_on": [],
}
MAPS = {"kind": "map", "neighbours": 4, "cut_corners": False, "sizes": [[9, 9]]}
DOMAINS = {"kind": "domain", "domain": "d", "predicates": [["p", 1]], "types": [], "constants": []}


@pytest.mark.parametrize(
    ("space", "model", "options", "message"),
    [
        (MAPS, "value-map", {"channels": 4096, "rounds": 16}, "ask for (4096"),
        (MAPS, "vin", {"width": 4096, "waves": 4096}, "ask for (4096"),
        (MAPS, "value-map", {"rounds": 10**7}, "rounds must be a whole number from 1 to 256"),
        (DOMAINS, "nlm", {"depth": 10**7}, "depth must be a whole number from 1 to 256"),
        (DOMAINS, "nlm", {"features": 10**6}, "features must be a whole number from 1 to 4096"),
        (DOMAINS, "hgn", {"hidden": 10**6}, "hidden must be a whole number from 1 to 4096"),
        (DOMAINS, "hgn", {"steps": 10**9}, "steps must be a whole number from 1 to 1024"),
    ],
)
def test_sizes_of_a_model_are_those_of_its_file(
    tmp_path: Path, space: dict[str, Any], model: str, options: dict[str, Any], message: str
) -> None:
    header = {**HEADER, "space": space, "model": model, "model_config": options}
    path = tmp_path / "small.hstar"
    container.write(path, "model", 2, header, {"first.bias": np.zeros(9, dtype=np.float32)})
    assert message in refused("info", path)


def test_a_large_file_is_refused_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "sparse.hstar"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    assert "not a model of hstar" in refused("info", path)
    path = tmp_path / "other.hstar"
    container.write(path, "dataset", 1, {}, {})
    with path.open("ab") as file:
        file.truncate(3 << 30)
    assert "a dataset of hstar, expected a model" in refused("info", path)


def png(rows: int, columns: int, pixels: bytes) -> bytes:
    parts = [(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)), (b"IDAT", pixels)]
    chunks = [struct.pack(">I", len(body)) + kind + body for kind, body in parts]
    checks = [struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(a + b for a, b in zip(chunks, checks, strict=True))


def test_images_are_unpacked_in_bounded_memory(tmp_path: Path) -> None:
    side, path = 2**12, tmp_path / "map.png"
    grey = zlib.compress((b"\0" + b"\xff" * 4 * side) * (side - 1) + b"\0" + b"\x80" * 4 * side)
    path.write_bytes(png(side, side, grey))
    assert path.stat().st_size < 100_000
    assert f"cell ({side - 1}, 0) is neither black nor white" in refused("info", path)
    path.write_bytes(png(side, side, grey[:1000]))
    assert "some pixels are missing" in refused("info", path)
    path.write_bytes(png(2**14, 2**14, grey))
    assert "1 to 67108864 are possible" in refused("info", path)


def test_headers_of_arrays_and_maps(tmp_path: Path) -> None:
    path = tmp_path / "map.npy"
    for shape in (b"(10**9, 10**9)", b"(99999, 99999)"):
        np.save(path, np.zeros((10, 10), dtype=np.uint8))
        head = path.read_bytes()
        path.write_bytes(head.replace(b"(10, 10), }" + b" " * (len(shape) - 8), shape + b", }", 1))
        assert "is no array of numbers" in refused("info", path)
    path = tmp_path / "a.map"
    path.write_text("type octile\nheight 9999\nwidth 999999999\nmap\n" + "\n" * 9998 + ".")
    assert "1 to 67108864 are possible" in refused("info", path)


# Runs.


def small_run(folder: Path) -> Path:
    job = Job(
        "search", ("{python}", "-m", "hstar"), {}, ("plan",), labels={"contestant": "c", "instance": "i"}
    )
    record = {"status": "solved", "expanded": 1}
    with Store(folder) as store:
        store.add([job])
        store.record(job, Outcome(record, {"plan": b"(a)"}, "log", {"host": "h"}, 0.0, 1.0))
    return folder


def test_artefacts_of_a_run_are_below_it(tmp_path: Path) -> None:
    with Store(small_run(tmp_path / "run"), read_only=True) as store:
        for digest in ("../../../../etc/passwd", "", "0" * 63, "G" * 64, "0" * 64 + "\n", "/" + "0" * 63):
            with pytest.raises(InputError, match="is no digest"):
                store.get(digest)
        path = store.path("0" * 64)
        path.parent.mkdir(parents=True)
        os.mkfifo(path)
        with pytest.raises(InputError, match="not a regular file"):
            store.get("0" * 64)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER again AFTER INSERT ON job BEGIN DELETE FROM job; END",
        "CREATE TABLE other (a)",
        "UPDATE attempt SET record = 'x'",
        "UPDATE attempt SET record = '{}'",
        "UPDATE attempt SET record = '[1]'",
        "UPDATE attempt SET machine = '{}'",
        "UPDATE attempt SET machine = x'ff'",
        "UPDATE label SET labels = '[]'",
        "UPDATE label SET labels = CAST(x'ff' AS TEXT)",
        "DROP TABLE label",
        "PRAGMA user_version = 1",
    ],
)
def test_tables_of_a_run(tmp_path: Path, statement: str) -> None:
    folder = small_run(tmp_path / "run")
    with sqlite3.connect(folder / "results.sqlite") as database:
        database.execute(statement)
    database.close()
    with pytest.raises(InputError) as caught, Store(folder, read_only=True) as store:
        store.rows()
    assert "\n" not in str(caught.value)


def test_damage_anywhere_in_a_run(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run")
    file = folder / "results.sqlite"
    whole, random = file.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        data = bytearray(whole)
        for at in random.integers(len(whole), size=int(random.integers(1, 40))):
            data[at] = int(random.integers(256))
        file.write_bytes(data[: int(random.integers(len(whole)))] if random.random() < 0.2 else data)
        try:
            with Store(folder, read_only=True) as store:
                for read in (store.rows, store.latest, store.origins, store.machines, store.unfinished):
                    read()
        except InputError as error:
            assert "\n" not in str(error)
