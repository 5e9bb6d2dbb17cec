"""`hstar grid`: paths on maps."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.grids import MAPS, OF_RANDOM_MAPS, problems_of
from hstar.cli.options import Use, add_option, flag, given_options
from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import check_file, check_writable
from hstar.errors import InputError
from hstar.units import parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hstar.models.grid_model import GridModel
    from hstar.search.grid_astar import GridAStarResult
    from hstar.spaces.grid import GridProblem

DESCRIPTION = """\
Plans on a map, a PNG or PGM image or a .map file of Moving AI, from --start to --goal or between random
cells; or on the problems of a .scen file; or, without a file, on random maps. A path goes to standard
output, a cell a line; with several problems or heuristics a table does. The heuristic is a name (manhattan,
octile, blind) or a model that `hstar train prolonged` wrote. With --eps the values of a model are bounded,
and paths cost at most eps times the optimum."""
EXAMPLES = (
    "hstar grid map.png --start 0,0 --goal 19,29",
    "hstar grid map.png --start 0,0 --goal 19,29 --heuristic model.hstar --eps 1.5 --json",
    "hstar grid --scenarios 20 --kind maze --heuristic manhattan --heuristic model.hstar --eps 2",
)


@dataclass(frozen=True)
class Run:
    """A search with one heuristic; the time of the network is that of its value map."""

    problem: GridProblem
    heuristic: str
    values: npt.NDArray[np.float32] | None
    result: GridAStarResult
    network_time: float


# Options.


def configure(parser: Parser) -> None:
    """The arguments."""
    from hstar.spaces.grid_maps import MapOptions

    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] [{MAPS}]"
    add("file", nargs="?", type=Path, metavar=MAPS, help="an image, a .map or a .scen file")
    add("--start", type=checked(_parse_cell), metavar="R,C", help="row and column, from 0 on")
    add("--goal", type=checked(_parse_cell), metavar="R,C", help="row and column")
    add("--scenarios", type=count, metavar="N", help="so many problems: random ones, or of the .scen file")
    add("--seed", type=count, default=0, metavar="N", help="of random problems (0)")
    add("--threshold", type=float, metavar="X", help="from which brightness in 0..1 on a cell is free")
    add(
        "--heuristic",
        action="append",
        metavar="NAME | MODEL",
        help="manhattan, octile, blind, or a model file; may be repeated (manhattan or octile)",
    )
    add("--eps", type=float, metavar="X", help="bound of values of models (none: taken as they are)")
    add("--weight", type=float, default=1.0, metavar="X", help="of the heuristic (1)")
    add("--time-limit", type=checked(parse_time), metavar="TIME", help="of one search")
    add("--memory-limit", type=checked(parse_memory), metavar="MEMORY", help="of the process")
    add("--picture", type=Path, metavar="FILE", help="draw the first problem: a .png or .svg file")
    add("--animation", type=Path, metavar="FILE", help="show the first problem step by step: a .html file")
    add("--json", action="store_true", help="print an object for each search, a line each")
    add("--quiet", "-q", action="store_true", help="no summary")
    group = parser.add_argument_group("maps")
    for entry in fields(MapOptions):
        add_option(group, entry.name, [Use("grid", "maps", entry, entry.default)], ["grid"])


def _parse_cell(text: str) -> tuple[int, int]:
    words = text.split(",")
    if len(words) != 2 or not all(word.strip().isdecimal() for word in words):
        raise InputError(f"expected a row and a column such as 3,14, got '{text}'")
    return int(words[0]), int(words[1])


# The run.


def run(arguments: argparse.Namespace) -> int:
    """Searches, prints paths or a table, and draws."""
    from hstar.search.grid_astar import GridAStarConfig
    from hstar.search.solve import EXIT_CODES

    config = {name: getattr(arguments, name) for name in ("eps", "weight", "time_limit", "memory_limit")}
    GridAStarConfig(**config)
    if arguments.picture is not None:
        from hstar.experiments.grid_picture import check_picture

        check_picture(arguments.picture)
        check_writable(arguments.picture, "picture")
    if arguments.animation is not None:
        from hstar.experiments.grid_animation import check_animation

        check_animation(arguments.animation)
        check_writable(arguments.animation, "animation")
    problems = _problems(arguments)
    names: list[str] = arguments.heuristic or [problems[0].heuristic]
    heuristics = [(name, _heuristic(name)) for name in names]
    if arguments.eps is not None and all(isinstance(one, str) for _, one in heuristics):
        raise InputError("--eps bounds the values of a model; give one as --heuristic, or --weight")
    explored = arguments.picture is not None or arguments.animation is not None
    runs = []
    with ProgressLine(arguments.quiet) as line:
        for problem in problems:
            for name, heuristic in heuristics:
                runs.append(_search(problem, name, heuristic, {**config, "explored": explored}, line))
                if runs[-1].result.status == "interrupted":
                    return EXIT_CODES["interrupted"]
    _print(runs, arguments)
    if explored:
        _draw([one for one in runs if one.problem is problems[0]], arguments)
    return next((EXIT_CODES[one.result.status] for one in runs if not one.result.solved), 0)


def _problems(arguments: argparse.Namespace) -> list[GridProblem]:
    from hstar.spaces.grid import Grid, GridProblem
    from hstar.spaces.grid_files import load_map
    from hstar.spaces.grid_maps import MapOptions

    given = given_options(arguments, {entry.name: entry for entry in fields(MapOptions)})
    path: Path | None = arguments.file
    if path is not None and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{flag(drawn)} is for random maps, but {path} is given")
    scenarios = path is not None and path.suffix == ".scen"
    if scenarios:
        given.setdefault("neighbours", 8)  # what its lengths are meant for
    if arguments.threshold is not None and (path is None or scenarios):
        raise InputError("--threshold is for an image")
    maps = MapOptions(**given)
    if arguments.scenarios == 0:
        raise InputError("--scenarios takes 1 or more")
    if arguments.start is None and arguments.goal is None:
        number = arguments.scenarios or (sys.maxsize if scenarios else 1)
        return problems_of([] if path is None else [path], number, arguments.seed, maps, arguments.threshold)
    if arguments.start is None or arguments.goal is None:
        raise InputError("give both --start and --goal, or neither")
    if path is None or scenarios or arguments.scenarios is not None:
        raise InputError("--start and --goal are for one problem on a map")
    check_file(path)
    blocked = load_map(path, threshold=arguments.threshold)
    return [
        GridProblem(Grid(blocked, None, maps.neighbours, maps.cut_corners), arguments.start, arguments.goal)
    ]


def _heuristic(name: str) -> str | GridModel:
    from hstar.search.grid_astar import HEURISTICS

    if name in HEURISTICS or not (name.endswith(".hstar") or Path(name).is_file()):
        return name
    from hstar.models.grid_model import load_grid_model

    return load_grid_model(name)


def _search(
    problem: GridProblem, name: str, heuristic: str | GridModel, config: dict[str, Any], line: ProgressLine
) -> Run:
    from hstar.search.grid_astar import grid_astar

    if isinstance(heuristic, str):
        result = grid_astar(problem, heuristic, progress=line, **{**config, "eps": None})
        return Run(problem, name, None, result, 0.0)
    started = time.monotonic()
    values = heuristic.values(problem)
    network_s = time.monotonic() - started
    return Run(problem, name, values, grid_astar(problem, values, progress=line, **config), network_s)


# Output.


def _print(runs: Sequence[Run], arguments: argparse.Namespace) -> None:
    if arguments.json:
        for one in runs:
            print(json.dumps(_record(one, arguments)))
    elif len(runs) > 1:
        print("\n".join(_table(runs)))
    elif runs[0].result.path is not None:
        print("\n".join(",".join(map(str, cell)) for cell in runs[0].result.path.tolist()))
    if len(runs) == 1 and not arguments.quiet:
        print(_summary(runs[0], arguments), file=sys.stderr)


def _record(one: Run, arguments: argparse.Namespace) -> dict[str, Any]:
    result = one.result
    return {
        "rows": one.problem.grid.shape[0],
        "columns": one.problem.grid.shape[1],
        "start": list(one.problem.start),
        "goal": list(one.problem.goal),
        "heuristic": one.heuristic,
        "eps": arguments.eps if one.values is not None else None,
        "weight": arguments.weight,
        "status": result.status,
        "path_cost": result.path_cost,
        "path": None if result.path is None else result.path.tolist(),
        "expanded": result.expanded,
        "generated": result.generated,
        "reopened": result.reopened,
        "initial_h": result.initial_h,
        "search_time": result.search_time,
        "cpu_time": result.cpu_time,
        "network_time": one.network_time,
    }


def _table(runs: Sequence[Run]) -> list[str]:
    """A row for each heuristic; means over the problems that all of them solved."""
    failed = {id(one.problem) for one in runs if not one.result.solved}
    found: dict[str, list[Run]] = {}
    for one in runs:
        found.setdefault(one.heuristic, []).append(one)
    lines = [f"{'heuristic':24} {'solved':>8} {'cost':>10} {'expanded':>10} {'re-opened':>10} {'ms':>9}"]
    for name, own in found.items():
        common = [one for one in own if id(one.problem) not in failed]
        solved = f"{sum(one.result.solved for one in own)}/{len(own)}"
        means = [
            statistics.fmean(values) if values else float("nan")
            for values in (
                [one.result.path_cost or 0.0 for one in common],
                [one.result.expanded for one in common],
                [one.result.reopened for one in common],
                [1e3 * (one.result.search_time + one.network_time) for one in common],
            )
        ]
        numbers = f"{means[0]:10.2f} {means[1]:10.1f} {means[2]:10.1f} {means[3]:9.3f}"
        lines.append(f"{Path(name).name:24} {solved:>8} {numbers}")
    return lines


def _summary(one: Run, arguments: argparse.Namespace) -> str:
    result = one.result
    cost = f"cost {result.path_cost:g}; " if result.path_cost is not None else ""
    network = f" and {one.network_time:.3f} s of the network" if one.values is not None else ""
    bound = ""
    if one.values is not None and arguments.eps is not None and result.solved and arguments.weight == 1:
        bound = f"; at most {arguments.eps:g} times the optimum"
    return (
        f"{result.status.replace('_', ' ')}: {cost}{result.expanded} expanded, {result.reopened} re-opened "
        f"in {result.search_time:.3f} s{network}{bound}"
    )


def _draw(runs: Sequence[Run], arguments: argparse.Namespace) -> None:
    """The searches in one problem: a picture of what they explored, and a page that shows how."""
    from hstar.experiments.grid_animation import animate
    from hstar.experiments.grid_picture import Panel, draw

    panels = [Panel(_label(one, arguments.eps), one.result, one.values) for one in runs]
    for path, write in ((arguments.picture, draw), (arguments.animation, animate)):
        if path is not None:
            write(path, runs[0].problem, panels)
            if not arguments.quiet:
                print(path, file=sys.stderr)


def _label(one: Run, eps: float | None) -> str:
    """The title of a panel."""
    name = Path(one.heuristic).name
    bounded = f", eps {eps:g}" if eps is not None and one.values is not None else ""
    cost = "no path" if one.result.path_cost is None else f"cost {one.result.path_cost:g}"
    return f"{name}{bounded}: {one.result.expanded} expanded, {cost}"
