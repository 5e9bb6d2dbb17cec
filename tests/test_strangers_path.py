"""What a stranger does first, each step in a new process: a clone, own problems, an own space, other tools.

The commands of README, tutorial and the other pages are run by test_documents.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.test_page import BROWSER

ROOT = Path(__file__).parents[1]
OWN_SPACE = """
class Count:
    start = 0

    def is_goal(self, s):
        return s == 7

    def successors(self, s):
        return [("one", s + 1, 1), ("two", s + 2, 1)] if s < 20 else []
"""
LOAD_AND_SOLVE = """
import hstar
task = hstar.load("own/test/domain.pddl", "own/test/p01.pddl")
print(hstar.solve(task, hstar.load_model("own.hstar")).status)
"""
UNIFIED_PLANNING = """
import hstar.up
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import OneshotPlanner
hstar.up.register()
problem = PDDLReader().parse_problem("own/test/domain.pddl", "own/test/p01.pddl")
with OneshotPlanner(name="hstar", params={"heuristic": "own.hstar"}) as planner:
    print(planner.solve(problem).status.name)
"""


@dataclass(frozen=True)
class Stranger:
    """Somebody who works in a folder, with a home and a cache there, and this Python."""

    folder: Path
    python: str = sys.executable

    def run(self, *words: str) -> str:
        """What a new process prints."""
        home = {
            "HOME": str(self.folder),
            "HSTAR_CACHE_DIR": str(self.folder / "cache"),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [self.python, *words], cwd=self.folder, capture_output=True, text=True, env={**os.environ, **home}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hstar(self, line: str) -> str:
        return self.run("-m", "hstar", *line.split())


def test_links_lead_to_files_of_a_clone(tmp_path: Path) -> None:
    """Files that are linked, but were never added, are missing in a clone alone."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a clone")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(clone)], check=True)
    pages = [*clone.glob("*.md"), *(clone / "docs").rglob("*.md")]
    assert len(pages) > 30
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(clone)}: {target}"


def walk_the_path(stranger: Stranger) -> None:
    """Own problems, own space, other tools, a report in a browser."""
    tmp_path, run, hstar = stranger.folder, stranger.run, stranger.hstar
    hstar("example spanner -o own --quiet")
    hstar("train own/train -o own.hstar --iterations 1 --quiet")
    hstar("solve own/test/p01.pddl --heuristic own.hstar --plan-file plan.txt")
    assert hstar("validate own/test/domain.pddl own/test/p01.pddl plan.txt").startswith("valid")
    assert run("-c", LOAD_AND_SOLVE).strip() == "solved"

    (tmp_path / "count.py").write_text(OWN_SPACE)
    hstar("check count.py:Count")
    assert "; cost = 4" in hstar("solve count.py:Count --search astar")

    pytest.importorskip("unified_planning")
    assert "SOLVED_SATISFICING" in run("-c", UNIFIED_PLANNING)

    pytest.importorskip("starlette")
    from service.conftest import serving

    model = f"own={tmp_path / 'own.hstar'}"
    with serving("--model", model, python=stranger.python) as server, server.client() as client:
        texts = {
            part: (tmp_path / "own" / "test" / f"{name}.pddl").read_text()
            for part, name in (("domain", "domain"), ("problem", "p01"))
        }
        answer = client.post("/solve", json={**texts, "heuristic": "own"}).json()
        assert answer["status"] == "ok" and answer["result"]["status"] == "solved"

    hstar("evaluate ff goalcount own/test/p01.pddl -o runs/first --walks 2 --time-limit 5s --quiet")
    hstar("report runs/first")
    report = tmp_path / "runs" / "first" / "report.html"
    assert "goalcount" in report.read_text()
    if BROWSER is not None:
        api = pytest.importorskip("playwright.sync_api")
        with api.sync_playwright() as playwright:
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=BROWSER, args=flags)
            page = browser.new_page()
            page.goto(report.as_uri())
            assert "goalcount" in page.inner_text("body")
            browser.close()


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_from_a_clone(tmp_path: Path) -> None:
    walk_the_path(Stranger(tmp_path))
