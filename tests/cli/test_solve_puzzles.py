"""`hstar solve` of puzzles, `hstar train likely-admissible` and `hstar info` of its models."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from hstar.models.trained_model import load_model
from hstar.search.solve import solve
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.tiles import turned
from puzzle_models import made

from .conftest import Refused, Run, start

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "likely_admissible.md").read_text().partition("## Planning tasks")[0]
CSV = "id,tiles,optimal_cost\na,3 1 2 0 4 5,1\nb,1 2 0 3 4 5,2\nc,5 4 3 2 1 0,\n"
SMALL = [
    *("--iterations", "2", "--tasks", "3", "--nodes", "10000", "--hidden", "6", "--planner-steps", "20"),
    *("--known-steps", "50", "--samples", "0", "--loss-samples", "0"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances.csv").write_text(CSV)
    return tmp_path


def test_rows_and_summary(hstar: Run, folder: Path) -> None:
    done = hstar("solve", "tiles:2x3", "instances.csv", "--json")
    assert done.code == 0
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["cost"] for row in rows[:2]] == [1, 2] and rows[2]["optimal_cost"] is None
    assert all(row["status"] == "solved" and len(row["actions"]) == row["cost"] for row in rows)
    assert rows[0]["run"]["heuristic"] == rows[0]["heuristic"] == ["manhattan"]
    assert re.search(r"3 of 3 solved, mean cost \d+\.\d\d, .*suboptimality 0.00%, 100.0% optimal", done.err)


def test_plain_lines_and_limits(hstar: Run, folder: Path) -> None:
    done = hstar("solve", "tiles:2x3", "instances.csv", "--nodes", "5")
    assert done.code == 12
    assert re.fullmatch(r"a: cost 1 \(optimal\), \d+ generated, \d+\.\d{3} s", done.out.splitlines()[0])
    assert done.out.splitlines()[2].startswith("c: evaluation limit, ")


@pytest.mark.parametrize("search", [(), ("--bound", "1.5"), ("--anytime",)])
@pytest.mark.parametrize("limit", ["--nodes", "--time-limit"])
def test_no_nodes_and_no_time(limit: str, search: tuple[str, ...], hstar: Run, folder: Path) -> None:
    done = hstar("solve", "tiles:2x3", "instances.csv", limit, "0", *search)
    assert done.code == 12
    status = "evaluation limit" if limit == "--nodes" else "time limit"
    first = done.out.splitlines()[0]
    assert re.fullmatch(
        rf"a: {status}(, no plan costs less than 1)? \(optimal 1\), 0 generated, 0\.\d{{3}} s", first
    )
    assert done.err.startswith("0 of 3 solved, mean 0 generated")


def test_plans_within_a_bound(hstar: Run, folder: Path) -> None:
    anchor = ("--anchor", "manhattan")
    done = hstar(
        "solve", "tiles:3x3", "--random", "6", "--bound", "1.5", "-e", "misplaced", *anchor, "--json"
    )
    optimal = hstar("solve", "tiles:3x3", "--random", "6", "--json")
    assert done.code == 0
    for line, best in zip(done.out.splitlines(), optimal.out.splitlines(), strict=True):
        row, optimum = json.loads(line), json.loads(best)["cost"]
        assert row["lower_bound"] <= optimum <= row["cost"] <= 1.5 * row["lower_bound"]
        assert row["ratio"] == row["cost"] / row["lower_bound"]
        told = {name: row["run"][name] for name in ("heuristic", "anchor", "bound", "search")}
        assert told == {"heuristic": ["misplaced"], "anchor": "manhattan", "bound": 1.5, "search": "focal"}
    plain = hstar("solve", "tiles:3x3", "--random", "2", "--bound", "9", "-e", "misplaced").out.splitlines()[
        0
    ]
    assert re.fullmatch(
        r"1: cost \d+ \((optimal|at least \d+: within [0-9.]+ of the optimum)\), \d+ generated, [0-9.]+ s",
        plain,
    )


def test_better_and_better_plans(hstar: Run, folder: Path) -> None:
    done = hstar("solve", "pancake:8", "--random", "3", "--anytime", "-e", "blind")
    assert done.code == 0
    assert all(re.search(r"^\d: cost \d+ \(optimal\), ", line) for line in done.out.splitlines())
    assert re.search(r"^1: [0-9.]+ s: plan of cost \d+", done.err, re.MULTILINE)
    short = hstar("solve", "tiles:4x4", "--random", "2", "--bound", "1", "-e", "manhattan", "--nodes", "9")
    assert short.code == 12
    assert re.match(r"1: evaluation limit, no plan costs less than \d+, ", short.out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--bound", "0.5"), "bound must be a number from 1 on, got 0.5"),
        (("--bound", "2", "--pruning", "none"), "--pruning is for idastar, not for focal"),
        (("--bound", "2", "--threads", "2"), "--threads is for idastar, not for focal"),
        (("--threads", "2", "--cpu-time-limit", "1"), "a limit on CPU time is for searches by one thread"),
        (("--threads", "0"), "threads must be a whole number from 1 to 1024, got 0"),
        (("--threads", "2", "--table", "1M"), "threads and a table of seen states do not go together"),
        (("--anchor", "gap"), "--anchor is for focal, not for idastar"),
        (("--bound", "2", "--anchor", "gap"), "unknown heuristic of tiles 'gap'"),
        (
            ("--bound", "2", "--anchor", "databases"),
            "there are databases for tiles:4x4, tiles:5x5, pancake:24, blocks:15, not for tiles:2x3",
        ),
    ],
)
def test_options_that_do_not_go_together(
    refused: Refused, folder: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in refused(33, "solve", "tiles:2x3", "--random", "1", *words)


def test_rows_are_not_computed_again(hstar: Run, folder: Path) -> None:
    command = ("solve", "tiles:2x3", "instances.csv", "-o", "rows.jsonl", "--json")

    def rows(text: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in text.splitlines()]

    first = rows(hstar(*command).out)
    lines = Path("rows.jsonl").read_text().splitlines()
    for printed, kept in zip(first, map(json.loads, lines), strict=True):
        assert {name: printed[name] for name in kept} == kept
    # After a kill in the middle of a line; times tell which row is a new one.
    Path("rows.jsonl").write_text("\n".join(lines[:2]) + "\n" + lines[2][:20])
    second = rows(hstar(*command).out)
    times = [row["search_time"] for row in first]
    assert [row["search_time"] for row in second[:2]] == times[:2] and second[2]["search_time"] != times[2]
    assert (second[2]["cost"], second[2]["generated"]) == (first[2]["cost"], first[2]["generated"])
    assert [row["search_time"] for row in rows(hstar(*command).out)] == [row["search_time"] for row in second]
    # Another heuristic is another run in the same file, and jobs change nothing but times.
    other = rows(hstar(*command, "--heuristic", "misplaced", "--jobs", "2").out)
    assert [row["cost"] for row in other] == [1, 2, first[2]["cost"]]
    assert len(Path("rows.jsonl").read_text().splitlines()) == 7  # one of them half


def test_another_goal_is_noticed(hstar: Run, refused: Refused, folder: Path) -> None:
    """On boards of odd sides both goals can be reached, at other costs."""
    size = parse_puzzle("tiles:3x3")
    boards = [size.random(seed).start for seed in range(30)]
    first, last = (
        [solve(size.at(board), "manhattan", "idastar").plan_cost or 0 for board in some]
        for some in (boards, map(turned, boards))
    )
    least = [size.core.value("manhattan", board) for board in boards]
    shorter = next(i for i in range(30) if first[i] < last[i])
    longer = next(i for i in range(30) if first[i] > last[i] >= least[i])
    for i, found in ((shorter, "a plan costs"), (longer, "no plan costs less than")):
        board = " ".join(map(str, boards[i]))
        Path("last.csv").write_text(f"id,tiles,optimal_cost\nx,{board},{last[i]}\n")
        message = (
            f"last.csv: x: optimal_cost is {last[i]}, but {found} {first[i]}: wrong, or for another goal"
        )
        for words in ((), ("--bound", "1"), ("-o", "rows.jsonl")):
            told = refused(33, "solve", "tiles:3x3", "last.csv", *words)
            assert told.startswith(message) and "--blank-last" in told
        assert not Path("rows.jsonl").exists()
        done = hstar("solve", "tiles:3x3", "last.csv", "--blank-last", "--summary", "--json")
        assert done.code == 0 and json.loads(done.out)["optimal"] == 1


def test_a_network_proves_nothing_but_finds_plans(hstar: Run, refused: Refused, folder: Path) -> None:
    made().save("model.hstar")
    command = ("solve", "tiles:2x3", "one.csv", "-e", "model.hstar")
    for said in (12, 99):  # the optimum is 15
        Path("one.csv").write_text(f"id,tiles,optimal_cost\nx,5 4 3 2 1 0,{said}\n")
        if said == 12:
            assert hstar(*command).code == 0
            assert "no plan costs less than" in refused(33, *command[:3])
        else:
            assert "one.csv: x: optimal_cost is 99, but a plan costs" in refused(33, *command)


def test_rows_of_an_earlier_run_are_checked(hstar: Run, folder: Path) -> None:
    command = ("solve", "tiles:2x3", "instances.csv", "-o", "rows.jsonl")
    assert hstar(*command).code == 0
    Path("instances.csv").write_text(CSV.replace("4 5,2", "4 5,3"))
    done = hstar(*command)
    assert done.code == 33 and "instances.csv: b: optimal_cost is 3, but a plan costs 2" in done.err
    Path("instances.csv").write_text(CSV.replace("4 5,2", "4 5,1"))
    done = hstar(*command)
    assert done.code == 33 and "instances.csv:3: b: optimal_cost is 1, but no plan costs less" in done.err


def test_random_instances(hstar: Run, folder: Path) -> None:
    def starts(*words: str) -> list[list[int]]:
        done = hstar("solve", "pancake:7", "--random", "4", "--json", *words)
        assert done.code == 0
        return [json.loads(line)["start"] for line in done.out.splitlines()]

    assert starts() == starts("--jobs", "3") != starts("--seed", "1")
    assert starts("--walk", "0") == [list(range(7))] * 4
    assert all(sorted(start) == list(range(7)) for start in starts("--walk", "3"))


def test_learn_look_and_solve(hstar: Run, folder: Path, refused: Refused) -> None:
    trained = hstar("train", "likely-admissible", "tiles:2x3", "-o", "model.hstar", *SMALL, "--json")
    assert trained.code == 0
    record = json.loads(trained.out)
    assert (record["recipe"], record["space"], record["iterations"]) == ("likely-admissible", "tiles:2x3", 2)
    assert re.search(r"model.hstar: likely-admissible, tiles:2x3, 2 iterations, \d of 6 tasks", trained.err)
    shown = hstar("info", "model.hstar")
    assert shown.code == 0
    for word in ("tiles:2x3", "0 1 2 3 4 5", "one-hot, 30", "ffnn", '"width": 6', "likely-admissible"):
        assert word in shown.out
    assert json.loads(hstar("info", "model.hstar", "--json").out)["trained_for"] == "tiles:2x3"
    solved_words = ("solve", "tiles:2x3", "instances.csv", "-e", "model.hstar", "--alpha", "0.9")
    solved = hstar(*solved_words, "--json")
    assert solved.code == 0
    plain = solved.out.splitlines()[0]
    assert json.loads(plain)["run"]["alpha"] == json.loads(plain)["alpha"] == 0.9
    for word in ("floor", "truncated"):
        rows = hstar(*solved_words, f"--{word}", "--json").out.splitlines()
        assert all(json.loads(row)["run"][word] for row in rows) and word not in json.loads(plain)["run"]
        found = [(json.loads(row)["start"], json.loads(row)["initial_h"]) for row in rows]
        core = parse_puzzle("tiles:2x3").core
        assert all(h >= core.value("manhattan", state) for state, h in found)
    wrong = refused(33, "solve", "tiles:3x2", "--random", "1", "--heuristic", "model.hstar")
    assert wrong == "the model was trained for tiles:2x3, asked for tiles:3x2"
    wrong = refused(33, "solve", "pancake:5", "--random", "1", "--heuristic", "model.hstar")
    assert wrong.startswith("the model was trained for tiles:2x3, asked for pancake")
    Path("domain.pddl").write_text("(define (domain d))")
    assert "was trained for tiles:2x3, asked for a task" in refused(
        33, "solve", "domain.pddl", "--heuristic", "model.hstar"
    )


def test_steps_that_are_too_large(hstar: Run, refused: Refused, folder: Path) -> None:
    """Large ones leave no spread to some weights, which is no harm; those beyond all numbers are told."""
    command = ("train", "likely-admissible", "tiles:2x3", "-o", "m.hstar", "-q", *SMALL)
    assert hstar(*command, "--known-learning-rate", "3").code == 0
    wrong = refused(33, *command, "--known-learning-rate", "1e20")
    assert wrong == "variances are not finite: known_learning_rate is too large"


@pytest.mark.slow
def test_a_buffer_of_one_record(hstar: Run, folder: Path) -> None:
    words = [*SMALL, "--buffer", "1", "--json"]
    trained = hstar("train", "likely-admissible", "tiles:2x3", "-o", "model.hstar", *words)
    assert trained.code == 0 and json.loads(trained.out)["states"] == 1
    assert hstar("solve", "tiles:2x3", "--random", "1", "-e", "model.hstar", "--nodes", "9999").code in (
        0,
        12,
    )


@pytest.mark.slow
def test_a_checkpoint_is_gone_on_from(hstar: Run, folder: Path, refused: Refused) -> None:
    command = ("train", "likely-admissible", "tiles:2x3", *SMALL, "--checkpoint", "run.part", "-q")
    assert hstar(*command, "-o", "one.hstar").code == 0
    before = Path("run.part").read_bytes()
    assert hstar(*command, "-o", "two.hstar").code == 0
    assert Path("run.part").read_bytes() == before
    one, two = load_model("one.hstar"), load_model("two.hstar")
    assert one.summary == two.summary
    assert "another training (seed" in refused(33, *command, "-o", "one.hstar", "--seed", "7")


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow
def test_ctrl_c(jobs: str, folder: Path) -> None:
    """An easy instance, then some that take days: what is done is kept."""
    hard = [" ".join(map(str, parse_puzzle("tiles:5x5").random(seed).start)) for seed in (1, 2, 3)]
    easy = " ".join(map(str, (1, 0, *range(2, 25))))
    rows = [f"{i},{tiles}" for i, tiles in enumerate([easy, *hard])]
    Path("days.csv").write_text("\n".join(["id,tiles", *rows]) + "\n")
    process = start("solve", "tiles:5x5", "days.csv", "-o", "rows.jsonl", "--jobs", jobs)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("0: cost 1 (optimal), ")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert "interrupted: 1 of 4 done; run the same command again to go on from rows.jsonl" in err
    assert len(Path("rows.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("solve tiles:2x3", "give either a file of instances, or --random N or --walk K"),
        ("solve tiles:2x3 instances.csv --random 2", "give either a file of instances, or --random N"),
        ("solve tiles:2x3 instances.csv --walk 2", "give either a file of instances, or --random N"),
        ("solve tile:2x3 --random 1 --walk 2", "tile:2x3: no such file"),
        ("solve tiles:2x3 none.csv", "none.csv: no such file"),
        ("solve tiles:3x3 instances.csv", "instances.csv:2: a state of tiles:3x3 has 9 numbers, not 6"),
        ("solve tiles:2x3 --random 1 -e gap", "unknown heuristic of tiles 'gap'"),
        (
            "solve tiles:2x3 --random 1 -e databases",
            "databases for tiles:4x4, tiles:5x5, pancake:24, blocks:15, not",
        ),
        (
            "solve tiles:2x3 --random 1 --alpha 0.9",
            "--alpha is for model files, not for the default heuristic",
        ),
        ("solve tiles:2x3 --random 1 --floor", "--floor is for model files, not for the default heuristic"),
        ("solve tiles:2x3 --random 1 --truncated", "--truncated is for model files, not for the default"),
        ("solve tiles:2x3 --random 1 -e none.hstar", "none.hstar: cannot read"),
        ("solve tiles:2x3 --random 1 --jobs 0", "--jobs takes 1 or more"),
        ("solve tiles:2x3 --random 1 --pruning all", "unknown pruning 'all'"),
        ("train likely-admissible tiles:2x3 -o m.hstar --epochs 3", "--epochs is not an option of likely-ad"),
        ("train likely-admissible tiles:2x3 -o m.hstar --data x", "--data is not an option of likely-ad"),
        ("train likely-admissible a b -o m.hstar", "a: no such file"),
        (
            "train likely-admissible tiles:2x3 -o m.hstar --alpha 2",
            "alpha must be a number above 0, below 1",
        ),
        (
            "train likely-admissible tiles:2x3 -o m.hstar --profile fast",
            "unknown profile of likely-admissible",
        ),
        ("train likely-admissible tiles:2x3 -o none/m.hstar", "cannot write the model"),
        ("train likely-admissible tiles:2x3 -o m.hstar --nodes 0", "nodes must be a whole number from 1 on"),
        (
            "train likely-admissible tiles:2x3 -o m.hstar --task-time 0",
            "task_time must be a number above 0, got",
        ),
        (
            "train likely-admissible tiles:2x3 -o m.hstar --buffer 0",
            "buffer must be a whole number from 1 on",
        ),
        ("train bootstrap tiles:2x3 -o m.hstar --nodes 0", "nodes must be a whole number from 1 on, got 0"),
        ("train bootstrap tiles:2x3 -o m.hstar --alpha 0.5", "--alpha is not an option of bootstrap"),
    ],
)
def test_mistakes(words: str, message: str, refused: Refused, folder: Path) -> None:
    assert message in refused(33, *words.split())
    assert not Path("m.hstar").exists()
