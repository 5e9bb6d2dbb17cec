"""Small runs of tests/nightly.py; the kills of a run are in tests/experiments/test_survival.py."""

from __future__ import annotations

import pytest

from nightly import differential, serve, signals


def test_random_tasks_against_the_oracle() -> None:
    counts = differential(40, seed=20_000)
    assert counts["anytime"] == counts["focal 1.0"] == counts["focal 2.0"] == 40


@pytest.mark.slow
def test_signals_at_random_moments() -> None:
    names = ("solve", "plan", "sample", "bench", "generate")
    counts, _ = signals(13, seed=1, names=names)
    assert counts.total() == 13 and any(count.endswith("interrupted") for count in counts)


@pytest.mark.slow
def test_requests_to_a_server() -> None:
    pytest.importorskip("starlette")
    assert len(serve(20, clients=10)) == 10
