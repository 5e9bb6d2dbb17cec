"""A model for all tasks of a domain: its vocabulary, and the model over objects and atoms in the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hstar import _core
from hstar.errors import InputError, ModelError
from hstar.models.identity import IDENTITIES, Identity, believed, expect
from hstar.search.heuristics import build
from hstar.spaces.relations import Vocabulary, check_fit
from hstar.spaces.task import Task

if TYPE_CHECKING:
    from hstar.models.relational_model import RelationalModel
    from hstar.models.trained_model import TrainedModel


@IDENTITIES.register("domain")
@dataclass(frozen=True)
class DomainIdentity(Identity):
    """Predicates, types and constants by their numbers; any task that has no others."""

    kind: ClassVar[str] = "domain"

    words: Vocabulary

    def __str__(self) -> str:
        return f"domain {self.words.domain}"

    def to_json(self) -> dict[str, Any]:
        return self.words.to_json()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DomainIdentity:
        return cls(Vocabulary.from_json(data))

    def check(self, problem: Any) -> None:
        expect(self, problem, Task)
        try:
            check_fit(problem, self.words)
        except InputError as error:
            raise self._misfit(error) from None

    def network(self, model: TrainedModel[DomainIdentity]) -> RelationalModel:
        """The options alone: tensors are read with the task that they are for."""
        found: RelationalModel = model.options
        return found

    def build(self, model: TrainedModel[DomainIdentity], problem: Any, *, cache: bool) -> _core.Heuristic:
        expect(self, problem, Task)
        if not problem.core.num_operators:  # the first state decides, and some models read operators
            return build(problem, "blind")
        reader: RelationalModel = model.network
        try:
            raw = reader.native(problem, self.words, model.tensors, model.estimate.outputs)
        except InputError as error:
            raise self._misfit(error) from None
        return believed(model, problem, raw)

    def _misfit(self, error: InputError) -> ModelError:
        return ModelError(f"the model was trained for {self.words.domain}: {error.message}")

    def describe(self, model: TrainedModel[DomainIdentity]) -> dict[str, Any]:
        return {"predicates": [f"{name}/{arity}" for name, arity in self.words.predicates]}
