"""Prolonged backward search on grids: do learned values save expansions, and what do the paths cost?

The experiment of "Value Function Learning via Prolonged Backward Heuristic Search": networks learn from 531
random scenarios, labelled by prolonged search (several k_pr, inf is backward Dijkstra) or by the states of
optimal paths alone (VAN). On 100 fresh scenarios A* takes their values, bounded by eps, beside A* with the
admissible heuristic and weighted A*, which promises the same for a weight of eps. Then the same on other
maps than those of the training: sparser, denser, mazes, rooms, larger ones; and with --headings on lattices.
Labels, expansions and costs do not depend on the machine; benchmarks/grids.py --queries measures times.

Every search is checked: a path that costs more than eps times the optimum ends the script with 1.

python benchmarks/prolonged.py --out runs/prolonged.jsonl
python benchmarks/prolonged.py --out ... --data 2 --loss point --loss truncated --seed 0 --maps scattered
python benchmarks/prolonged.py --out ... --model paper --data VAN --data 2 --updates 300 --maps scattered
python benchmarks/prolonged.py --out ... --headings 8 --data VAN --data 2 --seed 0 --maps scattered
python benchmarks/prolonged.py --print runs/prolonged.jsonl [--table expansions] [--figures docs/figures]
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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

from hstar.errors import InputError
from hstar.experiments.grid_picture import Panel, draw
from hstar.models.trained_model import TrainedModel, load_model
from hstar.recipes import train
from hstar.recipes.prolonged_map import BELIEFS
from hstar.sampling.prolonged import OptimalPath, Prolonged
from hstar.search.solve import solve
from hstar.spaces.grid import GridLike
from hstar.spaces.grid_maps import random_problems, with_headings

PARTS = ("labels", "training", "search")
WHAT = (
    "model",
    "data",
    "scenarios",
    "updates",
    "loss",
    "headings",
)  # what was learned, from what, for how long
NAMES = ("part", "build", *WHAT, "seed", "maps", "tests", "eps")
TABLES = {
    "labels": "Labelled states of the scenarios to learn from.",
    "training": "What was learned from, and errors on the fresh scenarios.",
    "expansions": "Fresh scenarios: expanded states (cost of the path, times the optimum).",
    "estimates": "The same by loss.",
    "elsewhere": "The same on other maps.",
    "lattice": "The same on lattices.",
    "bound": "The largest cost of a path, as a share of what eps allows.",
}
EPS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5)
DATA = ("VAN", "1", "2", "5", "inf")
SWEEP = (1.0, 1.5, 2.0, 3.0, 5.0, math.inf)
OPEN = "+open"  # behind a k_pr: states that were not closed, with upper bounds as labels, as in the paper
MAPS: dict[str, dict[str, Any]] = {
    "scattered": {},  # those of the training
    "sparse": {"blocked_share": 0.2},
    "dense": {"blocked_share": 0.38},
    "maze": {"kind": "maze", "rows": 31, "columns": 31},
    "rooms": {"kind": "rooms", "rows": 31, "columns": 31},
    "larger": {"rows": 100, "columns": 100},
}
ASYMMETRIC = "asymmetric"
TEST_SEED = 1_000_000  # far from those of training
ADMISSIBLE, WEIGHTED = "h_adm", "weighted"
PAPER = {"optimal path": 12_007, "prolonged": 122_449}  # points of its two data sets


@dataclass(frozen=True)
class Training:
    """A network to learn: from which states of how many scenarios, for how long."""

    model: str
    data: str  # a k_pr, also with open states, or VAN
    scenarios: int
    updates: int
    loss: str  # an estimate; `asymmetric` may have its a behind it
    headings: int  # of a lattice; 0: a grid
    seed: int

    def options(self) -> dict[str, Any]:
        """Of the recipe."""
        estimate, _, a = self.loss.partition(" ")
        return {
            **data_options(self.data),
            "model": self.model,
            "scenarios": self.scenarios,
            "updates": self.updates,
            "estimate": estimate,
            **({"a": float(a)} if a else {}),
            "headings": self.headings,
            **({"spread": 8} if self.headings == 8 and self.model == "vin" else {}),
            "seed": self.seed,
        }

    def key(self) -> Record:
        """The fields that name it."""
        return dict(vars(self))

    def file(self, folder: Path) -> Path:
        """Where its model is kept."""
        words = [self.model, self.data, self.scenarios, self.updates, self.loss.replace(" ", ""), self.seed]
        words += [f"{self.headings}headings"] if self.headings else []
        return folder / f"{'_'.join(map(str, words))}.hstar"


def data_options(data: str) -> dict[str, Any]:
    """What the recipe calls it; an `InputError` for words that say nothing."""
    if data == "VAN":
        return {"sampler": OptimalPath.name}
    try:
        k_pr = float(data.removesuffix(OPEN))
    except ValueError:
        raise InputError(f"data are VAN, a k_pr, or a k_pr with {OPEN}, got '{data}'") from None
    return {"sampler": Prolonged.name, "k_pr": k_pr, "open_states": data.endswith(OPEN)}


def problems_of(number: int, seed: int, maps: dict[str, Any], headings: int) -> list[GridLike]:
    """Random scenarios, on lattices if there are headings."""
    grids = random_problems(number, seed, **maps)
    return [*with_headings(grids, headings, 1.0, seed)] if headings else [*grids]


def learned(training: Training, folder: Path) -> TrainedModel[Any]:
    """The model, from its file if that is there; a training that was killed goes on."""
    path = training.file(folder)
    if not path.exists():
        note(f"training {path.stem}")
        checkpoint = path.with_suffix(".part")
        train("prolonged", checkpoint=checkpoint, **training.options()).save(path)
        checkpoint.unlink(missing_ok=True)
    return load_model(path)


def told(model: TrainedModel[Any]) -> Record:
    """What the training came to."""
    names = ("states", "train_states", "best_loss", "best_epoch", "epochs", "time_s", "curve")
    return {name: model.summary[name] for name in names}


def labels(problems: Sequence[GridLike]) -> Record:
    """Labelled states by k_pr, those of optimal paths, and how many could be reached at all."""
    record: Record = {"optimal path": sum(len(OptimalPath().sample(one)) for one in problems)}
    for k_pr in SWEEP:
        found = [Prolonged(k_pr=k_pr).sample(problem) for problem in problems]
        exact = sum(int(one.exact.sum()) for one in found)
        record[f"{k_pr:g}"] = {"exact": exact, "open": sum(map(len, found)) - exact}
    return record


def search(problems: Sequence[GridLike], model: TrainedModel[Any] | None, eps: Sequence[float]) -> Record:
    """By eps cost and expansions of each problem: with the model's values, or with weighted A*."""
    record: Record = {"cost": {}, "expanded": {}, "reopened": {}}
    values: list[npt.NDArray[np.float32] | None] = [None] * len(problems)
    if model is not None:
        values = [model.build(problem).values for problem in problems]
        record |= errors(problems, values)
    for one in eps:
        found = [
            solve(problem, None, "wastar", weight=one)
            if value is None
            else solve(problem, value, "astar", eps=one)
            for problem, value in zip(problems, values, strict=True)
        ]
        for name in ("reopened", "expanded"):
            record[name][f"{one:g}"] = [getattr(result, name) for result in found]
        record["cost"][f"{one:g}"] = [result.plan_cost for result in found]
    return record


def errors(problems: Sequence[GridLike], values: Sequence[Any]) -> Record:
    """Of all states from which there is a way, and of those of optimal paths; shares that are too high."""
    found: dict[str, list[float]] = {"all": [], "path": []}
    for problem, value in zip(problems, values, strict=True):
        for name, sampler in (("all", Prolonged(k_pr=math.inf, open=False)), ("path", OptimalPath())):
            known = sampler.sample(problem)
            found[name] += (value.reshape(-1)[known.states] - known.label).tolist()
    return {
        "error": {name: statistics.fmean(map(abs, own)) for name, own in found.items()},
        "above": {name: sum(one > 1e-4 for one in own) / len(own) for name, own in found.items()},
    }


# --- tables ---------------------------------------------------------------------------------------


def data_name(data: str) -> str:
    """As tables name it."""
    if data == "VAN":
        return "VAN"
    k_pr = data.removesuffix(OPEN)
    name = "Dijkstra" if k_pr == "inf" else f"PHS, k_pr = {k_pr}"
    return f"{name}{' and open states' if data.endswith(OPEN) else ''}"


def heuristic(record: Record) -> str:
    """As tables name it."""
    if record["model"] in (ADMISSIBLE, WEIGHTED):
        return {ADMISSIBLE: "A*, h_adm", WEIGHTED: "weighted A*, eps h_adm"}[record["model"]]
    return f"{data_name(record['data'])}; {record['model']}{' on a lattice' if record['headings'] else ''}"


def label_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    for one in those(records, part="labels", headings=0):
        vanilla = one["optimal path"]
        yield ["optimal path (VAN)", f"{vanilla:,}", "", "1.0", f"{PAPER['optimal path']:,}"]
        for k_pr in SWEEP:
            exact, seen = one[f"{k_pr:g}"]["exact"], one[f"{k_pr:g}"]["open"]
            paper = f"{PAPER['prolonged']:,}, k_pr not told" if k_pr == 2 else ""
            cells = [f"{exact:,}", f"{exact + seen:,}", f"{(exact + seen) / vanilla:.1f}", paper]
            yield [f"prolonged, k_pr = {k_pr:g}", *cells]


def training_rows(records: Sequence[Record]) -> Iterator[list[str]]:
    trainings = those(records, part="training")
    for what in values_of(trainings, *WHAT):
        named = dict(zip(WHAT, what, strict=True))
        own = those(trainings, **named)
        tests = those(records, part="search", maps="scattered", **named)
        means = [
            statistics.fmean(one[name][where] for one in tests) if tests else math.nan
            for name in ("error", "above")
            for where in ("all", "path")
        ]
        yield [
            heuristic(own[0]),
            own[0]["loss"],
            f"{len(own)}",
            f"{statistics.fmean(one['states'] for one in own):,.0f}",
            f"{own[0]['updates']:,}",
            f"{statistics.fmean(one['curve'][-1][1] for one in own):.1f}",
            f"{statistics.fmean(one['best_loss'] for one in own):.1f}",
            f"{means[0]:.2f}",
            f"{means[1]:.2f}",
            f"{100 * means[2]:.0f} %",
        ]


def groups(records: Sequence[Record]) -> Iterator[tuple[str, list[Record], Record]]:
    """Maps, the searches of a heuristic (of all its seeds), and those of weighted A* on the same problems."""
    searches = those(records, part="search")
    for maps, tests, headings in values_of(searches, "maps", "tests", "headings"):
        same = those(searches, maps=maps, tests=tests, headings=headings)
        plain = those(same, model=WEIGHTED)[-1:]
        if not plain:
            continue
        flat = dict.fromkeys(plain[0]["expanded"], plain[0]["expanded"]["1"])
        cost = dict.fromkeys(plain[0]["cost"], plain[0]["cost"]["1"])
        yield maps, [{**plain[0], "model": ADMISSIBLE, "expanded": flat, "cost": cost}], plain[0]
        for what in values_of(same, *WHAT):
            yield maps, those(same, **dict(zip(WHAT, what, strict=True))), plain[0]


def cells_of(own: Sequence[Record], plain: Record, eps: Sequence[str]) -> Iterator[str]:
    """Means over problems and seeds, with the spread over seeds if there are several."""
    for one in eps:
        if any(one not in record["expanded"] for record in own):
            yield ""
            continue
        means = [statistics.fmean(record["expanded"][one]) for record in own]
        spread = f" ± {statistics.stdev(means):.1f}" if len(means) > 1 else ""
        yield f"{statistics.fmean(means):,.1f}{spread} ({ratio_of(own, plain, one):.3f})"


def ratio_of(own: Sequence[Record], plain: Record, eps: str) -> float:
    """The mean cost of a path, times the optimum."""
    return statistics.fmean(
        cost / best
        for record in own
        for cost, best in zip(record["cost"][eps], plain["cost"]["1"], strict=True)
    )


def expansion_rows(
    records: Sequence[Record], eps: Sequence[str], wanted: Callable[[str, Record], bool], loss: bool = False
) -> Iterator[list[str]]:
    for maps, own, plain in groups(records):
        if wanted(maps, own[0]):
            names = [own[0].get("loss", "") if loss else maps, heuristic(own[0])]
            yield [*names, *cells_of(own, plain, eps)]


def bound_rows(records: Sequence[Record], eps: Sequence[str]) -> Iterator[list[str]]:
    """Of all searches with values of networks, by kind of maps."""
    known = [one for one in groups(records) if one[1][0]["model"] not in (ADMISSIBLE, WEIGHTED)]
    for maps in dict.fromkeys(maps for maps, _, _ in known):
        shares = [
            max(
                (share for _, own, plain in known_of(known, maps) for share in shares_of(own, plain, one)),
                default=0,
            )
            for one in eps
        ]
        count = sum(
            len(costs) for _, own, _ in known_of(known, maps) for r in own for costs in r["cost"].values()
        )
        yield [maps, f"{count:,}", *(f"{share:.3f}" for share in shares)]


def known_of(
    known: Sequence[tuple[str, list[Record], Record]], maps: str
) -> list[tuple[str, list[Record], Record]]:
    return [one for one in known if one[0] == maps]


def shares_of(own: Sequence[Record], plain: Record, eps: str) -> Iterator[float]:
    """Costs, divided by what eps allows."""
    for record in own:
        for cost, best in zip(record["cost"].get(eps, ()), plain["cost"]["1"], strict=False):
            yield cost / (float(eps) * best)


def broken_bounds(records: Sequence[Record]) -> int:
    """Paths that cost more than they may."""
    return sum(
        share > 1 + 1e-9
        for _, own, plain in groups(records)
        if own[0]["model"] != ADMISSIBLE
        for eps in plain["cost"]
        for share in shares_of(own, plain, eps)
    )


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    eps = sorted({one for record in records for one in record.get("expanded", ())}, key=float)
    heads = [f"eps {one}" for one in eps]

    def main_run(maps: str, one: Record) -> bool:
        return maps == "scattered" and one.get("loss", ASYMMETRIC) == ASYMMETRIC and not one["headings"]

    def ablation(maps: str, one: Record) -> bool:
        others = those(
            records, part="search", maps=maps, **{name: one.get(name) for name in WHAT if name != "loss"}
        )
        return maps == "scattered" and len({other.get("loss") for other in others}) > 1

    def elsewhere(maps: str, one: Record) -> bool:
        return maps != "scattered" and not one["headings"]

    def lattice(_: str, one: Record) -> bool:
        return bool(one["headings"])

    known = ["heuristic", "loss", "seeds", "states", "updates"]
    known += ["training loss", "held-out loss", "error, all states", "error, paths", "too high"]
    texts = {
        "labels": table(
            ["states", "exact", "with open ones", "times VAN", "in the paper"], label_rows(records)
        ),
        "training": table(known, training_rows(records), (0, 1)),
        "expansions": table(["maps", "heuristic", *heads], expansion_rows(records, eps, main_run), (0, 1)),
        "estimates": table(
            ["loss", "heuristic", *heads], expansion_rows(records, eps, ablation, True), (0, 1)
        ),
        "elsewhere": table(["maps", "heuristic", *heads], expansion_rows(records, eps, elsewhere), (0, 1)),
        "lattice": table(["maps", "heuristic", *heads], expansion_rows(records, eps, lattice), (0, 1)),
        "bound": table(["maps", "searches", *heads], bound_rows(records, eps)),
    }
    return {name: (title, texts[name]) for name, title in TABLES.items()}


# --- figures --------------------------------------------------------------------------------------

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hstar",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
}
COLOURS = {
    "VAN": "#d55e00",
    "1": "#56b4e9",
    "2": "#0072b2",
    "5": "#009e73",
    "inf": "#8a4fa3",
    ADMISSIBLE: "#555555",
    WEIGHTED: "#999999",
}
SHOWN = ("VAN", "2", "inf")  # data of curves and pictures
LEARNED = {"loss": ASYMMETRIC, "headings": 0, "seed": 0}  # which trainings they show
DRAWN_FROM, PICTURE_EPS = 100, 2.0  # scenarios that the picture is chosen from


def draw_figures(folder: Path, records: Sequence[Record], models: Path) -> None:
    """Curves over eps and of the loss, and one problem with what four searches explored in it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    models_known = len(values_of(those(records, part="training", **LEARNED), "model"))
    with mpl.rc_context(STYLE):
        for name, curves, columns in (("eps", draw_eps, 2), ("loss", draw_losses, models_known)):
            figure = Figure(figsize=(3.4 * columns, 3.2), layout="constrained")
            curves(figure.subplots(1, columns, squeeze=False)[0], records)
            figure.savefig(folder / f"prolonged_{name}.svg", metadata={"Date": None})
    draw_cells(folder / "prolonged_cells.svg", records, models)


def draw_eps(panels: Any, records: Sequence[Record]) -> None:
    """Expansions and path costs by eps, on fresh scenarios of the training's kind."""
    for maps, own, plain in groups(records):
        one = own[0]
        learned_well = one["model"] == "vin" and one.get("data") in SHOWN and one["loss"] == ASYMMETRIC
        plainly = one["model"] in (ADMISSIBLE, WEIGHTED)
        if maps != "scattered" or one["headings"] or not (learned_well or plainly or one["model"] == "paper"):
            continue
        eps = sorted(plain["expanded"], key=float)
        look = {
            "color": COLOURS[one["model"] if plainly else one["data"]],
            "linestyle": "--" if plainly else ":" if one["model"] == "paper" else "-",
            "label": heuristic(one),
            "linewidth": 1.2,
        }
        xs = [float(x) for x in eps]
        means = [statistics.fmean(n for record in own for n in record["expanded"][x]) for x in eps]
        panels[0].plot(xs, means, **look)
        panels[1].plot(xs, [ratio_of(own, plain, x) for x in eps], **look)
    panels[0].set(xlabel="eps", ylabel="expanded states, mean", ylim=(0, None))
    panels[1].set(xlabel="eps", ylabel="cost of the path, times the optimum")
    panels[1].legend(frameon=False, fontsize=7)


def draw_losses(panels: Any, records: Sequence[Record]) -> None:
    """By updates, on the states of the training (dashed) and on those that are held out."""
    trainings = those(records, part="training", **LEARNED)
    for axes, (model,) in zip(panels, values_of(trainings, "model"), strict=True):
        for one in those(trainings, model=model):
            if one["data"] not in SHOWN:
                continue
            xs = [(i + 1) * one["updates"] / len(one["curve"]) for i in range(len(one["curve"]))]
            look = {"color": COLOURS[one["data"]], "linewidth": 1.2}
            axes.plot(xs, [train for _, train, _ in one["curve"]], "--", **look)
            axes.plot(xs, [held_out for *_, held_out in one["curve"]], label=data_name(one["data"]), **look)
        axes.set(xlabel="updates", ylim=(0, None))
        axes.set_title(model, fontsize=9)
    panels[0].set_ylabel("loss")
    panels[0].legend(frameon=False, fontsize=7)


def draw_cells(path: Path, records: Sequence[Record], models: Path) -> None:
    """The fresh scenario in which A* with the admissible heuristic expands the most."""
    problem = max(random_problems(DRAWN_FROM, TEST_SEED), key=lambda one: solve(one, None, "astar").expanded)
    plain = solve(problem, None, "astar", explored=True)
    panels = [Panel(f"h_adm: {plain.expanded} expanded, cost {plain.plan_cost:g}", plain)]
    for data in SHOWN:
        known = those(records, part="training", model="vin", data=data, **LEARNED)
        if known:
            what = {name: known[0][name] for name in (*WHAT, "seed")}
            values = learned(Training(**what), models).build(problem).values
            result = solve(problem, values, "astar", eps=PICTURE_EPS, explored=True)
            told_of = f"{data_name(data)}, eps {PICTURE_EPS:g}: {result.expanded} expanded, "
            panels.append(Panel(f"{told_of}cost {result.plan_cost:g}", result, values))
    draw(path, problem, panels)


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add: Callable[..., Any] = parser.add_argument
    add("--scenarios", type=int, default=531, metavar="N", help="to learn from")
    add("--tests", type=int, default=100, metavar="N", help="fresh ones, of each kind of maps")
    add("--model", action="append", help="vin, value-map or paper; may be repeated (vin)")
    add("--data", action="append", metavar="WORD", help="VAN, 2, 2+open, inf, ...; may be repeated")
    add("--loss", action="append", metavar="WORD", help=f"{', '.join(BELIEFS)}, 'asymmetric -1'")
    add("--eps", type=float, action="append", metavar="X", help="may be repeated (1 to 3.5)")
    add("--maps", choices=list(MAPS), action="append", help="may be repeated (all)")
    add("--headings", type=int, default=0, metavar="N", help="of lattices, 4 or 8 (0: grids)")
    add("--updates", type=int, default=180, metavar="N", help="steps of the optimizer")
    add("--seed", type=int, action="append", metavar="N", help="of training; may be repeated (0, 1)")
    add("--models", type=Path, metavar="FOLDER", help="where models are kept (beside the file of --out)")
    add("--figures", type=Path, metavar="FOLDER", help="draw curves and explored cells there")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    kept = options.models or (options.file or options.out or Path()).with_suffix("")
    if options.file is not None:
        known = stored(options.file, PARTS, NAMES)
    else:
        records = Records(options.out, NAMES)
        with tempfile.TemporaryDirectory() as scratch:
            folder = kept if options.models or options.out else Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            measure(records, options, folder)
        known = records.used
    print(shown(sections(known), known, options.table, options.file))
    if options.figures is not None:
        draw_figures(options.figures, known, kept)
    if broken := broken_bounds(known):
        note(f"{broken} paths cost more than eps times the optimum")
    return 1 if broken else 0


def measure(records: Records, options: argparse.Namespace, folder: Path) -> None:
    """All that is asked for and not known yet."""
    eps = tuple(options.eps or EPS)
    eps = eps if 1.0 in eps else (1.0, *eps)  # which gives the optimum
    trainings = [
        Training(model, data, options.scenarios, options.updates, loss, options.headings, seed)
        for seed in (options.seed if options.seed is not None else (0, 1))
        for model in options.model or ("vin",)
        for loss in options.loss or (ASYMMETRIC,)
        for data in options.data or DATA
    ]
    space = {"headings": options.headings}
    what = {"part": "labels", "build": build(), "scenarios": options.scenarios, "seed": 0, **space}
    records.get(what, lambda: labels(problems_of(options.scenarios, 0, {}, options.headings)))
    for one in trainings:
        what = {"part": "training", "build": build(), **one.key()}
        records.get(what, lambda: told(learned(one, folder)))  # noqa: B023
    for maps in options.maps or MAPS:
        problems = problems_of(options.tests, TEST_SEED, MAPS[maps], options.headings)
        for chosen in (None, *trainings):
            model = None if chosen is None else learned(chosen, folder)
            if model is not None and not model.space.any_size and problems[0].shape not in model.space.sizes:
                continue  # the network of the paper, on maps of another size
            note(f"{maps}: {WEIGHTED if chosen is None else chosen.file(folder).stem}")
            named = {"model": WEIGHTED, **space} if chosen is None else chosen.key()
            what = {"part": "search", "build": build(), **named, "maps": maps, "tests": options.tests}
            what["eps"] = " ".join(f"{one:g}" for one in eps)
            records.get(what, lambda: search(problems, model, eps))  # noqa: B023


if __name__ == "__main__":
    finish(main)
