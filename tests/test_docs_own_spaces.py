"""What docs/own_spaces.md shows works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hstar.cli import main

TEXT = (Path(__file__).parents[1] / "docs" / "own_spaces.md").read_text()


def test_the_page_is_short() -> None:
    assert len(TEXT.splitlines()) <= 110


def test_snippets_and_commands_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = re.findall(r"```(python|sh)\n(.*?)```", TEXT, re.DOTALL)
    assert [kind for kind, _ in parts] == ["python", "python", "sh", "python", "sh", "python", "python"]
    Path("own.py").write_text(parts[0][1])
    names: dict[str, object] = {"__name__": "page"}
    for kind, code in parts:
        if kind == "python":
            exec(code, names)
            continue
        for line in code.splitlines():
            with pytest.raises(SystemExit) as stop:
                main(shlex.split(line)[1:])
            assert stop.value.code == 0, (line, capsys.readouterr().err)
    assert Path("ring.hstar").is_file()
