from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Operator:
    """A grounded operator; facts are (variable, value)."""

    @property
    def name(self) -> str: ...

    @property
    def cost(self) -> int: ...

    @property
    def preconditions(self) -> list[tuple[int, int]]: ...

    @property
    def effects(self) -> list[tuple[list[tuple[int, int]], int, int]]:
        """Triples (conditions, variable, value)."""

class Axiom:
    """Derives variable = value when all conditions hold."""

    @property
    def conditions(self) -> list[tuple[int, int]]: ...

    @property
    def variable(self) -> int: ...

    @property
    def value(self) -> int: ...

class Task:
    """A planning task in finite-domain representation."""

    @staticmethod
    def parse(text: bytes, unit_cost: bool = False) -> Task:
        """Reads the text of a .sas file, version 3."""

    def to_sas(self) -> bytes:
        """
        The text of a .sas file, version 3, from the initial state that the task was made with.
        """

    @property
    def num_variables(self) -> int: ...

    @property
    def num_operators(self) -> int: ...

    @property
    def num_axioms(self) -> int: ...

    @property
    def num_facts(self) -> int: ...

    @property
    def state_words(self) -> int:
        """32-bit words of a packed state."""

    @property
    def uses_metric(self) -> bool: ...

    def with_unit_cost(self) -> Task:
        """The same variables and states; every operator costs 1."""

    @property
    def unit_cost(self) -> bool: ...

    @property
    def has_conditional_effects(self) -> bool: ...

    @property
    def variable_names(self) -> list[str]: ...

    @property
    def fact_names(self) -> list[list[str]]:
        """Per variable, per value."""

    @property
    def axiom_layers(self) -> list[int]:
        """Per variable: -1, or the layer of the axioms that derive it."""

    @property
    def default_values(self) -> list[int]:
        """Per variable: for derived ones the value when no axiom fires."""

    @property
    def initial_state(self) -> list[int]: ...

    @property
    def goal(self) -> list[tuple[int, int]]: ...

    @property
    def atom_facts(self) -> list[tuple[int, int]]:
        """
        The facts that are positive atoms, in the order of the bits of encoded states.
        """

    @property
    def mutex_groups(self) -> list[list[tuple[int, int]]]: ...

    def operator(self, index: int) -> Operator: ...

    def axiom(self, index: int) -> Axiom: ...

    def with_initial_state(self, values: Sequence[int]) -> Task:
        """The same task from another state; derived variables are recomputed."""

    def applicable_operators(self, state: Sequence[int]) -> list[int]: ...

    def successor(self, state: Sequence[int], operator: int) -> list[int]: ...

    def are_mutex(self, a: tuple[int, int], b: tuple[int, int]) -> bool:
        """Whether two facts (variable, value) are known never to hold together."""

class TranslateReport:
    """Seconds of each phase of a translation, and warnings."""

    @property
    def parse(self) -> float: ...

    @property
    def join(self) -> float: ...

    @property
    def invariants(self) -> float: ...

    @property
    def variables(self) -> float: ...

    @property
    def encode(self) -> float: ...

    @property
    def simplify(self) -> float: ...

    @property
    def warnings(self) -> list[str]: ...

def translate(texts: tuple[bytes, bytes], files: tuple[str, str], unit_cost: bool = False, keep_unimportant: bool = False, time_limit: float | None = None, memory_limit: int | None = None, progress: object | None = None) -> tuple[Task, TranslateReport]:
    """
    The task of two PDDL texts, domain and problem; their file names are for errors. Limits are in seconds and in bytes of the process; `progress` is called with facts as `evaluated` and operators as `generated`.
    """

def parse_pddl(texts: tuple[bytes, bytes], files: tuple[str, str]) -> object:
    """
    The lifted side of two PDDL texts, as plain data for hstar.spaces.lifted.
    """

class HeuristicInfo:
    """What a heuristic claims."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def admissible(self) -> bool: ...

    @property
    def consistent(self) -> bool: ...

    @property
    def safe(self) -> bool: ...

    @property
    def supports_axioms(self) -> bool: ...

    @property
    def supports_conditional_effects(self) -> bool: ...

    @property
    def preferred_operators(self) -> bool: ...

    @property
    def path_dependent(self) -> bool: ...

def heuristics() -> list[HeuristicInfo]:
    """All symbolic heuristics."""

class Heuristic:
    """A heuristic for one space."""

    @property
    def name(self) -> str: ...

    @property
    def admissible(self) -> bool: ...

    @property
    def consistent(self) -> bool: ...

    @property
    def safe(self) -> bool: ...

    def evaluate(self, states: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Values of states given as an int32 array (n, numbers of a state); infinity for dead ends.
        """

def symbolic_heuristic(task: Task, name: str, costs: str = 'normal') -> Heuristic:
    """
    `costs`: of operators, as add, ff and landmarks see them: normal, one or plusone.
    """

def callback_heuristic(problem: Problem, function: object, name: str, scale: int, admissible: bool = False) -> Heuristic:
    """Values are rounded to 1/scale, down if they are said to be admissible."""

def zero_heuristic(problem: Problem) -> Heuristic:
    """0 for every state, in any space."""

def combined_heuristic(problem: Problem, rule: str, parts: Sequence[Heuristic]) -> Heuristic:
    """max or sum; takes its parts over."""

def relaxed_plan(task: Task, state: Sequence[int]) -> tuple[list[int] | None, int]:
    """
    Operators of ff's relaxed plan (None for a dead end) and the number of atoms they delete.
    """

def landmarks(task: Task, thorough: bool = False) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int, str]]]:
    """
    Landmarks of the initial state, each the facts (variable, value) of which a plan makes one true, and their orders: number before, number after, natural, greedy-necessary or reasonable. `thorough`: with more disjunctive landmarks, as lmcp uses them.
    """

class RelationalTask:
    """Objects and ground atoms over them."""

    @staticmethod
    def of_atoms(object_kinds: Sequence[int], predicates: Sequence[int], arguments: Sequence[Sequence[int]], goal: Sequence[int]) -> RelationalTask:
        """
        Per atom its predicate, the objects it is about, and 1 if it is a goal, 2 if its absence is one.
        """

    @staticmethod
    def of_task(task: Task, predicates: Sequence[str], objects: Sequence[str], object_kinds: Sequence[int], initial: Sequence[Sequence[str]], goal: Sequence[Sequence[str]], negative_goal: Sequence[Sequence[str]] = []) -> RelationalTask:
        """
        The atoms that facts of the task stand for, those of `initial` beside them, which always hold, and those of both goals.
        """

    @property
    def objects(self) -> int: ...

    @property
    def atoms(self) -> int: ...

class ColourTable:
    """Numbers for the colours of colour refinement."""

    def __init__(self) -> None: ...

    @staticmethod
    def of(colours: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> ColourTable:
        """Of distinct colours, numbered in their order."""

    def __len__(self) -> int: ...

    @property
    def colours(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """A copy."""

    def count(self, task: Task, relations: RelationalTask, states: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], iterations: int, multiset: bool, add: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        Colours of states (n, variables) as a sparse matrix: ends of rows, columns, counts. `add`: new colours get a number, else they are left out.
        """

    def count_atoms(self, relations: RelationalTask, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], iterations: int, multiset: bool, add: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        The same for states given by the atoms that hold: the atoms of state i end at ends[i].
        """

def precisions() -> list[str]:
    """How the layers of a network may compute; the first is the usual one."""

class Network:
    """A feed-forward or residual network over atoms."""

    @staticmethod
    def make(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], blocks: Sequence[Sequence[object]], head: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], head_bias: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_relu: bool, precision: str = 'float32') -> Network:
        """
        rows: (atoms, width); blocks: (W, b) or, residual, (W1, b1, W2, b2), weights (outputs, inputs).
        """

    @property
    def atoms(self) -> int: ...

    @property
    def outputs(self) -> int: ...

    def run(self, inputs: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], reference: bool = False) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """
        Outputs for rows of zeros and ones (uint8); `reference`: in plain scalar code.
        """

def nlm_tuple_extremes(*, table: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, objects: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], arity: int, exclude_self: bool, result: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Minima and maxima of the rows of tuples over their last object; see core/network/nlm_extremes.h.
    """

def nlm_triple_extremes(*, table: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], types: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], objects: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], exclude_self: bool, result: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """The same of triples, by the types of their pairs."""

class WunnConfig:
    """How a wunn learns."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def prior_variance(self) -> float: ...

    @prior_variance.setter
    def prior_variance(self, arg: float, /) -> None: ...

    @property
    def learning_rate(self) -> float: ...

    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...

    @property
    def beta(self) -> float: ...

    @beta.setter
    def beta(self, arg: float, /) -> None: ...

    @property
    def threshold(self) -> float: ...

    @threshold.setter
    def threshold(self, arg: float, /) -> None: ...

    @property
    def already_known(self) -> float: ...

    @already_known.setter
    def already_known(self, arg: float, /) -> None: ...

    @property
    def steps(self) -> int: ...

    @steps.setter
    def steps(self, arg: int, /) -> None: ...

    @property
    def batch(self) -> int: ...

    @batch.setter
    def batch(self, arg: int, /) -> None: ...

    @property
    def sweep_every(self) -> int: ...

    @sweep_every.setter
    def sweep_every(self, arg: int, /) -> None: ...

    @property
    def stop_early(self) -> bool: ...

    @stop_early.setter
    def stop_early(self, arg: bool, /) -> None: ...

def fit_wunn(*, x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, arrays: Sequence[tuple[Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')], Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')], Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')]]], steps_before: int, seed: int, config: WunnConfig) -> tuple[int, float, bool]:
    """
    Learns in place, until the variance of each state is below the threshold or the steps are done: steps, the largest variance before the last ones, whether it came below.
    """

class RawModel:
    """A model of states: raw numbers, which an estimate explains."""

    @property
    def outputs(self) -> int: ...

    def raw(self, task: Problem, states: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Raw outputs (n, outputs) of states given as an int32 array (n, variables). `parent` (1, variables): the state that all of them follow, for models that work with differences.
        """

@overload
def colour_model(task: Task, relations: RelationalTask, table: ColourTable, iterations: int, multiset: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RawModel:
    """
    bias + the sum of the weights (colours, outputs) of the colours of a state.
    """

@overload
def colour_model(task: Task, relations: RelationalTask, table: ColourTable, iterations: int, multiset: bool, network: Network) -> RawModel:
    """
    A network whose inputs are the colours of a state, as often as they occur.
    """

def atom_model(task: Task, network: Network, inputs: Sequence[int], incremental: bool = True) -> RawModel:
    """
    inputs: per fact of the task, variables in order, its row of the network or -1.
    """

def linear_model(task: Task, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bias: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> RawModel:
    """
    Weights (outputs, 4) of goals that do not hold, operators of ff's relaxed plan, atoms that they delete in all and on average. The task is the one whose costs count, which may be another than that of the search; infinite for states without a relaxed plan.
    """

def callback_model(function: object, outputs: int, name: str) -> RawModel:
    """
    A function from states, an int32 array (n, variables), to numbers (n, outputs).
    """

class Estimate:
    """What the outputs of a model mean; see core/estimates/belief.h."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def sigma(self) -> float | None: ...

    @sigma.setter
    def sigma(self, arg: float | None, /) -> None: ...

    @property
    def floor(self) -> float: ...

    @floor.setter
    def floor(self, arg: float, /) -> None: ...

    @property
    def range(self) -> float: ...

    @range.setter
    def range(self, arg: float, /) -> None: ...

    @property
    def margin(self) -> float: ...

    @margin.setter
    def margin(self, arg: float, /) -> None: ...

    @property
    def kind(self) -> str: ...

    @kind.setter
    def kind(self, arg: str, /) -> None: ...

class Calibration:
    """Values times a factor less a shift, perhaps rounded up."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def factor(self) -> float: ...

    @factor.setter
    def factor(self, arg: float, /) -> None: ...

    @property
    def shift(self) -> float: ...

    @shift.setter
    def shift(self, arg: float, /) -> None: ...

    @property
    def whole(self) -> bool: ...

    @whole.setter
    def whole(self, arg: bool, /) -> None: ...

class Rule:
    """Which number of an estimate counts; the mean unless there is a level."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def level(self) -> float | None: ...

    @level.setter
    def level(self, arg: float | None, /) -> None: ...

    @property
    def clip(self) -> bool: ...

    @clip.setter
    def clip(self, arg: bool, /) -> None: ...

    @property
    def clip_lower(self) -> float | None: ...

    @clip_lower.setter
    def clip_lower(self, arg: float | None, /) -> None: ...

    @property
    def clip_upper(self) -> float | None: ...

    @clip_upper.setter
    def clip_upper(self, arg: float | None, /) -> None: ...

    @property
    def offset(self) -> float: ...

    @offset.setter
    def offset(self, arg: float, /) -> None: ...

    @property
    def eps(self) -> float | None: ...

    @eps.setter
    def eps(self, arg: float | None, /) -> None: ...

    @property
    def calibration(self) -> Calibration | None: ...

    @calibration.setter
    def calibration(self, arg: Calibration | None, /) -> None: ...

    @property
    def sure_below(self) -> float: ...

    @sure_below.setter
    def sure_below(self, arg: float, /) -> None: ...

class Belief:
    """An estimate and a rule that go together."""

    def __init__(self, estimate: Estimate, rule: Rule) -> None: ...

def believed_heuristic(problem: Problem, model: RawModel, *, belief: Belief = ..., base: Heuristic | None = None, lower: Heuristic | None = None, name: str, scale: int) -> Heuristic:
    """
    What the belief makes of the model's outputs. Takes the model, base and lower over; they may be of a task that differs in costs only.
    """

def believed_values(raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], belief: Belief, *, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The same for raw outputs (n, outputs) with values of base and lower (n,): neither rounded nor kept above 0, NaN where the heuristic would refuse.
    """

def encode(task: Task, states: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]:
    """Bits of the atoms (n, words) of states given by values (n, variables)."""

def adaptive_length(task: Task) -> int:
    """Atoms by mean effects of an operator, rounded up."""

def preimages(task: Task, name: str, *, rollouts: int, length: int, seed: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    Partial states (n, variables), -1 for unset, and depths of rollouts of rsl or nrsl; the goal first.
    """

def fsm_partial(task: Task, config: FsmConfig, seed: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    The partial states (n, variables) of fsm before completion, and their labels.
    """

def label(task: Task, preimages: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], depth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """Least depth of a pre-image that contains the state, -1 for none."""

def complete(task: Task, partial: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rule: str, seed: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None))]:
    """Completes partial states by 'variables' or by 'atoms'."""

def improve_by_successors(task: Task, partial: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """SUI: lowers labels of different partial states to h(successor) + 1."""

class Predecessors:
    """Backward steps between states of a task."""

    @staticmethod
    def of(task: Task) -> Predecessors: ...

    def goal(self, seed: int) -> list[int] | None:
        """A state of the goal, what it leaves open by chance."""

    def find(self, state: Sequence[int], seed: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """
        A state (n, variables) for each operator that may have come last, what regression leaves open by chance, and the operators.
        """

class DrawConfig:
    """How states are drawn from pre-images."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def states(self) -> int: ...

    @states.setter
    def states(self, arg: int, /) -> None: ...

    @property
    def random_share(self) -> float: ...

    @random_share.setter
    def random_share(self, arg: float, /) -> None: ...

    @property
    def pool(self) -> str: ...

    @pool.setter
    def pool(self, arg: str, /) -> None: ...

    @property
    def completion(self) -> str: ...

    @completion.setter
    def completion(self, arg: str, /) -> None: ...

    @property
    def unlabelled(self) -> str: ...

    @unlabelled.setter
    def unlabelled(self, arg: str, /) -> None: ...

class FsmConfig:
    """Options of fsm."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def states(self) -> int: ...

    @states.setter
    def states(self, arg: int, /) -> None: ...

    @property
    def bfs_share(self) -> float: ...

    @bfs_share.setter
    def bfs_share(self, arg: float, /) -> None: ...

    @property
    def random_share(self) -> float: ...

    @random_share.setter
    def random_share(self, arg: float, /) -> None: ...

    @property
    def length(self) -> int: ...

    @length.setter
    def length(self, arg: int, /) -> None: ...

    @property
    def sai(self) -> bool: ...

    @sai.setter
    def sai(self, arg: bool, /) -> None: ...

    @property
    def sui(self) -> bool: ...

    @sui.setter
    def sui(self, arg: bool, /) -> None: ...

def rsl(task: Task, name: str, config: DrawConfig, *, rollouts: int, length: int, seed: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
    """
    States (n, words), labels, and whether a label is a bound; `name` is rsl or nrsl.
    """

def fsm(task: Task, config: FsmConfig, seed: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
    """States (n, words), labels, and whether a label is a bound."""

def random_walks(task: Task, walks: int, *, min_length: int, max_length: int, seed: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]:
    """
    Values (n, variables) of the last states of random walks from the task's initial state.
    """

def exact_distances(task: Task, *, unit_cost: bool, max_states: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """Values (n, variables) of all reachable states, and h*."""

def forward_distances(task: Task, starts: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], states: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Values of the states that breadth-first search expands first, and upper bounds of h*.
    """

class Progress:
    """What a running search reports about itself."""

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def best_h(self) -> float | None: ...

    @property
    def time(self) -> float: ...

    @property
    def memory(self) -> int: ...

class FoundPlan:
    """A plan that is better than all before it."""

    @property
    def plan(self) -> list[int]: ...

    @property
    def lower_bound(self) -> int: ...

    @property
    def time(self) -> float: ...

class SearchInfo:
    """What a search claims."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def optimal(self) -> bool: ...

    @property
    def complete(self) -> bool: ...

def searches() -> list[SearchInfo]:
    """All searches."""

class SearchResult:
    """How a search ended."""

    @property
    def status(self) -> str: ...

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def plan(self) -> list[int]: ...

    @property
    def dead_ends(self) -> int: ...

    @property
    def anchored(self) -> int: ...

    @property
    def lower_bound(self) -> int | None: ...

    @property
    def initial_h(self) -> float | None: ...

    @property
    def registered_states(self) -> int: ...

    @property
    def state_bytes(self) -> int: ...

    @property
    def memory_before_search(self) -> int: ...

class Problem:
    """A state space with a start."""

    def __init__(self, task: Task) -> None: ...

    @property
    def width(self) -> int:
        """Numbers of a state."""

    @property
    def words(self) -> int: ...

    @property
    def unit(self) -> int:
        """What a cost of 1 is in the units of the search."""

class Limits:
    """What may end a search; infinite unless set."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def time(self) -> float: ...

    @time.setter
    def time(self, arg: float, /) -> None: ...

    @property
    def cpu_time(self) -> float: ...

    @cpu_time.setter
    def cpu_time(self, arg: float, /) -> None: ...

    @property
    def memory(self) -> int: ...

    @memory.setter
    def memory(self, arg: int, /) -> None: ...

    @property
    def evaluations(self) -> int: ...

    @evaluations.setter
    def evaluations(self, arg: int, /) -> None: ...

    @property
    def expansions(self) -> int: ...

    @expansions.setter
    def expansions(self, arg: int, /) -> None: ...

class SearchOptions:
    """Options of all searches, with their defaults."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def weight(self) -> float: ...

    @weight.setter
    def weight(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def preferred(self) -> bool: ...

    @preferred.setter
    def preferred(self, arg: bool, /) -> None: ...

    @property
    def boost(self) -> int: ...

    @boost.setter
    def boost(self, arg: int, /) -> None: ...

    @property
    def goal_at_generation(self) -> bool: ...

    @goal_at_generation.setter
    def goal_at_generation(self, arg: bool, /) -> None: ...

    @property
    def evaluate_duplicates(self) -> bool: ...

    @evaluate_duplicates.setter
    def evaluate_duplicates(self, arg: bool, /) -> None: ...

    @property
    def bound(self) -> float: ...

    @bound.setter
    def bound(self, arg: float, /) -> None: ...

    @property
    def anytime(self) -> bool: ...

    @anytime.setter
    def anytime(self, arg: bool, /) -> None: ...

    @property
    def anchor_every(self) -> int: ...

    @anchor_every.setter
    def anchor_every(self, arg: int, /) -> None: ...

    @property
    def guide_weight(self) -> float: ...

    @guide_weight.setter
    def guide_weight(self, arg: float, /) -> None: ...

    @property
    def max_cost(self) -> int: ...

    @max_cost.setter
    def max_cost(self, arg: int, /) -> None: ...

    @property
    def optimistic(self) -> bool: ...

    @optimistic.setter
    def optimistic(self, arg: bool, /) -> None: ...

    @property
    def batch(self) -> int: ...

    @batch.setter
    def batch(self, arg: int, /) -> None: ...

    @property
    def no_reopen(self) -> bool: ...

    @no_reopen.setter
    def no_reopen(self, arg: bool, /) -> None: ...

    @property
    def ties(self) -> str: ...

    @ties.setter
    def ties(self, arg: str, /) -> None: ...

def search(problem: Problem, name: str, heuristics: Sequence[Heuristic], *, options: SearchOptions = ..., limits: Limits = ..., anchor: Heuristic | None = None, progress: object | None = None, on_plan: object | None = None) -> SearchResult:
    """Runs a search; a limit is a status, not an error."""

def keep_limits() -> None:
    """
    For slow models in Python: raises if a limit of the search that asks for their values is reached.
    """

def peak_memory() -> int:
    """Peak resident memory of the process in bytes."""

def own_problem(expand: object, goals: object, start: Sequence[int], unit: int, batch: int) -> Problem:
    """
    A space of two functions of packed states, uint32 (n, words): `expand` gives the successors (m, words), their costs (m,) and for each state the number of successors up to its last (n,), both int32; `goals` gives flags (n,).
    """

class RuleSchema:
    """An action schema: atoms are lists of numbers."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def candidates(self) -> list[list[int]]: ...

    @candidates.setter
    def candidates(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def positive(self) -> list[list[int]]: ...

    @positive.setter
    def positive(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def negative(self) -> list[list[int]]: ...

    @negative.setter
    def negative(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def adds(self) -> list[list[int]]: ...

    @adds.setter
    def adds(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def deletes(self) -> list[list[int]]: ...

    @deletes.setter
    def deletes(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def different(self) -> list[list[int]]: ...

    @different.setter
    def different(self, arg: Sequence[Sequence[int]], /) -> None: ...

class RuleMovement:
    """Schemas that change one argument of one atom."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def predicate(self) -> int: ...

    @predicate.setter
    def predicate(self, arg: int, /) -> None: ...

    @property
    def place(self) -> int: ...

    @place.setter
    def place(self, arg: int, /) -> None: ...

    @property
    def schemas(self) -> list[int]: ...

    @schemas.setter
    def schemas(self, arg: Sequence[int], /) -> None: ...

    @property
    def guard(self) -> int: ...

    @guard.setter
    def guard(self, arg: int, /) -> None: ...

    @property
    def swaps(self) -> bool: ...

    @swaps.setter
    def swaps(self, arg: bool, /) -> None: ...

class RuleTask:
    """A lifted task for goal rules."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def objects(self) -> int: ...

    @objects.setter
    def objects(self, arg: int, /) -> None: ...

    @property
    def arities(self) -> list[int]: ...

    @arities.setter
    def arities(self, arg: Sequence[int], /) -> None: ...

    @property
    def schemas(self) -> list[RuleSchema]: ...

    @schemas.setter
    def schemas(self, arg: Sequence[RuleSchema], /) -> None: ...

    @property
    def movements(self) -> list[RuleMovement]: ...

    @movements.setter
    def movements(self, arg: Sequence[RuleMovement], /) -> None: ...

    @property
    def init(self) -> list[list[int]]: ...

    @init.setter
    def init(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def goals(self) -> list[list[int]]: ...

    @goals.setter
    def goals(self, arg: Sequence[Sequence[int]], /) -> None: ...

class GoalRule:
    """A lifted macro that achieves a goal."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def goal(self) -> list[int]: ...

    @goal.setter
    def goal(self, arg: Sequence[int], /) -> None: ...

    @property
    def conditions(self) -> list[list[int]]: ...

    @conditions.setter
    def conditions(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def steps(self) -> list[list[int]]: ...

    @steps.setter
    def steps(self, arg: Sequence[Sequence[int]], /) -> None: ...

    @property
    def variables(self) -> int: ...

    @variables.setter
    def variables(self, arg: int, /) -> None: ...

    @property
    def rank(self) -> int: ...

    @rank.setter
    def rank(self, arg: int, /) -> None: ...

class PolicyResult:
    """How following goal rules ended."""

    @property
    def status(self) -> str: ...

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def plan(self) -> list[list[int]]:
        """A list for each action: schema, arguments."""

    @property
    def open_goals(self) -> int: ...

def follow_goal_rules(task: RuleTask, rules: Sequence[GoalRule], orders: Sequence[tuple[int, int]], limits: Limits, mixed: bool, progress: object | None = None) -> PolicyResult:
    """
    Follows goal rules from the initial state; 'incomplete' if no rule leads on.
    """

class GridResult:
    """How a search of a grid or a lattice ended."""

    @property
    def status(self) -> str: ...

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def cost(self) -> float: ...

    @property
    def initial_h(self) -> float: ...

    @property
    def passed_over(self) -> bool: ...

    def take_path(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def take_explored(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

class GridHeuristic:
    """A heuristic by name, or values of all states."""

    def __init__(self, name: str, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, eps: float | None = None, weight: float = 1.0) -> None: ...

class GridOptions:
    """Options of A* on grids and lattices."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def explored(self) -> bool: ...

    @explored.setter
    def explored(self, arg: bool, /) -> None: ...

    @property
    def reopen(self) -> bool: ...

    @reopen.setter
    def reopen(self, arg: bool, /) -> None: ...

class ProlongedOptions:
    """Options of prolonged backward search."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def k_pr(self) -> float: ...

    @k_pr.setter
    def k_pr(self, arg: float, /) -> None: ...

    @property
    def blind(self) -> bool: ...

    @blind.setter
    def blind(self, arg: bool, /) -> None: ...

    @property
    def open(self) -> bool: ...

    @open.setter
    def open(self, arg: bool, /) -> None: ...

    @property
    def goals(self) -> int: ...

    @goals.setter
    def goals(self, arg: int, /) -> None: ...

class ProlongedLabels:
    """States, their labels, and how the search ended."""

    @property
    def status(self) -> str: ...

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def reached(self) -> bool: ...

    @property
    def exact(self) -> int:
        """So many of the states, the first ones, were closed."""

    @property
    def goals(self) -> int:
        """Goal states that it began with."""

    def take_label(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def take_path_label(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def take_states(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]:
        """A row of numbers each; of a grid or a lattice one, its number."""

    def take_path(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]: ...

class GridSpace:
    """Cells of a map: (row, column)."""

    def __init__(self, blocked: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, neighbours: int, cut_corners: bool) -> None: ...

    @property
    def states(self) -> int: ...

    def check(self, state: Sequence[int], what: str) -> None:
        """An InputError unless it is a state."""

    def check_goal(self, goal: Sequence[int]) -> None:
        """An InputError unless it is a goal."""

    def successors(self, state: Sequence[int]) -> list[tuple[int, float]]:
        """Numbers of states with the costs of the steps to them."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[int, float]]:
        """Numbers of states with the costs of the steps from them."""

    def problem(self, start: Sequence[int], goal: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, name: str, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Heuristic:
        """
        blind, manhattan, octile or dijkstra, or values of all states, for the general searches.
        """

    def astar(self, start: Sequence[int], goal: Sequence[int], heuristic: GridHeuristic, options: GridOptions, limits: Limits, progress: object | None = None) -> GridResult:
        """
        A* with a heuristic by name, or with values of all states; a limit is a status, not an error.
        """

    def prolonged(self, start: Sequence[int], goal: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels:
        """Labels by prolonged backward search."""

    def distances(self, goal: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The cost-to-go of each cell; infinite where there is no way."""

class LatticeSpace:
    """Cells of a map and headings: (row, column, heading)."""

    def __init__(self, blocked: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, cut_corners: bool, headings: int, turn_cost: float) -> None: ...

    @property
    def states(self) -> int: ...

    def check(self, state: Sequence[int], what: str) -> None:
        """An InputError unless it is a state."""

    def check_goal(self, goal: Sequence[int]) -> None:
        """An InputError unless it is a goal."""

    def successors(self, state: Sequence[int]) -> list[tuple[int, float]]:
        """Numbers of states with the costs of the steps to them."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[int, float]]:
        """Numbers of states with the costs of the steps from them."""

    def problem(self, start: Sequence[int], goal: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, name: str, values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Heuristic:
        """
        blind, manhattan, octile or dijkstra, or values of all states, for the general searches.
        """

    def astar(self, start: Sequence[int], goal: Sequence[int], heuristic: GridHeuristic, options: GridOptions, limits: Limits, progress: object | None = None) -> GridResult:
        """
        A* with a heuristic by name, or with values of all states; a limit is a status, not an error.
        """

    def prolonged(self, start: Sequence[int], goal: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels:
        """Labels by prolonged backward search."""

def png_lines(lines: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], step: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None))]:
    """
    Lines of a PNG image, each with its filter first, as they were before the filters.
    """

@overload
def prolonged(task: Task, options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels:
    """Labels of states of a task by prolonged backward search."""

@overload
def prolonged(space: TilesSpace, start: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels: ...

@overload
def prolonged(space: PancakeSpace, start: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels: ...

@overload
def prolonged(space: BlocksSpace, start: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels: ...

@overload
def prolonged(space: TopSpinSpace, start: Sequence[int], options: ProlongedOptions, limits: Limits = ..., progress: object | None = None) -> ProlongedLabels:
    """Labels of states of a puzzle by prolonged backward search."""

class PuzzleHeuristicInfo:
    """What a heuristic of a puzzle claims."""

    @property
    def name(self) -> str: ...

    @property
    def admissible(self) -> bool: ...

    @property
    def consistent(self) -> bool: ...

class DeepeningOptions:
    """Options of iterative deepening on puzzles."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def table_bytes(self) -> int: ...

    @table_bytes.setter
    def table_bytes(self, arg: int, /) -> None: ...

    @property
    def greatest_bound(self) -> int: ...

    @greatest_bound.setter
    def greatest_bound(self, arg: int, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

    @property
    def pruning(self) -> str: ...

    @pruning.setter
    def pruning(self, arg: str, /) -> None: ...

class DeepeningResult:
    """How a search of a puzzle ended."""

    @property
    def status(self) -> str: ...

    @property
    def expanded(self) -> int: ...

    @property
    def evaluated(self) -> int: ...

    @property
    def generated(self) -> int: ...

    @property
    def reopened(self) -> int: ...

    @property
    def search_time(self) -> float: ...

    @property
    def cpu_time(self) -> float: ...

    @property
    def plan(self) -> list[int]: ...

    @property
    def initial_h(self) -> int: ...

    @property
    def bound(self) -> int: ...

    @property
    def lower_bound(self) -> int: ...

    @property
    def rounds(self) -> int: ...

class PatternDatabase:
    """Costs of bringing the pieces of a pattern home."""

    @property
    def space(self) -> str: ...

    @property
    def pattern(self) -> list[int]: ...

    @property
    def costs(self) -> bytes:
        """
        A byte for each way that the pieces lie; 255 where two lie in one place.
        """

    @property
    def entries(self) -> int: ...

    @property
    def largest(self) -> int: ...

    @property
    def mean(self) -> float: ...

class TilesSpace:
    """A puzzle of one size, with its goal; see core/spaces."""

    def __init__(self, rows: int, columns: int) -> None: ...

    @property
    def size(self) -> int:
        """Numbers of a state."""

    @property
    def goal(self) -> list[int]: ...

    @property
    def words(self) -> int:
        """32-bit words of a packed state."""

    @property
    def database_space(self) -> str:
        """Databases and networks fit spaces with the same one."""

    def check(self, state: Sequence[int]) -> None:
        """An InputError unless it is a state from which the goal can be reached."""

    def actions(self, state: Sequence[int]) -> list[int]:
        """The possible moves, in the order of the searches."""

    def apply(self, state: Sequence[int], action: int) -> tuple[list[int], int]:
        """The state after a move, and the move that takes it back."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[list[int], int]]:
        """States, each with the move that leads from it to the given one."""

    def pack(self, state: Sequence[int]) -> list[int]: ...

    def unpack(self, words: Sequence[int]) -> list[int]: ...

    def walk(self, state: Sequence[int], steps: int, seed: int) -> list[int]:
        """Where a random walk ends that does not take a move back at once."""

    @property
    def heuristics(self) -> list[PuzzleHeuristicInfo]: ...

    def value(self, heuristic: str | TilesDatabases | TilesNetwork, state: Sequence[int]) -> int: ...

    def child_value(self, heuristic: str | TilesDatabases | TilesNetwork, state: Sequence[int], action: int) -> int:
        """The value after a move, made from the one before it."""

    def idastar(self, start: Sequence[int], heuristic: str | TilesDatabases | TilesNetwork, options: DeepeningOptions, limits: Limits, progress: object | None = None) -> DeepeningResult:
        """Iterative-deepening A*; a limit is a status, not an error."""

    def problem(self, start: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, heuristic: object) -> Heuristic:
        """A heuristic of this space for the general searches."""

    def build_database(self, pattern: Sequence[int], check: object | None = None) -> PatternDatabase:
        """
        Takes seconds for five pieces. `check` is called now and then; what it raises ends the work.
        """

    def map_database(self, pattern: Sequence[int], path: str, offset: int) -> PatternDatabase:
        """Costs from a file, which stay there."""

    def is_solvable(self, state: Sequence[int]) -> bool: ...

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

class TilesDatabases:
    """Pattern databases: the greatest of the sums of sets."""

    @property
    def sets(self) -> list[list[PatternDatabase]]: ...

@overload
def databases(space: TilesSpace, sets: Sequence[Sequence[PatternDatabase]]) -> TilesDatabases: ...

@overload
def databases(space: PancakeSpace, sets: Sequence[Sequence[PatternDatabase]]) -> PancakeDatabases: ...

@overload
def databases(space: BlocksSpace, sets: Sequence[Sequence[PatternDatabase]]) -> BlocksDatabases:
    """Databases as a heuristic."""

class PancakeSpace:
    """A puzzle of one size, with its goal; see core/spaces."""

    def __init__(self, pancakes: int) -> None: ...

    @property
    def size(self) -> int:
        """Numbers of a state."""

    @property
    def goal(self) -> list[int]: ...

    @property
    def words(self) -> int:
        """32-bit words of a packed state."""

    @property
    def database_space(self) -> str:
        """Databases and networks fit spaces with the same one."""

    def check(self, state: Sequence[int]) -> None:
        """An InputError unless it is a state from which the goal can be reached."""

    def actions(self, state: Sequence[int]) -> list[int]:
        """The possible moves, in the order of the searches."""

    def apply(self, state: Sequence[int], action: int) -> tuple[list[int], int]:
        """The state after a move, and the move that takes it back."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[list[int], int]]:
        """States, each with the move that leads from it to the given one."""

    def pack(self, state: Sequence[int]) -> list[int]: ...

    def unpack(self, words: Sequence[int]) -> list[int]: ...

    def walk(self, state: Sequence[int], steps: int, seed: int) -> list[int]:
        """Where a random walk ends that does not take a move back at once."""

    @property
    def heuristics(self) -> list[PuzzleHeuristicInfo]: ...

    def value(self, heuristic: str | PancakeDatabases | PancakeNetwork, state: Sequence[int]) -> int: ...

    def child_value(self, heuristic: str | PancakeDatabases | PancakeNetwork, state: Sequence[int], action: int) -> int:
        """The value after a move, made from the one before it."""

    def idastar(self, start: Sequence[int], heuristic: str | PancakeDatabases | PancakeNetwork, options: DeepeningOptions, limits: Limits, progress: object | None = None) -> DeepeningResult:
        """Iterative-deepening A*; a limit is a status, not an error."""

    def problem(self, start: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, heuristic: object) -> Heuristic:
        """A heuristic of this space for the general searches."""

    def build_database(self, pattern: Sequence[int], check: object | None = None) -> PatternDatabase:
        """
        Takes seconds for five pieces. `check` is called now and then; what it raises ends the work.
        """

    def map_database(self, pattern: Sequence[int], path: str, offset: int) -> PatternDatabase:
        """Costs from a file, which stay there."""

class PancakeDatabases:
    """Pattern databases: the greatest of the sums of sets."""

    @property
    def sets(self) -> list[list[PatternDatabase]]: ...

class BlocksSpace:
    """A puzzle of one size, with its goal; see core/spaces."""

    def __init__(self, goal: Sequence[int]) -> None: ...

    @property
    def size(self) -> int:
        """Numbers of a state."""

    @property
    def goal(self) -> list[int]: ...

    @property
    def words(self) -> int:
        """32-bit words of a packed state."""

    @property
    def database_space(self) -> str:
        """Databases and networks fit spaces with the same one."""

    def check(self, state: Sequence[int]) -> None:
        """An InputError unless it is a state from which the goal can be reached."""

    def actions(self, state: Sequence[int]) -> list[int]:
        """The possible moves, in the order of the searches."""

    def apply(self, state: Sequence[int], action: int) -> tuple[list[int], int]:
        """The state after a move, and the move that takes it back."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[list[int], int]]:
        """States, each with the move that leads from it to the given one."""

    def pack(self, state: Sequence[int]) -> list[int]: ...

    def unpack(self, words: Sequence[int]) -> list[int]: ...

    def walk(self, state: Sequence[int], steps: int, seed: int) -> list[int]:
        """Where a random walk ends that does not take a move back at once."""

    @property
    def heuristics(self) -> list[PuzzleHeuristicInfo]: ...

    def value(self, heuristic: str | BlocksDatabases | BlocksNetwork, state: Sequence[int]) -> int: ...

    def child_value(self, heuristic: str | BlocksDatabases | BlocksNetwork, state: Sequence[int], action: int) -> int:
        """The value after a move, made from the one before it."""

    def idastar(self, start: Sequence[int], heuristic: str | BlocksDatabases | BlocksNetwork, options: DeepeningOptions, limits: Limits, progress: object | None = None) -> DeepeningResult:
        """Iterative-deepening A*; a limit is a status, not an error."""

    def problem(self, start: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, heuristic: object) -> Heuristic:
        """A heuristic of this space for the general searches."""

    def build_database(self, pattern: Sequence[int], check: object | None = None) -> PatternDatabase:
        """
        Takes seconds for five pieces. `check` is called now and then; what it raises ends the work.
        """

    def map_database(self, pattern: Sequence[int], path: str, offset: int) -> PatternDatabase:
        """Costs from a file, which stay there."""

class BlocksDatabases:
    """Pattern databases: the greatest of the sums of sets."""

    @property
    def sets(self) -> list[list[PatternDatabase]]: ...

class TopSpinSpace:
    """A puzzle of one size, with its goal; see core/spaces."""

    def __init__(self, tokens: int, turnstile: int) -> None: ...

    @property
    def size(self) -> int:
        """Numbers of a state."""

    @property
    def goal(self) -> list[int]: ...

    @property
    def words(self) -> int:
        """32-bit words of a packed state."""

    @property
    def database_space(self) -> str:
        """Databases and networks fit spaces with the same one."""

    def check(self, state: Sequence[int]) -> None:
        """An InputError unless it is a state from which the goal can be reached."""

    def actions(self, state: Sequence[int]) -> list[int]:
        """The possible moves, in the order of the searches."""

    def apply(self, state: Sequence[int], action: int) -> tuple[list[int], int]:
        """The state after a move, and the move that takes it back."""

    def predecessors(self, state: Sequence[int]) -> list[tuple[list[int], int]]:
        """States, each with the move that leads from it to the given one."""

    def pack(self, state: Sequence[int]) -> list[int]: ...

    def unpack(self, words: Sequence[int]) -> list[int]: ...

    def walk(self, state: Sequence[int], steps: int, seed: int) -> list[int]:
        """Where a random walk ends that does not take a move back at once."""

    @property
    def heuristics(self) -> list[PuzzleHeuristicInfo]: ...

    def value(self, heuristic: str | TopSpinNetwork, state: Sequence[int]) -> int: ...

    def child_value(self, heuristic: str | TopSpinNetwork, state: Sequence[int], action: int) -> int:
        """The value after a move, made from the one before it."""

    def idastar(self, start: Sequence[int], heuristic: str | TopSpinNetwork, options: DeepeningOptions, limits: Limits, progress: object | None = None) -> DeepeningResult:
        """Iterative-deepening A*; a limit is a status, not an error."""

    def problem(self, start: Sequence[int]) -> Problem:
        """What the general searches take."""

    def heuristic(self, problem: Problem, heuristic: object) -> Heuristic:
        """A heuristic of this space for the general searches."""

    @property
    def turnstile(self) -> int: ...

    def is_solvable(self, state: Sequence[int]) -> bool: ...

class PuzzleBelief:
    """What is made of the outputs of a network of a puzzle."""

    def __init__(self, **fields: object) -> None: ...

    @property
    def scale(self) -> float: ...

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    @property
    def lowest_rho(self) -> float: ...

    @lowest_rho.setter
    def lowest_rho(self, arg: float, /) -> None: ...

    @property
    def highest_rho(self) -> float: ...

    @highest_rho.setter
    def highest_rho(self, arg: float, /) -> None: ...

    @property
    def alpha(self) -> float | None: ...

    @alpha.setter
    def alpha(self, arg: float | None, /) -> None: ...

    @property
    def sure_below(self) -> float: ...

    @sure_below.setter
    def sure_below(self, arg: float, /) -> None: ...

    @property
    def shift(self) -> float: ...

    @shift.setter
    def shift(self, arg: float, /) -> None: ...

    @property
    def factor(self) -> float: ...

    @factor.setter
    def factor(self, arg: float, /) -> None: ...

    @property
    def floor_admissible(self) -> bool: ...

    @floor_admissible.setter
    def floor_admissible(self, arg: bool, /) -> None: ...

    @property
    def truncated(self) -> bool: ...

    @truncated.setter
    def truncated(self, arg: bool, /) -> None: ...

class TilesInputs:
    """What a network sees of a state."""

    @property
    def size(self) -> int: ...

    def array(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """A row of numbers in 0..1 for each state."""

    def admissible(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The greatest admissible number of each, in moves."""

class TilesNetwork:
    """A network with one hidden layer."""

    def values(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """What a search has for these states."""

@overload
def one_hot_inputs(space: TilesSpace) -> TilesInputs: ...

@overload
def one_hot_inputs(space: PancakeSpace) -> PancakeInputs: ...

@overload
def one_hot_inputs(space: BlocksSpace) -> BlocksInputs: ...

@overload
def one_hot_inputs(space: TopSpinSpace) -> TopSpinInputs:
    """Inputs by where pieces lie."""

@overload
def database_inputs(databases: TilesDatabases) -> TilesInputs: ...

@overload
def database_inputs(databases: PancakeDatabases) -> PancakeInputs: ...

@overload
def database_inputs(databases: BlocksDatabases) -> BlocksInputs:
    """Inputs by the costs of pattern databases."""

@overload
def puzzle_network(inputs: TilesInputs, hidden_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], hidden_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], output_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], belief: PuzzleBelief) -> TilesNetwork: ...

@overload
def puzzle_network(inputs: PancakeInputs, hidden_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], hidden_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], output_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], belief: PuzzleBelief) -> PancakeNetwork: ...

@overload
def puzzle_network(inputs: BlocksInputs, hidden_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], hidden_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], output_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], belief: PuzzleBelief) -> BlocksNetwork: ...

@overload
def puzzle_network(inputs: TopSpinInputs, hidden_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], hidden_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], output_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], output_biases: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], belief: PuzzleBelief) -> TopSpinNetwork:
    """A network with one hidden layer, as a heuristic of a puzzle."""

class PancakeInputs:
    """What a network sees of a state."""

    @property
    def size(self) -> int: ...

    def array(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """A row of numbers in 0..1 for each state."""

    def admissible(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The greatest admissible number of each, in moves."""

class PancakeNetwork:
    """A network with one hidden layer."""

    def values(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """What a search has for these states."""

class BlocksInputs:
    """What a network sees of a state."""

    @property
    def size(self) -> int: ...

    def array(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """A row of numbers in 0..1 for each state."""

    def admissible(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The greatest admissible number of each, in moves."""

class BlocksNetwork:
    """A network with one hidden layer."""

    def values(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """What a search has for these states."""

class TopSpinInputs:
    """What a network sees of a state."""

    @property
    def size(self) -> int: ...

    def array(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """A row of numbers in 0..1 for each state."""

    def admissible(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The greatest admissible number of each, in moves."""

class TopSpinNetwork:
    """A network with one hidden layer."""

    def values(self, states: Sequence[Sequence[int]]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """What a search has for these states."""
