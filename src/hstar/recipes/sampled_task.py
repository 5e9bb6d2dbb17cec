"""The method of recipes for one planning task: sample labelled states, fit a network, choose the best one.

The steps are those of O'Toole et al. (ICAPS 2022): sample labelled states of one task by regression, fit a
residual network to the labels, use its output as the heuristic; of several networks, keep the one that
searches best. Sampler, model, estimate and rule are parts that a user may exchange by name. The model is for
the goal and the facts of the task, from any initial state.

Not there: a task with conditional effects or axioms, for which there is no regression, is sampled by
`forward` unless a sampler is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from hstar.errors import InputError, UnsupportedError
from hstar.estimates import ESTIMATES
from hstar.estimates.estimate import Estimate
from hstar.estimates.rules import parse as parse_rule
from hstar.models import TrainedModel, model_of
from hstar.models.task_identity import TaskIdentity, identify
from hstar.options import option
from hstar.recipes.recipe import INTERRUPTED, Method, Options, Parts, Run
from hstar.recipes.selection import Candidate, Selection, choose
from hstar.registry import unknown
from hstar.sampling.forward import Forward
from hstar.sampling.sampler import SAMPLERS, atom_names
from hstar.spaces.task import Task
from hstar.training.config import TrainConfig

if TYPE_CHECKING:
    from hstar.training.loop import Progress


@dataclass(frozen=True)
class TaskParts:
    """Names of the parts; None: that of the recipe."""

    sampler: str | None = option(None, "Sampler of the labelled states.")
    model: str | None = option(None, "Model that is fitted to them.")
    estimate: str | None = option(None, "Estimate: what the outputs of the model mean.")
    rule: str = option("mean", "Value of the estimate that the search uses.")

    def __post_init__(self) -> None:
        parse_rule(self.rule)
        if self.estimate is not None and ESTIMATES.get(self.estimate).bounded:
            able = [name for name in ESTIMATES if not ESTIMATES.get(name).bounded]
            raise UnsupportedError(
                f"the estimate '{self.estimate}' needs a lower bound of each state, which states of one task "
                f"lack; use {', '.join(able)}, or the recipe truncated for a domain"
            )


@dataclass(frozen=True)
class SampledTask(Method):
    """The parts by name, and named sets of their options, the default one first."""

    recipe: str
    sampler: str
    named: Mapping[str, Options] = field(default_factory=dict)
    model: str = "resnet"
    estimate: str = "point"
    takes: ClassVar[tuple[str, ...]] = ("checkpoint", "data")

    def parts(self, options: Options) -> dict[str, type[Any]]:
        sampler = options.get("sampler") or self.sampler
        if sampler not in SAMPLERS:
            raise unknown("sampler of a task", sampler, SAMPLERS.names())
        model = model_of("task", options.get("model") or self.model)
        return {
            "parts": TaskParts,
            "sampler": SAMPLERS.get(sampler),
            "model": model,
            "training": TrainConfig,
            "selection": Selection,
        }

    def profiles(self, options: Options, source: Any) -> Mapping[str, Options]:
        regression = not (isinstance(source, Task) and without_regression(source))
        sampler = self.sampler if regression else Forward.name
        own = {"sampler": sampler, "model": self.model, "estimate": self.estimate}
        return {name: {**own, **profile} for name, profile in self.named.items()}

    def learn(self, source: Task, parts: Parts, run: Run) -> TrainedModel[TaskIdentity]:
        selection, training = parts["selection"], parts["training"]
        if not source.core.num_operators:
            raise InputError(
                f"{source.name}: its goal is empty, holds always or cannot be reached: no action matters, "
                "and there is nothing to learn"
            )
        if selection.networks == 1:
            return self._learn_one(source, parts, run)[0]
        # 1. Networks that differ in all random choices: samples, first weights, order of batches.
        candidates: list[Candidate] = []
        stopped: dict[str, str] = {}
        try:
            for number in range(selection.networks):
                seed, limit = training.seed + number, training.time_limit
                limit = None if limit is None else limit / selection.networks
                own = {**parts, "training": replace(training, seed=seed, time_limit=limit)}
                if hasattr(parts["sampler"], "seed"):
                    own["sampler"] = replace(parts["sampler"], seed=seed)
                numbered = _numbered(run, number + 1, selection.networks)
                candidates.append(Candidate(*self._learn_one(source, own, numbered)))
                if candidates[-1].model.summary["stopped"] == INTERRUPTED:
                    raise KeyboardInterrupt
            # 2. The one that searches best.
            best = choose(candidates, source, selection, training.seed)
        except KeyboardInterrupt:
            if not run.keep_interrupted or not candidates:
                raise
            best, stopped = min(candidates, key=lambda one: one.loss), {"stopped": INTERRUPTED}
        summary = {
            **best.model.summary,
            **stopped,
            "time_s": round(sum(candidate.model.summary["time_s"] for candidate in candidates), 3),
            "selection": [candidate.record() for candidate in candidates],
        }
        config = {**best.model.recipe_config, "selection": asdict(selection)}
        return replace(best.model, recipe_config=config, summary=summary)

    def _learn_one(self, task: Task, parts: Parts, run: Run) -> tuple[TrainedModel[TaskIdentity], float]:
        """One network, and its loss on the held-out states."""
        from hstar.training.examples import StateExamples
        from hstar.training.loop import fit

        # 1. Labelled states, each once.
        data, training, names = run.data, parts["training"], parts["parts"]
        origin = asdict(parts["sampler"]) if data is None else dict(data.provenance)
        if data is None:
            data = parts["sampler"].sample(task)
        elif data.atoms != atom_names(task):
            raise InputError(f"the data are not of {task.name}: their atoms are others")
        dataset = data.deduplicate()
        # 2. A network whose outputs are an estimate of the label of a state.
        estimate: Estimate = ESTIMATES.get(names.estimate)()
        config = parts["model"]
        if hasattr(config, "outputs"):
            config = replace(config, outputs=estimate.outputs)
        trained = run.fitted(
            fit,
            lambda outputs: config.build(len(dataset.atoms), outputs),
            StateExamples(dataset),
            estimate,
            training,
            redraw=True,
        )
        # 3. What the search needs of it.
        model = TrainedModel(
            space=replace(identify(task), atoms=dataset.atoms),
            tensors=config.export(trained.model),
            recipe=self.recipe,
            recipe_config={"sampler": origin, "training": asdict(training)},
            model=config.name,
            model_config=asdict(config),
            estimate=estimate,
            rule=parse_rule(names.rule),
            seed=training.seed,
            search={"search": "gbfs"},
            summary={"states": len(dataset.label), **trained.summary()},
        )
        return model, trained.best_loss


def without_regression(task: Task) -> str | None:
    """What the task has that regression does not support."""
    return (
        "conditional effects"
        if task.core.has_conditional_effects
        else "axioms"
        if task.core.num_axioms
        else None
    )


def _numbered(run: Run, network: int, networks: int) -> Run:
    """The run of one network: its progress says which one, and its checkpoint is its own."""
    progress, checkpoint = run.progress, run.checkpoint

    def tell(record: Progress) -> None:
        assert progress is not None
        progress(replace(record, network=network, networks=networks))

    own = checkpoint and checkpoint.with_name(f"{checkpoint.name}.{network}")
    return replace(run, progress=progress and tell, checkpoint=own)
