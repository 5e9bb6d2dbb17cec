"""What samples cost and what their labels are worth: rsl, nrsl and fsm.

1. Processor time against the number of atoms |F|, of states N_t and the length of rollouts L: all of it, and
labelling alone. Labelling is, for rsl and nrsl, the search for the least pre-image of every state; for fsm,
what SAI and SUI add. The rest is sampling: rollouts, completion, the data set. 2. Labels against exact h* on
small tasks: the mean of |label - h*| and the share of exact labels, over the samples as drawn that the task's
initial state reaches. Every sampler is judged on its own samples, which lie differently far out: so once
more by h*.

Configurations: `paper` is the sampler's profile, `default` its own options, `50 rollouts` has many of
adaptive length and fewer random states. All draw the same number of states. What `hstar train` takes is
timed once on a few tasks, as it is.

Invariant: no label that is given as an upper bound is below h*; the script exits with 1 if one is.

Each time of a configuration and each seed of a sampler is a record of its own (records.py).

python benchmarks/sampling.py [TASK ...] [--out FILE] [--figure sampling.svg]; tables of what it keeps:
--print FILE
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from records import (
    UNKNOWN,
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

import hstar
from hstar import _core
from hstar.errors import UnsupportedError
from hstar.generators import GENERATORS
from hstar.recipes import RECIPES
from hstar.sampling import SAMPLERS, make_sampler
from hstar.sampling.dataset import Dataset
from hstar.sampling.exact import LabelErrors, exact_values, label_errors
from hstar.sampling.fsm import FSM
from hstar.sampling.rsl import RSL
from hstar.spaces.task import load_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Spec = tuple[str, dict[str, int]]  # a generator and its sizes
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured. A time is the least of `repeats`, or of two and what fits into `patience_s`."""

    name: str
    tasks: tuple[Spec, ...]
    swept: Spec  # for N_t and L
    states: int  # N_t where it is not swept
    states_sweep: tuple[int, ...]
    length_sweep: tuple[int, ...]
    trained: tuple[Spec, ...]  # with the recipes
    small: tuple[Spec, ...]  # with exact h*
    small_states: int
    seeds: int
    repeats: int
    patience_s: float = 1.0


FULL = Plan(
    name="full",
    tasks=(
        *(("blocksworld", {"blocks": n}) for n in (5, 10, 15, 20, 25, 30)),
        *(("npuzzle", {"rows": n, "columns": n}) for n in (3, 4, 5, 6, 7)),
        *(("ferry", {"locations": n, "cars": n}) for n in (5, 10, 20, 30, 40)),
    ),
    swept=("blocksworld", {"blocks": 20}),
    states=20_000,
    states_sweep=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
    length_sweep=(50, 100, 200, 500, 1_000),
    trained=(
        ("blocksworld", {"blocks": 20}),
        ("npuzzle", {"rows": 5, "columns": 5}),
        ("ferry", {"locations": 20, "cars": 20}),
    ),
    small=(
        ("blocksworld", {"blocks": 5}),
        ("npuzzle", {"rows": 3, "columns": 3}),
        ("ferry", {"locations": 4, "cars": 3}),
    ),
    small_states=2_000,
    seeds=5,
    repeats=7,
)
QUICK = Plan(
    name="quick",
    tasks=(("blocksworld", {"blocks": 4}), ("ferry", {"locations": 3, "cars": 2})),
    swept=("blocksworld", {"blocks": 4}),
    states=200,
    states_sweep=(100, 200),
    length_sweep=(10, 20),
    trained=(("blocksworld", {"blocks": 3}),),
    small=(("blocksworld", {"blocks": 3}),),
    small_states=200,
    seeds=2,
    repeats=1,
)


MANY: Options = {"rollouts": 50, "length": 0, "random_share": 0.2}
TIMED: dict[str, tuple[str, Options]] = {
    **{f"{name} paper": (name, RSL.profiles["paper"]) for name in ("rsl", "nrsl")},
    **{f"{name} default": (name, {}) for name in ("rsl", "nrsl")},
    **{f"{name} 50 rollouts": (name, MANY) for name in ("rsl", "nrsl")},
    "fsm": ("fsm", {}),
}
LABELLED: dict[str, tuple[str, Options]] = {
    **{f"{name}, L = 500": (name, {"length": 500}) for name in ("rsl", "nrsl")},
    **{f"{name}, adaptive L": (name, {"length": 0}) for name in ("rsl", "nrsl")},
    "fsm, neither": ("fsm", {"sai": False, "sui": False}),
    "fsm, SAI": ("fsm", {"sui": False}),
    "fsm, SUI": ("fsm", {"sai": False}),
    "fsm, SAI and SUI": ("fsm", {}),
}

SWEEPS = ("atoms", "states", "length")
TABLES = (*SWEEPS, "train", "labels", "bands")
PARTS = (*SWEEPS, "train", "labels")  # of records; the last one makes two tables
KEY = ("plan", "part", "build", "task", "file", "states", "length", "configuration", "seed")


# --- tasks --------------------------------------------------------------------------------------


def title(spec: Spec) -> str:
    generator, sizes = spec
    return f"{generator} {' x '.join(map(str, sizes.values()))}"


def generate(spec: Spec) -> hstar.Task:
    """The task of seed 1."""
    generator, sizes = spec
    with tempfile.TemporaryDirectory() as folder:
        domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        for path, text in zip((domain, problem), GENERATORS.get(generator)(**sizes, seed=1), strict=True):
            path.write_text(text)
        return replace(load_task(domain, problem), name=title(spec))


@dataclass(frozen=True)
class Source:
    """A task that is made or read when something has to be measured in it, and then kept."""

    family: str
    name: str
    file: str | None
    load: Callable[[], hstar.Task]

    @staticmethod
    def of(given: Spec | Path) -> Source:
        """Of a generator or of a file."""
        if isinstance(given, Path):
            return Source("given", given.name, str(given), functools.cache(lambda: load_task(given)))
        return Source(given[0], title(given), None, functools.cache(lambda: generate(given)))


# --- 1. time ------------------------------------------------------------------------------------


class Time(NamedTuple):
    """Processor time in seconds."""

    total: float
    labelling: float


Times = dict[str, Time]  # by configuration


def least(plan: Plan, *runs: Callable[[], object]) -> list[float]:
    """Processor time of each at its fastest; they take turns, so that other work on the machine hits all."""
    best, spent = [float("inf")] * len(runs), 0.0
    for repeat in range(plan.repeats):
        if repeat >= 2 and spent >= plan.patience_s:
            break
        for i, run in enumerate(runs):
            start = time.process_time()
            run()
            took = time.process_time() - start
            best[i] = min(best[i], took)
            spent += took
    return best


def measure(task: hstar.Task, name: str, options: Options, plan: Plan) -> Time:
    sampler = make_sampler(name, **options)
    last: list[Dataset] = []

    def whole() -> None:
        last[:] = [sampler.sample(task)]

    if isinstance(sampler, FSM):
        plain = replace(sampler, sai=False, sui=False)
        total, sampling = least(plan, whole, lambda: plain.sample(task))
        return Time(total, max(0.0, total - sampling))
    assert isinstance(sampler, RSL)
    chosen = {key: getattr(sampler, key) for key in ("rollouts", "length", "seed")}
    values, depth = _core.preimages(task.core, name, **chosen)  # the same ones again
    # Handing the pre-images over is no part of it: what as many equal ones take, which label nothing.
    equal = np.repeat(values[:1], len(values), axis=0)
    total, labelled, handed_over = least(
        plan,
        whole,
        lambda: _core.label(task.core, values, depth, last[0].states),
        lambda: _core.label(task.core, equal, depth, last[0].states[:1]),
    )
    return Time(total, min(total, max(0.0, labelled - handed_over)))


def measure_time(source: Source, label: str, states: int, length: int | None, plan: Plan) -> Record:
    """One configuration; a task that is too much for it is a finding, too."""
    task, (name, options) = source.load(), TIMED[label]
    sizes = {"states": states, **({} if length is None else {"length": length})}
    found = {
        "family": source.family,
        "atoms": len(task.core.atom_facts),
        "adaptive_length": _core.adaptive_length(task.core),
    }
    note(f"{source.name}: {label} {sizes}")
    try:
        times = measure(task, name, {**options, **sizes}, plan)
    except UnsupportedError as error:
        note(f"{source.name}: {label}: {error}")
        return {**found, "unsupported": str(error)}
    return {**found, "total_s": times.total, "labelling_s": times.labelling}


def measure_training(source: Source, name: str) -> Record:
    """Seconds that sampling takes in `hstar train`; a single run."""
    task, recipe = source.load(), RECIPES.get(name)
    note(f"{source.name}: recipe {name}")
    sampler = recipe.check("task", None, {})["sampler"]
    start = time.process_time()
    data = sampler.sample(task)
    took = time.process_time() - start
    return {"atoms": len(task.core.atom_facts), "seconds": took, "samples": len(data)}


# --- 2. labels ----------------------------------------------------------------------------------

LABEL_COLUMNS = (
    *("task (states)", "sampler"),
    *("reachable", "with bound", "h*, bound"),  # share of all; share of the reachable; mean
    *("error, bound", "exact, bound", "error, all", "exact, all"),  # all: that are reachable
)


BANDS = ((0, 4), (5, 9), (10, 14), (15, 19), (20, 99))  # of h*
MIN_SAMPLES = 30  # for a mean over a band


def summary(labels: LabelErrors) -> list[float]:
    """As in LABEL_COLUMNS."""

    def over(error: np.ndarray) -> list[float]:
        return [float(np.abs(error).mean()), float((error == 0).mean())]

    first = [labels.comparable, float(labels.bound.mean()), float(labels.h[labels.bound].mean())]
    return [*first, *over(labels.error[labels.bound]), *over(labels.error)]


def measure_labels(
    source: Source, exact: Callable[[], dict[bytes, float]], label: str, states: int, seed: int
) -> Record:
    """Samples of one seed against h*; per band of h* the sum of the errors of bounds, and their number."""
    name, options = LABELLED[label]
    sampler = make_sampler(name, **{**options, "states": states, "seed": seed})
    values = exact()
    labels = label_errors(sampler.sample(source.load()), values)
    h, error = labels.h[labels.bound], labels.error[labels.bound]
    inside = [error[(h >= low) & (h <= high)] for low, high in BANDS]
    return {
        "reachable_states": len(values),
        "summary": summary(labels),
        "bands": [[float(part.sum()), len(part)] for part in inside],
        "wrong": int((error < 0).sum()),
    }


# --- all of it ----------------------------------------------------------------------------------


def measure_plan(plan: Plan, further: Sequence[Path], records: Records) -> None:
    """Everything that the records do not know yet."""
    common = {"plan": plan.name, "build": build()}

    def times(part: str, source: Source, states: int, length: int | None = None) -> None:
        where = {"part": part, "task": source.name, "file": source.file, "states": states, "length": length}
        for label in TIMED:
            records.get(
                {**common, **where, "configuration": label},
                functools.partial(measure_time, source, label, states, length, plan),
            )

    for source in (*map(Source.of, plan.tasks), *map(Source.of, further)):
        times("atoms", source, plan.states)
    swept = Source.of(plan.swept)
    for n in plan.states_sweep:
        times("states", swept, n)
    for n in plan.length_sweep:
        times("length", swept, plan.states, n)
    for source in map(Source.of, plan.trained):
        for name in (name for name in RECIPES if name in SAMPLERS):
            what = {**common, "part": "train", "task": source.name, "configuration": name}
            records.get(what, functools.partial(measure_training, source, name))
    for source in map(Source.of, plan.small):
        exact = functools.cache(functools.partial(exact_of, source))
        for label in LABELLED:
            for seed in range(plan.seeds):
                what = {**common, "part": "labels", "task": source.name, "configuration": label}
                records.get(
                    {**what, "states": plan.small_states, "seed": seed},
                    functools.partial(measure_labels, source, exact, label, plan.small_states, seed),
                )


def exact_of(source: Source) -> dict[bytes, float]:
    note(f"{source.name}: h* of all states")
    return exact_values(source.load())


# --- report -------------------------------------------------------------------------------------


def times_of(records: Sequence[Record]) -> Times:
    """By configuration, of those that could be measured."""
    return {
        record["configuration"]: Time(record["total_s"], record["labelling_s"])
        for record in records
        if "total_s" in record
    }


def time_cells(records: Sequence[Record]) -> list[str]:
    """Milliseconds in all, and of labelling."""
    times = times_of(records)
    found = (times.get(label) for label in TIMED)
    return [UNKNOWN if t is None else f"{1e3 * t.total:,.0f} ({1e3 * t.labelling:,.0f})" for t in found]


def atoms_table(records: Sequence[Record]) -> str:
    rows = []
    for name, file in values_of(records, "task", "file"):
        mine = those(records, task=name, file=file)
        sizes = (f"{mine[0][field]:,}" for field in ("atoms", "adaptive_length"))
        rows.append([name, *sizes, *time_cells(mine)])
    return table(["task", "\\|F\\|", "adaptive L", *TIMED], rows)


def sweep_table(records: Sequence[Record], field: str, name: str) -> str:
    sizes = sorted(n for (n,) in values_of(records, field))
    return table([name, *TIMED], [[f"{n:,}", *time_cells(those(records, **{field: n}))] for n in sizes])


def training_table(records: Sequence[Record]) -> str:
    names = [name for (name,) in values_of(records, "configuration")]
    rows = []
    for (task,) in values_of(records, "task"):
        mine = {record["configuration"]: record for record in those(records, task=task)}
        cells = [
            f"{mine[name]['seconds']:.2f} ({mine[name]['samples']:,})" if name in mine else UNKNOWN
            for name in names
        ]
        rows.append([task, f"{next(iter(mine.values()))['atoms']:,}", *cells])
    return table(["task", "\\|F\\|", *names], rows)


def label_cells(runs: Sequence[Record]) -> list[str]:
    """Mean over seeds, with the standard deviation of what is no share."""
    found = [run["summary"] for run in runs]
    mean = np.mean(found, axis=0)
    spread = [f" ± {value:.2f}" for value in np.std(found, axis=0, ddof=1)] if len(found) > 1 else [""] * 7
    numbers = {i: f"{mean[i]:.2f}{spread[i]}" for i in (2, 3, 5)}
    return [numbers.get(i, f"{100 * mean[i]:.0f} %") for i in range(len(mean))]


def band_cells(runs: Sequence[Record]) -> list[str]:
    """Mean error of upper bounds per band of h*, over all seeds, and of how many samples."""
    sums = np.sum([run["bands"] for run in runs], axis=0)
    return [f"{total / n:.2f} ({n:,.0f})" if n >= MIN_SAMPLES else UNKNOWN for total, n in sums]


def label_tables(records: Sequence[Record], only: str | None) -> tuple[str, str]:
    """Both tables; of one task without its column."""
    rows, bands = [], []
    for task, label in values_of(records, "task", "configuration"):
        if only in (None, task):
            runs = those(records, task=task, configuration=label)
            rows.append([f"{task} ({runs[0]['reachable_states']:,})", label, *label_cells(runs)])
            bands.append([task, label, *band_cells(runs)])
    names = [f"{low} to {high}" for low, high in BANDS]
    if only is not None:
        return (
            table(LABEL_COLUMNS[1:], [row[1:] for row in rows]),
            table(["sampler", *names], [row[1:] for row in bands]),
        )
    return table(LABEL_COLUMNS, rows, words=(0, 1)), table(["task", "sampler", *names], bands, words=(0, 1))


def wrong_bounds(records: Sequence[Record]) -> int:
    """How many upper bounds are below h*."""
    return sum(record.get("wrong", 0) for record in records)


def report(records: Sequence[Record], plan: Plan, only: str | None) -> dict[str, tuple[str, str]]:
    """The sections by name, each with its title."""
    parts = {part: those(records, part=part) for part in PARTS}
    swept = title(plan.swept)
    labels, bands = label_tables(parts["labels"], only)
    wrong = f"upper bounds below h*: {wrong_bounds(records)}"
    return {
        "atoms": (
            f"Milliseconds in all (labelling alone), N_t = {plan.states:,}:",
            atoms_table(parts["atoms"]),
        ),
        "states": (f"The same for {swept}, against N_t:", sweep_table(parts["states"], "states", "N_t")),
        "length": (
            f"The same for {swept} and N_t = {plan.states:,}, against L:",
            sweep_table(parts["length"], "length", "L"),
        ),
        "train": ("Seconds of sampling in hstar train (states):", training_table(parts["train"])),
        "labels": (
            f"Labels against h*, {plan.small_states:,} samples, mean ± s.d. of {plan.seeds} seeds; {wrong}:",
            labels,
        ),
        "bands": (f"Mean error of upper bounds by h* (samples; {MIN_SAMPLES} at least):", bands),
    }


STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "hstar",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
}


def draw(path: Path, records: Sequence[Record], plan: Plan) -> None:
    """Three panels; rsl is in the tables only, to leave room for the others."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    sweeps = {part: those(records, part=part) for part in SWEEPS}
    by_atoms: dict[str, dict[int, Times]] = {}
    for family, n in values_of(sweeps["atoms"], "family", "atoms"):
        by_atoms.setdefault(family, {})[n] = times_of(those(sweeps["atoms"], family=family, atoms=n))
    by_states, by_length = (
        {n: times_of(those(sweeps[part], **{part: n})) for (n,) in values_of(sweeps[part], part)}
        for part in ("states", "length")
    )
    colours = {
        "nrsl paper": "#0072b2",
        "nrsl default": "#009e73",
        "nrsl 50 rollouts": "#d55e00",
        "fsm": "#8a4fa3",
    }

    def lines(axes: Axes, points: dict[int, Times], marker: str, part: str, dash: str) -> None:
        for label, colour in colours.items():
            known = {x: getattr(times[label], part) for x, times in sorted(points.items()) if label in times}
            xs = [x for x, y in known.items() if y > 0]
            look = {"marker": marker, "markersize": 3.5, "linewidth": 1.1, "color": colour}
            axes.plot(xs, [known[x] for x in xs], dash, **look)  # type: ignore[arg-type]

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 3.9), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        markers = dict(zip(by_atoms, "osD^v", strict=False))
        for family, points in by_atoms.items():
            lines(panels[0], points, markers[family], "total", "-")
        for axes, points in zip(panels[1:], (by_states, by_length), strict=True):
            lines(axes, points, "o", "total", "-")
            lines(axes, points, "", "labelling", ":")
        names = [
            ("atoms |F|", f"N_t = {plan.states:,}", (1, 3)),
            ("states N_t", title(plan.swept), (1,)),
            ("length of rollouts L (steps)", f"{title(plan.swept)}, N_t = {plan.states:,}", (1, 3)),
        ]
        for axes, (x, name, ticks) in zip(panels, names, strict=True):
            axes.set(xscale="log", yscale="log", xlabel=x)
            axes.set_title(name, fontsize=9)
            axes.xaxis.set_major_locator(LogLocator(subs=ticks))
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
                axis.set_minor_locator(NullLocator())
        panels[0].set_ylabel("processor time (s)")
        grey = {"color": "#555555", "linewidth": 1.1}
        handles = [
            *(Line2D([], [], color=colour, label=label) for label, colour in colours.items()),
            *(Line2D([], [], marker=m, markersize=3.5, label=f, **grey) for f, m in markers.items()),  # type: ignore[arg-type]
            Line2D([], [], linestyle="-", label="total", **grey),  # type: ignore[arg-type]
            Line2D([], [], linestyle=":", label="labelling alone", **grey),  # type: ignore[arg-type]
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Times of samplers and errors of their labels.")
    parser.add_argument("tasks", nargs="*", type=Path, help="further tasks: .sas, or .pddl beside its domain")
    parser.add_argument("--figure", type=Path, help="where to draw the times (.svg, .png)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--only", metavar="TASK", help="in the tables of labels: this task alone")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    plan = QUICK if options.quick else FULL
    if options.file is not None:
        found = those(stored(options.file, PARTS, KEY), plan=plan.name)
    else:
        records = Records(options.out, KEY)
        measure_plan(plan, options.tasks, records)
        found = records.used
    print(shown(report(found, plan, options.only), found, options.table, options.file))
    if options.figure is not None:
        draw(options.figure, found, plan)
    if wrong := wrong_bounds(found):
        note(f"{wrong} upper bounds are below h*")
    return 1 if wrong else 0


if __name__ == "__main__":
    finish(main)
