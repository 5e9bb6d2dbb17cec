"""No function takes more parameters than a reader can keep apart: more of them become a struct."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "hstar"
MOST_OF_A_BINDING, MOST = 8, 7


def too_long(path: Path, most: int) -> Iterator[str]:
    """Functions with more parameters; `self` and `cls` do not count, nor do *args and **kwargs."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            all_names = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            names = [one.arg for one in all_names if one.arg not in ("self", "cls")]
            if len(names) > most:
                yield f"{path.name}:{node.lineno}: {node.name} takes {len(names)}"


def test_bindings_take_few_parameters() -> None:
    assert list(too_long(SOURCE / "_core.pyi", MOST_OF_A_BINDING)) == []


def test_functions_take_few_parameters() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 100
    assert [found for path in files for found in too_long(path, MOST)] == []


@pytest.mark.parametrize(("text", "found"), [("def f(a, *, b): ...", 0), ("def f(self, a, b, c): ...", 1)])
def test_parameters_are_counted(tmp_path: Path, text: str, found: int) -> None:
    path = tmp_path / "some.py"
    path.write_text(text)
    assert len(list(too_long(path, 2))) == found
