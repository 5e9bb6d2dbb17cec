"""Every snippet of README and docs/ is run, in the order of its page, or says in the page why it is not.

A page is one test. Its blocks share a folder with the files that pages speak of, and one Python session. A
comment before a block changes how it is run: `<!-- not run: REASON -->`, or `<!-- exit code N: REASON -->`.
Commands that train or solve for minutes are run with the smaller sizes of `SMALLER`.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt

from hstar.cli import main
from hstar.spaces.grid_files import write_map, write_png

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
RUN, SHOWN = ("sh", "python"), ("text", "toml", "json", "ini", "yaml")
COMMENT = re.compile(r"<!-- (not run|exit code (\d+)): (.+) -->")
# Sizes that take seconds, by the beginning of a command; options of a page replace them.
SMALLER = {
    "hstar train fsm": "--states 300 --epochs 3",
    "hstar train nrsl": "--states 300 --epochs 3",
    "hstar train likely-admissible": "--iterations 2 --nodes 2000",
    "hstar train bootstrap tiles": "--instances 10 --least-solved 5",
    "hstar train prolonged -o": "--scenarios 5 --updates 3",
    "hstar train prolonged map.png": "--scenarios 5 --updates 3",
    "hstar train truncated": "--updates 5",
    "hstar train wl": "--iterations 1",
    "hstar compare": "--time-limit 1s",
    "hstar sample fsm": "--states 300",
    "hstar sample optimal": "--time-limit 2s",
    "hstar solve": "--time-limit 10s",
}
# Smaller numbers where a page shows those that are worth while.
NUMBERS = {
    "--number 100": "--number 6",
    "--number 50": "--number 4",
    "--number 40": "--number 4",
    "--number 20": "--number 3",
    "--seeds 50": "--seeds 10",
    "--random 200": "--random 12",
    "--random 100": "--random 12",
    "--walks 100": "--walks 12",
    "--walks 50": "--walks 8",
    "--iterations 30": "--iterations 2",
    "--iterations 20": "--iterations 2",
    "--iterations 10": "--iterations 2",
    "--nodes 500000": "--nodes 2000",
    "--nodes 100000": "--nodes 2000",
    "--scenarios 20": "--scenarios 5",
    "--updates 500": "--updates 3",
    "--epochs 10": "--epochs 2",
    "epochs=10": "epochs=2",
    "--networks 8": "--networks 2",
    "--random 20": "--random 3",
    "--blocks 6 7": "--blocks 4",
    "--blocks 7": "--blocks 4",
    "blocks007": "blocks004",
    "--time-limit 5m": "--time-limit 1s",
    "--time-limit 5s": "--time-limit 1s",
    "--budget 10m": "--budget 20s",
    # A problem that is solved whatever a busy machine has learned within the budget.
    "spanner/test/p06.pddl p06.plan": "spanner/test/p01.pddl p06.plan",
}


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its text, the line of the page, and what its comment says."""

    language: str
    text: str
    line: int
    not_run: bool = False
    exit_code: int = 0


def blocks(page: str) -> Iterator[Block]:
    tokens = MarkdownIt("commonmark").parse((ROOT / page).read_text())
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "code_block":
            raise AssertionError(
                f"{page}:{token.map[0] + 1}: use a fence with a language, not an indented block"
            )
        if token.type != "fence" or token.info.startswith("{"):  # directives of Sphinx
            continue
        comment = (
            COMMENT.match(before.content) if before is not None and before.type == "html_block" else None
        )
        code = int(comment[2] or 0) if comment else 0
        skipped = comment is not None and comment[1] == "not run"
        yield Block(token.info, token.content, token.map[0] + 1, skipped, code)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that pages speak of: a task and its translation, maps, an instance of a puzzle."""
    monkeypatch.chdir(tmp_path)
    for name in ("domain.pddl", "problem.pddl"):
        shutil.copy(ROOT / "tests" / "data" / "blocks" / name, tmp_path)
    translate = [sys.executable, "-m", "fast_downward.translate", "domain.pddl", "problem.pddl"]
    subprocess.run(translate, cwd=tmp_path, check=True, capture_output=True)
    shutil.copy("problem.pddl", "other_start.pddl")
    blocked = np.zeros((20, 30), dtype=bool)
    blocked[5:, 12] = True
    write_png(Path("map.png"), blocked)
    write_map(Path("map.map"), blocked)
    Path("map.yaml").write_text(
        "image: map.png\nresolution: 0.05\norigin: [0.0, 0.0, 0.0]\n"
        "occupied_thresh: 0.65\nfree_thresh: 0.196\nnegate: 0\n"
    )
    Path("instances.csv").write_text("id,tiles\n1,1 2 0 3 4 5 6 7 8 9 10 11 12 13 14 15\n")
    return tmp_path


def with_small_numbers(text: str) -> str:
    for long, short in NUMBERS.items():
        text = text.replace(long, short)
    return text


def smaller(line: str) -> list[str]:
    """The words of a command, with sizes that take seconds."""
    words = shlex.split(with_small_numbers(line), comments=True)
    for beginning, sizes in SMALLER.items():
        if " ".join(words).startswith(beginning):
            given = shlex.split(sizes)
            for option, value in zip(given[::2], given[1::2], strict=True):
                if option not in words and not (option == "--states" and "--data" in words):
                    words += [option, value]
    return words


def run_commands(page: str, block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    for line in block.text.replace("\\\n", " ").splitlines():
        words = smaller(line)
        if not words:
            continue
        assert words[0] == "hstar", f"{page}: cannot run {line!r}; say why in a comment before the block"
        with pytest.raises(SystemExit) as stop:
            main(words[1:])
        shown = capsys.readouterr()
        assert stop.value.code == block.exit_code, f"{page}: {line}\n{shown.err}"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_snippets_of_a_page(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            text = block.text if block.text.startswith("{") else f"{{{block.text}}}"
            json.loads(text)
        elif block.language == "python" and not block.not_run:
            if written := re.search(r"^class (\w+)", block.text, re.MULTILINE):
                # Pages say to which file a class is written, and use it on the command line.
                Path({"Lights": "lights.py", "Jugs": "jugs.py"}.get(written[1], "own.py")).write_text(
                    block.text
                )
            exec(compile(with_small_numbers(block.text), f"{page}:{block.line}", "exec"), names)
        elif block.language == "sh" and not block.not_run:
            run_commands(page, block, capsys)
        else:
            assert block.language in (*SHOWN, *RUN), f"{page}:{block.line}: a block of {block.language!r}"


def test_pages_keep_their_shape() -> None:
    """Lines that one can read in an editor, tables and links aside, and a README of a few screens."""
    for page in PAGES:
        for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
            fits = len(line) <= 120 or line.startswith(("|", "solved: ", "spanner.hstar: "))  # or printed
            assert fits, f"{page}:{number}: {len(line)} characters"
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_docstrings_say_something() -> None:
    """One of four words or fewer leaves the reader with the name."""
    for path in sorted((ROOT / "src" / "hstar").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                said = ast.get_docstring(node)
                assert said is None or len(said.split()) > 4, (
                    f"{path.name}:{node.lineno}: {node.name}: {said}"
                )


def test_an_unmarked_block_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("<!-- not run: REASON -->\n```sh\nhstar\n```\n\n    hstar solve\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    found = blocks("page.md")
    assert next(found).not_run
    with pytest.raises(AssertionError, match=r"page.md:6: use a fence"):
        next(found)
