"""Data sets: packing, files, duplicates, splits."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hstar.errors import InputError
from hstar.sampling.dataset import Dataset, concatenate, load, pack, save

FAST = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def make(matrix: Any, label: Any, instance: Any = None, lower: Any = None, upper: Any = None) -> Dataset:
    matrix = np.asarray(matrix, dtype=bool)
    n = len(matrix)
    return Dataset(
        atoms=tuple(f"p({i})" for i in range(matrix.shape[1])),
        states=pack(matrix),
        label=np.asarray(label, dtype=np.float32),
        instance=np.asarray([0] * n if instance is None else instance, dtype=np.int32),
        lower=None if lower is None else np.asarray(lower, dtype=np.float32),
        upper=None if upper is None else np.asarray(upper, dtype=np.float32),
        provenance={"sampler": "test"},
    )


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    atoms, n = draw(st.integers(1, 140)), draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Few patterns, so that states occur several times.
    patterns = rng.random((draw(st.integers(1, 6)), atoms)) < draw(st.sampled_from([0.05, 0.5, 1.0]))
    matrix = patterns[rng.integers(len(patterns), size=n)] if n else np.zeros((0, atoms), dtype=bool)

    def bound() -> Any:
        values = rng.integers(0, 9, n).astype(np.float32)
        values[rng.random(n) < 0.5] = np.nan
        return values if draw(st.booleans()) else None

    return make(matrix, rng.integers(0, 9, n), rng.integers(0, 2, n), bound(), bound())


def assert_equal(a: Dataset, b: Dataset) -> None:
    assert a.atoms == b.atoms and a.provenance == b.provenance
    for name in ("states", "label", "instance", "lower", "upper"):
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)


def key(dataset: Dataset) -> list[tuple[bytes, int]]:
    return [(row.tobytes(), int(i)) for row, i in zip(dataset.states, dataset.instance, strict=True)]


# --- bits ---------------------------------------------------------------------------------------


@FAST
@given(datasets(), st.data())
def test_unpacking_is_bit_by_bit(dataset: Dataset, data: st.DataObject) -> None:
    plain = np.array(
        [[int(row[i // 64]) >> (i % 64) & 1 for i in range(len(dataset.atoms))] for row in dataset.states]
    ).reshape(len(dataset), len(dataset.atoms))
    np.testing.assert_array_equal(dataset.unpack(), plain)
    np.testing.assert_array_equal(pack(dataset.unpack()), dataset.states)
    if len(dataset):
        some = np.array(data.draw(st.lists(st.integers(0, len(dataset) - 1), max_size=9)), dtype=np.int64)
        np.testing.assert_array_equal(dataset.unpack(some), plain[some])


def test_atom_64_is_the_first_bit_of_the_second_word() -> None:
    matrix = np.zeros((1, 65), dtype=bool)
    matrix[0, [1, 64]] = True
    assert pack(matrix).tolist() == [[2, 1]]


# --- duplicates and splits ----------------------------------------------------------------------


@FAST
@given(datasets())
def test_duplicates_keep_the_best_of_everything(dataset: Dataset) -> None:
    expected: dict[tuple[bytes, int], list[int]] = {}
    for i, one in enumerate(key(dataset)):
        expected.setdefault(one, []).append(i)
    unique = dataset.deduplicate()
    assert key(unique) == list(expected)
    for row, copies in enumerate(expected.values()):
        assert unique.label[row] == dataset.label[copies].min()
        for name, best in (("lower", np.fmax), ("upper", np.fmin)):
            bound = getattr(dataset, name)
            if bound is not None:
                np.testing.assert_array_equal(getattr(unique, name)[row], best.reduce(bound[copies]))
    assert_equal(unique.deduplicate(), unique)


def test_duplicates_by_hand() -> None:
    dataset = make([[1, 0], [1, 0], [0, 1], [1, 0]], [5, 3, 9, 7], [0, 0, 0, 1], lower=[1, np.nan, 2, 3])
    unique = dataset.deduplicate()
    assert unique.label.tolist() == [3, 9, 7]
    assert unique.instance.tolist() == [0, 0, 1]
    assert unique.lower is not None and unique.lower.tolist() == [1, 2, 3]
    assert dataset.label.tolist() == [5, 3, 9, 7], "the original is left alone"


@FAST
@given(datasets(), st.floats(0, 0.9), st.integers(0, 99))
def test_no_state_is_in_both_parts(dataset: Dataset, fraction: float, seed: int) -> None:
    rest, part = dataset.split(fraction, seed)
    assert not {row.tobytes() for row in rest.states} & {row.tobytes() for row in part.states}
    assert sorted(key(rest) + key(part)) == sorted(key(dataset.deduplicate()))
    again = dataset.split(fraction, seed)
    assert_equal(rest, again[0])
    assert_equal(part, again[1])


def test_the_size_of_a_split() -> None:
    dataset = make(np.arange(100)[:, None] >> np.arange(7) & 1, np.arange(100))
    assert [len(part) for part in dataset.split(0.2, 0)] == [80, 20]
    assert [len(part) for part in dataset.split(0.0, 0)] == [100, 0]
    assert [len(part) for part in dataset.split(0.001, 0)] == [99, 1]
    assert set(dataset.split(0.2, 0)[1].label) != set(dataset.split(0.2, 1)[1].label)
    with pytest.raises(InputError, match=r"must be in \[0, 1\), got 1"):
        dataset.split(1.0, 0)


# --- several ------------------------------------------------------------------------------------


def test_concatenate() -> None:
    a = make([[1, 0]], [1], lower=[1])
    b = make([[0, 1], [1, 1]], [2, 3], instance=[1, 2])
    both = concatenate([a, b])
    assert both.label.tolist() == [1, 2, 3] and both.instance.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(both.lower, [1, np.nan, np.nan])
    assert both.upper is None and both.provenance == {"sampler": "test"}
    with pytest.raises(InputError, match="different atoms"):
        concatenate([a, make([[1]], [1])])
    with pytest.raises(InputError, match="no data sets"):
        concatenate([])


def test_the_digest_is_that_of_the_content() -> None:
    a = make([[1, 0]], [1])
    assert a.digest() == make([[1, 0]], [1]).digest()
    assert len({a.digest(), make([[0, 1]], [1]).digest(), make([[1, 0]], [2]).digest()}) == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"atoms": ()}, "needs atoms"),
        ({"atoms": ("p()", "p()")}, "each of them once"),
        ({"label": np.zeros(2)}, r"column label .* float32 \(2,\), got float64"),
        ({"states": np.zeros((2, 2), np.uint64)}, r"states .* \(2, 1\), got uint64 \(2, 2\)"),
        ({"upper": np.zeros(3, np.float32)}, "column upper"),
        ({"states": np.full((2, 1), 4, np.uint64)}, "beyond the last atom"),
    ],
)
def test_wrong_columns(columns: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {
        "atoms": ("p()", "q()"),
        "states": np.zeros((2, 1), np.uint64),
        "label": np.zeros(2, np.float32),
        "instance": np.zeros(2, np.int32),
    }
    Dataset(**right)
    with pytest.raises(InputError, match=message):
        Dataset(**{**right, **columns})


# --- files --------------------------------------------------------------------------------------


@FAST
@given(datasets())
def test_a_file_gives_back_what_was_saved(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "data.safetensors"
    save(path, dataset)
    assert_equal(load(path), dataset)
    first = path.read_bytes()
    save(path, load(path))
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name], "no temporary file is left"


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "data.safetensors"
    save(path, make(np.eye(20), np.arange(20), lower=np.arange(20)))
    data = path.read_bytes()
    for cut in [*range(0, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:cut])
        with pytest.raises(InputError, match=r"data\.safetensors: .*damaged"):
            load(path)
    for place in range(0, len(data), 5):
        changed = bytearray(data)
        changed[place] ^= 0x11
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"data\.safetensors: ") as caught:
            load(path)
        assert "\n" not in str(caught.value)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "data.safetensors"
    for content in (b"", b"\x80\x04pickle", b"(define (domain blocks))", struct.pack("<Q", 2**60)):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a dataset of hstar, or damaged"):
            load(path)
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(InputError, match="not a dataset of hstar"):
        load(path)
    with pytest.raises(InputError, match="cannot read: No such file"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match="cannot write"):
        save(tmp_path / "none" / "data", make([[1]], [1]))


def test_other_kinds_and_newer_formats(tmp_path: Path) -> None:
    from hstar import container

    path = tmp_path / "data.safetensors"
    container.write(path, "model", 1, {}, {})
    with pytest.raises(InputError, match="a model of hstar, expected a dataset"):
        load(path)
    container.write(path, "dataset", 7, {}, {})
    with pytest.raises(InputError, match="format 7, this hstar knows up to 1"):
        load(path)
    container.write(path, "dataset", 1, {}, {})
    with pytest.raises(InputError, match="no list of atoms"):
        load(path)
    container.write(path, "dataset", 1, {"atoms": ["p()"], "provenance": {}}, {"odd": np.zeros(1, np.uint8)})
    with pytest.raises(InputError, match="missing or foreign columns, found odd"):
        load(path)
