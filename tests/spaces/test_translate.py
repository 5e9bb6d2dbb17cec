"""The translator process and its cache: results, limits, failures, damage, concurrency."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hstar.errors import HstarError, InputError, PDDLError, TranslatorLimitError
from hstar.spaces import translate as module
from hstar.spaces.translate import find_domain, translate

DATA = Path(__file__).parents[1] / "data"
BENCHMARKS = Path(__file__).parents[2].parent / "shared" / "benchmarks"
BLOCKS = (DATA / "blocks" / "domain.pddl", DATA / "blocks" / "problem.pddl")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The problems that the translator has really been started on."""
    started: list[Path] = []
    real = module._run

    def counted(domain: Path, problem: Path, *rest: object) -> bytes:
        started.append(problem)
        return real(domain, problem, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_run", counted)
    return started


@pytest.mark.parametrize("name", ["blocks", "costs", "briefcase", "reach", "unsolvable"])
def test_translates(name: str) -> None:
    sas = translate(DATA / name / "domain.pddl", DATA / name / "problem.pddl", cache=False)
    assert sas.startswith(b"begin_version\n3\n")
    assert (b"begin_rule" in sas) == (name in ("reach", "briefcase"))


def test_second_time_comes_from_the_cache(tmp_path: Path, runs: list[Path]) -> None:
    first = translate(*BLOCKS, cache_dir=tmp_path)
    assert translate(*BLOCKS, cache_dir=tmp_path) == first
    assert len(runs) == 1
    assert translate(*BLOCKS, cache=False) == first
    translate(*BLOCKS, cache_dir=tmp_path, keep_unimportant=True)
    assert len(runs) == 3


def test_cache_folder_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSTAR_CACHE_DIR", str(tmp_path / "mine"))
    translate(*BLOCKS)
    assert len(list((tmp_path / "mine").rglob("*.sas"))) == 1


def test_changed_content_is_translated_again(tmp_path: Path, runs: list[Path]) -> None:
    problem = tmp_path / "problem.pddl"
    problem.write_text(BLOCKS[1].read_text())
    first = translate(BLOCKS[0], problem, cache_dir=tmp_path)
    problem.write_text(BLOCKS[1].read_text().replace("(on D C) ", ""))
    assert translate(BLOCKS[0], problem, cache_dir=tmp_path) != first
    assert len(runs) == 2


@pytest.mark.parametrize("damage", ["truncated", "flipped", "emptied"])
def test_damaged_entries_are_made_again(tmp_path: Path, runs: list[Path], damage: str) -> None:
    first = translate(*BLOCKS, cache_dir=tmp_path)
    (entry,) = tmp_path.rglob("*.sas")
    data = entry.read_bytes()
    flipped = data[:500] + bytes([data[500] ^ 1]) + data[501:]
    entry.write_bytes({"truncated": data[:-20], "flipped": flipped, "emptied": b""}[damage])
    assert translate(*BLOCKS, cache_dir=tmp_path) == first
    assert len(runs) == 2
    assert entry.read_bytes() == data


def test_least_recently_used_entries_go_first(
    tmp_path: Path, runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [(DATA / n / "domain.pddl", DATA / n / "problem.pddl") for n in ("blocks", "costs")]
    for age, task in zip((500, 1000), tasks, strict=True):
        before = set(tmp_path.rglob("*.sas"))
        translate(*task, cache_dir=tmp_path)
        (new,) = set(tmp_path.rglob("*.sas")) - before
        os.utime(new, (time.time() - age,) * 2)
    translate(*tasks[1], cache_dir=tmp_path)  # older, but used last from here on
    sizes = [entry.stat().st_size for entry in tmp_path.rglob("*.sas")]
    monkeypatch.setenv("HSTAR_CACHE_LIMIT", str(sum(sizes)))
    translate(DATA / "reach" / "domain.pddl", DATA / "reach" / "problem.pddl", cache_dir=tmp_path)
    assert len(runs) == 3
    translate(*tasks[1], cache_dir=tmp_path)
    assert len(runs) == 3, "the entry used last should have stayed"
    translate(*tasks[0], cache_dir=tmp_path)
    assert len(runs) == 4, "the entry not used for longest should have gone"


def test_cache_limit_must_be_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSTAR_CACHE_LIMIT", "lots")
    with pytest.raises(InputError, match="HSTAR_CACHE_LIMIT"):
        translate(*BLOCKS, cache_dir=tmp_path)


def test_unwritable_cache_is_only_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "translate").write_text("a file where the folder should be")
    assert translate(*BLOCKS, cache_dir=tmp_path).startswith(b"begin_version")
    assert "cannot write the cache" in caplog.text


def test_concurrent_calls_agree(tmp_path: Path) -> None:
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(translate(*BLOCKS, cache_dir=tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(list(tmp_path.rglob("*.sas"))) == 1
    assert not list(tmp_path.rglob("*.tmp"))


# Failures.


@pytest.mark.parametrize(
    ("domain", "problem", "words"),
    [
        ("broken/syntax.pddl", "blocks/problem.pddl", "syntax.pddl:4: missing ')'"),
        ("broken/empty.pddl", "blocks/problem.pddl", "empty.pddl: the file is empty"),
        ("broken/binary.pddl", "blocks/problem.pddl", "binary.pddl:2: not a text file"),
        ("blocks/domain.pddl", "broken/unknown-type.pddl", "unknown-type.pddl:4: undeclared type"),
        ("blocks/domain.pddl", "broken/undeclared-predicate.pddl", "pddl:5: undeclared predicate"),
        ("blocks/domain.pddl", "costs/problem.pddl", "costs/problem.pddl:3: undeclared type"),
    ],
)
def test_broken_pddl_is_named_with_its_line(domain: str, problem: str, words: str) -> None:
    with pytest.raises(PDDLError) as caught:
        translate(DATA / domain, DATA / problem, cache=False)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 31


@pytest.mark.parametrize("cache", [True, False])
def test_missing_file(tmp_path: Path, cache: bool) -> None:
    with pytest.raises(InputError, match=r"none\.pddl: "):
        translate(BLOCKS[0], tmp_path / "none.pddl", cache=cache, cache_dir=tmp_path)


def test_what_only_the_translator_refuses_is_its_own_words(tmp_path: Path) -> None:
    """`either` in action parameters is fine PDDL that the translator does not take."""
    text = BLOCKS[0].read_text().replace("(?x - block)\n", "(?x - (either block))\n", 1)
    (tmp_path / "domain.pddl").write_text(text)
    with pytest.raises(PDDLError, match="single word") as caught:
        translate(tmp_path / "domain.pddl", BLOCKS[1], cache=False)
    assert "\n" not in str(caught.value)


def test_lenient_input_is_tidied_for_the_translator(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Another domain name, an unknown requirement, sections out of order: still the same task."""
    domain = BLOCKS[0].read_text().replace(":strips :typing", ":strips :typing :fancy")
    problem = BLOCKS[1].read_text().replace("(:domain blocks)", "(:domain bricks)")
    problem = problem.replace("(:goal (and (on D C) (on C B) (on B A))))", ")")
    problem = problem.replace("(:objects", "(:goal (and (on D C) (on C B) (on B A))) (:objects")
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(problem)
    sas = translate(tmp_path / "domain.pddl", tmp_path / "problem.pddl", cache=False)
    assert sas == translate(*BLOCKS, cache=False)
    assert "taken leniently" in caplog.text


def test_time_limit() -> None:
    start = time.monotonic()
    with pytest.raises(TranslatorLimitError) as caught:
        translate(*BLOCKS, cache=False, time_limit=0.001)
    assert caught.value.exit_code == 21
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("megabytes", [4, 24])
def test_memory_limit(megabytes: int) -> None:
    """Too little for Python to start, and too little for the translator."""
    with pytest.raises(TranslatorLimitError) as caught:
        translate(*BLOCKS, cache=False, memory_limit=megabytes << 20)
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
        f"try: translate(Path({str(BLOCKS[0])!r}), Path({str(BLOCKS[1])!r}), cache=False)\n"
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
    from importlib import metadata

    def gone(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", gone)
    with pytest.raises(HstarError, match="not installed"):
        translate(*BLOCKS, cache_dir=tmp_path)


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
        assert translate(find_domain(problem), problem, cache=False).startswith(b"begin_version")
    assert "leniently" not in caplog.text
