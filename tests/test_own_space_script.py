"""benchmarks/own_space.py: three searches of one space."""

from __future__ import annotations

import pytest

from scripts import load_script


def test_three_rates(capsys: pytest.CaptureFixture[str]) -> None:
    module = load_script("own_space")
    assert module["main"](["--expansions", "200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| by hand, Python",
        "| plain own space",
        "| vectorised own space",
    ]
    assert all(int(line.split("|")[2].replace(",", "")) > 1000 for line in lines[2:])
