"""What a per-instance recipe is: a sampler, a network and a training, put together; and how it is run.

The steps are those of O'Toole et al. (ICAPS 2022): sample labelled states of one task by regression, fit a
residual network to the labels, use its output as the heuristic; of several networks, keep the one that
searches best. A recipe names its parts and its profiles; it has no mechanism of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hstar import __version__
from hstar.errors import InputError
from hstar.estimates.rules import Mean
from hstar.models.task_identity import TaskIdentity, identify
from hstar.models.trained_model import TrainedModel
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
    sampler: str
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # the first one is the default


RECIPES: Registry[Recipe] = Registry("recipe")


def option_fields(recipe: Recipe) -> dict[str, dict[str, Any]]:
    """Per part of the recipe its options with their fields."""
    from hstar.models.resnet_config import ResNetConfig
    from hstar.training.config import TrainConfig

    parts: dict[str, Any] = {
        "sampler": SAMPLERS.get(recipe.sampler),
        "model": ResNetConfig,
        "training": TrainConfig,
        "selection": Selection,
    }
    return {name: {entry.name: entry for entry in fields(part)} for name, part in parts.items()}


def train(
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

    `options` are those of the recipe's sampler, of `ResNetConfig`, `TrainConfig` and `Selection`; `seed` is
    for all of them. The same options, seed and task give the same model. With a `checkpoint` file a killed
    training goes on by the same call.
    """
    chosen = RECIPES.get(recipe)
    profile = next(iter(chosen.profiles)) if profile is None else profile
    if profile not in chosen.profiles:
        raise unknown(f"profile of {recipe}", profile, list(chosen.profiles))
    check_length(options)
    parts = _assign(chosen, {**chosen.profiles[profile], **options})
    selection = Selection(**parts.pop("selection"))
    if selection.networks == 1:
        return _train_one(chosen, profile, task, parts, data, progress, checkpoint)[0]

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
    return replace(best.model, recipe_config=config, summary=summary)


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
    from hstar.estimates.point import Point
    from hstar.models.resnet import ResNetConfig
    from hstar.training.config import TrainConfig
    from hstar.training.loop import train as fit

    # 1. Labelled states, each once.
    origin = dict(parts["sampler"]) if data is None else dict(data.provenance)
    if data is None:
        data = make_sampler(recipe.sampler, **parts["sampler"]).sample(task)
    elif data.atoms != atom_names(task):
        raise InputError(f"the data are not of {task.name}: their atoms are others")
    dataset = data.deduplicate()
    # 2. A network that tells the label of a state.
    config = ResNetConfig(**parts["model"])
    training = TrainConfig(**parts["training"])
    trained = fit(config.build, dataset, Point(), training, progress=progress, checkpoint=checkpoint)
    # 3. What the search needs of it.
    model = TrainedModel(
        space=replace(identify(task), atoms=dataset.atoms),
        tensors=config.export(trained.model),
        recipe=recipe.name,
        recipe_config={"profile": profile, "sampler": origin, "training": asdict(training)},
        model=config.name,
        model_config=asdict(config),
        estimate=Point(),
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
