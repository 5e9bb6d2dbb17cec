"""The page of a search on a map: its data are those of the search, and a browser shows them step by step."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hstar.errors import InputError
from hstar.experiments import grid_picture
from hstar.experiments.grid_picture import Panel, animate, draw
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NASTY = "</script><b>"


def wall() -> GridProblem:
    blocked = np.zeros((6, 9), dtype=bool)
    blocked[1:, 4] = True
    return GridProblem(Grid(blocked), (5, 0), (5, 8))


def written(folder: Path) -> Path:
    problem = wall()
    plain = solve(problem, None, "astar", explored=True)
    values = problem.grid.distances(problem.goal).astype(np.float32)
    values[problem.grid.blocked] = 0
    guided = solve(problem, values, "astar", explored=True)
    animate(folder / "a.html", problem, [Panel(f"plain {NASTY}", plain), Panel("guided", guided, values)])
    return folder / "a.html"


def data_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_data_are_those_of_the_search(tmp_path: Path) -> None:
    page, problem = written(tmp_path).read_text(), wall()
    data, plain = data_of(page), solve(problem, None, "astar", explored=True)
    assert data["shape"] == [6, 9] and np.flatnonzero(data["blocked"]).tolist() == [13, 22, 31, 40, 49]
    assert (data["start"], data["goal"]) == (45, 53)
    one, two = data["panels"]
    assert plain.explored is not None and plain.path is not None
    assert one["explored"] == np.ravel_multi_index(tuple(plain.explored.T), (6, 9)).tolist()
    assert one["path"] == np.ravel_multi_index(tuple(plain.path.T), (6, 9)).tolist()
    assert one["values"] is None and two["values"][45] == 18 and len(two["values"]) == 54
    assert len(two["explored"]) < len(one["explored"]) and one["title"] == f"plain {NASTY}"
    assert NASTY not in page and not re.search(r"(src|href)=|https?:", page), "it asks nothing of the network"


def test_pieces_make_the_same_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = written(tmp_path).read_text()
    monkeypatch.setattr(grid_picture, "_PIECE", 7)
    assert written(tmp_path).read_text() == whole


def test_a_picture_of_a_large_map_has_a_point_for_a_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walls of one cell stay; an explored square is as old as its first cell."""
    axes = pytest.importorskip("matplotlib.axes").Axes
    shown: list[tuple[np.ma.MaskedArray[Any, Any], tuple[float, ...]]] = []
    real = axes.imshow

    def imshow(self: Any, points: Any, **look: Any) -> Any:
        shown.append((np.asarray(points), look["extent"]))
        return real(self, points, **look)

    monkeypatch.setattr(axes, "imshow", imshow)
    monkeypatch.setattr(grid_picture, "_MOST_POINTS", 3)
    problem = wall()
    found = solve(problem, None, "astar", explored=True)
    assert found.explored is not None
    values = problem.grid.distances(problem.goal).astype(np.float32)
    draw(tmp_path / "a.png", problem, [Panel("plain", found, values)])
    (order, extent), (blocked, _), (coarse, _), _ = shown
    assert extent == (-0.5, 8.5, 5.5, -0.5) and order.shape == blocked.shape == coarse.shape == (2, 3)
    assert (blocked == 1).tolist() == [[False, True, False]] * 2
    first: dict[tuple[int, int], int] = {}
    for number, (row, column) in enumerate(found.explored.tolist()):
        first.setdefault((row // 3, column // 3), number)
    assert {place: order[place] for place in np.ndindex(2, 3) if order[place] >= 0} == first
    free = np.where(problem.grid.blocked, np.inf, values)
    assert coarse.tolist() == [[free[i : i + 3, j : j + 3].min() for j in (0, 3, 6)] for i in (0, 3)]


def test_a_problem_without_a_path(tmp_path: Path) -> None:
    problem = GridProblem(Grid(np.array([[0, 1, 0]], dtype=bool)), (0, 0), (0, 2))
    animate(tmp_path / "a.html", problem, [Panel("none", solve(problem, None, "astar", explored=True))])
    (panel,) = data_of((tmp_path / "a.html").read_text())["panels"]
    assert panel["path"] is None and panel["explored"] == [0]


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"an animation is a \.html file"):
        animate(tmp_path / "a.gif", wall(), [])
    with pytest.raises(InputError, match="cannot write the animation"):
        animate(tmp_path / "absent" / "a.html", wall(), [])


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.skipif(BROWSER is None, reason="no chromium here: sh tools/browser.sh installs it")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    api = pytest.importorskip("playwright.sync_api")
    file, wrong = written(tmp_path), []
    with api.sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=BROWSER, args=flags, timeout=120_000)
        tab = browser.new_page()
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        tab.goto(file.as_uri())
        captions = tab.locator("figcaption").all_inner_texts()
        last = int(tab.locator(".time").get_attribute("max"))
        counts = [len(one["explored"]) for one in data_of(file.read_text())["panels"]]
        assert last == max(counts) and captions[0] == f"plain {NASTY} ({counts[0]} of {counts[0]} shown)"
        colour = (
            "x => [...document.querySelectorAll('canvas')[1].getContext('2d').getImageData(x, 8, 1, 1).data]"
        )
        tab.locator(".time").evaluate(
            "slider => { slider.value = 1; slider.dispatchEvent(new Event('input')); }"
        )
        assert tab.locator("figcaption").all_inner_texts()[1] == f"guided (1 of {counts[1]} shown)"
        plain = tab.evaluate(colour, 8)
        tab.get_by_label("values of the network").check()
        assert tab.evaluate(colour, 8) != plain
        tab.locator(".play").click()
        api.expect(tab.locator(".count")).to_have_text(f"{last} of {last}", timeout=120_000)
        assert tab.locator("figcaption").all_inner_texts() == [captions[0], captions[1]]
        browser.close()
    assert wrong == []
