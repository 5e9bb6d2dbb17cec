"""Prolonged backward search on grids: do learned values save expansions, and what do the paths cost?

The experiment of "Value Function Learning via Prolonged Backward Heuristic Search": networks learn from 531
random scenarios, labelled by prolonged search (several k_pr, inf is backward Dijkstra) and by the states of
optimal paths alone (VAN). On 100 fresh scenarios A* takes their values, bounded by eps, beside the admissible
heuristic and weighted A*, which promises the same for a weight of eps. The same on other maps than those of
the training: sparser, denser, mazes, rooms, larger ones. Expansions and costs do not depend on the machine;
times do, and have that of the network in them.

python benchmarks/prolonged.py --out runs/prolonged.jsonl                    # the full set-up: hours
python benchmarks/prolonged.py --scenarios 150 --tests 40 --k-pr 2 --updates 1000 --maps scattered
python benchmarks/prolonged.py --print runs/prolonged.jsonl [--table expansions]
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records import (
    Record,
    Records,
    add_file_options,
    build,
    finish,
    note,
    shown,
    stored,
    table,
    those,
    values_of,
)

from hstar.models.grid_model import GridModel, load_grid_model, save_grid_model
from hstar.recipes import train_prolonged
from hstar.sampling.prolonged import OptimalPath, Prolonged
from hstar.search.grid_astar import grid_astar
from hstar.spaces.grid import GridProblem
from hstar.spaces.grid_maps import random_problems

PARTS = ("training", "search")
WHO = ("model", "data", "scenarios", "updates", "a", "seed")  # which heuristic
NAMES = ("part", "build", *WHO, "maps", "number", "eps")
TABLES = {
    "training": "What was learned from, and the loss on held-out scenarios.",
    "expansions": "Expanded states by eps (in brackets: cost of the path, times the optimum).",
    "times": "Milliseconds for a problem, with the network and without.",
}
EPS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5)
K_PR = (1.0, 1.5, 2.0, 3.0, 5.0, math.inf)
MAPS: dict[str, dict[str, Any]] = {
    "scattered": {},  # those of the training
    "sparse": {"blocked_share": 0.2},
    "dense": {"blocked_share": 0.38},
    "maze": {"kind": "maze", "rows": 31, "columns": 31},
    "rooms": {"kind": "rooms", "rows": 31, "columns": 31},
    "larger": {"rows": 100, "columns": 100},
}
TEST_SEED = 1_000_000  # far from those of training
WEIGHTED = "weighted"


@dataclass(frozen=True)
class Training:
    """A network to learn: from which states of how many scenarios, for how long."""

    model: str
    data: str  # a k_pr, or VAN
    scenarios: int
    updates: int
    a: float
    seed: int

    def options(self) -> dict[str, Any]:
        """Of the recipe."""
        vanilla = self.data == "VAN"
        return {
            "sampler": OptimalPath.name if vanilla else Prolonged.name,
            "k_pr": 1.0 if vanilla else float(self.data),
            "model": self.model,
            "scenarios": self.scenarios,
            "updates": self.updates,
            "a": self.a,
            "seed": self.seed,
        }

    def key(self) -> Record:
        """The fields that name it."""
        return dict(vars(self))

    def file(self, folder: Path) -> Path:
        """Where its model is kept."""
        words = (self.model, self.data, self.scenarios, self.updates, self.a, self.seed)
        return folder / f"{'_'.join(map(str, words))}.hstar"


def learned(training: Training, folder: Path) -> GridModel:
    """The model, from its file if that is there; a training that was killed goes on."""
    path = training.file(folder)
    if not path.exists():
        note(f"training {path.stem}")
        checkpoint = path.with_suffix(".part")
        save_grid_model(path, train_prolonged(checkpoint=checkpoint, **training.options()))
        checkpoint.unlink(missing_ok=True)
    return load_grid_model(path)


def told(model: GridModel) -> Record:
    """What the training came to."""
    names = ("states", "train_states", "best_loss", "best_epoch", "epochs", "time_s")
    return {name: model.summary[name] for name in names} | {"curve": model.summary["curve"]}


def search(problem: GridProblem, model: GridModel | None, eps: Sequence[float]) -> Record:
    """By eps cost and expansions: with the model's values, or with weighted A* and the optimum."""
    record: Record = {"cost": {}, "expanded": {}, "reopened": {}, "search_s": {}}
    values, record["network_s"] = None, 0.0
    if model is not None:
        started = time.perf_counter()
        values = model.values(problem)
        record["network_s"] = time.perf_counter() - started
    for one in eps:
        result = (
            grid_astar(problem, values, eps=one) if model is not None else grid_astar(problem, weight=one)
        )
        for name in ("reopened", "expanded"):
            record[name][f"{one:g}"] = getattr(result, name)
        record["cost"][f"{one:g}"] = result.path_cost
        record["search_s"][f"{one:g}"] = result.search_time
    return record


# --- tables ---------------------------------------------------------------------------------------


def heuristic(record: Record) -> str:
    """As tables name it."""
    if record["model"] == WEIGHTED:
        return "weighted h_adm"
    data = "VAN" if record["data"] == "VAN" else f"PHS, k_pr = {record['data']}"
    return f"{data}, {record['model']}, a = {record['a']:g}, {record['updates']:,} updates"


def training_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    for one in those(records, part="training"):
        yield [
            heuristic(one),
            f"{one['scenarios']:,}",
            f"{one['states']:,}",
            f"{one['updates']:,}",
            f"{one['best_loss']:.1f}",
            f"{one['time_s']:.0f}",
        ]


def by_maps(records: Sequence[Record]) -> Iterator[tuple[str, str, list[Record], list[Record]]]:
    """Maps, a heuristic, its searches and those of weighted A* in the same problems."""
    searches = those(records, part="search")
    for maps, *who in values_of(searches, "maps", *WHO):
        own = those(searches, maps=maps, **dict(zip(WHO, who, strict=True)))
        plain = {one["number"]: one for one in those(searches, maps=maps, model=WEIGHTED)}
        found = [one for one in own if one["number"] in plain]
        if found:
            yield maps, heuristic(found[0]), found, [plain[one["number"]] for one in found]


def expansion_rows(records: Sequence[Record], eps: Sequence[str]) -> Iterator[list[str]]:
    for maps, name, own, plain in by_maps(records):
        cells = []
        for one in eps:
            if any(one not in record["expanded"] for record in own):
                cells.append("")
                continue
            expanded = statistics.fmean(record["expanded"][one] for record in own)
            pairs = zip(own, plain, strict=True)
            ratio = statistics.fmean(found["cost"][one] / best["cost"]["1"] for found, best in pairs)
            cells.append(f"{expanded:,.1f} ({ratio:.3f})")
        yield [maps, name, f"{len(own)}", *cells]


def time_rows(records: Sequence[Record], eps: Sequence[str]) -> Iterator[list[str]]:
    for maps, name, own, _ in by_maps(records):
        network = 1e3 * statistics.fmean(record["network_s"] for record in own)
        cells = []
        for one in eps:
            found = [record["search_s"][one] for record in own if one in record["search_s"]]
            cells.append(f"{1e3 * statistics.fmean(found) + network:.3f}" if found else "")
        yield [maps, name, f"{network:.2f}", *cells]


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    eps = sorted({one for record in records for one in record.get("expanded", ())}, key=float)
    heads = [f"eps {one}" for one in eps]
    known = ["heuristic", "scenarios", "states", "updates", "loss", "seconds"]
    texts = {
        "training": table(known, training_rows(records)),
        "expansions": table(["maps", "heuristic", "problems", *heads], expansion_rows(records, eps), (0, 1)),
        "times": table(["maps", "heuristic", "network", *heads], time_rows(records, eps), (0, 1)),
    }
    return {name: (title, texts[name]) for name, title in TABLES.items()}


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add: Callable[..., Any] = parser.add_argument
    add("--scenarios", type=int, default=531, metavar="N", help="to learn from")
    add("--tests", type=int, default=100, metavar="N", help="fresh ones, of each kind of maps")
    add("--model", action="append", help="value-map or paper; may be repeated (both)")
    add("--k-pr", type=float, action="append", metavar="X", help="may be repeated (1, 1.5, 2, 3, 5, inf)")
    add("--eps", type=float, action="append", metavar="X", help="may be repeated (1 to 3.5)")
    add("--maps", choices=list(MAPS), action="append", help="may be repeated (all)")
    add("--updates", type=int, default=4096, metavar="N", help="steps of the optimizer")
    add("--a", type=float, default=-2.5, metavar="X", help="of the asymmetric loss")
    add("--seed", type=int, default=0, metavar="N", help="of training")
    add("--models", type=Path, metavar="FOLDER", help="where models are kept (beside the file of --out)")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, PARTS, NAMES)
        print(shown(sections(known), known, options.table, options.file))
        return 0
    records = Records(options.out, NAMES)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.models or (Path(scratch) if options.out is None else options.out.with_suffix(""))
        folder.mkdir(parents=True, exist_ok=True)
        measure(records, options, folder)
    print(shown(sections(records.used), records.used, options.table))
    return 0


def measure(records: Records, options: argparse.Namespace, folder: Path) -> None:
    """All that is asked for and not known yet."""
    eps = tuple(options.eps or EPS)
    eps = eps if 1.0 in eps else (1.0, *eps)  # which gives the optimum
    trainings = [
        Training(model, data, options.scenarios, options.updates, options.a, options.seed)
        for model in options.model or ("value-map", "paper")
        for data in ("VAN", *(f"{k_pr:g}" for k_pr in options.k_pr or K_PR))
    ]
    for one in trainings:
        what = {"part": "training", "build": build(), **one.key()}
        records.get(what, lambda: told(learned(one, folder)))  # noqa: B023
    for maps in options.maps or MAPS:
        problems = random_problems(options.tests, TEST_SEED, **MAPS[maps])
        for chosen in (None, *trainings):
            model = None
            if chosen is not None:
                model = learned(chosen, folder)
                if not model.network.any_size and problems[0].grid.shape not in model.sizes:
                    continue  # the network of the paper, on maps of another size
                model.values(problems[0])  # the first pass takes longer
            note(f"{maps}: {WEIGHTED if chosen is None else chosen.file(folder).stem}")
            named = {"model": WEIGHTED} if chosen is None else chosen.key()
            for number, problem in enumerate(problems):
                what = {"part": "search", "build": build(), **named, "maps": maps, "number": number}
                what["eps"] = " ".join(f"{one:g}" for one in eps)
                records.get(what, lambda: search(problem, model, eps))  # noqa: B023


if __name__ == "__main__":
    finish(main)
