"""Heuristics learned from small problems, on problems larger than these, from PDDL to plan.

For each domain hstar generates small problems, trains on them by `hstar train FOLDER` with its defaults, and
solves larger ones. Contestants: `ff` (lazy search with preferred operators), `lama-first` (the default of
`hstar solve`), `learned` (greedy best-first search with the model), `learned + ff` (lazy search that
alternates between both with preferred operators, the default of `hstar solve` with a model) and
`learned + lama` (the same with `landmarks` as a third heuristic). All have the same limit on the CPU time of
all their processes, start-up and translation included. Every plan is validated. Each training and each run is
kept (records.py), and the same command goes on where it stopped.

python benchmarks/larger_problems.py --out runs/larger_problems.jsonl
python benchmarks/larger_problems.py --print FILE --figure docs/figures/larger_problems.svg
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from learning_track import LAZY_FF, planned
from records import Records, add_file_options, build, finish, note, shown, stored, table, those

from hstar.generators import GENERATORS

PART = "larger problems"
KEY = ("part", "build", "domain", "contestant", "task", "seeds", "cpu")
HSTAR = [sys.executable, "-m", "hstar"]
MEMORY = 4096  # MiB of a run
TRAINING_SEEDS = 4  # problems of each small size
# Sizes in the order of the generator: those that a model learns from, and those that are solved.
SIZES: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "blocksworld": ([(4,), (5,), (6,), (7,), (8,)], [(20,), (30,), (40,), (50,), (60,)]),
    "spanner": (
        [(2, 1, 2), (3, 2, 3), (4, 3, 3), (4, 4, 4)],
        [(8, 6, 6), (12, 8, 8), (16, 12, 10), (20, 16, 12), (30, 24, 16)],
    ),
    "visitall": (
        [(3, 3, 50), (3, 4, 100), (4, 4, 50), (4, 4, 100)],
        [(12, 12, 50), (16, 16, 50), (20, 20, 50), (30, 30, 50), (40, 40, 50)],
    ),
    "childsnack": (
        [(1, 0, 1, 1), (1, 0, 1, 2), (2, 1, 1, 2), (2, 1, 1, 3)],
        [(6, 2, 2, 8), (8, 3, 2, 10), (10, 4, 3, 12), (12, 5, 3, 15), (15, 6, 4, 20)],
    ),
}
CONTESTANTS = ("ff", "lama-first", "learned", "learned + ff", "learned + lama")
COLOURS = dict(zip(CONTESTANTS, ("#b8b8b8", "#8a8a8a", "#7fb0df", "#2f6db3", "#1b4a80"), strict=True))
Run = dict[str, Any]


def write_problems(
    folder: Path, domain: str, sizes: Sequence[tuple[int, ...]], seeds: Sequence[int]
) -> list[Path]:
    """Problems of all sizes, as many of each as there are seeds, with domain.pddl beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = GENERATORS.get(domain)
    written = []
    for size in sizes:
        for seed in seeds:
            name = "-".join(f"{number:03}" for number in (*size, seed))
            domain_text, text = generator(*size, seed=seed)
            (folder / "domain.pddl").write_text(domain_text)
            written.append(folder / f"{name}.pddl")
            written[-1].write_text(text)
    return written


def command(contestant: str, problem: Path, model: Path, plan: Path) -> list[str]:
    words = {
        "ff": LAZY_FF,
        "lama-first": ["--alias", "lama-first"],
        "learned": ["--search", "gbfs", "--heuristic", str(model)],
        "learned + ff": ["--heuristic", str(model), *LAZY_FF],
        "learned + lama": ["--heuristic", str(model), *LAZY_FF, "--heuristic", "landmarks"],
    }
    files = [str(problem.parent / "domain.pddl"), str(problem)]
    return [*HSTAR, "solve", *files, *words[contestant], "--plan-file", str(plan), "--quiet"]


def training(folder: Path, model: Path) -> Run:
    """Trains on a folder of problems; seconds of wall-clock time, labelling included."""
    started = time.monotonic()
    subprocess.run([*HSTAR, "train", str(folder), "-o", str(model), "--quiet"], check=True)
    return {"status": "trained", "seconds": time.monotonic() - started}


# --- report ---------------------------------------------------------------------------------------


def solved(runs: Sequence[Run], **what: Any) -> tuple[int, int]:
    """Solved runs and all runs of these."""
    rows = those(runs, **what)
    return sum(row["status"] == "solved" for row in rows), len(rows)


def report(records: Sequence[Run]) -> dict[str, tuple[str, str]]:
    runs = [one for one in records if one["contestant"] in CONTESTANTS]
    domains = list(dict.fromkeys(one["domain"] for one in runs))
    coverage = [
        [domain, str(solved(runs, domain=domain, contestant="ff")[1])]
        + [str(solved(runs, domain=domain, contestant=name)[0]) for name in CONTESTANTS]
        for domain in domains
    ]
    by_size = []
    for domain in domains:
        for size in dict.fromkeys(one["task"].rpartition("-")[0] for one in those(runs, domain=domain)):
            own = [one for one in those(runs, domain=domain) if one["task"].rpartition("-")[0] == size]
            counts = [str(solved(own, contestant=name)[0]) for name in CONTESTANTS]
            by_size.append([domain, size.replace("-", ", "), str(solved(own, contestant="ff")[1]), *counts])
    trained = [
        [one["domain"], str(one["problems"]), f"{one['seconds']:.0f}"]
        for one in those(records, contestant="training")
    ]
    return {
        "coverage": ("## Solved, by domain", table(["domain", "problems", *CONTESTANTS], coverage)),
        "sizes": (
            "## Solved, by size",
            table(["domain", "size", "problems", *CONTESTANTS], by_size, words=(0, 1)),
        ),
        "training": ("## Training", table(["domain", "small problems", "seconds, with labelling"], trained)),
    }


def figure(records: Sequence[Run]) -> str:
    """A panel of bars for each domain, as SVG: the share of solved problems by contestant."""
    runs = [one for one in records if one["contestant"] in CONTESTANTS]
    domains = list(dict.fromkeys(one["domain"] for one in runs))
    cpu, width, bar, left = runs[0]["cpu"], 190, 26, 116
    height = 74 + bar * len(CONTESTANTS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width * len(domains)}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="8" y="20" font-weight="bold">Solved problems, larger than those of the training '
        f"({cpu} s of CPU time each)</text>",
    ]
    for row, name in enumerate(CONTESTANTS):
        y = 58 + row * bar
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{name}</text>')
        for column, domain in enumerate(domains):
            count, total = solved(runs, domain=domain, contestant=name)
            x, longest = left + column * width, width - 74
            length = longest * count / total
            parts += [
                f'<rect x="{x}" y="{y}" width="{longest}" height="{bar - 8}" fill="#f1f1f1"/>',
                f'<rect x="{x}" y="{y}" width="{length:.1f}" height="{bar - 8}" fill="{COLOURS[name]}"/>',
                f'<text x="{x + longest + 6}" y="{y + 14}">{count} of {total}</text>',
            ]
    for column, domain in enumerate(domains):
        parts.append(f'<text x="{left + column * width}" y="46">{domain}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Learned heuristics on problems larger than the training's.")
    add = parser.add_argument
    add("--domains", default=",".join(SIZES), help="comma-separated (default: %(default)s)")
    add("--seeds", type=int, default=3, metavar="N", help="problems of each size (default: %(default)s)")
    add("--cpu", type=int, default=5, metavar="S", help="CPU time of a run (default: %(default)s)")
    add("--quick", action="store_true", help="the smallest size alone: does it run?")
    add("--work", type=Path, default=Path("runs/larger_problems"), help="folder for problems and models")
    add("--figure", type=Path, help="write the picture to this SVG file")
    add_file_options(parser, ("coverage", "sizes", "training"))
    options = parser.parse_args(words)
    if options.file is not None:
        records = stored(options.file, (PART,), KEY)
    else:
        kept = Records(options.out, KEY)
        for domain in options.domains.split(","):
            measure(kept, domain, options)
        records = kept.used
    if options.figure is not None:
        options.figure.write_text(figure(records))
    print(shown(report(records), records, options.table, options.file))
    return 0


def measure(kept: Records, domain: str, options: argparse.Namespace) -> None:
    """Trains for a domain and solves its larger problems with every contestant."""
    small, large = SIZES[domain]
    folder, model = options.work / domain, options.work / f"{domain}.hstar"
    lessons = write_problems(folder / "train", domain, small, range(TRAINING_SEEDS))
    seeds = range(1000, 1000 + options.seeds)  # other problems than the training's, whatever their size
    key = {"part": PART, "build": build(), "domain": domain, "seeds": options.seeds, "cpu": options.cpu}
    lesson = partial(training, folder / "train", model)
    learned = kept.get(
        {**key, "contestant": "training", "task": ""}, lambda: {**lesson(), "problems": len(lessons)}
    )
    if not model.is_file():
        lesson()
    note(f"{domain}: trained in {learned['seconds']:.0f} s")
    for problem in write_problems(folder / "test", domain, large[:1] if options.quick else large, seeds):
        for name in CONTESTANTS:
            files = problem.parent / "domain.pddl", problem
            run = partial(planned, partial(command, name, problem, model), *files, options.cpu, MEMORY)
            row = kept.get({**key, "contestant": name, "task": problem.stem}, run)
            note(f"{domain} {problem.stem} {name}: {row['status']}, {row['cpu_s']:.1f} s")


if __name__ == "__main__":
    finish(main)
