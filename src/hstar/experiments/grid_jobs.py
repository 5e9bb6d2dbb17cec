"""The protocol of learned values of maps: train on random scenarios, plan on fresh ones within a bound.

"Value Function Learning via Prolonged Backward Heuristic Search". A training is a job, and so is a set of
scenarios with one contestant: a search takes less than a millisecond, a process a thousand times as long. The
job finds the optima, too, and a path that costs more than was promised makes it an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hstar.errors import InputError, ModelError
from hstar.experiments.contestants import Contestant, option_words
from hstar.experiments.evaluate import Limits
from hstar.experiments.job import HSTAR, OWN_LIMIT, Job, Made
from hstar.experiments.store import Store
from hstar.models.grid_config import GridNetwork
from hstar.models.identity import space_of
from hstar.models.map_identity import MapIdentity
from hstar.models.trained_model import load_model
from hstar.options import configured
from hstar.recipes import RECIPES
from hstar.recipes.recipe import Parts
from hstar.registry import unknown
from hstar.search.grid_astar import HEURISTICS
from hstar.search.solve import SearchConfig, solve
from hstar.spaces.grid import Grid, GridLike, GridProblem
from hstar.spaces.grid_files import load_map, load_scenarios, scenario_map
from hstar.spaces.grid_maps import OF_RANDOM_MAPS, MapOptions, ScenarioOptions, problems_on, random_problems

Options = Mapping[str, str | int | float | bool]
ROWS = "scenarios.csv"
STEPS = "first.json"  # the search of the first scenario, for the animation of a report
MOST_CELLS = 40_000  # of a map whose steps are kept
SCENARIOS = ".scen"
_SEARCH = ("eps", "weight")  # what a plan may choose


@dataclass(frozen=True)
class MapSet:
    """Scenarios that are searched one after the other: the words of `hstar grid` for them."""

    domain: str
    name: str  # domain/set
    number: int
    words: tuple[str, ...]
    files: Mapping[str, str]  # digests of maps and scenarios by name
    examples: tuple[GridLike, ...]  # one for each size, to see what fits
    drawn: tuple[MapOptions, int] | None = None  # of random ones: from what, and the seed


# Sets of scenarios.


def scenario_options(kind: str | None, options: Options) -> ScenarioOptions:
    """Of random maps of a kind, or of maps from files; an `InputError` for what they have not."""
    given = _spelled(options)
    if kind is None:
        if drawn := next((name for name in OF_RANDOM_MAPS if name in given), None):
            raise InputError(f"{drawn} is for random maps, but maps are given")
        return configured(ScenarioOptions, given, "option of maps")
    if "kind" in given:
        raise InputError("kind is what grid says")
    return configured(ScenarioOptions, {"kind": kind, **given}, "option of maps")


def random_maps(kind: str, options: Options, number: int, seed: int, name: str | None = None) -> MapSet:
    """Fresh ones of a seed, which should not be one of a training."""
    maps = scenario_options(kind, options)
    problems = maps.on_lattices(random_problems(number, seed, maps), seed)
    domain = name or _title(f"{kind}:{maps.rows}x{maps.columns}", options, ("rows", "columns"))
    words = ("--kind", kind, *option_words(options), "--scenarios", str(number), "--seed", str(seed))
    examples, drawn = _one_of_each_size(problems), (_without_headings(maps), seed)
    return MapSet(domain, f"{domain}/random-{seed}", number, words, {}, examples, drawn)


def read_maps(
    path: Path, options: Options, number: int | None, seed: int, store: Store, name: str | None = None
) -> MapSet:
    """Random problems on a map, or those of a `.scen` file, of which `number` are drawn if it is less."""
    maps = scenario_options(None, options)
    given = _spelled(options)
    if path.suffix == SCENARIOS:
        neighbours = maps.neighbours if "neighbours" in given else 8  # what its lengths are meant for
        found = [
            one.problem for one in load_scenarios(path, neighbours=neighbours, cut_corners=maps.cut_corners)
        ]
        if not found:
            raise InputError("has no problems", file=path)
        number = len(found) if number is None else min(number, len(found))
    else:
        if number is None:
            raise InputError("give a number of problems to draw on it", file=path)
        grid = Grid(load_map(path), None, maps.neighbours, maps.cut_corners)
        found = problems_on([grid], 1, seed)
    domain = name or _title(path.stem, options)
    files = _stored([path], store)
    drawn = ("--scenarios", str(number), "--seed", str(seed))
    words = (f"{{{next(iter(files))}}}", *option_words(options), *drawn)
    examples = _one_of_each_size(maps.on_lattices(found, seed))
    return MapSet(domain, f"{domain}/{path.name}-{seed}", number, words, files, examples)


def _title(text: str, options: Options, told: Sequence[str] = ()) -> str:
    """A name for tables, with the options that it does not tell."""
    rest = {name: value for name, value in _spelled(options).items() if name not in told}
    return ",".join([text, *(f"{name}={value}" for name, value in rest.items())])


def _without_headings(maps: ScenarioOptions) -> MapOptions:
    return MapOptions(**{entry.name: getattr(maps, entry.name) for entry in fields(MapOptions)})


def _one_of_each_size(problems: Sequence[GridLike]) -> tuple[GridLike, ...]:
    return tuple({one.shape: one for one in problems}.values())


def _stored(paths: Sequence[Path], store: Store) -> dict[str, str]:
    """Digests by names for a job; N.map.scen is read with N.map where the map that it names is not there."""
    found: dict[str, str] = {}
    for number, path in enumerate(paths, 1):
        scenarios = path.suffix == SCENARIOS
        found[f"{number}.map{SCENARIOS}" if scenarios else f"{number}{path.suffix}"] = _put(path, store)
        if scenarios and (beside := scenario_map(path)) is not None:
            found[f"{number}.map"] = _put(beside, store)
    return found


def _put(path: Path, store: Store) -> str:
    try:
        return store.put(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=path) from None


# What takes part.


def training_plan(options: Options, *, on_files: bool = False) -> Parts:
    """What a training comes to; an `InputError` for options that it has not."""
    given: dict[str, Any] = dict(_spelled(options))
    profile = given.pop("profile", None)
    if "seed" in given:
        raise InputError("seed: give seeds, a list, beside the options")
    if on_files and (drawn := next((name for name in OF_RANDOM_MAPS if name in given), None)):
        raise InputError(f"{drawn} is for random maps, but maps are given")
    return RECIPES.get("prolonged").check("map", profile, given)


def search_words(options: Options, *, symbolic: bool) -> tuple[str, ...]:
    """Words of `hstar grid`: eps bounds the values of a model, and is the weight of a heuristic by name."""
    given = _spelled(options)
    if foreign := next((name for name in given if name not in _SEARCH), None):
        raise unknown("option of plans on maps", foreign, [*_SEARCH])
    SearchConfig(**given)  # type: ignore[arg-type]  # which checks them
    if not symbolic:
        return option_words(given)
    if len(given) == 2:
        raise InputError("eps is the weight of a heuristic by name; give one of them")
    return tuple(word for value in given.values() for word in ("--weight", str(value)))


def check_heuristic(name: str) -> None:
    """An `InputError` unless it is one of maps."""
    if name not in HEURISTICS:
        raise unknown("heuristic of maps", name, list(HEURISTICS))


def _trained(plan: Parts, maps: Sequence[Grid]) -> MapIdentity:
    """What the model that will come of a plan is for."""
    headings = plan["recipe"].headings
    neighbours = headings or plan["maps"].neighbours
    return MapIdentity(
        neighbours=neighbours,
        cut_corners=neighbours == 8 and plan["maps"].cut_corners,
        sizes=tuple({grid.shape for grid in maps}) or ((plan["maps"].rows, plan["maps"].columns),),
        any_size=plan["model"].any_size,
        headings=headings,
        turn_cost=plan["recipe"].turn_cost if headings else 0.0,
    )


def _check_fit(contestant: str, space: MapIdentity, network: GridNetwork, one: MapSet) -> None:
    """A model for other maps is refused before it is trained."""
    for problem in one.examples:
        try:
            space.check(problem)
            network.encode(problem)
        except (ModelError, InputError) as error:
            raise InputError(
                f"{contestant} does not fit {one.domain}: {error}; name others by only"
            ) from None


def _check_fresh(
    contestant: str, plan: Parts, seeds: Iterable[int], domain: str, maps: MapOptions, seed: int
) -> None:
    """The same maps and the same seed are the same scenarios."""
    if maps == plan["maps"] and seed in seeds:
        raise InputError(f"{contestant} learns from scenarios of {domain}, seed {seed}; plan on other seeds")


# Jobs.


def grid_training_job(
    contestant: Contestant, seed: int, limits: Limits, files: Mapping[str, str] | None = None
) -> Job:
    """`hstar train prolonged`, on random scenarios or on maps from files."""
    files = {} if files is None else files
    # A map that scenarios are on is not named beside them.
    maps = tuple(f"{{{name}}}" for name in files if f"{name}{SCENARIOS}" not in files)
    command = (*HSTAR, "train", str(contestant.recipe), *maps, "--output", "{model.hstar}")
    return Job(
        kind="train",
        command=(*command, "--seed", str(seed), *contestant.options, "--quiet", "--json"),
        inputs=files,
        outputs=("model.hstar",),
        time_limit=limits.train_time,
        resident_limit=limits.train_memory,
        resumable=True,
        labels={**_about("maps", "maps", contestant, seed), "step": "train"},
    )


def grid_jobs(
    sets: Sequence[MapSet],
    contestant: Contestant,
    store: Store,
    *,
    limits: Limits,
    seeds: Sequence[int] = (0,),
    plan: Parts | None = None,
    maps: Sequence[Path] = (),
) -> list[Job]:
    """A contestant on every set, and its trainings before, by `plan`, on random scenarios or on `maps`."""
    fixed = contestant.alias or contestant.search or contestant.precision or contestant.preferred
    if fixed:
        raise InputError(f"{contestant.name}: maps are searched by A*, without planner, search or precision")
    known = _known_model(contestant, plan, maps)
    files = _stored(maps, store)
    trainings: dict[int, Job] = {}
    if contestant.recipe is not None:
        trainings = {seed: grid_training_job(contestant, seed, limits, files) for seed in seeds}
    jobs = [*trainings.values()]
    for one in sets:
        if plan is not None and not maps and one.drawn is not None:
            _check_fresh(contestant.name, plan, trainings, one.domain, *one.drawn)
        if known is not None:
            _check_fit(contestant.name, *known, one)
        else:
            solve(
                one.examples[0], contestant.heuristic, "astar", max_expansions=0
            )  # refuses what is too high
        for seed in trainings or (0,):
            model: str | Made | None = None
            if contestant.recipe is not None:
                model = Made(trainings[seed].key, "model.hstar")
            elif contestant.model is not None:
                model = _put(contestant.model, store)
            jobs.append(_search_job(one, contestant, model, seed, limits))
    return jobs


def _known_model(
    contestant: Contestant, plan: Parts | None, maps: Sequence[Path]
) -> tuple[MapIdentity, GridNetwork] | None:
    """What a model is for, and its network."""
    if contestant.model is not None:
        model = load_model(contestant.model)
        return space_of(model, MapIdentity), model.options
    if plan is None:
        return None
    grids = [
        one.grid
        for path in maps
        for one in (
            [scenario.problem for scenario in load_scenarios(path)[:1]]
            if path.suffix == SCENARIOS
            else problems_on([Grid(load_map(path))], 1, 0)
        )
    ]
    return _trained(plan, grids), plan["model"]


def _search_job(
    one: MapSet, contestant: Contestant, model: str | Made | None, seed: int, limits: Limits
) -> Job:
    heuristic = str(contestant.heuristic) if model is None else "{model.hstar}"
    command = (*HSTAR, "grid", *one.words, "--heuristic", heuristic, *contestant.search_options)
    limit = ("--time-limit", f"{limits.time_limit:g}s", OWN_LIMIT, f"{limits.memory_limit >> 20}M")
    kept = ("--optimum", "--summary", "--json", "--quiet", "--output", f"{{{ROWS}}}")
    outputs = (ROWS, STEPS) if all(_can_be_shown(problem) for problem in one.examples) else (ROWS,)
    steps = ("--steps", f"{{{STEPS}}}") if STEPS in outputs else ()
    return Job(
        kind="grid",
        command=(*command, *limit, *kept, *steps),
        inputs={**one.files, **({} if model is None else {"model.hstar": model})},
        outputs=outputs,
        time_limit=limits.time_limit,
        labels=_about(one.domain, one.name, contestant, seed)
        | {"step": "search", "start": f"{one.number} scenarios"},
    )


def _can_be_shown(problem: GridLike) -> bool:
    return isinstance(problem, GridProblem) and problem.grid.blocked.size <= MOST_CELLS


def _about(domain: str, instance: str, contestant: Contestant, seed: int) -> dict[str, Any]:
    return {"domain": domain, "instance": instance, "contestant": contestant.name, "seed": seed}


def _spelled(options: Options) -> dict[str, str | int | float | bool]:
    return {name.replace("-", "_"): value for name, value in options.items()}
