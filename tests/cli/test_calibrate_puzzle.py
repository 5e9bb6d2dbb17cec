"""`hstar calibrate` of models of puzzles, and what `info` and `puzzle` tell of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hstar.models.trained_model import load_model
from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.tiles import turned
from puzzle_models import made

from .conftest import Refused, Run

CALIBRATE = ("calibrate", "model.hstar", "-o", "new.hstar", "--confidence", "0.9")
PROMISE = "optimal with probability at least 0.9, for problems like the 20 of the calibration"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made().save("model.hstar")
    made("tiles:5x5").save("large.hstar")
    size, lines = parse_puzzle("tiles:2x3"), ["id,tiles,optimal_cost"]
    for seed in range(20):
        puzzle = size.random(seed)
        cost = solve(puzzle, "manhattan", "idastar").plan_cost
        lines.append(f"{seed},{' '.join(map(str, puzzle.start))},{cost if seed % 2 else ''}")
    Path("instances.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_calibrate_info_and_puzzle(hstar: Run, folder: Path) -> None:
    done = hstar(*CALIBRATE, "--random", "20")
    drawn = f"{PROMISE} (uniformly random)"
    assert (done.code, done.out) == (0, "")
    pattern = rf"new\.hstar: h - -?[0-9.]+; plans of idastar are {re.escape(drawn)}\n"
    assert re.fullmatch(pattern, done.err), done.err
    record = json.loads(hstar("info", "new.hstar", "--json").out)
    assert record["promise"] == drawn and json.loads(record["rule"])["instances"] == 20
    assert "promise" not in json.loads(hstar("info", "model.hstar", "--json").out)

    puzzle = ("solve", "tiles:2x3", "--random", "3", "-e", "new.hstar")
    done = hstar(*puzzle)
    assert done.code == 0 and done.err.splitlines()[-1] == f"each plan is {drawn}"
    rows = [json.loads(line) for line in hstar(*puzzle, "--json", "-q").out.splitlines()]
    for row in rows:
        assert row["promise"] == {
            "kept": True,
            "confidence": 0.9,
            "bound": 1.0,
            "instances": 20,
            "text": f"is {drawn}",
        }
        assert row["run"]["rule"][0].startswith("calibrated")


@pytest.mark.parametrize(
    ("words", "kept", "text"),
    [
        (["instances.csv"], True, f"is {PROMISE} (uniformly random)"),
        (["instances.csv", "--table", "1M"], True, "is optimal with"),
        (["--random", "2", "--walk", "5"], False, "instances are ends of walks of 5 moves, those of the"),
        (["instances.csv", "--pruning", "automaton"], False, "an automaton may prune the plan"),
        (["instances.csv", "--alpha", "0.9"], None, ""),
        (["instances.csv", "--rule", "mean"], None, ""),
        (["instances.csv", "--nodes", "1"], None, ""),
    ],
)
def test_when_something_is_promised(
    hstar: Run, folder: Path, words: list[str], kept: bool | None, text: str
) -> None:
    assert hstar(*CALIBRATE, "--random", "20", "-q").code == 0
    done = hstar("solve", "tiles:2x3", *words, "-e", "new.hstar", "--json")
    promise = json.loads(done.out.splitlines()[-1]).get("promise")
    assert (promise is None) == (kept is None)
    if promise is not None:
        assert promise["kept"] is kept and text in promise["text"] and promise["text"] in done.err


def test_a_file_walks_and_other_rules(hstar: Run, folder: Path) -> None:
    record = json.loads(hstar(*CALIBRATE, "instances.csv", "--json", "-q").out)
    assert (record["instances"], record["rank"], record["left_out"], record["replaced"]) == (20, 19, 0, False)
    assert record["promise"] == f"{PROMISE} (those of instances.csv)"
    boards = [line.split(",") for line in Path("instances.csv").read_text().splitlines()[1:]]
    last = [(name, turned(tuple(map(int, tiles.split()))), cost) for name, tiles, cost in boards]
    lines = ["id,tiles,optimal_cost", *(f"{name},{' '.join(map(str, at))},{cost}" for name, at, cost in last)]
    Path("last.csv").write_text("\n".join(lines) + "\n")
    other = json.loads(hstar(*CALIBRATE, "last.csv", "--blank-last", "--json", "-q").out)
    assert other["score"] == record["score"]
    walks = json.loads(hstar(*CALIBRATE, "--random", "20", "--walk", "9", "--json", "-q").out)
    assert walks["promise"] == f"{PROMISE} (ends of walks of 9 moves)"
    words = (*CALIBRATE, "--random", "20", "--bound", "1.5", "--form", "additive", "--json", "-q")
    rules = [json.loads(hstar(*words, *more).out) for more in (["--alpha", "0.9"], ["--rule", "likely:0.9"])]
    assert rules[0] == rules[1] and rules[0]["of"] == {"name": "likely", "alpha": 0.9}
    assert rules[0]["promise"].startswith("at most 1.5 times the optimal cost")
    again = hstar("calibrate", "new.hstar", "--random", "20", "-o", "new.hstar", "--confidence", "0.9")
    assert again.code == 0 and again.err.endswith(", in place of an earlier calibration\n")


def test_instances_are_not_those_of_the_command_that_tests_them(hstar: Run, folder: Path) -> None:
    """The same seed is usual in both; other seeds calibrate by others."""

    def score(*words: str) -> float:
        assert hstar(*CALIBRATE, *words, "-q").code == 0
        calibration = load_model("new.hstar").calibration
        assert calibration is not None
        return calibration.score

    rows = hstar("solve", "tiles:2x3", "--random", "20", "--json", "-q").out.splitlines()
    starts = [" ".join(map(str, json.loads(row)["start"])) for row in rows]
    lines = ["id,tiles", *(f"{i},{tiles}" for i, tiles in enumerate(starts))]
    Path("same.csv").write_text("\n".join(lines) + "\n")
    found = [score("--random", "20"), score("--random", "20", "--seed", "1"), score("same.csv")]
    assert found[0] not in found[1:] and score("--random", "20") == found[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--random", "8"], "8 instances are too few for a confidence of 0.9; it takes at least 9"),
        ([], "calibrated by one CSV file of instances, or by --random N"),
        (["instances.csv", "--random", "20"], "calibrated by one CSV file of instances, or by --random N"),
        (["instances.csv", "--walk", "3"], "--walk is for --random"),
        (["--random", "20", "--blank-last"], "--blank-last is for a file of instances"),
        (["--random", "20", "--walks", "3"], "--walks is not for models of a puzzle"),
        (
            ["--random", "20", "--rule", "bounded:1.5"],
            "has the rules mean, quantile, likely and clip, not bounded",
        ),
        (["--random", "20", "--alpha", "2"], "alpha must be a number above 0, below 1, got 2"),
        (["--random", "20", "--alpha", "0.5", "--rule", "mean"], "either --rule or --alpha"),
        (["--random", "20", "--walk", "0"], "too many instances begin in the goal"),
        (["absent.csv"], "absent.csv: no such file"),
    ],
)
def test_mistakes(refused: Refused, folder: Path, words: list[str], message: str) -> None:
    assert message in refused(33, *CALIBRATE, *words, "-q")
    assert not Path("new.hstar").exists()


def test_the_24_puzzle(refused: Refused, folder: Path) -> None:
    """From anywhere only with known costs; nothing is built before that is refused."""
    words = ("calibrate", "large.hstar", "-o", "new.hstar", "--confidence", "0.5", "-q")
    message = refused(34, *words, "--random", "20")
    assert message.startswith(
        "optimal plans of tiles:5x5 take too long from anywhere; give --walk K, or a file"
    )
    tiles = " ".join(map(str, parse_puzzle("tiles:5x5").random(1).start))
    Path("costs.csv").write_text(f"id,tiles,optimal_cost\na,{tiles},\n")
    assert refused(34, *words, "costs.csv") == message


def test_rules_are_for_models(refused: Refused, folder: Path) -> None:
    words = ("solve", "tiles:2x3", "instances.csv", "--rule", "mean")
    assert "--rule is for model files, not for the default heuristic" in refused(33, *words)
    assert "writes it into a model" in refused(33, *words[:4], "calibrated", "-e", "model.hstar")
