"""The page in a real browser: it draws, sorts, filters, opens runs, and asks nothing of the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from hstar.experiments.grid_picture import Panel, write_steps
from hstar.experiments.job import STEPS
from hstar.experiments.report import page, read_runs
from hstar.experiments.store import Store
from hstar.search.solve import solve
from hstar.spaces.grid import Grid, GridProblem

from .runs import NASTY, compared_run, comparison, labelling, made_up_run, sample, search, training

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium here: sh tools/browser.sh installs it"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.slow,
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


Open = Callable[[Path], "Page"]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens pages from disk; at the end there was no error and no request but for the files."""
    tabs: list[Page] = []
    wrong: list[str] = []
    asked: list[str] = []
    files: list[str] = []

    def open_file(file: Path) -> Page:
        tabs.append(browser.new_page())
        tabs[-1].on("pageerror", lambda error: wrong.append(str(error)))
        tabs[-1].on("console", lambda message: wrong.append(message.text))
        tabs[-1].on("request", lambda request: asked.append(request.url))
        files.append(file.as_uri())
        tabs[-1].goto(files[-1])
        return tabs[-1]

    yield open_file
    assert wrong == []
    assert asked == files
    for tab in tabs:
        tab.close()


@pytest.fixture
def opened(open_page: Open, report: Path) -> Page:
    return open_page(report)


@pytest.fixture
def write_page(tmp_path: Path, open_page: Open) -> Open:
    """Opens the page of a run."""

    def write(folder: Path) -> Page:
        file = tmp_path / "report.html"
        file.write_text(page(read_runs([folder])))
        return open_page(file)

    return write


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


def test_coverage_of_what_is_there_is_not_coverage(write_page: Open, tmp_path: Path) -> None:
    """One start of three is no coverage of 100 %; and of two seeds the whole one counts."""
    folder = made_up_run(tmp_path / "run")
    about = {"domain": "ferry", "instance": "ferry/1", "start": "p1"}
    figures = {"expansions": 5, "evaluations": 9, "search_time": 0.1, "cost": 7, "plan_length": 7}
    with Store(folder) as store:
        search(store, {**about, "contestant": "begun", "seed": 0}, **figures)
        search(store, {**about, "contestant": "ff", "seed": 1}, **figures)
    tab = write_page(folder)
    assert cells(tab, "coverage", 3) == ["66.7", "33.3 (1 of 2 seeds)", "50 (1 of 2 seeds)"]
    assert cells(tab, "coverage", 4) == ["–", "1 of 3", "1 of 9"]


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


def test_two_runs(open_page: Open, tmp_path: Path) -> None:
    folders = [made_up_run(tmp_path / "first"), made_up_run(tmp_path / "second", better=True)]
    file = tmp_path / "both.html"
    file.write_text(page(read_runs(folders)))
    tab = open_page(file)
    assert cells(tab, "changes", 3)[0] == "3"
    assert tab.locator("#changes summary").all_inner_texts() == ["learned: gained 3"]


def test_a_run_without_searches(write_page: Open, tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        place = {"domain": "blocks", "instance": "blocks/1", "seed": 0}
        sample(store, {**place, "contestant": "states"}, [0.0, 1.0])
        labelling(store, {**place, "contestant": "labels"}, 12)
        labelling(store, {**place, "instance": "blocks/2", "contestant": "labels"}, None)
    tab = write_page(tmp_path / "run")
    assert tab.locator("main section:visible h2").all_inner_texts() == ["Unexplained errors", "Labels"]
    assert tab.locator("#labelled tbody td").all_inner_texts()[:5] == ["blocks", "labels", "2", "1", "12"]
    assert cells(tab, "errors", 1) == ["labels"]


def test_a_run_without_anything(write_page: Open, tmp_path: Path) -> None:
    with Store(tmp_path / "run"):
        pass
    tab = write_page(tmp_path / "run")
    assert tab.locator("h1").inner_text() == "run"
    assert tab.locator("main section:visible").count() == 0


def test_accuracy_and_its_filters(write_page: Open, tmp_path: Path) -> None:
    tab = write_page(compared_run(tmp_path / "run"))
    assert tab.locator("main section:visible h2").all_inner_texts() == ["Unexplained errors", "Accuracy"]
    heads = tab.locator("#accuracy th")
    assert heads.all_inner_texts() == ["domain/data", "states", "ff", "lmcut", "wl", "belief"]
    assert cells(tab, "accuracy", 1) == ["blocks/test", "ferry/test"]
    assert cells(tab, "accuracy", 4) == ["16", "16"]
    assert cells(tab, "accuracy", 6) == ["2 ± 1.41", "1.50 ± 0.707"]
    assert tab.locator("#accuracy td.best").all_inner_texts() == ["2 ± 1.41", "0.500"]
    heads.nth(5).click()
    heads.nth(5).click()
    assert cells(tab, "accuracy", 1) == ["ferry/test", "blocks/test"]  # the least error first
    tab.locator("#accuracy-measure").select_option("nll")
    assert heads.all_inner_texts() == ["domain/data", "states", "belief"]  # wl has no spread
    assert cells(tab, "accuracy", 3) == ["4 ± 2.83", "3 ± 1.41"]
    tab.locator("#accuracy-measure").select_option("mse")
    tab.locator("#by-domain").get_by_label("ferry").uncheck()
    assert cells(tab, "accuracy", 1) == ["blocks/test"]
    tab.locator("#by-contestant").get_by_label("belief").uncheck()
    assert heads.all_inner_texts() == ["domain/data", "states", "ff", "lmcut", "wl"]
    assert cells(tab, "comparisons", 1) == ["wl"]


def test_calibration(write_page: Open, tmp_path: Path) -> None:
    tab = write_page(compared_run(tmp_path / "run"))
    plot = tab.locator("#calibration > svg")
    assert plot.get_attribute("aria-label") == "share of labels up to it over level of the quantile"
    options = tab.locator("#calibration-instance option").all_inner_texts()
    assert options == ["blocks/test", "ferry/test"]
    tab.locator("#calibration-instance").select_option(label="ferry/test")
    assert plot.locator("path.mark").get_attribute("data-series") == "belief"
    # Corners of the plot are 0 and 1; at the level 0.25 the seeds have 0.25 and 0.5.
    left, right, top, bottom = 62, 506, 12, 416
    diagonal = f"M{left} {bottom}L{right} {top}"
    assert diagonal in [path.get_attribute("d") for path in plot.locator("path.axis").all()]
    path = plot.locator("path.mark").get_attribute("d") or ""
    points = [tuple(map(float, point.split())) for point in path[1:].split("L")]
    wanted = [(0.25, 0.375), (0.5, 0.5), (0.75, 0.75)]
    assert points == [
        pytest.approx((left + x * (right - left), bottom - y * (bottom - top)), abs=0.06) for x, y in wanted
    ]
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    x, y = points[0]
    plot.hover(position={"x": x * box["width"] / 520, "y": y * box["height"] / 460})
    told = tab.locator("#tip").inner_text()
    assert told == "belief\nlevel 0.25: 0.375 of the labels, mean over 2 seeds"
    tab.locator("#by-contestant").get_by_label("belief").uncheck()
    assert plot.locator("path.mark").count() == 0


def test_a_failed_comparison_can_be_repeated(write_page: Open, tmp_path: Path) -> None:
    tab = write_page(compared_run(tmp_path / "run"))
    assert cells(tab, "errors", 1) == ["broken"]
    assert cells(tab, "errors", 2) == ["ferry/test"]
    tab.locator("#errors tbody tr").click()
    *copies, command = tab.locator("#repeat").inner_text().splitlines()
    assert command == "hstar evaluate model.hstar labels0.data --json"
    assert [copy.split()[-1] for copy in copies] == ["model.hstar", "labels0.data"]
    assert Path(copies[0].split()[1]).read_text() == "ferry-ferry/test-broken-0"
    assert tab.locator("#log").inner_text() == "log of ferry-ferry/test-broken-0"
    tab.get_by_role("button", name="close").click()
    tab.locator("#comparisons tbody tr").first.click()  # every comparison, not only what failed
    assert tab.locator("#detail h2").inner_text() == "wl on blocks/test"


def test_who_was_only_compared_has_no_part_in_searches(write_page: Open, tmp_path: Path) -> None:
    place = {"domain": "blocks", "instance": "blocks/1", "seed": 0}
    with Store(tmp_path / "run") as store:
        training(store, {**place, "contestant": "trained"}, [2.0, -1.0])  # a likelihood above 1
        search(store, {**place, "contestant": "ff", "start": "own"}, expansions=9)
        comparison(store, {**place, "instance": "blocks/test", "contestant": "trained, clip"}, 1.0)
    tab = write_page(tmp_path / "run")
    assert tab.locator("#by-contestant label").all_inner_texts() == ["ff", "trained", "trained, clip"]
    assert tab.locator("#coverage th").all_inner_texts() == ["domain (instances)", "ff"]
    assert tab.locator("#one option").all_inner_texts() == ["ff"]
    assert tab.locator("#cactus .plain").count() == 1  # of one search there is nothing to draw
    assert not tab.locator("#calibrated").is_visible()  # nobody has a spread
    assert "-1" in tab.locator("#training > svg text").all_text_contents()  # which a logarithm cannot show
    assert "NaN" not in tab.locator("#training").inner_html()


def test_costs_against_optima(tmp_path: Path, write_page: Open) -> None:
    known = {"instances": 10, "solved": 10, "with_known_optimum": 10, "optimal": 0.5, "reopened": 0.0}
    known |= {"suboptimality": 0.02, "greatest_suboptimality": 0.5}
    with Store(tmp_path / "maps") as store:
        for domain in ("maze", "rooms"):
            for contestant, expansions in (("weighted", 1200.0), ("learned", 80.0)):
                labels = {"domain": domain, "instance": f"{domain}/random-0", "start": "10 scenarios"}
                labels |= {"contestant": contestant, "seed": 0}
                search(store, labels, expansions=expansions, bound=2.0, **known)
        for start in ("1", "2"):  # of a puzzle with two sets, one row a search
            for place in ("tiles:3x3/random-0", "tiles:3x3/hard"):
                labels = {"domain": "tiles:3x3", "instance": place, "contestant": "weighted", "seed": 0}
                search(store, {**labels, "start": start}, cost=12, optimal_cost=10, expansions=7)
    tab = write_page(tmp_path / "maps")
    places = ["maze", "rooms", "maze", "rooms", "tiles:3x3/hard", "tiles:3x3/random-0"]
    assert sorted(cells(tab, "costs", 1)) == sorted(places)
    tab.locator("#by-domain").get_by_label("tiles:3x3").uncheck()
    assert cells(tab, "costs", 4) == ["1,200", "80", "1,200", "80"]
    assert cells(tab, "costs", 8) == ["0.750"] * 4
    tab.locator("#costs th", has_text="expanded").click()
    assert cells(tab, "costs", 4) == ["1,200", "1,200", "80", "80"]
    tab.locator("#by-domain").get_by_label("maze").uncheck()
    tab.locator("#by-contestant").get_by_label("weighted").uncheck()
    assert [cells(tab, "costs", column) for column in (1, 2)] == [["rooms"], ["learned"]]
    tab.locator("#by-contestant").get_by_label("learned").uncheck()
    assert not tab.locator("#costs-section").is_visible()


def test_the_first_screen(tmp_path: Path, write_page: Open, open_page: Open) -> None:
    """Title, outcome, effort beside coverage, the best two in the scatter, and tables as CSV."""
    with Store(tmp_path / "run") as store:
        for start in range(4):
            place = {"domain": "blocks", "instance": "blocks/1", "start": f"p{start}", "seed": 0}
            for name, factor, words in (("ff", 10, ()), ("slow", 90, ()), ("wl", 1, ("{model.hstar}",))):
                figures = {"expansions": factor * (start + 1), "evaluations": 9, "search_time": 0.01 * factor}
                words = (*words, "--time-limit", "100s")
                status = "solved" if start or name == "wl" else "time_limit"
                search(store, {**place, "contestant": name}, status, words=words, cost=5 + factor, **figures)
    (tmp_path / "run" / "description.txt").write_text("Does learning pay? With <b> and\n1.5 reasons.")
    tab = write_page(tmp_path / "run")
    assert tab.locator("h1").inner_text() == "Does learning pay?"
    assert tab.locator("#description").inner_text() == "With <b> and 1.5 reasons."
    said = tab.locator("#outcome").inner_text()
    assert said.startswith(
        "Learning solves as many in less time: wl solves 100.0 % of 4 starts, ff, the best"
    )
    assert "75.0 % of 4 starts: +25.0 points (95 % interval 0.0 to 75.0)." in said
    assert said.endswith("0.10 times the expansions (95 % interval 0.10 to 0.10).")
    assert tab.locator("#summary").bounding_box()["y"] < 500  # type: ignore[index]
    assert cells(tab, "summary", 1) == ["ff", "slow", "wl"]
    assert cells(tab, "summary", 2) == ["75", "75", "100"]
    assert cells(tab, "summary", 3) == ["28.8", "259.6", "2.88"]  # geometric means of 20, 30 and 40, ...
    assert cells(tab, "summary", 6) == ["1.20", "0.189", "4"]  # 3 * 6 / 15, 3 * 6 / 95, 4
    assert cells(tab, "summary", 7) == ["3", "3", "4"]
    assert (tab.locator("#one").input_value(), tab.locator("#two").input_value()) == ("0", "2")
    with tab.expect_download() as download:
        tab.locator("#summary .csv").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert download.value.suggested_filename == "summary.csv"
    assert lines[0].startswith("configuration,coverage (%),expansions,") and lines[2].startswith(
        "slow,75,259.6,"
    )


def test_nothing_is_drawn_of_one_point(tmp_path: Path, write_page: Open) -> None:
    place = {"domain": "blocks", "instance": "blocks/1", "start": "p", "seed": 0}
    figures = {"expansions": 5, "evaluations": 9, "search_time": 0.5, "cost": 7}
    with Store(tmp_path / "run") as store:
        for name in ("one", "two"):
            search(store, {**place, "contestant": name}, **figures)
    tab = write_page(tmp_path / "run")
    assert tab.locator("#scatter svg").count() == 0 and tab.locator("#cactus svg").count() == 0
    assert (
        tab.locator("#scatter .plain").inner_text()
        == "All points are in one place: there is nothing to draw."
    )


def test_curves_over_eps(tmp_path: Path, write_page: Open) -> None:
    known = {"instances": 9, "solved": 9, "with_known_optimum": 9, "optimal": 0.5, "bound": 2.0}
    labels = {"domain": "maze", "instance": "maze/random-0", "start": "9 scenarios", "seed": 0}
    with Store(tmp_path / "run") as store:
        for eps in (1, 1.5, 2):
            for name, words in ((f"PHS, eps {eps}", "--eps"), (f"weighted, eps {eps}", "--weight")):
                above = {"suboptimality": eps - 1, "greatest_suboptimality": eps - 1, "expansions": 90 / eps}
                search(store, {**labels, "contestant": name}, words=(words, str(eps)), **known, **above)
    tab = write_page(tmp_path / "run")
    for place in ("eps-expanded", "eps-cost"):
        paths = tab.locator(f"#{place} > svg path.mark")
        assert [path.get_attribute("data-series") for path in paths.all()] == ["PHS", "weighted"]
        assert (paths.first.get_attribute("d") or "").count("L") == 2
    tab.locator("#by-contestant").get_by_label("PHS, eps 1", exact=True).uncheck()
    tab.locator("#by-contestant").get_by_label("PHS, eps 2", exact=True).uncheck()
    assert tab.locator("#eps-cost > svg path.mark").count() == 1  # one point is no curve


def test_searches_on_maps_step_by_step(tmp_path: Path, write_page: Open) -> None:
    known = {"instances": 1, "solved": 1, "with_known_optimum": 1, "optimal": 1.0, "bound": 1.0}
    known |= {"suboptimality": 0.0, "greatest_suboptimality": 0.0}
    blocked = np.zeros((6, 9), dtype=bool)
    with Store(tmp_path / "maps") as store:
        for domain, wall in (("open", 0), ("wall", 5)):
            blocked[1 : wall + 1, 4] = True
            problem = GridProblem(Grid(blocked.copy()), (5, 0), (5, 8))
            values = problem.grid.distances(problem.goal).astype(np.float32)
            values[problem.grid.blocked] = 0
            for name, heuristic in (("blind", "blind"), ("manhattan", "manhattan"), ("exact", values)):
                found = solve(problem, heuristic, "astar", explored=True)
                panels = [Panel("model", found, values if name == "exact" else None)]
                write_steps(tmp_path / "steps.json", problem, panels)
                labels = {"domain": domain, "instance": f"{domain}/random-0", "start": "1 scenario"}
                left = {STEPS: (tmp_path / "steps.json").read_bytes()}
                who = {"contestant": name, "seed": 0}
                search(store, labels | who, left=left, expansions=found.expanded, **known)
    tab = write_page(tmp_path / "maps")
    assert tab.locator("#steps-map option").all_inner_texts() == ["open/random-0", "wall/random-0"]
    captions = tab.locator("#steps figcaption")
    assert [text.partition(":")[0] for text in captions.all_inner_texts()] == ["blind", "manhattan", "exact"]
    tab.locator("#steps-map").select_option("wall/random-0")
    assert captions.all_inner_texts()[2] == "exact: 19 expanded, cost 18 (19 of 19 shown)"
    slide = "slider => { slider.value = 1; slider.dispatchEvent(new Event('input')); }"
    tab.locator("#steps .time").evaluate(slide)
    assert all("(1 of " in text for text in captions.all_inner_texts())
    tab.locator("#steps-contestants").get_by_label("manhattan").uncheck()
    assert [text.partition(":")[0] for text in captions.all_inner_texts()] == ["blind", "exact"]
    pixels = "canvas => canvas.toDataURL()"
    ground = tab.locator("#steps canvas").nth(1).evaluate(pixels)
    tab.locator("#steps").get_by_label("values of the network").check()
    assert tab.locator("#steps canvas").nth(1).evaluate(pixels) != ground
    tab.locator("#by-contestant").get_by_label("exact").uncheck()
    assert [text.partition(":")[0] for text in captions.all_inner_texts()] == ["blind"]
    tab.locator("#by-domain").get_by_label("wall").uncheck()
    assert tab.locator("#steps-map option").all_inner_texts() == ["open/random-0"]
    tab.locator("#by-domain").get_by_label("open").uncheck()
    assert not tab.locator("#steps-section").is_visible()
