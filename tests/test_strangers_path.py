"""What a stranger does first, each step in a new process: a clone, own problems, an own space, other tools.

The commands of README, tutorial and the other pages are run by test_documents.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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


def run(folder: Path, *words: str) -> str:
    """What a new process prints, started in the folder with a home and a cache of its own."""
    home = {"HOME": str(folder), "HSTAR_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, **home}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def hstar(folder: Path, line: str) -> str:
    return run(folder, "-m", "hstar", *line.split())


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


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_own_problems_own_space_and_other_tools(tmp_path: Path) -> None:
    hstar(tmp_path, "example spanner -o own --quiet")
    hstar(tmp_path, "train own/train -o own.hstar --iterations 1 --quiet")
    hstar(tmp_path, "solve own/test/p01.pddl --heuristic own.hstar --plan-file plan.txt")
    assert hstar(tmp_path, "validate own/test/domain.pddl own/test/p01.pddl plan.txt").startswith("valid")
    assert run(tmp_path, "-c", LOAD_AND_SOLVE).strip() == "solved"

    (tmp_path / "count.py").write_text(OWN_SPACE)
    hstar(tmp_path, "check count.py:Count")
    assert "; cost = 4" in hstar(tmp_path, "solve count.py:Count --search astar")

    pytest.importorskip("unified_planning")
    assert "SOLVED_SATISFICING" in run(tmp_path, "-c", UNIFIED_PLANNING)

    pytest.importorskip("starlette")
    from service.conftest import serving

    with serving("--model", f"own={tmp_path / 'own.hstar'}") as server, server.client() as client:
        texts = {
            part: (tmp_path / "own" / "test" / f"{name}.pddl").read_text()
            for part, name in (("domain", "domain"), ("problem", "p01"))
        }
        answer = client.post("/solve", json={**texts, "heuristic": "own"}).json()
        assert answer["status"] == "ok" and answer["result"]["status"] == "solved"

    hstar(tmp_path, "evaluate ff goalcount own/test/p01.pddl -o runs/first --walks 2 --time-limit 5s --quiet")
    hstar(tmp_path, "report runs/first")
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
