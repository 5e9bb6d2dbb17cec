"""`benchmarks/prolonged.py`: what is finished is not repeated, and tables say what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts import load_script

WHO: dict[str, Any] = {
    "model": "vin",
    "data": "2",
    "scenarios": 5,
    "updates": 100,
    "loss": "asymmetric",
    "headings": 0,
}
COMMON = {"part": "search", "build": "b", "maps": "maze", "tests": 2, "eps": "1 2"}


@pytest.mark.slow
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, file = load_script("prolonged"), tmp_path / "p.jsonl"
    words = ["--scenarios", "4", "--tests", "2", "--data", "VAN", "--data", "inf", "--updates", "2"]
    words += ["--eps", "1", "--eps", "2", "--maps", "scattered", "--maps", "maze", "--seed", "0"]
    words += ["--out", str(file)]
    assert module["main"](words) == 0
    printed = capsys.readouterr().out
    assert "| scattered | weighted A*, eps h_adm |" in printed and "| maze | Dijkstra; vin |" in printed
    kept = file.read_text()
    assert len(kept.splitlines()) == 1 + 2 + 2 * 3
    assert module["main"](words) == 0 and file.read_text() == kept
    assert module["main"](["--print", str(file)]) == 0
    assert capsys.readouterr().out == 2 * printed
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == [
        "vin_VAN_4_2_asymmetric_0.hstar",
        "vin_inf_4_2_asymmetric_0.hstar",
    ]


@pytest.mark.slow
def test_figures_and_a_lattice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    module, file = load_script("prolonged"), tmp_path / "p.jsonl"
    words = ["--scenarios", "3", "--tests", "2", "--updates", "1", "--eps", "2", "--seed", "0"]
    words += ["--maps", "scattered", "--out", str(file), "--data", "2"]
    assert module["main"]([*words, "--headings", "4"]) == 0
    assert "| scattered | PHS, k_pr = 2; vin on a lattice |" in capsys.readouterr().out
    assert module["main"]([*words, "--loss", "truncated", "--loss", "asymmetric"]) == 0
    assert "| truncated | PHS, k_pr = 2; vin |" in capsys.readouterr().out
    assert module["main"](["--print", str(file), "--figures", str(tmp_path / "figures")]) == 0
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "prolonged_cells.svg",
        "prolonged_eps.svg",
        "prolonged_loss.svg",
    ]
    assert "PHS, k_pr = 2; vin" in (tmp_path / "figures" / "prolonged_eps.svg").read_text()


def search(**fields: Any) -> dict[str, Any]:
    return {**COMMON, "reopened": {}, **fields}


def shown(file: Path, records: list[dict[str, Any]], *tables: str) -> int:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    words = [word for table in tables for word in ("--table", table)]
    code: int = load_script("prolonged")["main"](["--print", str(file), *words])
    return code


PLAIN = search(
    model="weighted",
    headings=0,
    cost={"1": [10.0, 10.0], "2": [10.0, 11.0]},
    expanded={"1": [50, 60], "2": [40, 45]},
)


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Means over problems and seeds, and the standard deviation over seeds."""
    one, two = (
        search(
            **WHO, seed=seed, cost={"1": [10.0, 10.0], "2": [10.0, cost]}, expanded={"1": [50, 60], "2": own}
        )
        for seed, cost, own in ((0, 20.0, [10, 20]), (1, 10.0, [20, 30]))
    )
    assert shown(tmp_path / "p.jsonl", [PLAIN, one, two], "elsewhere", "bound") == 0
    printed = capsys.readouterr().out
    assert "| maze | A*, h_adm | 55.0 (1.000) | 55.0 (1.000) |" in printed
    assert "| maze | weighted A*, eps h_adm | 55.0 (1.000) | 42.5 (1.050) |" in printed
    assert "| maze | PHS, k_pr = 2; vin | 55.0 ± 0.0 (1.000) | 20.0 ± 7.1 (1.250) |" in printed
    assert "| maze | 8 | 1.000 | 1.000 |" in printed


def test_a_broken_bound_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = search(**WHO, seed=0, cost={"1": [10.0, 10.0], "2": [10.0, 20.5]}, expanded=PLAIN["expanded"])
    assert shown(tmp_path / "p.jsonl", [PLAIN, own], "bound") == 1
    assert "1 paths cost more than eps times the optimum" in capsys.readouterr().err


def test_words_that_say_nothing() -> None:
    module = load_script("prolonged")
    assert module["data_options"]("2+open") == {"sampler": "prolonged", "k_pr": 2.0, "open_states": True}
    with pytest.raises(Exception, match="data are VAN, a k_pr, or a k_pr with"):
        module["data_options"]("VANN")
