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

python benchmarks/sampling.py [TASK ...] [--figure sampling.svg]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import hstar
from hstar import _core
from hstar.errors import UnsupportedError
from hstar.generators import GENERATORS
from hstar.recipes import RECIPES
from hstar.sampling import SAMPLERS, make_sampler
from hstar.sampling.dataset import Dataset
from hstar.sampling.fsm import FSM
from hstar.sampling.label_error import LabelErrors, exact_values, label_errors
from hstar.sampling.rsl import RSL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Spec = tuple[str, dict[str, int]]  # a generator and its sizes
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured. A time is the least of `repeats`, or of two and what fits into `patience_s`."""

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
        return replace(hstar.load(domain, problem), name=title(spec))


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


def measure_all(task: hstar.Task, plan: Plan, **options: Any) -> Times:
    """All configurations, without those that the task is too much for."""
    print(f"{task.name} {options}", file=sys.stderr)
    found = {}
    for label, (name, own) in TIMED.items():
        try:
            found[label] = measure(task, name, {**own, "states": plan.states, **options}, plan)
        except UnsupportedError as error:
            print(f"{task.name}: {label}: {error}", file=sys.stderr)
    return found


def train_row(task: hstar.Task) -> list[str]:
    """Seconds that sampling takes in `hstar train`, recipe by recipe; single runs."""
    row = [task.name, f"{len(task.core.atom_facts):,}"]
    for name in RECIPES.names():
        recipe = RECIPES.get(name)
        known = {entry.name for entry in fields(SAMPLERS.get(recipe.sampler))}  # type: ignore[arg-type]
        options = next(iter(recipe.profiles.values()))  # the default
        own = {key: value for key, value in options.items() if key in known}
        start = time.process_time()
        data = make_sampler(recipe.sampler, **own).sample(task)
        row.append(f"{time.process_time() - start:.2f} ({len(data):,})")
    return row


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


def label_cells(runs: Sequence[LabelErrors]) -> list[str]:
    """Mean over seeds, with the standard deviation of what is no share."""
    found = [summary(run) for run in runs]
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    numbers = {i: f"{mean[i]:.2f} ± {spread[i]:.2f}" for i in (2, 3, 5)}
    return [numbers.get(i, f"{100 * mean[i]:.0f} %") for i in range(len(mean))]


def band_cells(runs: Sequence[LabelErrors]) -> list[str]:
    """Mean error of upper bounds per band of h*, over all seeds, and of how many samples."""
    h = np.concatenate([run.h[run.bound] for run in runs])
    error = np.concatenate([run.error[run.bound] for run in runs])
    inside = [error[(h >= low) & (h <= high)] for low, high in BANDS]
    return [f"{part.mean():.2f} ({len(part):,})" if len(part) >= MIN_SAMPLES else "–" for part in inside]


def label_rows(plan: Plan) -> tuple[list[list[str]], list[list[str]], int]:
    """Rows of both tables, and how many upper bounds are below h*."""
    rows, bands, wrong = [], [], 0
    for spec in plan.small:
        task = generate(spec)
        exact = exact_values(task)
        for label, (name, options) in LABELLED.items():
            samplers = (
                make_sampler(name, **{**options, "states": plan.small_states, "seed": seed})
                for seed in range(plan.seeds)
            )
            runs = [label_errors(sampler.sample(task), exact) for sampler in samplers]
            wrong += sum(int((run.error[run.bound] < 0).sum()) for run in runs)
            rows.append([f"{task.name} ({len(exact):,})", label, *label_cells(runs)])
            bands.append([task.name, label, *band_cells(runs)])
    return rows, bands, wrong


# --- report -------------------------------------------------------------------------------------


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """The first `texts` columns are words, the others numbers."""
    rule = ["---"] * texts + ["---:"] * (len(header) - texts)
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def cells(times: Times) -> list[str]:
    """Milliseconds in all, and of labelling."""
    found = (times.get(label) for label in TIMED)
    return ["–" if t is None else f"{1e3 * t.total:,.0f} ({1e3 * t.labelling:,.0f})" for t in found]


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


def draw(
    path: Path,
    by_atoms: Mapping[str, dict[int, Times]],
    by_states: dict[int, Times],
    by_length: dict[int, Times],
    plan: Plan,
) -> None:
    """Three panels; rsl is in the tables only, to leave room for the others."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

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
    options = parser.parse_args(words)
    plan = QUICK if options.quick else FULL

    print(f"Milliseconds in all (labelling alone), N_t = {plan.states:,}:\n")
    by_atoms: dict[str, dict[int, Times]] = {}
    rows = []
    tasks = [(spec[0], generate(spec)) for spec in plan.tasks]
    for family, task in [*tasks, *(("given", hstar.load(path)) for path in options.tasks)]:
        atoms, length = len(task.core.atom_facts), _core.adaptive_length(task.core)
        times = by_atoms.setdefault(family, {})[atoms] = measure_all(task, plan)
        rows.append([task.name, f"{atoms:,}", f"{length:,}", *cells(times)])
    print(markdown(["task", "\\|F\\|", "adaptive L", *TIMED], rows))

    swept = generate(plan.swept)
    by_states = {n: measure_all(swept, plan, states=n) for n in plan.states_sweep}
    print(f"\nThe same for {swept.name}, against N_t:\n")
    print(markdown(["N_t", *TIMED], [[f"{n:,}", *cells(times)] for n, times in by_states.items()]))
    by_length = {n: measure_all(swept, plan, length=n) for n in plan.length_sweep}
    print(f"\nThe same for {swept.name} and N_t = {plan.states:,}, against L:\n")
    print(markdown(["L", *TIMED], [[f"{n:,}", *cells(times)] for n, times in by_length.items()]))

    print("\nSeconds of sampling in hstar train (states):\n")
    print(
        markdown(["task", "\\|F\\|", *RECIPES.names()], [train_row(generate(spec)) for spec in plan.trained])
    )

    labels, bands, wrong = label_rows(plan)
    print(f"\nLabels against h*, {plan.small_states:,} samples, mean ± s.d. of {plan.seeds} seeds:\n")
    print(markdown(LABEL_COLUMNS, labels, texts=2))
    print(f"\nMean error of upper bounds by h* (samples; {MIN_SAMPLES} at least):\n")
    print(markdown(["task", "sampler", *(f"{low} to {high}" for low, high in BANDS)], bands, texts=2))
    print(f"\nUpper bounds below h*: {wrong}.")
    if options.figure is not None:
        draw(options.figure, by_atoms, by_states, by_length, plan)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
