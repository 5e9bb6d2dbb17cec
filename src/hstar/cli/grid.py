"""`hstar grid`: paths on maps."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar.cli.app import Parser, checked
from hstar.cli.grids import MAPS, problems_of
from hstar.cli.options import Use, add_option, flag, given_options
from hstar.cli.progress import ProgressLine
from hstar.cli.tasks import check_file, check_writable
from hstar.errors import InputError, PlanError
from hstar.files import names_model
from hstar.units import parse_count, parse_memory, parse_time

if TYPE_CHECKING:
    from hstar.experiments.grids import GridRun
    from hstar.models.trained_model import TrainedModel
    from hstar.spaces.grid import Cell, GridLike

DESCRIPTION = """\
Plans on a map, a PNG or PGM image or a .map file of Moving AI, from --start to --goal or between random
cells; or on the problems of a .scen file; or, without a file, on random maps. A path goes to standard
output, a cell a line; with several problems or heuristics a table does. The heuristic is a name (manhattan,
octile, blind) or a model that `hstar train prolonged` wrote. With --eps the values of a model are bounded,
and paths cost at most eps times the optimum; --optimum compares them with it. With --headings the maps become
lattices."""
EXAMPLES = (
    "hstar grid map.png --start 0,0 --goal 19,29",
    "hstar grid map.png --start 0,0 --goal 19,29 --heuristic model.hstar --eps 1.5 --json",
    "hstar grid --scenarios 20 --kind maze --heuristic manhattan --heuristic model.hstar --eps 2",
    "hstar grid --scenarios 20 --headings 8 --weight 1.5 --optimum --summary --json",
)


# Options.


def configure(parser: Parser) -> None:
    """The arguments."""
    add = parser.add_argument
    add_searches(parser)
    add("--optimum", action="store_true", help="find the optima, too, and check what is promised of paths")
    add("--picture", type=Path, metavar="FILE", help="draw the first problem: a .png or .svg file")
    add("--animation", type=Path, metavar="FILE", help="show the first problem step by step: a .html file")
    add("--steps", type=Path, metavar="FILE", help="keep what an animation shows, for reports: a .json file")
    add("--output", "-o", type=Path, metavar="FILE", help="keep a line for each search: a .csv file")
    add("--json", action="store_true", help="print an object for each search, a line each")
    add("--summary", action="store_true", help="means over all problems instead, by heuristic")
    add("--quiet", "-q", action="store_true", help="no summary")


def add_searches(parser: Parser) -> None:
    """What is searched, and how; for all commands that search on maps."""
    from hstar.spaces.grid_maps import ScenarioOptions

    add, count = parser.add_argument, checked(parse_count)
    parser.usage = f"{parser.prog} [OPTION ...] [{MAPS}]"
    add("file", nargs="?", type=Path, metavar=MAPS, help="an image, a .map or a .scen file")
    add("--start", type=checked(_parse_cell), metavar="R,C", help="row and column, from 0 on")
    add(
        "--goal", type=checked(_parse_cell), metavar="R,C", help="row and column; on lattices headings follow"
    )
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
    group = parser.add_argument_group("maps")
    for entry in fields(ScenarioOptions):
        add_option(group, entry.name, [Use("grid", "maps", entry, entry.default)], ["grid"])


def _parse_cell(text: str) -> Cell:
    words = text.split(",")
    if len(words) not in (2, 3) or not all(word.strip().isdecimal() for word in words):
        raise InputError(f"expected a row and a column such as 3,14, got '{text}'")
    return tuple(map(int, words))


# The run.


def run(arguments: argparse.Namespace) -> int:
    """Searches, prints paths or a table, and draws."""
    from hstar.search.solve import EXIT_CODES

    drawn = (arguments.picture, arguments.animation, arguments.steps)
    drawings = [path for path in drawn if path is not None]
    _check_files(arguments)
    runs = searched(arguments, optima=arguments.optimum, explored=bool(drawings))
    if runs[-1].result.status == "interrupted":
        return EXIT_CODES["interrupted"]
    _print(runs, arguments)
    _write(runs, arguments)
    if drawings:
        draw_first(runs, drawings, arguments)
    if broken := next(filter(None, (one.broken for one in runs)), None):
        raise PlanError(broken)
    return next((EXIT_CODES[one.result.status] for one in runs if not one.result.solved), 0)


def searched(arguments: argparse.Namespace, *, optima: bool, explored: bool) -> list[GridRun]:
    """Each problem with each heuristic; the last one may have been interrupted. `explored`: of the first."""
    from hstar.experiments.grids import optimum, search_map
    from hstar.search.solve import SearchConfig

    limits = {name: getattr(arguments, name) for name in ("eps", "weight", "time_limit", "memory_limit")}
    config = SearchConfig(**limits)
    problems = _problems(arguments)
    names: list[str] = arguments.heuristic or [problems[0].heuristic]
    heuristics = [(name, _heuristic(name)) for name in names]
    if arguments.eps is not None and all(isinstance(one, str) for _, one in heuristics):
        raise InputError("--eps bounds the values of a model; give one as --heuristic, or --weight")
    runs: list[GridRun] = []
    with ProgressLine(arguments.quiet) as line:
        for problem in problems:
            best = optimum(problem) if optima else None
            own = replace(config, explored=explored and problem is problems[0])
            for name, heuristic in heuristics:
                runs.append(replace(search_map(problem, name, heuristic, own, line), optimum=best))
                if runs[-1].result.status == "interrupted":
                    return runs
    return runs


def _check_files(arguments: argparse.Namespace) -> None:
    """What cannot be written is told before the work."""
    if arguments.picture is not None:
        from hstar.experiments.grid_picture import check_picture

        check_picture(arguments.picture)
        check_drawing(arguments.picture, arguments)
    if arguments.animation is not None:
        from hstar.experiments.grid_animation import check_animation

        check_animation(arguments.animation)
        check_drawing(arguments.animation, arguments)
    if arguments.steps is not None:
        if arguments.steps.suffix != ".json":
            raise InputError("steps are a .json file", file=arguments.steps)
        check_drawing(arguments.steps, arguments)
    if arguments.output is not None:
        if arguments.output.suffix != ".csv":
            raise InputError("what is kept is a .csv file", file=arguments.output)
        check_writable(arguments.output, "output")


def check_drawing(path: Path, arguments: argparse.Namespace) -> None:
    """The same of a picture or an animation."""
    if arguments.headings:
        raise InputError("pictures and animations show maps without headings")
    check_writable(path, "picture or animation")


def _problems(arguments: argparse.Namespace) -> list[GridLike]:
    from hstar.spaces.grid import Grid, GridProblem, LatticeProblem
    from hstar.spaces.grid_files import load_map
    from hstar.spaces.grid_maps import OF_RANDOM_MAPS, ScenarioOptions

    given = given_options(arguments, {entry.name: entry for entry in fields(ScenarioOptions)})
    path: Path | None = arguments.file
    if path is not None and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{flag(drawn)} is for random maps, but {path} is given")
    scenarios = path is not None and path.suffix == ".scen"
    if scenarios:
        given.setdefault("neighbours", 8)  # what its lengths are meant for
    if arguments.threshold is not None and (path is None or scenarios):
        raise InputError("--threshold is for an image")
    maps = ScenarioOptions(**given)
    if arguments.scenarios == 0:
        raise InputError("--scenarios takes 1 or more")
    if arguments.start is None and arguments.goal is None:
        number = arguments.scenarios or (sys.maxsize if scenarios else 1)
        files = [] if path is None else [path]
        found = problems_of(files, number, arguments.seed, maps, arguments.threshold)
        return maps.on_lattices(found, arguments.seed)
    if arguments.start is None or arguments.goal is None:
        raise InputError("give both --start and --goal, or neither")
    if path is None or scenarios or arguments.scenarios is not None:
        raise InputError("--start and --goal are for one problem on a map")
    check_file(path)
    blocked = load_map(path, threshold=arguments.threshold)
    grid = Grid(blocked, None, maps.neighbours, maps.cut_corners)
    if maps.headings:
        return [LatticeProblem(grid, arguments.start, arguments.goal, maps.headings, maps.turn_cost)]
    return [GridProblem(grid, arguments.start, arguments.goal)]


def _heuristic(name: str) -> str | TrainedModel[Any]:
    from hstar.search.grid_astar import HEURISTICS

    if name in HEURISTICS or not names_model(name):
        return name
    from hstar.models.trained_model import load_model

    return load_model(name)


# Output.


def _print(runs: Sequence[GridRun], arguments: argparse.Namespace) -> None:
    if arguments.json and arguments.summary:
        from hstar.experiments.grids import summary

        for own in _by_heuristic(runs).values():
            print(json.dumps({**_configured(own[0], arguments), **summary(own)}))
    elif arguments.json:
        for one in runs:
            print(json.dumps(_record(one, arguments)))
    elif len(runs) > 1 or arguments.summary:
        print("\n".join(_table(runs)))
    elif runs[0].result.path is not None:
        print("\n".join(",".join(map(str, cell)) for cell in runs[0].result.path.tolist()))
    if len(runs) == 1 and not arguments.quiet:
        print(_summary(runs[0], arguments), file=sys.stderr)


def _write(runs: Sequence[GridRun], arguments: argparse.Namespace) -> None:
    if arguments.output is not None:
        from hstar.experiments.grids import to_csv
        from hstar.files import replace_file

        replace_file(arguments.output, to_csv(runs).encode())


def _by_heuristic(runs: Sequence[GridRun]) -> Mapping[str, list[GridRun]]:
    found: dict[str, list[GridRun]] = {}
    for one in runs:
        found.setdefault(one.heuristic, []).append(one)
    return found


def _configured(one: GridRun, arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "heuristic": one.heuristic,
        "eps": arguments.eps if one.values is not None else None,
        "weight": arguments.weight,
    }


def _record(one: GridRun, arguments: argparse.Namespace) -> dict[str, Any]:
    result = one.result
    return {
        "rows": one.problem.grid.shape[0],
        "columns": one.problem.grid.shape[1],
        "start": list(one.problem.start),
        "goal": list(one.problem.goal),
        **_configured(one, arguments),
        "status": result.status,
        "path_cost": result.plan_cost,
        **({"optimum": one.optimum, "bound": one.bound} if arguments.optimum else {}),
        "path": None if result.path is None else result.path.tolist(),
        "expanded": result.expanded,
        "generated": result.generated,
        "reopened": result.reopened,
        "initial_h": result.initial_h,
        "search_time": result.search_time,
        "cpu_time": result.cpu_time,
        "network_time": one.network_time,
    }


def _table(runs: Sequence[GridRun]) -> list[str]:
    """A row for each heuristic; means over the problems that all of them solved."""
    failed = {id(one.problem) for one in runs if not one.result.solved}
    compared = any(one.optimum is not None for one in runs)
    columns = ["cost", *(["/ optimum"] if compared else []), "expanded", "re-opened", "ms"]
    widths = dict.fromkeys(columns, 10) | {"ms": 9}
    header = " ".join(f"{name:>{width}}" for name, width in widths.items())
    lines = [f"{'heuristic':24} {'solved':>8} {header}"]
    for name, own in _by_heuristic(runs).items():
        common = [one for one in own if id(one.problem) not in failed]
        solved = f"{sum(one.result.solved for one in own)}/{len(own)}"
        means = {
            "cost": f"{_mean([one.result.plan_cost or 0.0 for one in common]):.2f}",
            "/ optimum": f"{_mean([one.ratio or 1.0 for one in common]):.4f}",
            "expanded": f"{_mean([one.result.expanded for one in common]):.1f}",
            "re-opened": f"{_mean([one.result.reopened for one in common]):.1f}",
            "ms": f"{_mean([1e3 * (one.result.search_time + one.network_time) for one in common]):.3f}",
        }
        numbers = " ".join(f"{means[column]:>{width}}" for column, width in widths.items())
        lines.append(f"{Path(name).name:24} {solved:>8} {numbers}")
    return lines


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else float("nan")


def _summary(one: GridRun, arguments: argparse.Namespace) -> str:
    result = one.result
    cost = f"cost {result.plan_cost:g}; " if result.plan_cost is not None else ""
    network = f" and {one.network_time:.3f} s of the network" if one.values is not None else ""
    bound = ""
    if one.values is not None and arguments.eps is not None and result.solved and arguments.weight == 1:
        bound = f"; at most {arguments.eps:g} times the optimum"
    return (
        f"{result.status.replace('_', ' ')}: {cost}{result.expanded} expanded, {result.reopened} re-opened "
        f"in {result.search_time:.3f} s{network}{bound}"
    )


def draw_first(runs: Sequence[GridRun], files: Sequence[Path], arguments: argparse.Namespace) -> None:
    """The searches in the first problem: pictures of what they explored, pages that show how."""
    from hstar.experiments.grid_animation import animate, write_steps
    from hstar.experiments.grid_picture import FORMATS, Panel, draw
    from hstar.spaces.grid import GridProblem

    problem = runs[0].problem
    assert isinstance(problem, GridProblem)
    shown = [one for one in runs if one.problem is problem]
    panels = [Panel(_label(one, arguments.eps), one.result, one.values) for one in shown]
    for path in files:
        write = draw if path.suffix in FORMATS else write_steps if path.suffix == ".json" else animate
        write(path, problem, panels)
        if not arguments.quiet:
            print(path, file=sys.stderr)


def _label(one: GridRun, eps: float | None) -> str:
    """The title of a panel."""
    from hstar.experiments.grid_picture import panel_title

    name = Path(one.heuristic).name
    bounded = f", eps {eps:g}" if eps is not None and one.values is not None else ""
    return panel_title(f"{name}{bounded}", one.result.expanded, one.result.plan_cost)
