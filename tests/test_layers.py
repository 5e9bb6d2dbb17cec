"""Arrows point down only, in both languages, and what must be absent is absent.

    cli → service → experiments → recipes → training · models · estimates · sampling → spaces · search → _core
    bindings → sampling · search → heuristics → network · features · estimates → spaces · task → base
    bindings → pddl → task → base

A room may use what lies below it and, within its own level, what does not lead back to it. `search` may use
`spaces`, not the other way round. `errors`, `files`, `limits`, `registry`, `options` and `units` are for all,
`generators` for cli and experiments.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "hstar"
CORE = ROOT / "core"

PYTHON_LEVELS = {
    "__main__": 6,
    "cli": 5,
    "up": 5,
    "service": 4,
    "experiments": 4,
    "recipes": 3,
    "training": 2,
    "models": 2,
    "estimates": 2,
    "sampling": 2,
    "search": 1,
    "spaces": 1,
    "_core": 0,
}
# What may be used from everywhere, and what that may use itself.
FOR_ALL = {
    "errors": set(),
    "files": {"errors"},
    "limits": {"errors"},
    "container": {"errors", "files"},
    "registry": {"errors"},
    "options": {"errors", "registry"},
    "units": {"errors"},
}
GENERATORS_USERS = {"cli", "experiments"}
CORE_LEVELS = {
    "bindings": 5,
    "sampling": 4,
    "search": 4,
    "heuristics": 3,
    "estimates": 2,
    "features": 2,
    "network": 2,
    "pddl": 2,
    "policy": 2,
    "spaces": 1,
    "task": 1,
    "base": 0,
}
WITHOUT_TORCH = {"errors", "registry", "generators", "spaces", "search", "service", "cli"}


@dataclass(frozen=True)
class Arrow:
    """One import or include: from a room to a room."""

    source: str
    target: str
    where: str


# --- Python -------------------------------------------------------------------------------------


def python_modules() -> dict[str, str]:
    """Texts by dotted name, `hstar.spaces.task` and the like; a package by its own name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["hstar", *path.relative_to(PACKAGE).with_suffix("").parts]
        packaged = parts[-1] == "__init__"
        found[".".join(parts[:-1] if packaged else parts)] = path.read_text()
    return found


def homes(modules: Mapping[str, str]) -> dict[str, str]:
    """What `from hstar import name` really imports: the table of the lazy package."""
    for node in ast.walk(ast.parse(modules.get("hstar", ""))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES":
            table: dict[str, str] = ast.literal_eval(node.value)
            return {name: home for home, names in table.items() for name in names.split()}
    return {}


def imported(module: str, text: str, is_package: bool) -> Iterator[tuple[str, int]]:
    """Dotted names of everything imported anywhere in a module, with lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".") if is_package else module.split(".")[:-1]
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, *([base] if base else [])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value), node.lineno


def room_of(name: str, table: Mapping[str, str]) -> str | None:
    """The room of a dotted name of hstar; None for other packages and for the package's own constants."""
    parts = name.split(".")
    if parts[0] != "hstar":
        return None
    if len(parts) == 1:
        return "hstar"
    if parts[1] in table and table[parts[1]] != f"hstar.{parts[1]}":
        return room_of(table[parts[1]], table)
    return None if parts[1].startswith("__") and parts[1] != "__main__" else parts[1]


def python_arrows(modules: Mapping[str, str]) -> list[Arrow]:
    table = homes(modules)
    packages = {name.rpartition(".")[0] for name in modules} | {"hstar"}
    arrows = []
    for module, text in modules.items():
        source = room_of(module, {})
        if source is None or source == "hstar":
            continue  # the lazy package itself names everything
        for name, line in imported(module, text, module in packages):
            target = room_of(name, table)
            if target is not None and target != source:
                arrows.append(Arrow(source, target, f"{module}:{line} imports {name}"))
    return arrows


def wrong_python_arrows(modules: Mapping[str, str]) -> list[str]:
    arrows = python_arrows(modules)
    wrong = [arrow.where for arrow in arrows if not python_allowed(arrow.source, arrow.target)]
    return wrong + cycles(arrows)


def python_allowed(source: str, target: str) -> bool:
    if source in FOR_ALL:
        return target in FOR_ALL[source]
    if target in FOR_ALL:
        return True
    if source == "generators":
        return False
    if target == "generators":
        return source in GENERATORS_USERS
    if (source, target) == ("spaces", "search"):
        return False
    if source not in PYTHON_LEVELS or target not in PYTHON_LEVELS:
        return False
    return PYTHON_LEVELS[target] <= PYTHON_LEVELS[source]


def cycles(arrows: Iterable[Arrow]) -> list[str]:
    """Rooms from which a path leads back to themselves."""
    below: dict[str, set[str]] = {}
    for arrow in arrows:
        below.setdefault(arrow.source, set()).add(arrow.target)
    found = []
    for room in below:
        reached: set[str] = set()
        frontier = set(below[room])
        while frontier:
            reached |= frontier
            frontier = {next_ for here in frontier for next_ in below.get(here, ())} - reached
        if room in reached:
            found.append(f"{room} depends on itself")
    return found


def uses_torch(modules: Mapping[str, str]) -> list[str]:
    return [
        f"{module}:{line} imports {name}"
        for module, text in modules.items()
        for name, line in imported(module, text, False)
        if name.split(".")[0] == "torch" and (room_of(module, {}) in WITHOUT_TORCH or module == "hstar")
    ]


def prints_or_exits(modules: Mapping[str, str]) -> list[str]:
    """Calls of print, exit, quit, sys.exit and os._exit, and raised SystemExits, outside the command line."""
    found = []
    for module, text in modules.items():
        if room_of(module, {}) == "cli":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "exit", "quit", "sys.exit", "os._exit", "sys.stdout.write"):
                    found.append(f"{module}:{node.lineno} calls {called}")
            elif isinstance(node, ast.Raise) and node.exc and "SystemExit" in ast.unparse(node.exc):
                found.append(f"{module}:{node.lineno} raises SystemExit")
    return found


def test_python_arrows_point_down() -> None:
    modules = python_modules()
    assert len(python_arrows(modules)) > 10, "the imports are not seen"
    assert wrong_python_arrows(modules) == []


def test_every_room_has_a_level() -> None:
    rooms = {room_of(name, {}) for name in python_modules()} - {"hstar", "generators", *FOR_ALL}
    assert rooms <= set(PYTHON_LEVELS)
    folders = {path.name for path in CORE.iterdir() if path.is_dir()}
    assert folders <= set(CORE_LEVELS)


def test_a_library_does_not_print_or_exit() -> None:
    assert prints_or_exits(python_modules()) == []


def test_no_torch_where_the_plain_planner_lives() -> None:
    assert uses_torch(python_modules()) == []


def test_the_planner_works_where_torch_cannot_be_imported() -> None:
    problem = Path(__file__).parent / "data" / "blocks" / "problem.pddl"
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import hstar, hstar.cli.app\n"
        f"task = hstar.load({str(problem)!r})\n"
        "assert hstar.solve(task, 'lmcut', 'astar').plan_cost == 6\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("hstar.spaces.task", "from hstar.search.solve import solve"),
        ("hstar.spaces.task", "from hstar import solve"),
        ("hstar.spaces.task", "def f():\n    import hstar.search.heuristics"),
        ("hstar.spaces.task", "from ..search import solve"),
        ("hstar.spaces", "from ..search import solve"),
        ("hstar.spaces.task", "if TYPE_CHECKING:\n    from hstar.models.nlm import NLM"),
        ("hstar.search.solve", "import importlib\nimportlib.import_module('hstar.recipes.nrsl')"),
        ("hstar.search.solve", "from hstar import training"),
        ("hstar.recipes.nrsl", "from hstar.generators import GENERATORS"),
        ("hstar.generators.ferry", "from hstar.spaces.task import load_task as load"),
        ("hstar.errors", "from hstar.registry import Registry"),
        ("hstar.registry", "from hstar._core import Task"),
        ("hstar.experiments.run", "from hstar.cli.app import app"),
        ("hstar.search.solve", "from hstar.helpers import anything"),
    ],
)
def test_a_wrong_python_arrow_is_seen(module: str, text: str) -> None:
    modules = {"hstar": '_HOMES = {"hstar.search.solve": "solve"}', module: text}
    if module == "hstar.spaces":
        modules["hstar.spaces.task"] = ""
    assert wrong_python_arrows(modules)


def test_right_python_arrows_are_let_through() -> None:
    right = {
        "hstar.search.solve": "from hstar.spaces.task import Task\nfrom hstar import _core, errors",
        "hstar.cli.app": "from hstar import __version__\nfrom hstar.generators import GENERATORS",
        "hstar.training.fit": "import torch\nfrom hstar.models import nlm\nfrom hstar import registry",
        "hstar.recipes.nrsl": "from hstar.training.fit import fit\nimport numpy.random",
        "hstar.spaces.task": "from .pddl import read\nfrom . import lifted\nimport hstar.errors",
    }
    assert wrong_python_arrows(right) == []
    assert uses_torch(right) == []


def test_cycles_torch_prints_and_exits_are_seen() -> None:
    circle = {
        "hstar.models.nlm": "from hstar.training.fit import fit",
        "hstar.training.fit": "from hstar.models.nlm import NLM",
    }
    assert wrong_python_arrows(circle) == ["models depends on itself", "training depends on itself"]
    assert uses_torch({"hstar.search.solve": "def f():\n    from torch import nn"})
    assert uses_torch({"hstar.cli.train": "import torch.nn.functional as f"})
    for text in ("print(1)", "import sys\nsys.exit(2)", "exit()", "raise SystemExit", "raise SystemExit(3)"):
        assert prints_or_exits({"hstar.spaces.task": text}), text
        assert not prints_or_exits({"hstar.cli.app": text})
    assert not prints_or_exits({"hstar.spaces.task": '"""print(1)"""\nlogger.info("print")'})


# --- C++ ----------------------------------------------------------------------------------------

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_PYTHON_HEADERS = ("Python.h", "nanobind", "pybind11", "numpy")


def core_files() -> dict[str, str]:
    paths = [*CORE.rglob("*.h"), *CORE.rglob("*.cc")]
    return {path.relative_to(CORE).as_posix(): path.read_text() for path in sorted(paths)}


def core_arrows(files: Mapping[str, str]) -> list[Arrow]:
    return [
        Arrow(file.split("/")[0], header.split("/")[0], f"{file} includes {header}")
        for file, text in files.items()
        for quote, header in _INCLUDE.findall(text)
        if quote == '"' and header.split("/")[0] != file.split("/")[0]
    ]


def wrong_core_arrows(files: Mapping[str, str]) -> list[str]:
    arrows = core_arrows(files)
    wrong = [
        arrow.where
        for arrow in arrows
        if CORE_LEVELS.get(arrow.target, 99) > CORE_LEVELS.get(arrow.source, -1)
    ]
    return wrong + cycles(arrows)


def python_headers(files: Mapping[str, str]) -> list[str]:
    return [
        f"{file} includes {header}"
        for file, text in files.items()
        if not file.startswith("bindings/")
        for _, header in _INCLUDE.findall(text)
        if header.startswith(_PYTHON_HEADERS)
    ]


def core_prints_or_exits(files: Mapping[str, str]) -> list[str]:
    calls = re.compile(r"std::c(?:out|err)\b|\b(?:printf|puts|abort)\s*\(|\bexit\s*\(")
    return [
        f"{file}: {match[0]}"
        for file, text in files.items()
        for match in calls.finditer(re.sub(r"//[^\n]*", "", text))
    ]


def test_core_arrows_point_down() -> None:
    files = core_files()
    assert len(core_arrows(files)) > 20, "the includes are not seen"
    assert wrong_core_arrows(files) == []


def test_only_the_bindings_know_python() -> None:
    assert python_headers(core_files()) == []
    assert any("nanobind" in text for file, text in core_files().items() if file.startswith("bindings/"))


def test_the_core_does_not_print_or_exit() -> None:
    assert core_prints_or_exits(core_files()) == []


@pytest.mark.parametrize(
    ("file", "header"),
    [
        ("base/control.h", "task/task.h"),
        ("task/task.h", "heuristics/heuristic.h"),
        ("network/layers.cc", "heuristics/heuristic.h"),
        ("heuristics/ff.cc", "search/search.h"),
        ("search/astar.cc", "bindings/bindings.h"),
        ("search/astar.cc", "helpers/all.h"),
        ("task/task.h", "pddl/translate.h"),
    ],
)
def test_a_wrong_core_arrow_is_seen(file: str, header: str) -> None:
    assert wrong_core_arrows({file: f'#pragma once\n  #  include "{header}"\n'})


def test_core_cycles_python_headers_and_prints_are_seen() -> None:
    circle = {"spaces/tiles.h": '#include "task/task.h"', "task/task.h": '#include "spaces/tiles.h"'}
    assert wrong_core_arrows(circle) == ["spaces depends on itself", "task depends on itself"]
    for header in ("<Python.h>", "<nanobind/nanobind.h>", '"nanobind/ndarray.h"'):
        assert python_headers({"search/astar.cc": f"#include {header}"})
        assert not python_headers({"bindings/module.cc": f"#include {header}"})
    assert core_prints_or_exits({"base/a.cc": 'std::cout << "x";'})
    assert core_prints_or_exits({"base/a.cc": "if (x) std::exit(1);"})
    assert not core_prints_or_exits({"base/a.cc": "// exit(1) is for others\nstd::snprintf(buffer, 3, x);"})
    right = {
        "search/astar.cc": '#include "heuristics/heuristic.h"\n#include <vector>\n#include "search/astar.h"'
    }
    assert wrong_core_arrows(right) == []
