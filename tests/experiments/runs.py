"""Runs made up for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hstar.experiments.job import Job, Made, Outcome
from hstar.experiments.store import Store

MACHINE = {"host": "here", "hstar": "0.1.0", "python": "3.11.2", "cores": "2", "commit": "abc"}
NASTY = "</script><b>& 'quoted' \"twice\" {braces} | pipe"


def search(
    store: Store,
    labels: Mapping[str, Any],
    status: str = "solved",
    left: Mapping[str, bytes] | None = None,
    words: tuple[str, ...] = (),
    **figures: Any,
) -> None:
    """A search that has been run, with its files and log, and the files that it left; `words` of options."""
    name = "-".join(str(value) for value in labels.values())
    sas = store.put(f"task of {name}".encode())
    job = Job(
        "search",
        ("{python}", "-m", "hstar", "solve", "{task.sas}", "--heuristic", str(labels["contestant"]), *words),
        inputs={"task.sas": sas},
        outputs=tuple(left or ()),
        labels={"step": "search", **labels},
    )
    store.add([job])
    record = {"status": status, **figures}
    store.record(job, Outcome(record, left or {}, f"log of {name}", MACHINE, 1.0, 0.5))


def training(store: Store, labels: Mapping[str, Any], losses: list[float]) -> Made:
    """A training that has been run; its model."""
    curve = [[i + 1.0, loss / 2, loss] for i, loss in enumerate(losses)]
    record = {
        "status": "trained",
        "curve": curve,
        "best_loss": min(losses),
        "epochs": len(losses),
        "states": 9,
    }
    command = ("{python}", "-m", "hstar", "train", "fsm", "{task.sas}", "-o", "{model.hstar}")
    seed = ("--seed", str(labels["seed"]))
    job = Job(
        "train",
        command + seed,
        inputs={"task.sas": store.put(f"base of {labels['instance']}".encode())},
        outputs=("model.hstar",),
        labels={"step": "train", **labels},
    )
    store.add([job])
    store.record(job, Outcome(record, {"model.hstar": b"weights"}, "epochs", MACHINE, 0.0, 12.0))
    return Made(job.key, "model.hstar")


def sample(store: Store, labels: Mapping[str, Any], errors: list[float]) -> None:
    """Labelled states that have been drawn; `errors` by h*."""
    command = ("{python}", "-m", "hstar", "sample", "fsm", "{task.sas}", "-o", "{states.data}")
    job = Job("sample", command, {"task.sas": store.put(b"small")}, labels={"step": "sample", **labels})
    store.add([job])
    record = {
        "status": "sampled",
        "distinct": 90,
        "atoms": 25,
        "sampling_time": 0.25,
        "label_error": sum(errors) / len(errors),
        "exact_labels": errors.count(0) / len(errors),
        "error_by_h": [[float(h), error, 10] for h, error in enumerate(errors)],
    }
    store.record(job, Outcome(record, {}, "drawn", MACHINE, 0.0, 1.0))


def labelling(store: Store, labels: Mapping[str, Any], states: int | None) -> None:
    """A problem that was to be solved optimally; None: it failed."""
    command = ("{python}", "-m", "hstar", "sample", "optimal", "{p.pddl}", "-o", "{labels.data}")
    digest = store.put(str(labels["instance"]).encode())
    job = Job("label", command, {"p.pddl": digest}, labels={"step": "label", **labels})
    store.add([job])
    record = (
        {"status": "error", "error": "broken"} if states is None else {"status": "labelled", "states": states}
    )
    store.record(job, Outcome(record, {}, "solved", MACHINE, 0.0, 2.0))


def comparison(
    store: Store, labels: Mapping[str, Any], mse: float | None, shares: list[float] | None = None
) -> None:
    """A model that was compared with true distances; None: it failed. `shares` at equal levels: a belief."""
    command = ("{python}", "-m", "hstar", "evaluate", "{model.hstar}", "{labels0.data}", "--json")
    about = "-".join(str(value) for value in labels.values())
    files = {"model.hstar": store.put(about.encode()), "labels0.data": store.put(b"labels")}
    job = Job("accuracy", command, files, labels={"step": "accuracy", **labels})
    store.add([job])
    record: dict[str, Any] = {"status": "error", "error": NASTY}
    if mse is not None:
        record = {"status": "compared", "states": 120, "mse": mse, "mse_of_batches": mse + 0.25}
        record |= {"mean_error": -0.5, "mean_label": 7.5, "mse_ff": 9.0, "mse_lmcut": 16.0}
    if shares is not None:
        levels = [(i + 1) / (len(shares) + 1) for i in range(len(shares))]
        curve = [[level, share] for level, share in zip(levels, shares, strict=True)]
        worst = max(abs(level - share) for level, share in curve)
        record |= {"sigma": 1.5, "nll": 2 * (mse or 0), "calibration_error": worst, "calibration": curve}
    store.record(job, Outcome(record, {}, f"log of {about}", MACHINE, 0.0, 3.0))


def compared_run(folder: Path) -> Path:
    """Two domains: `wl` without a spread, `belief` of two seeds with one, and another that failed.

    wl is better on ferry, belief on blocks.
    """
    with Store(folder) as store:
        for place, own, errors in (("blocks", 4.0, (1.0, 3.0)), ("ferry", 0.5, (1.0, 2.0))):
            at = {"domain": place, "instance": f"{place}/test"}
            comparison(store, {**at, "contestant": "wl", "seed": 0}, own)
            for seed, error in enumerate(errors):
                shares = [0.25 + seed * 0.25, 0.5, 0.75]
                comparison(store, {**at, "contestant": "belief", "seed": seed}, error, shares)
        at = {"domain": "ferry", "instance": "ferry/test"}
        comparison(store, {**at, "contestant": "broken", "seed": 0}, None)
    return folder


def made_up_run(folder: Path, *, better: bool = False) -> Path:
    """Two domains of two and one instances, three starts; `learned` has two seeds; one search failed.

    ff solves everything but the last start of an instance. `learned` needs a tenth of its expansions; its
    seed 1 solves one start less, unless `better`.
    """
    with Store(folder) as store:
        place = {"domain": "blocks", "instance": "blocks/1"}
        sample(store, {**place, "contestant": "states", "seed": 0}, [0.0, 0.0, 0.5, 1.5])
        for instance in ("blocks/1", "blocks/2", "ferry/1"):
            place = {"domain": instance.partition("/")[0], "instance": instance}
            for seed in (0, 1):
                about = {**place, "contestant": "learned", "seed": seed}
                training(store, about, [8.0, 4.0, 2.0])
                for start in (1, 2, 3):
                    solved = seed == 0 or start < 3 or better
                    figures = _figures(10 * start) if solved else {}
                    name = {**about, "start": f"p{start}"}
                    search(store, name, "solved" if solved else "time_limit", **figures)
            for start in (1, 2, 3):
                about = {**place, "contestant": "ff", "seed": 0, "start": f"p{start}"}
                failed = (instance, start) == ("ferry/1", 2)
                if failed:
                    search(store, about, "error", error=NASTY)
                elif start < 3:
                    search(store, about, **_figures(100 * start))
                else:
                    search(store, about, "time_limit")
    return folder


def _figures(expansions: int) -> dict[str, Any]:
    return {
        "expansions": expansions,
        "evaluations": 2 * expansions,
        "search_time": expansions / 1000,
        "cost": 7,
        "plan_length": 7,
        "memory": 1 << 20,
    }
