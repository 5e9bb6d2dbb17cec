"""The page in a real browser: it draws, sorts, filters, opens runs, and asks nothing of the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hstar.experiments import Store
from hstar.experiments.report import page, read_runs

from .runs import NASTY, labelling, made_up_run, sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium here: sh tools/browser.sh installs it"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=BROWSER, args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    runs = read_runs([made_up_run(folder / "run")])
    (folder / "report.html").write_text(page(runs))
    return folder / "report.html"


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    """The page from disk; at the end there was no error and no request but for the file."""
    tab = browser.new_page()
    wrong: list[str] = []
    asked: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(report.as_uri())
    yield tab
    assert wrong == []
    assert asked == [report.as_uri()]
    tab.close()


def cells(tab: Page, place: str, column: int) -> list[str]:
    return tab.locator(f"#{place} tbody tr td:nth-child({column})").all_inner_texts()


def test_errors_come_first(opened: Page) -> None:
    first = opened.locator("main section:visible h2").first
    assert first.inner_text() == "Unexplained errors"
    assert cells(opened, "errors", 5) == [NASTY]
    assert opened.locator("#errors b").count() == 0  # text, not markup


def test_coverage_and_its_filters(opened: Page) -> None:
    assert cells(opened, "coverage", 1) == ["blocks (2)", "ferry (1)", "mean over domains"]
    assert cells(opened, "coverage", 2) == ["83.3 ± 23.6"] * 3
    assert cells(opened, "coverage", 3) == ["66.7", "33.3", "50"]
    opened.locator("#by-domain").get_by_label("ferry").uncheck()
    assert cells(opened, "coverage", 3) == ["66.7"]
    opened.get_by_label("each instance").check()
    assert cells(opened, "coverage", 1) == ["blocks/1", "blocks/2"]
    opened.locator("#by-contestant").get_by_label("ff").uncheck()
    assert opened.locator("#coverage th").all_inner_texts() == ["instance", "learned"]
    assert {text.split("/")[0] for text in cells(opened, "runs", 2)} == {"blocks"}
    assert set(cells(opened, "runs", 1)) == {"learned"}


def test_tables_sort(opened: Page) -> None:
    head = opened.locator("#runs th", has_text="expansions")
    head.click()
    values = [int(text) for text in cells(opened, "runs", 6) if text != "–"]
    assert values == sorted(values, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.click()
    found = cells(opened, "runs", 6)
    assert found[0] == "10"
    assert found[-1] == "–"  # what is unknown stays last


def test_search_and_status(opened: Page) -> None:
    opened.locator("#search").fill("learned blocks/2 p3")
    assert cells(opened, "runs", 5) == ["solved", "time limit"]
    assert opened.locator("#count").inner_text() == "2 searches"
    opened.locator("#status").select_option(label="time limit")
    assert cells(opened, "runs", 4) == ["1"]


def test_plots_draw(opened: Page) -> None:
    path = opened.locator("#scatter path.mark").first.get_attribute("d") or ""
    assert path.count("M") == 10  # two instances, three starts, two seeds, without what both left unsolved
    assert all("NaN" not in figure.inner_html() for figure in opened.locator(".figure").all())
    opened.locator("#metric").select_option("search_time")
    assert opened.locator("#scatter > svg").get_attribute("aria-label") == (
        "learned: search time (s) over ff: search time (s)"
    )
    assert opened.locator("#cactus path.mark").count() == 2
    before = opened.locator("#training path.mark").first.get_attribute("d")
    assert opened.locator("#training path.mark").count() == 4  # two seeds, lines and dots
    opened.locator("#training-x").select_option("time")
    assert before
    assert opened.locator("#training > svg").get_attribute("aria-label") == "loss over seconds"


def test_label_errors(opened: Page) -> None:
    path = opened.locator("#label-errors > svg path.mark").get_attribute("d") or ""
    assert path.count("L") == 3  # four values of h*
    assert cells(opened, "samples", 7) == ["0.500"]
    opened.locator("#samples tbody tr").click()
    assert opened.locator("#repeat").inner_text().endswith("hstar sample fsm task.sas -o states.data")


def test_a_point_tells_and_opens_its_run(opened: Page) -> None:
    scatter = opened.locator("#scatter > svg")
    scatter.scroll_into_view_if_needed()
    box, path = scatter.bounding_box(), opened.locator("#scatter path.mark").first.get_attribute("d")
    assert box
    assert path
    x, y = (float(part) for part in path[1:].split("h")[0].split())
    at = {"x": x * box["width"] / 520, "y": y * box["height"] / 460}
    scatter.hover(position=at)
    assert "blocks/1 p1" in opened.locator("#tip").inner_text()
    scatter.click(position=at)
    assert opened.locator("#detail h2").inner_text() == "learned on blocks/1 p1"


def test_a_run_can_be_repeated_from_its_page(opened: Page, report: Path) -> None:
    opened.locator("#errors tbody tr").click()
    copy, command = opened.locator("#repeat").inner_text().splitlines()
    assert command == "hstar solve task.sas --heuristic ff"
    word, source, target = copy.split()
    assert (word, target) == ("cp", "task.sas")
    assert Path(source).read_text().startswith("task of ferry-ferry/1-ff")
    assert Path(source).is_relative_to(report.parent / "run")
    assert opened.locator("#log").inner_text().startswith("log of ferry-ferry/1-ff")
    opened.get_by_role("button", name="close").click()
    assert not opened.locator("#detail").is_visible()


def test_dark_and_light(opened: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    first = opened.evaluate(ground)
    opened.locator("#theme").click()
    assert opened.evaluate(ground) != first
    opened.locator("#theme").click()
    assert opened.evaluate(ground) == first


def test_two_runs(browser: Browser, tmp_path: Path) -> None:
    folders = [made_up_run(tmp_path / "first"), made_up_run(tmp_path / "second", better=True)]
    file = tmp_path / "both.html"
    file.write_text(page(read_runs(folders)))
    tab = browser.new_page()
    tab.goto(file.as_uri())
    assert cells(tab, "changes", 3)[0] == "3"
    assert tab.locator("#changes summary").all_inner_texts() == ["learned: gained 3"]
    tab.close()


def test_a_run_without_searches(browser: Browser, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        place = {"domain": "blocks", "instance": "blocks/1", "seed": 0}
        sample(store, {**place, "contestant": "states"}, [0.0, 1.0])
        labelling(store, {**place, "contestant": "labels"}, 12)
        labelling(store, {**place, "instance": "blocks/2", "contestant": "labels"}, None)
    file = tmp_path / "report.html"
    file.write_text(page(read_runs([tmp_path / "run"])))
    tab = browser.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(file.as_uri())
    assert tab.locator("main section:visible h2").all_inner_texts() == ["Unexplained errors", "Labels"]
    assert tab.locator("#labelled tbody td").all_inner_texts()[:5] == ["blocks", "labels", "2", "1", "12"]
    assert cells(tab, "errors", 1) == ["labels"]
    assert wrong == []
    tab.close()
