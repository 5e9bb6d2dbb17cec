"""Is the promise of a calibrated heuristic of a puzzle kept? Plans of IDA* on fresh instances.

Of each puzzle a network is trained by `likely-admissible` (for some minutes: SETTINGS has the options; a bad
network must keep its promise, too) and calibrated twice (hstar.estimates.conformal): by uniformly random
instances, and by the ends of short walks. Fresh instances are uniformly random, so that the first promise is
one about them, and the second is not. Of every fresh instance the score along an optimal plan is compared
with the quantiles of both, and IDA* with the heuristics for one of the confidences plans, within so many
nodes and for the bound of SETTINGS: optimal plans of 24 pancakes would take a hundred million nodes, as they
did with the published networks. The form is the additive one, since networks err by some moves near the goal,
too, where the ratio of 3 to 1 would spoil all the rest. Everything counts nodes and costs, no times, so a
loaded machine gives the same numbers.

python benchmarks/puzzle_calibration.py --out runs/puzzle_calibration.jsonl [--fresh 500]
python benchmarks/puzzle_calibration.py --print runs/puzzle_calibration.jsonl [--table kept]
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration import geometric_mean, share
from records import Record, Records, add_file_options, build, finish, note, shown, stored, table, those

from hstar.estimates import Calibrated, Mean, conformal
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import train
from hstar.recipes.calibrate import puzzle_plan_values, scored_network
from hstar.search.puzzle_network import PuzzleNetwork
from hstar.search.puzzle_optimal import OptimalPlans, optimal_plans
from hstar.search.solve import solve
from hstar.spaces.puzzle import Instance, Puzzle
from hstar.spaces.puzzles import parse_puzzle

PART = "puzzle calibration"
SET_UP = ("model", "calibration", "nodes", "bound", "walk", "table_bytes")  # of all instances of a puzzle
NAMES = ("part", "build", "puzzle", "number", *SET_UP)
TABLES = {"kept": "Promises and what came of them.", "shift": "Calibrated by short walks: no promise."}
CONFIDENCES = (0.5, 0.8, 0.9, 0.95)
SEARCHED = 0.9  # the confidence of the heuristics that plans are made with
SOURCES = ("uniform", "walks")
# Instances of different roles have different seeds.
ROLES = {"uniform": 1_000_000, "walks": 2_000_000, "fresh": 3_000_000}


@dataclass(frozen=True)
class Setting:
    """Options of the training, moves of the walks, the bound on plans, after how many nodes a search is given
    up, and the memory of its table of seen states.
    """

    training: Mapping[str, Any]
    walk: int
    bound: float = 1.0
    nodes: int = 1_000_000
    table_bytes: int = 0


SETTINGS = {
    "tiles:3x3": Setting({"iterations": 6, "nodes": 100_000}, walk=12),
    "tiles:4x4": Setting(
        {"iterations": 40, "nodes": 1_000_000, "inputs": "databases"}, walk=30, nodes=20_000_000
    ),
    "pancake:24": Setting({"iterations": 20, "nodes": 1_000_000}, walk=8, bound=1.5),
    "blocks:15": Setting({"iterations": 20, "nodes": 1_000_000}, walk=15, table_bytes=1 << 22),
}


def instances(size: Puzzle, role: str, wanted: int) -> Iterator[Instance[Puzzle]]:
    """Those of a role; they depend on puzzle, role and number only."""
    for number in range(wanted):
        seed, walk = ROLES[role] + number, SETTINGS[str(size)].walk
        yield Instance(f"{number}", size.walk(walk, seed) if role == "walks" else size.random(seed))


def trained(size: Puzzle, folder: Path) -> tuple[TrainedModel[Any], str]:
    """The network, from the folder if it is there, and the identity of its file."""
    path = folder / f"{str(size).replace(':', '-')}.hstar"
    if not path.exists():
        note(f"{size}: training")
        folder.mkdir(parents=True, exist_ok=True)
        options = SETTINGS[str(size)].training
        checkpoint = path.with_suffix(".part")
        model = train("likely-admissible", size, profile="quick", checkpoint=checkpoint, **options)
        model.save(path)
        checkpoint.unlink(missing_ok=True)
    return load_model(path), hashlib.sha256(path.read_bytes()).hexdigest()[:8]


@dataclass(frozen=True)
class Heuristics:
    """Of one puzzle: quantiles by source and confidence, and by source the network to search with."""

    quantiles: dict[str, dict[str, float]]
    networks: dict[str, PuzzleNetwork]
    fine: PuzzleNetwork
    solver: OptimalPlans


def calibrated(model: TrainedModel[Any], number: int) -> Heuristics:
    """By so many instances of each source; each is solved once for all confidences."""
    fine, solver = scored_network(model, Mean()), optimal_plans(model.space.puzzle)
    quantiles: dict[str, dict[str, float]] = {}
    networks: dict[str, PuzzleNetwork] = {}
    bound = SETTINGS[str(model.space.puzzle)].bound
    for source in SOURCES:
        note(f"{model.space.puzzle}: {number} instances to calibrate by, {source}")
        found = [scored(one.puzzle, fine, solver)[1] for one in instances(model.space.puzzle, source, number)]
        quantiles[source] = {f"{one:g}": conformal.quantile(found, one) for one in CONFIDENCES}
        score = quantiles[source][f"{SEARCHED:g}"]
        rule = Calibrated(confidence=SEARCHED, instances=number, score=score, bound=bound, whole=True)
        networks[source] = model.with_rule(rule).build(model.space.puzzle)
    return Heuristics(quantiles, networks, fine, solver)


def scored(puzzle: Puzzle, fine: PuzzleNetwork, solver: OptimalPlans) -> tuple[int, float]:
    """The cost of an optimal plan, and its score."""
    states = solver.states(puzzle)
    assert states is not None  # there is no limit
    return len(states) - 1, conformal.plan_score(*puzzle_plan_values(fine, states))


def measure(puzzle: Puzzle, found: Heuristics, setting: Setting) -> Record:
    """Scores and plans of one instance."""
    optimum, score = scored(puzzle, found.fine, found.solver)
    record: Record = {
        "optimum": optimum,
        "score": score,
        "quantile": found.quantiles,
        "cost": {},
        "generated": {},
    }
    for source, network in found.networks.items():
        result = solve(
            puzzle, network, "idastar", max_evaluations=setting.nodes, table_bytes=setting.table_bytes
        )
        record["cost"][source], record["generated"][source] = result.plan_cost, result.generated
    return record


# --- tables ---------------------------------------------------------------------------------------


def rows(records: Sequence[Record], source: str) -> Iterator[list[str]]:
    """Of each puzzle how often scores were within what was stated, and what plans there were.

    Of several set-ups in a file the last one counts; older records do not tell bound, walk and table.
    """
    for puzzle, setting in SETTINGS.items():
        found = those(records, puzzle=puzzle)
        some = those(found, **{name: found[-1].get(name) for name in SET_UP}) if found else []
        bound = some[-1].get("bound", setting.bound) if some else setting.bound
        for confidence in CONFIDENCES if some else ():
            quantile = some[-1]["quantile"][source][f"{confidence:g}"]
            within = share([one["score"] <= quantile for one in some])
            line = [puzzle, f"{len(some)}", f"{confidence:g}", f"{quantile:.2f}", within]
            yield [*line, *(plans(some, source, bound) if confidence == SEARCHED else [""] * 4)]


def plans(some: Sequence[Record], source: str, bound: float) -> list[str]:
    """The bound, and of the plans that were found: how many, how many keep it, and the nodes they took."""
    promise = "optimal" if bound == 1 else f"at most {bound:g} times"
    done = [one for one in some if one["cost"][source] is not None]
    if not done:
        return [promise, "0", "", ""]
    kept = share([one["cost"][source] <= bound * one["optimum"] for one in done])
    effort = geometric_mean([max(1, one["generated"][source]) for one in done])
    return [promise, f"{len(done)}", kept, f"{effort:,.0f}"]


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    header = ["puzzle", "instances", "stated", "quantile", "score within (95 %)"]
    header += ["plans", "found", "of them kept (95 %)", "nodes, geometric mean"]
    found = {"kept": "uniform", "shift": "walks"}
    return {
        name: (TABLES[name], table(header, rows(records, source), (0, 5))) for name, source in found.items()
    }


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add: Callable[..., Any] = parser.add_argument
    add("--puzzle", choices=list(SETTINGS), action="append", help="only this one; may be repeated")
    add("--models", type=Path, default=Path("runs/models"), metavar="FOLDER", help="of trained networks")
    add("--calibration", type=int, default=200, metavar="N", help="instances to calibrate by")
    add("--fresh", type=int, default=500, metavar="N", help="uniformly random instances to test with")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, (PART,), NAMES)
        print(shown(sections(known), known, options.table, options.file))
        return 0
    records = Records(options.out, NAMES)
    for name in options.puzzle or SETTINGS:
        size = parse_puzzle(name)
        model, digest = trained(size, options.models)
        heuristics, setting = calibrated(model, options.calibration), SETTINGS[name]
        for number, one in enumerate(instances(size, "fresh", options.fresh)):
            note(f"{name}: {number + 1} of {options.fresh}")
            what = {"part": PART, "build": build(), "puzzle": name, "model": digest, "number": number}
            what |= {"calibration": options.calibration, "nodes": setting.nodes, "bound": setting.bound}
            what |= {"walk": setting.walk, "table_bytes": setting.table_bytes}
            records.get(what, lambda: measure(one.puzzle, heuristics, setting))  # noqa: B023
    print(shown(sections(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
