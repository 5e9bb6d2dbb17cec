"""What a per-instance recipe is: a sampler, a network and a training, put together; and how it is run.

The steps are those of O'Toole et al. (ICAPS 2022): sample labelled states of one task by regression, fit a
residual network to the labels, use its output as the heuristic; of several networks, keep the one that
searches best. A recipe names its parts and its profiles; it has no mechanism of its own. Sampler, model,
estimate and rule are parts that a user may exchange by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar import __version__
from hstar.errors import InputError, UnsupportedError
from hstar.estimates import ESTIMATES
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import Mean, Rule
from hstar.estimates.rules import parse as parse_rule
from hstar.models import model_of
from hstar.models.task_identity import TaskIdentity, identify
from hstar.models.trained_model import TrainedModel
from hstar.options import option
from hstar.recipes.selection import Candidate, Selection, choose
from hstar.registry import Registry, unknown
from hstar.sampling.sampler import SAMPLERS, atom_names, make_sampler
from hstar.spaces.task import Task
from hstar.training.config import check_length

if TYPE_CHECKING:
    from hstar.sampling.dataset import Dataset
    from hstar.training.loop import Progress


@dataclass(frozen=True)
class Recipe:
    """The parts of a recipe by name, and named sets of their options."""

    name: str
    paper: str
    sampler: str
    model: str = "resnet"
    estimate: str = "point"
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # the first one is the default

    def exchanged(self, options: Mapping[str, Any]) -> tuple[Recipe, dict[str, Any]]:
        """The recipe with the parts that options name, and the options that are left."""
        left = dict(options)
        named = {name: left.pop(name, None) for name in PARTS}
        chosen = {name: str(value) for name, value in named.items() if value is not None}
        if "sampler" in chosen and chosen["sampler"] not in SAMPLERS:
            raise unknown("sampler of a task", chosen["sampler"], SAMPLERS.names())
        if "model" in chosen:
            model_of("task", chosen["model"])
        estimate = ESTIMATES.get(chosen.get("estimate", self.estimate))
        if estimate.bounded:
            able = [name for name in ESTIMATES if not ESTIMATES.get(name).bounded]
            raise UnsupportedError(
                f"the estimate '{estimate.name}' needs a lower bound of each state, which states of one task "
                f"lack; use {', '.join(able)}, or the recipe truncated for a domain"
            )
        parts: dict[str, Any] = dict(chosen)
        return replace(self, **parts), left


PARTS = ("sampler", "model", "estimate")
RECIPES: Registry[Recipe] = Registry("recipe")


@dataclass(frozen=True)
class Exchange:
    """Names of parts that take the place of a recipe's own."""

    sampler: str | None = option(None, "Sampler of the labelled states.")
    model: str | None = option(None, "Model that is fitted to them.")
    estimate: str | None = option(None, "What the model's outputs mean.")
    rule: str | None = option(None, "The number of the estimate that the search uses.")


def option_fields(recipe: Recipe) -> dict[str, dict[str, Any]]:
    """Per part of the recipe its options with their fields."""
    from hstar.training.config import TrainConfig

    parts: dict[str, Any] = {
        "sampler": SAMPLERS.get(recipe.sampler),
        "model": model_of("task", recipe.model),
        "training": TrainConfig,
        "selection": Selection,
    }
    return {name: {entry.name: entry for entry in fields(part)} for name, part in parts.items()}


def train_task(
    recipe: str,
    task: Task,
    *,
    profile: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: Path | None = None,
    data: Dataset | None = None,
    **options: Any,
) -> TrainedModel[TaskIdentity]:
    """Learns a heuristic for a task: its goal and facts, any initial state; from `data` instead of sampling.

    `options` are `sampler`, `model` and `estimate`, which exchange parts of the recipe, `rule`, and those of
    the sampler, the model, `TrainConfig` and `Selection`; `seed` is for all of them. Options of a profile
    that belong to a part that was exchanged do not count. The same options, seed and task give the same
    model. With a `checkpoint` file a killed training goes on by the same call.
    """
    chosen, profile, parts, rule = resolve(recipe, profile, options)
    selection = Selection(**parts.pop("selection"))
    if selection.networks == 1:
        return _train_one(chosen, profile, task, parts, data, progress, checkpoint)[0].with_rule(rule)

    # 1. Networks that differ in all random choices: samples, first weights, order of batches.
    seed, candidates = int(parts["training"].get("seed", 0)), []
    for number in range(selection.networks):
        own = {name: {**part, "seed": seed + number} for name, part in parts.items() if name != "model"}
        if limit := own["training"].get("time_limit"):
            own["training"]["time_limit"] = limit / selection.networks
        model, loss = _train_one(
            chosen,
            profile,
            task,
            {**own, "model": parts["model"]},
            data,
            progress and _numbered(progress, number + 1, selection.networks),
            checkpoint and checkpoint.with_name(f"{checkpoint.name}.{number + 1}"),
        )
        candidates.append(Candidate(model, loss))
    # 2. The one that searches best.
    best = choose(candidates, task, selection, seed)
    summary = {
        **best.model.summary,
        "time_s": round(sum(candidate.model.summary["time_s"] for candidate in candidates), 3),
        "selection": [candidate.record() for candidate in candidates],
    }
    config = {**best.model.recipe_config, "selection": asdict(selection)}
    return replace(best.model, rule=rule, recipe_config=config, summary=summary)


def resolve(
    recipe: str, profile: str | None, options: Mapping[str, Any]
) -> tuple[Recipe, str, dict[str, dict[str, Any]], Rule]:
    """The recipe with its parts, the profile, options by part, and the rule; mistakes are told at once."""
    published = RECIPES.get(recipe)
    profile = next(iter(published.profiles)) if profile is None else profile
    if profile not in published.profiles:
        raise unknown(f"profile of {recipe}", profile, list(published.profiles))
    check_length(options)
    chosen, given = published.exchanged(options)
    rule = parse_rule(given.pop("rule", None) or "mean")
    known = {name for entries in option_fields(chosen).values() for name in entries}
    kept = {name: value for name, value in published.profiles[profile].items() if name in known}
    return chosen, profile, _assign(chosen, {**kept, **given}), rule


def _train_one(
    recipe: Recipe,
    profile: str,
    task: Task,
    parts: Mapping[str, Mapping[str, Any]],
    data: Dataset | None,
    progress: Callable[[Progress], None] | None,
    checkpoint: Path | None,
) -> tuple[TrainedModel[TaskIdentity], float]:
    """One network, and its loss on the held-out states."""
    from hstar.training.config import TrainConfig
    from hstar.training.loop import train as fit

    # 1. Labelled states, each once.
    origin = dict(parts["sampler"]) if data is None else dict(data.provenance)
    if data is None:
        data = make_sampler(recipe.sampler, **parts["sampler"]).sample(task)
    elif data.atoms != atom_names(task):
        raise InputError(f"the data are not of {task.name}: their atoms are others")
    dataset = data.deduplicate()
    # 2. A network whose outputs are an estimate of the label of a state.
    estimate: Estimate = ESTIMATES.get(recipe.estimate)()
    config = model_of("task", recipe.model)(**parts["model"])
    if hasattr(config, "outputs"):
        config = replace(config, outputs=estimate.outputs)
    training = TrainConfig(**parts["training"])
    trained = fit(config.build, dataset, estimate, training, progress=progress, checkpoint=checkpoint)
    # 3. What the search needs of it.
    model = TrainedModel(
        space=replace(identify(task), atoms=dataset.atoms),
        tensors=config.export(trained.model),
        recipe=recipe.name,
        recipe_config={"profile": profile, "sampler": origin, "training": asdict(training)},
        model=config.name,
        model_config=asdict(config),
        estimate=estimate,
        rule=Mean(),
        seed=training.seed,
        search={"search": "gbfs"},
        summary={"states": len(dataset.label), **trained.summary()},
        versions={"hstar": __version__},
    )
    return model, trained.best_loss


def _numbered(
    progress: Callable[[Progress], None], network: int, networks: int
) -> Callable[[Progress], None]:
    """Progress that says which network is being trained."""
    return lambda record: progress(replace(record, network=network, networks=networks))


def _assign(recipe: Recipe, options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Each option to the part it belongs to."""
    known = option_fields(recipe)
    parts: dict[str, dict[str, Any]] = {name: {} for name in known}
    for name, value in options.items():
        owners = [part for part, entries in known.items() if name in entries]
        if not owners:
            names = sorted({entry for entries in known.values() for entry in entries})
            raise unknown(f"option of {recipe.name}", name, names)
        for part in owners:
            parts[part][name] = value
    return parts
