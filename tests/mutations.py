"""Mutated files of every kind that hstar reads.

Bytes that are changed blindly end at a checksum. A stranger who writes a file on purpose makes a valid one,
so headers and tensors of models, data sets and checkpoints and the chunks of images are changed with the
checksum made anew. Suites, runs and other maps have none: their bytes are changed.

python tests/mutations.py 1000 [SEED [models]] mutates so often each file of tests/data/models, models of the
other kinds, knowledge of a domain, each shipped data set, and a suite, a run, a checkpoint, maps; it counts
what is not a one-line error. Models that are read are searched with, too. Large ones are mutated less often.
With `models` the other files are left out.
"""

from __future__ import annotations

import functools
import json
import random
import resource
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hstar
from hstar import container
from hstar.errors import HstarError
from hstar.experiments import knowledge
from hstar.experiments.job import Job, Outcome
from hstar.experiments.store import Store
from hstar.experiments.suite import read_suite
from hstar.experiments.suite_jobs import suite_jobs
from hstar.models.trained_model import load_model
from hstar.recipes import train as learn
from hstar.sampling import relational
from hstar.sampling.dataset import Dataset
from hstar.search.solve import SearchConfig
from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
from hstar.spaces.grid_files import load_map, write_map, write_png
from hstar.spaces.lazy_task import LazyTask
from hstar.spaces.puzzles import parse_puzzle
from hstar.spaces.relations import vocabulary
from labelled import labelled

BLOCKS = Path(__file__).parent / "data" / "blocks"
MODELS = sorted((Path(__file__).parent / "data" / "models").glob("*.hstar"))
DATA = sorted(relational.shipped().values())
LARGE = ("hgn", "nlm")  # networks of a megabyte
SLOW_S = 10.0
_NEWEST = 1000  # a version that no file exceeds
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 3, 2**31, 2**63, 10**30, 0.5, -1e300,
    "", "x", "\0", "ff", [], [[]], [1, "a"], {}, {"name": "x"},
)  # fmt: skip


def mutated(header: Any, tensors: container.Tensors, rng: random.Random) -> tuple[Any, container.Tensors]:
    """Copies with one to three changes."""
    header, tensors = _copied(header), dict(tensors)
    for _ in range(rng.randint(1, 3)):
        if tensors and rng.random() < 0.25:
            name = rng.choice(sorted(tensors))
            tensors[name] = _mutated_tensor(tensors[name], rng)
            if rng.random() < 0.2:
                tensors[rng.choice(["x", "", *sorted(tensors)])] = tensors.pop(name)
        else:
            _mutate(header, rng)
    return header, tensors


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


def _mutate(place: Any, rng: random.Random) -> None:
    """Goes down to a random entry and replaces, removes or doubles it."""
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8:
            place = place[key]
            continue
        how = rng.random()
        if how < 0.2:
            del place[key]
        elif how < 0.3 and isinstance(place, list):
            place.append(place[key])
        elif how < 0.4 and isinstance(place[key], int | float) and abs(place[key]) < 1e100:
            place[key] = place[key] * rng.choice([-1, 2, 1000, 10**6]) + 1
        else:
            place[key] = _copied(rng.choice(_VALUES))
        return


def _mutated_tensor(tensor: Any, rng: random.Random) -> Any:
    changed = tensor.ravel().copy()
    how = rng.randrange(5)
    if how == 0:
        return changed
    if how == 1:
        return changed[: len(changed) // 2]
    if how == 2:
        with np.errstate(invalid="ignore"):
            return tensor.astype(rng.choice([np.float64, np.int8, np.uint64, np.bool_]))
    if how == 3:
        return tensor.reshape(1, *tensor.shape)
    if len(changed) and changed.dtype != np.bool_:
        most = np.inf if changed.dtype.kind == "f" else np.iinfo(changed.dtype).max
        changed[rng.randrange(len(changed))] = rng.choice([most, -1 if changed.dtype.kind != "u" else 0])
    return changed.reshape(tensor.shape)


Write = Callable[[Path, random.Random], None]


def container_mutations(source: Path) -> Write:
    """Writes mutations of a model, a data set or a checkpoint, each with a right checksum."""
    kind = container.kind(source)
    assert kind is not None
    header, tensors = container.read(source, kind, _NEWEST)
    version = container._entry(source)["version"]

    def write(path: Path, rng: random.Random) -> None:
        container.write(path, kind, version, *mutated(header, tensors, rng), durable=False)

    return write


def byte_mutations(source: Path, words: Sequence[bytes] = ()) -> Write:
    """Writes mutations of any file: bytes and runs of them changed, doubled, removed, or words put in."""
    whole = source.read_bytes()

    def write(path: Path, rng: random.Random) -> None:
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 5])):
            at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 4, 30])
            part = bytes(data[at : at + length])
            data[at : at + length] = rng.choice(
                [b"", part * 2, rng.randbytes(length), *([rng.choice(words)] if words else [])]
            )
        path.write_bytes(data)

    return write


SUITE_WORDS = (
    *(b"{seed.x}", b"{seed:>2000000000}", b"1000000000", b"-1", b"1e400", b"[", b"{", b"[" * 5000, b'"'),
    *(b"\xff\xfe", b"\x00", b"true", b"nan", b"\n[[tasks]]\n", b"\n[[plan]]\n", b".."),
)


def attack(
    source: Path, load: Callable[[Path], Any], number: int, seed: int, mutations: Write | None = None
) -> Counter[str]:
    """What becomes of so many mutations of a file: read, refused in one line, or something worse."""
    write = mutations or container_mutations(source)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / source.name
        for i in range(number):
            rng = random.Random(f"{source.name} {seed} {i}")
            write(path, rng)
            start = time.process_time()  # a busy machine is not a slow reader
            try:
                load(path)
                outcome = "read"
            except HstarError as error:
                outcome = "refused" if "\n" not in str(error) else f"several lines: {str(error)[:100]}"
            except Exception as error:
                outcome = f"{type(error).__name__}: {str(error)[:80]} (mutation {i})"
            if time.process_time() - start > SLOW_S:
                outcome = f"slow (mutation {i})"
            found[outcome] += 1
    return found


# Models, and small problems to search with them.


@functools.cache
def blocks() -> Any:
    return hstar.load(BLOCKS / "domain.pddl", BLOCKS / "problem.pddl", unit_cost=True)


@functools.cache
def problem_for(name: str) -> Any:
    """What a model of tests/data/models was made for; the others are for the blocks world."""
    known = json.loads((MODELS[0].parent / "expected.json").read_text()).get(name, {"kind": "task"})
    if known["kind"] == "task":
        return blocks()
    if known["kind"] == "puzzle":
        return parse_puzzle(known["puzzle"]).random(1)
    rows = np.array([[cell == "@" for cell in row] for row in known["map"]])
    grid, start, goal = Grid(rows, None, known["neighbours"]), known["start"], known["goal"]
    turning = known["headings"]
    return LatticeProblem(grid, start, goal, turning) if turning else GridProblem(grid, start, goal)


def read_and_search(path: Path) -> None:
    """What `hstar solve` does with a model."""
    model = load_model(path)
    hstar.solve(problem_for(path.stem), model, "astar", max_expansions=20, time_limit=SLOW_S)


def read_knowledge(path: Path) -> None:
    """What `hstar plan` does with knowledge."""
    knowledge.load(path).run(
        LazyTask(BLOCKS / "domain.pddl", BLOCKS / "problem.pddl"), SearchConfig(max_expansions=20)
    )


def small_knowledge(folder: Path) -> Path:
    """Knowledge with a model and symbolic steps."""
    path = folder / "knowledge.hstar"
    model = learn("wl", labelled([blocks()]), least_states=1)
    steps = knowledge.steps_of(knowledge.with_model("wl", model)[:1])
    knowledge.Knowledge(vocabulary(blocks().lifted), steps).save(path)
    return path


def other_models(folder: Path) -> Iterator[Path]:
    """Models of a domain of the kinds that tests/data/models does not have."""
    data = labelled([blocks()], siblings=True)
    kinds: dict[str, dict[str, Any]] = {
        "hgn": {"name": "truncated", "model": "hgn", "updates": 1},
        "nlm": {"name": "truncated", "model": "nlm", "updates": 1},
        "ranking": {"name": "wl", "objective": "ranking", "least_states": 1},
    }
    for name, options in kinds.items():
        path = folder / f"{name}.hstar"
        learn(options.pop("name"), data, **options).save(path)
        yield path


def png_mutations(source: Path) -> Write:
    """Writes mutations of the chunks of an image, packed and with right checksums."""
    whole, signature = source.read_bytes(), 8
    chunks, at = [], signature
    while at < len(whole):
        (length,) = struct.unpack(">I", whole[at : at + 4])
        name, content = whole[at + 4 : at + 8], whole[at + 8 : at + 8 + length]
        chunks.append((name, zlib.decompress(content) if name == b"IDAT" else content))
        at += 12 + length

    def write(path: Path, rng: random.Random) -> None:
        data = whole[:signature]
        for name, content in chunks:
            changed = bytearray(content)
            for _ in range(rng.choice([0, 0, 1, 3])):
                if changed:
                    changed[rng.randrange(len(changed))] = rng.choice([0, 1, 2, 3, 4, 8, 16, 127, 255])
            packed = zlib.compress(bytes(changed)) if name == b"IDAT" else bytes(changed)
            chunk = name + packed
            times = rng.choice([0, 1, 1, 1, 1, 1, 1, 1, 2])
            data += (struct.pack(">I", len(packed)) + chunk + struct.pack(">I", zlib.crc32(chunk))) * times
        path.write_bytes(data)

    return write


# Files of every other kind, how they are mutated, and what reads them.

SUITE = """\
search = "gbfs"
limits = { time = "10s", memory = "1G" }

[[tasks]]
generator = "blocksworld"
parameters = { blocks = [3, 4] }
seeds = [0, 1]
starts = 2

[[tasks]]
space = "tiles:3x3"
number = 2

[[tasks]]
grid = "maze"
options = { rows = 9, columns = 9 }
number = 2

[[train]]
name = "t{states}"
recipe = "fsm"
each = { states = [50, 60] }

[[plan]]
model = "t50"
only = ["blocksworld-4ops"]

[[plan]]
heuristic = "zero"
"""


def read_jobs(path: Path) -> None:
    """What `hstar bench --dry-run` does."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "run") as store:
        suite_jobs(read_suite(path), path.parent, store)


def read_run(path: Path) -> None:
    """What reports read of a run."""
    with Store(path.parent, read_only=True) as store:
        for read in (store.rows, store.latest, store.origins, store.machines, store.unfinished):
            read()


def small_run(folder: Path) -> Path:
    """A run with a finished job; the path of its database."""
    labels = {"contestant": "c", "instance": "i"}
    job = Job("search", ("{python}", "-m", "hstar"), {}, ("plan",), labels=labels)
    with Store(folder) as store:
        store.add([job])
        outcome = Outcome(
            {"status": "solved", "expanded": 1}, {"plan": b"(a)"}, "log", {"host": "h"}, 0.0, 1.0
        )
        store.record(job, outcome)
    return folder / "results.sqlite"


def small_checkpoint(folder: Path) -> tuple[Path, Callable[[Path], Any]]:
    """The checkpoint of a training, and what goes on with it."""
    from hstar.estimates.point import Point
    from hstar.models.resnet import ResNetConfig
    from hstar.training.config import TrainConfig
    from hstar.training.examples import StateExamples
    from hstar.training.loop import fit

    states = np.random.default_rng(0).integers(2**16, size=(40, 1), dtype=np.uint64)
    atoms, label = tuple(f"a{i}" for i in range(16)), np.arange(40, dtype=np.float32)
    data = Dataset(atoms, states, label, np.zeros(40, np.int32))

    def go_on(path: Path, epochs: int = 4) -> None:
        config = TrainConfig(epochs=epochs, batch_size=20)
        build = functools.partial(ResNetConfig(width=4).build, len(atoms))
        fit(build, StateExamples(data), Point(), config, redraw=True, checkpoint=path)

    path = folder / "training.checkpoint"
    go_on(path, 2)
    return path, go_on


def small_images(folder: Path) -> Iterator[tuple[Path, Write]]:
    """Maps in every format, and how to mutate them."""
    blocked = np.random.default_rng(0).random((20, 30)) < 0.3
    png, octile, array, pgm = (folder / f"map.{suffix}" for suffix in ("png", "map", "npy", "pgm"))
    write_png(png, blocked)
    write_map(octile, blocked)
    np.save(array, blocked.astype(np.uint8))
    pgm.write_bytes(b"P5 30 20 255 " + (255 * ~blocked).astype(np.uint8).tobytes())
    yield png, png_mutations(png)
    for path in (png, octile, array, pgm):
        yield path, byte_mutations(path, (b"99999999", b"-1", b" " * 999, b"P2", b"\0", b"height", b"@"))


def others(folder: Path) -> Iterator[tuple[Path, Callable[[Path], Any], Write]]:
    """Suites, runs, checkpoints and images."""
    suite = folder / "suite.toml"
    suite.write_text(SUITE)
    yield suite, read_jobs, byte_mutations(suite, SUITE_WORDS)
    run = small_run(folder / "run")
    yield run, read_run, byte_mutations(run)
    checkpoint, go_on = small_checkpoint(folder)
    yield checkpoint, go_on, container_mutations(checkpoint)
    for path, write in small_images(folder):
        yield path, load_map, write


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        models = [*MODELS, *other_models(Path(place))]
        known = small_knowledge(Path(place))
        cases: list[tuple[Path, Callable[[Path], Any], Write]] = [
            *((path, read_and_search, container_mutations(path)) for path in models),
            (known, read_knowledge, container_mutations(known)),
        ]
        if sys.argv[3:] != ["models"]:
            cases += ((path, relational.load, container_mutations(path)) for path in DATA)
            cases += others(Path(place))
        for one, reader, how in cases:
            number = count if one.stem not in LARGE else max(1, count // 20)
            outcomes = attack(one, reader, number, first, how)
            total += outcomes
            for said, times in outcomes.items():
                if said not in ("read", "refused"):
                    print(f"{one.name}: {times} x {said}")
            print(one.name, dict(outcomes.most_common(2)), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(total.total(), "files", dict(total.most_common(2)), f"{peak} MB")
