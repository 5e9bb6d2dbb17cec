"""Is the promise of a calibrated heuristic kept? Plans of A* on fresh problems, against the optimum.

For each domain `wl` learns from generated problems, is calibrated by others (hstar.estimates.conformal) at
several confidences and bounds, and A* with each of these heuristics plans in problems that are fresh and
drawn in the same way, and in larger ones, of which nothing is promised. Optimal costs are those of A* with
lmcut. Everything counts expansions and costs, no times, so a loaded machine gives the same numbers.

python benchmarks/calibration.py --out runs/calibration.jsonl [--fresh 500] [--larger 60]
python benchmarks/calibration.py --print runs/calibration.jsonl [--table kept]
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records import Record, Records, add_file_options, build, finish, note, shown, stored, table, those

import hstar
from hstar.estimates import Calibrated, conformal
from hstar.generators import GENERATORS
from hstar.models.trained_model import TrainedModel
from hstar.recipes import train
from hstar.recipes.calibrate import calibrate, plan_values
from hstar.sampling.optimal import NoLabelError, Optimal
from hstar.sampling.relational import RelationalData, RelationalInstance
from hstar.spaces.relations import Vocabulary
from hstar.spaces.relations import vocabulary as vocabulary_of
from hstar.spaces.task import load_task

Sizes = Mapping[str, Sequence[int]]
PART = "calibration"
NAMES = ("part", "build", "domain", "role", "number", "calibration")
TABLES = {"kept": "Promises and what came of them.", "larger": "The same in larger problems."}
RULES = tuple(
    (confidence, bound, form)
    for bound, form in ((1.0, "additive"), (1.5, "additive"), (1.5, "ratio"))
    for confidence in (0.5, 0.8, 0.9, 0.95)
)
LIMITS = Optimal(time_limit=600.0, memory_limit=4 << 30)


@dataclass(frozen=True)
class Setting:
    """Sizes that are drawn from, uniformly, of problems like those of training and of larger ones."""

    small: Sizes
    large: Sizes
    training: int = 40


SETTINGS = {
    "blocksworld": Setting({"blocks": (5, 6, 7)}, {"blocks": (9,)}),
    "visitall": Setting(
        {"rows": (3, 4), "columns": (3, 4), "goal_percent": (50, 75)},
        {"rows": (5,), "columns": (4,), "goal_percent": (50, 75)},
    ),
}
# Problems of different roles have different seeds; roles of like problems are drawn alike.
ROLES = {"training": 0, "calibration": 1_000_000, "fresh": 2_000_000, "larger": 3_000_000}


def problem(domain: str, role: str, number: int) -> hstar.Task:
    """A problem; sizes and all else depend on domain, role and number only."""
    seed = ROLES[role] + number
    setting = SETTINGS[domain]
    rng = random.Random(f"{domain} {seed}")
    sizes = setting.large if role == "larger" else setting.small
    texts = GENERATORS.get(domain)(**{name: rng.choice(found) for name, found in sizes.items()}, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.pddl") for name in ("domain", "problem")]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        task = load_task(*files, unit_cost=True)
        assert task.lifted  # read, and kept, while the files are there
        return task


def plans(domain: str, role: str, words: Vocabulary, wanted: int) -> Iterator[RelationalInstance]:
    """So many problems with their optimal plans."""
    for number in range(wanted):
        note(f"{domain}: {role} {number + 1} of {wanted}")
        try:
            yield LIMITS.label(problem(domain, role, number), words, f"{role}{number}")
        except NoLabelError:  # the goal holds from the start: no search goes wrong there
            continue


def named(rule: tuple[float, float, str]) -> str:
    """As records have it."""
    confidence, bound, form = rule
    return f"{confidence:g} {bound:g} {form}"


def models(domain: str, calibration: int) -> tuple[Vocabulary, dict[str, TrainedModel[Any]]]:
    """The heuristics by name, first the one that is not calibrated."""
    words = vocabulary_of(problem(domain, "training", 0))
    setting = SETTINGS[domain]
    learned = train("wl", RelationalData(words, tuple(plans(domain, "training", words, setting.training))))
    known = set(learned.trained_on)
    # A problem that the generator drew for the training before is no other one; neither is it in the tests.
    others = [one for one in plans(domain, "calibration", words, calibration) if one.digest() not in known]
    data = RelationalData(words, tuple(others))
    found = {"mean": learned}
    for rule in RULES:
        confidence, bound, form = rule
        found[named(rule)] = calibrate(learned, data, confidence, bound=bound, form=form)[0]
    return words, found


def measure(
    domain: str, role: str, number: int, words: Vocabulary, found: dict[str, TrainedModel[Any]]
) -> Record:
    """All heuristics in one problem."""
    task = problem(domain, role, number)
    try:
        instance = LIMITS.label(task, words, f"{role}{number}")
    except NoLabelError:
        return {"optimum": None}
    if instance.digest() in found["mean"].trained_on:
        return {"optimum": None}
    record: Record = {"optimum": float(instance.columns["label"].max()), "expanded": {}, "cost": {}}
    for name in ("lmcut", *(["blind"] if role == "fresh" else []), *found):
        heuristic = found.get(name, name)
        result = hstar.solve(task, heuristic, "astar", memory_limit=LIMITS.memory_limit)
        record["expanded"][name], record["cost"][name] = result.expanded, result.plan_cost
    values, true = plan_values(found["mean"], instance, found["mean"].rule)
    record["score"] = {form: conformal.plan_score(values, true, form) for form in conformal.FORMS}
    record["quantile"] = {
        name: one.rule.score for name, one in found.items() if isinstance(one.rule, Calibrated)
    }
    return record


# --- tables ---------------------------------------------------------------------------------------


def interval(kept: int, number: int) -> tuple[float, float]:
    """Wilson's, for 95 %."""
    z, share = 1.959964, kept / number
    centre = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number**2)) / (1 + z * z / number)
    return centre - half, centre + half


def geometric_mean(values: Sequence[float]) -> float:
    """Of numbers above 0."""
    return math.exp(statistics.fmean(map(math.log, values)))


def share(kept: Sequence[bool]) -> str:
    """With its interval."""
    low, high = interval(sum(kept), len(kept))
    return f"{sum(kept) / len(kept):.3f} ({low:.3f} to {high:.3f})"


def effort(records: Sequence[Record], name: str) -> str:
    """Expansions; no text if this heuristic was not asked."""
    found = [max(1, one["expanded"][name]) for one in records if name in one["expanded"]]
    return f"{geometric_mean(found):,.0f}" if found else ""


def rows(records: Sequence[Record], role: str) -> Iterator[list[str]]:
    """Of each domain the symbolic heuristics, the model as it was learned, and what was promised of it."""
    for domain in SETTINGS:
        solved = [one for one in those(records, domain=domain, role=role) if one["optimum"] is not None]
        first = [domain, f"{len(solved)}"]
        for name in ("blind", "lmcut"):
            if effort(solved, name):
                yield [*first, name, "", "", "1.000", "", effort(solved, name)]
        if not solved:
            continue
        optimal = share([one["cost"]["mean"] <= one["optimum"] for one in solved])
        yield [*first, "wl, not calibrated", "", "", optimal, "", effort(solved, "mean")]
        for rule in RULES:
            (confidence, bound, form), name = rule, named(rule)
            kept = share([one["cost"][name] <= bound * one["optimum"] for one in solved])
            within = share([one["score"][form] <= one["quantile"][name] for one in solved])
            what = "optimal" if bound == 1 else f"at most {bound:g} times"
            yield [*first, f"wl, {form}", what, f"{confidence:g}", kept, within, effort(solved, name)]


def sections(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    header = ["domain", "problems", "heuristic of A*", "promise", "stated", "kept (95 %)"]
    header += ["score within (95 %)", "expansions, geometric mean"]
    found = {"kept": "fresh", "larger": "larger"}
    return {
        name: (TABLES[name], table(header, rows(records, role), (0, 2, 3))) for name, role in found.items()
    }


# --- command line ---------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add: Callable[..., Any] = parser.add_argument
    add("--domain", choices=list(SETTINGS), action="append", help="only this one; may be repeated")
    add("--calibration", type=int, default=200, metavar="N", help="problems to calibrate by")
    add("--fresh", type=int, default=500, metavar="N", help="problems like those")
    add("--larger", type=int, default=60, metavar="N", help="larger problems")
    add_file_options(parser, TABLES)
    options = parser.parse_args(words)
    if options.file is not None:
        known = stored(options.file, (PART,), NAMES)
        print(shown(sections(known), known, options.table, options.file))
        return 0
    records = Records(options.out, NAMES)
    for domain in options.domain or SETTINGS:
        vocabulary, found = models(domain, options.calibration)
        for role, wanted in (("fresh", options.fresh), ("larger", options.larger)):
            for number in range(wanted):
                note(f"{domain}: {role} {number + 1} of {wanted}")
                what = {"part": PART, "build": build(), "domain": domain, "role": role, "number": number}
                what["calibration"] = options.calibration
                records.get(what, lambda: measure(domain, role, number, vocabulary, found))  # noqa: B023
    print(shown(sections(records.used), records.used, options.table))
    return 0


if __name__ == "__main__":
    finish(main)
