"""Mutated files of models and data sets: headers and tensors are changed at random, the checksum made anew.

Bytes that are changed blindly end at the checksum. A stranger who writes a file on purpose makes a valid one,
so these mutations do, too, and reach the readers behind it.

python tests/mutations.py 1000 [SEED] mutates each file of tests/data/models and of the shipped data sets so
often, and counts what is not a one-line error.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hstar import container
from hstar.errors import HstarError
from hstar.models.trained_model import load_model
from hstar.sampling import relational

MODELS = sorted((Path(__file__).parent / "data" / "models").glob("*.hstar"))
DATA = sorted(relational.shipped().values())
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


def attack(source: Path, load: Callable[[Path], Any], number: int, seed: int) -> Counter[str]:
    """What becomes of so many mutations of a file: read, refused in one line, or something worse."""
    kind = container.kind(source)
    assert kind is not None
    header, tensors = container.read(source, kind, _NEWEST)
    version = container._entry(source)["version"]
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / source.name
        for i in range(number):
            rng = random.Random(f"{source.name} {seed} {i}")
            container.write(path, kind, version, *mutated(header, tensors, rng), durable=False)
            start = time.monotonic()
            try:
                load(path)
                outcome = "read"
            except HstarError as error:
                outcome = "refused" if "\n" not in str(error) else f"several lines: {str(error)[:100]}"
            except Exception as error:
                outcome = f"{type(error).__name__}: {str(error)[:80]} (mutation {i})"
            if time.monotonic() - start > SLOW_S:
                outcome = f"slow (mutation {i})"
            found[outcome] += 1
    return found


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total: Counter[str] = Counter()
    for sources, reader in ((MODELS, load_model), (DATA, relational.load)):
        for one in sources:
            outcomes = attack(one, reader, count, first)
            total += outcomes
            for said, times in outcomes.items():
                if said not in ("read", "refused"):
                    print(f"{one.name}: {times} x {said}")
    print(dict(total.most_common(2)), f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
