"""The translator process and its cache: results, limits, failures, damage, concurrency."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hstar.errors import HstarError, InputError, PDDLError, TranslatorLimitError
from hstar.spaces.translate import find_domain, translate

DATA = Path(__file__).parents[1] / "data"
BENCHMARKS = Path(__file__).parents[2].parent / "shared" / "benchmarks"
BLOCKS = (DATA / "blocks" / "domain.pddl", DATA / "blocks" / "problem.pddl")


@pytest.mark.parametrize("name", ["blocks", "costs", "briefcase", "reach", "unsolvable"])
def test_translates(name: str) -> None:
    sas = translate(DATA / name / "domain.pddl", DATA / name / "problem.pddl")
    assert sas.startswith(b"begin_version\n3\n")
    assert (b"begin_rule" in sas) == (name in ("reach", "briefcase"))


# Failures.


@pytest.mark.parametrize(
    ("domain", "problem", "words"),
    [
        ("broken/syntax.pddl", "blocks/problem.pddl", "syntax.pddl:4:3: missing ')'"),
        ("broken/empty.pddl", "blocks/problem.pddl", "empty.pddl: the file is empty"),
        ("broken/binary.pddl", "blocks/problem.pddl", "binary.pddl:2:1: not a text file"),
        ("blocks/domain.pddl", "broken/unknown-type.pddl", "unknown-type.pddl:4:17: undeclared type"),
        ("blocks/domain.pddl", "broken/undeclared-predicate.pddl", "pddl:5:10: undeclared predicate"),
        ("blocks/domain.pddl", "costs/problem.pddl", "costs/problem.pddl:3:30: undeclared type"),
    ],
)
def test_broken_pddl_is_named_with_its_line(domain: str, problem: str, words: str) -> None:
    with pytest.raises(PDDLError) as caught:
        translate(DATA / domain, DATA / problem)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 31


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.pddl: "):
        translate(BLOCKS[0], tmp_path / "none.pddl")


def test_what_only_the_translator_refuses_is_its_own_words(tmp_path: Path) -> None:
    """`either` in action parameters is fine PDDL that the translator does not take."""
    text = BLOCKS[0].read_text().replace("(?x - block)\n", "(?x - (either block))\n", 1)
    (tmp_path / "domain.pddl").write_text(text)
    with pytest.raises(PDDLError, match="single word") as caught:
        translate(tmp_path / "domain.pddl", BLOCKS[1])
    assert "\n" not in str(caught.value)


def test_time_limit() -> None:
    start = time.monotonic()
    with pytest.raises(TranslatorLimitError) as caught:
        translate(*BLOCKS, time_limit=0.001)
    assert caught.value.exit_code == 21
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("megabytes", [4, 24])
def test_memory_limit(megabytes: int) -> None:
    """Too little for Python to start, and too little for the translator."""
    with pytest.raises(TranslatorLimitError) as caught:
        translate(*BLOCKS, memory_limit=megabytes << 20)
    assert caught.value.exit_code == 20


def test_interrupt_leaves_no_process_behind(tmp_path: Path) -> None:
    """Ctrl-C while the translator runs: the caller sees KeyboardInterrupt, the child is gone."""
    fake = tmp_path / "fast_downward" / "translate"
    fake.mkdir(parents=True)
    (fake.parent / "__init__.py").touch()
    (fake / "__init__.py").touch()
    marker = tmp_path / "pid"
    (fake / "__main__.py").write_text(
        f"import os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    code = (
        "from pathlib import Path\nfrom hstar.spaces.translate import translate\n"
        f"try: translate(Path({str(BLOCKS[0])!r}), Path({str(BLOCKS[1])!r}))\n"
        "except KeyboardInterrupt: raise SystemExit(130)\n"
    )
    path = os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    try:
        deadline = time.monotonic() + 20
        while not (marker.exists() and marker.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        parent.send_signal(2)
        assert parent.wait(timeout=10) == 130
    finally:
        parent.kill()
        parent.wait()
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


def test_missing_translator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare = tmp_path / "python"  # without installed packages
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(bare))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(HstarError, match="not installed"):
        translate(*BLOCKS)


# The domain file.


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ("domain.pddl", "p01.pddl"),
        ("p01-domain.pddl", "p01.pddl"),
        ("p01-domain.pddl", "p01-airport1.pddl"),
        ("domain_p01.pddl", "p01.pddl"),
        ("domain-p01.pddl", "p01.pddl"),
    ],
)
def test_find_domain(tmp_path: Path, domain: str, problem: str) -> None:
    (tmp_path / domain).touch()
    assert find_domain(tmp_path / problem) == tmp_path / domain


def test_find_domain_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"domain\.pddl.*p01-domain\.pddl.*domain-p01\.pddl"):
        find_domain(tmp_path / "p01.pddl")


@pytest.mark.slow
@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the shared benchmark folder is not here")
def test_first_problem_of_every_benchmark_domain_is_taken(caplog: pytest.LogCaptureFixture) -> None:
    for folder in sorted((BENCHMARKS / "ipc").iterdir()):
        problem = min(path for path in folder.glob("*.pddl") if "domain" not in path.name)
        assert translate(find_domain(problem), problem).startswith(b"begin_version")
    assert "leniently" not in caplog.text
