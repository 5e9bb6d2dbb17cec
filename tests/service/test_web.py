"""Real clients against a real server: the protocol, wrong requests, limits, many at a time, its end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import parse_task

from .conftest import Running, endless, httpx, serving, texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def checked(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """As planutils and VS Code do it: start, then ask until there is an answer."""
    started = client.post("/package/hstar/solve", json=body)
    assert started.status_code == 200, started.text
    while True:
        answer = client.get(started.json()["result"])
        assert answer.status_code == 200
        if answer.json()["status"] != "PENDING":
            found: dict[str, Any] = answer.json()
            return found
        time.sleep(0.05)


def test_the_package_is_listed(client: httpx.Client) -> None:
    (package,) = client.get("/package").json()
    service = package["endpoint"]["services"]["solve"]
    assert package["package_name"] == "hstar" and package["runnable"]
    assert [argument["name"] for argument in service["args"]] == ["domain", "problem"]
    options = {option["name"]: option for option in service["options"]}
    assert {"value": "lmcut", "display_value": "lmcut"} in options["heuristic"]["choices"]
    assert client.get("/package/hstar").json() == package
    assert client.get("/package/hstar/solve").json() == package


def test_a_search_is_started_and_asked_for(client: httpx.Client) -> None:
    body = texts("blocks")
    answer = checked(client, body | {"search": "astar", "heuristic": "lmcut"})
    result = answer["result"]
    assert answer["status"] == "ok" and result["status"] == "solved"
    assert result["cost"] == result["lower_bound"] == len(result["plan"]) == 6 and result["ratio"] == 1
    assert result["search"] == "astar" and result["heuristic"] == ["lmcut"] and result["expansions"] > 0
    assert result["stdout"] == result["output"]["plan"]
    task = parse_task(body["domain"], body["problem"])
    assert validate_pddl(task, result["output"]["plan"].splitlines()[:-1]).valid
    step = result["plan"][0]
    assert step["name"] == result["output"]["plan"].splitlines()[0]
    assert step["action"].startswith("(:action ")


def test_both_methods_check(client: httpx.Client) -> None:
    place = client.post("/package/hstar/solve", json=texts("blocks")).json()["result"]
    while client.post(place).json() == {"status": "PENDING"}:
        time.sleep(0.05)
    assert client.post(place).json() == client.get(place).json()


def test_solve_answers_when_the_search_has_ended(client: httpx.Client) -> None:
    answer = client.post("/solve", json=texts("blocks")).json()
    assert answer["status"] == "ok" and answer["result"]["cost"] >= 6


def test_options_may_be_in_the_address(client: httpx.Client) -> None:
    address = "/solve?search=astar&heuristic=hmax&time_limit=5s"
    result = client.post(address, json=texts("blocks")).json()["result"]
    assert (result["search"], result["heuristic"], result["cost"]) == ("astar", ["hmax"], 6)


def test_planutils_has_the_packages_by_name(client: httpx.Client) -> None:
    """What `planutils remote` does: its own server merges the two slashes."""
    package = client.get("/planutils/package").json()["hstar"]
    assert package == client.get("/package").json()[0]
    assert [one["name"] for one in package["endpoint"]["services"]["solve"]["args"]] == ["domain", "problem"]
    started = client.post("/planutils/package/hstar/solve", json=texts("blocks")).json()["result"]
    place = f"/planutils/{started}"
    assert place.startswith("/planutils//check/")
    while (answer := client.get(str(client.base_url).rstrip("/") + place).json())["status"] == "PENDING":
        time.sleep(0.05)
    assert answer["status"] == "ok" and "(pick-up b)" in answer["result"]["output"]["plan"]


def test_an_unsolvable_problem_is_no_error(client: httpx.Client) -> None:
    answer = checked(client, texts("unsolvable"))
    assert answer["status"] == "ok" and answer["result"]["status"] == "unsolvable"
    assert answer["result"]["plan"] is None and answer["result"]["exit_code"] == 11


@pytest.mark.parametrize("part", ["domain", "problem"])
def test_bad_pddl_names_file_line_and_column(client: httpx.Client, part: str) -> None:
    body = texts("blocks")
    body[part] = "; a comment\n  (define oops"
    answer = checked(client, body)
    result = answer["result"]
    assert answer["status"] == "error" and result["exit_code"] == 31
    assert result["file"] == f"{part}.pddl" and result["line"] == 2 and result["column"] >= 3
    assert result["error"].startswith(f"{part}.pddl:2:{result['column']}: ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"domain": None}, "'domain' must be the text"),
        ({"problem": 3}, "'problem' must be the text"),
        ({"problem": "\ud800"}, "surrogate"),
        ({"search": "asta"}, "did you mean 'astar'"),
        ({"search": ["astar"]}, "'search' must be a name"),
        ({"heuristic": "/etc/passwd"}, "unknown heuristic '/etc/passwd'"),
        ({"heuristic": ["ff", "model.hstar"]}, "unknown heuristic 'model.hstar'"),
        ({"heuristic": "ff --plan-file=x"}, "unknown heuristic"),
        ({"alias": "lamas"}, "unknown alias"),
        ({"time_limit": "1h"}, "'time_limit' must be above 0 and at most 20 s"),
        ({"time_limit": -1}, "'time_limit'"),
        ({"memory_limit": "1 elephant"}, "'memory_limit'"),
        ({"bound": "much"}, "'bound' must be a number"),
        ({"anytime": "perhaps"}, "'anytime' must be true or false"),
        ({"plan_file": "x"}, "unknown field 'plan_file'"),
    ],
)
def test_a_wrong_field_is_named(client: httpx.Client, change: dict[str, Any], words: str) -> None:
    body = hstar_json(texts("blocks") | change)
    for place in ("/solve", "/package/hstar/solve"):
        answer = client.post(place, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400 and words in answer.json()["error"], answer.text


def hstar_json(body: dict[str, Any]) -> bytes:
    import json

    return json.dumps(body).encode()  # httpx refuses surrogates, other clients do not


def test_options_that_do_not_go_together_are_refused_by_the_search(client: httpx.Client) -> None:
    answer = client.post("/solve", json=texts("blocks") | {"search": "gbfs", "weight": 2}).json()
    assert answer["status"] == "error" and "--weight is for wastar" in answer["result"]["error"]


def test_what_is_no_request(client: httpx.Client) -> None:
    json = {"content-type": "application/json"}
    assert client.post("/solve", content=b"{", headers=json).status_code == 400
    assert client.post("/solve", content=b"[1]", headers=json).status_code == 400
    assert client.post("/solve", content=b"[" * 200_000, headers=json).status_code == 400
    assert client.post("/solve", content=b"\xff\xfe{", headers=json).status_code == 400
    assert client.post("/solve", data={"domain": "x"}).status_code == 415
    assert client.get("/solve").status_code == 405
    for place in ("/nowhere", "/package/lama", "/package/hstar/train", "/check/unknown"):
        answer = client.get(place)
        assert answer.status_code == 404 and answer.json()["status"] == "error"
    assert client.post("/package/lama/solve", json=texts("blocks")).status_code == 404


def test_too_large_bodies_are_refused(client: httpx.Client) -> None:
    large = texts("blocks") | {"problem": ";" * (2 << 20)}
    assert client.post("/solve", json=large).status_code == 413

    def parts() -> Iterator[bytes]:  # no length is told
        while True:
            yield b" " * 65536

    json = {"content-type": "application/json"}
    refused_meanwhile = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
    with contextlib.suppress(*refused_meanwhile):
        assert client.post("/solve", content=parts(), headers=json).status_code == 413
    assert client.get("/package").status_code == 200


def test_a_search_ends_at_its_limits(client: httpx.Client) -> None:
    started = time.monotonic()
    result = checked(client, endless() | {"time_limit": 0.5})["result"]
    assert result["status"] == "time_limit" and result["exit_code"] == 23 and result["plan"] is None
    assert time.monotonic() - started < 10
    result = checked(client, endless() | {"memory_limit": "64M"})["result"]
    assert result["status"] == "memory_limit"


def test_many_clients_at_a_time(server: Running) -> None:
    def one(number: int) -> list[tuple[str, Any]]:
        with server.client() as client:
            bodies = [texts("blocks") | {"heuristic": ("ff", "hmax")[number % 2]}, texts("unsolvable")]
            answers = [checked(client, bodies[turn % 2]) for turn in range(10)]
            return [(answer["result"]["status"], answer["result"]["heuristic"]) for answer in answers]

    with ThreadPoolExecutor(10) as pool:
        told = list(pool.map(one, range(10)))
    for number, answers in enumerate(told):
        assert answers[::2] == [("solved", [("ff", "hmax")[number % 2]])] * 5  # nobody gets another's
        assert [status for status, _ in answers[1::2]] == ["unsolvable"] * 5


def children(pid: int) -> list[int]:
    """All processes below one, the guardian of searches among them."""
    below: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        below.setdefault(int(words[1]), []).append(int(place.parent.name))
    found = list(below.get(pid, ()))
    for child in found:
        found += below.get(child, ())
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_at_once_and_leaves_nothing(number: signal.Signals) -> None:
    with serving("--jobs", "1") as server, server.client() as client, ThreadPoolExecutor(2) as pool:
        client.post("/solve", json=texts("blocks"))
        waiting = [pool.submit(client.post, "/solve", json=endless()) for _ in range(2)]
        time.sleep(0.5)
        left = children(server.process.pid)
        assert left
        started = time.monotonic()
        server.process.send_signal(number)
        assert server.process.wait(timeout=5) == 0
        assert time.monotonic() - started < 3  # a second on a machine that does nothing else
        assert {answer.result().status_code for answer in waiting} <= {200, 503}
        time.sleep(0.1)
        assert not [pid for pid in left if os.path.exists(f"/proc/{pid}")]  # noqa: PTH110


def test_the_queue_is_bounded_and_a_client_that_leaves_ends_its_search() -> None:
    with serving("--jobs", "1", "--queue", "0", "--keep", "2") as server, server.client() as client:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.url}/solve", json=endless(), timeout=1)
        deadline = time.monotonic() + 5
        refused = client.post("/package/hstar/solve", json=texts("blocks"))
        if refused.status_code != 200:
            assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
        while client.post("/solve", json=texts("blocks")).status_code == 429:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        places = []
        for _ in range(3):
            places.append(client.post("/package/hstar/solve", json=texts("blocks")).json()["result"])
            while client.get(places[-1]).json()["status"] == "PENDING":
                time.sleep(0.05)
        assert [client.get(place).status_code for place in places] == [404, 200, 200]


def test_other_origins_are_let_in_only_by_name(server: Running, client: httpx.Client) -> None:
    origin = {"origin": "https://example.org"}
    assert "access-control-allow-origin" not in client.get("/package", headers=origin).headers
    with serving("--allow-origin", origin["origin"]) as other, other.client() as open_client:
        headers = open_client.get("/package", headers=origin).headers
        assert headers["access-control-allow-origin"] == origin["origin"]


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.skipif(BROWSER is None, reason="no chromium here: sh tools/browser.sh installs it")
def test_the_page_shows_plan_bound_and_errors(server: Running) -> None:
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=BROWSER, args=flags, timeout=120_000)
        page: Page = browser.new_page()
        wrong: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(server.url)
        page.wait_for_selector("#heuristic option[value=lmcut]", state="attached")
        page.select_option("#search", "astar")
        page.select_option("#heuristic", "lmcut")
        page.click("#solve")
        page.wait_for_selector("#plan:not(:empty)")
        facts = page.inner_text("#facts")
        assert page.inner_text("#status") == "solved" and "(pick " in page.inner_text("#plan")
        assert (
            "7 in 7 steps" in facts and "optimal: the optimum is in [7, 7]" in facts and "expanded" in facts
        )
        page.fill("#problem", "(define\n (problem")
        page.click("#solve")
        page.wait_for_selector("#status.error")
        assert "problem.pddl:2" in page.inner_text("#status") and page.inner_text("#plan") == ""
        assert wrong == [] and all(url.startswith((server.url, "data:")) for url in asked)
        browser.close()
