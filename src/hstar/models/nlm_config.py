"""Options of `nlm`, without torch, and how it reads states: truth values for all tuples of objects.

For each arity there is a row for every tuple of objects of every state, and a channel for every predicate:
first whether it holds in the state, then whether the goal asks for it. States are put in the order of
their numbers of objects, so that nothing has to be padded. Objects have channels for their types and
constants after that, if the domain has constants or more than one type; with a single type they would say
nothing.

Few different things are true of pairs, however many pairs there are. So `inputs` numbers the pairs by all
that holds of them and of their objects, and the network computes what depends on that only once for each
number (`PairTypes`). In a search objects that nothing tells apart are there once: like balls in one room
that have to go to one other. The network itself is in `nlm.py`, which is imported when one is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hstar import _core
from hstar.errors import UnsupportedError
from hstar.models.model import MODELS
from hstar.models.relational_model import Integers, RelationalModel, StateRows
from hstar.options import Checked, option
from hstar.spaces.relations import Relations, Vocabulary

if TYPE_CHECKING:
    from hstar.models.nlm import NLM, NLMInputs

MAX_BREADTH = 3  # there are n^4 tuples of four objects, and 24 orders of each

_BITS = 16  # channels that are packed into one number at a time
# Types of triples are looked for if there are less triples than this for each that is possible: then sorting
# values of types that there are not would take longer.
_LOOK = 100
# A forward pass is over so many pairs, or this times as many triples: what it needs stays below a GB.
_MOST_TUPLES = 1 << 17
_TRIPLES_OF_PAIR = 1 << 5
_TABLE = 1 << 20  # codes below this are looked up in a table, others are sorted


@MODELS.register("nlm")
@dataclass(frozen=True)
class NLMConfig(Checked, RelationalModel):
    """Options of the Neural Logic Machine."""

    name: ClassVar[str] = "nlm"

    features: int = option(16, "Features of a tuple of objects in hidden layers.", least=1, most=4096)
    depth: int = option(5, "Layers, with that of the outputs.", least=1, most=256)
    breadth: int = option(3, "The largest number of objects in a tuple: 1 to 3.", least=1, most=MAX_BREADTH)
    exclude_self: bool = option(False, "Minima and maxima are over tuples of different objects only.")
    residual: bool = option(False, "Layers hand on their inputs beside their outputs.")
    gain: float = option(3.0, "Fresh weights are those of PyTorch times this; 1: as published.", above=0)

    def encode(self, words: Vocabulary, relations: Relations) -> NLMInstance:
        self._check(words)
        relations.check_positive_goal(self.name)
        channels = Channels.of(words)
        objects = {name: i for i, name in enumerate(relations.objects)}
        n = len(objects)

        def place(atom: tuple[str, ...], by_predicate: tuple[int, ...]) -> tuple[int, int, int]:
            position = 0
            for name in atom[1:]:
                position = position * n + objects[name]
            return len(atom) - 1, by_predicate[words.predicate_number[atom[0]]], position

        fixed = [place(atom, channels.goal) for atom in sorted(relations.goal)]
        for i, kind in enumerate(relations.kinds):
            if (channel := channels.kinds[kind]) is not None:
                fixed.append((1, channel, i))
        held = [place(atom, channels.state) for atom in relations.atoms]
        return NLMInstance(n, _columns(held), _columns(fixed))

    def inputs(self, words: Vocabulary, states: StateRows) -> NLMInputs:
        return self._inputs(Channels.of(words).counts, *_truth(states))

    def search_inputs(self, words: Vocabulary, states: StateRows) -> Iterator[NLMInputs]:
        """States have no twins: outputs are the same, but for rounding."""
        counts = Channels.of(words).counts
        objects, state, entries = _truth(states)
        if not counts[3]:
            most = self.breadth if self.exclude_self else 1
            objects, state, entries = _without_twins(objects, state, entries, most)
        tuples = objects**2 + (objects**3 // _TRIPLES_OF_PAIR if self.breadth == MAX_BREADTH else 0)
        part = np.cumsum(tuples) // _MOST_TUPLES
        for number in np.unique(part):
            begin, end = np.searchsorted(part, [number, number + 1])
            those = (begin <= state) & (state < end)
            yield self._inputs(counts, objects[begin:end], state[those] - begin, entries[:, those])

    def _inputs(
        self, counts: tuple[int, ...], objects: Integers, state: Integers, entries: Integers
    ) -> NLMInputs:
        import torch

        from hstar.models.nlm import NLMInputs

        order = np.argsort(objects, kind="stable")
        sizes = objects[order]
        row = np.empty_like(order)
        row[order] = np.arange(len(order))

        values: list[npt.NDArray[np.float32]] = []
        for arity in range(MAX_BREADTH + 1):
            tuples = sizes**arity
            if not counts[arity]:
                # Without channels nobody looks at the rows, but their number has to fit.
                values.append(np.zeros((0 if arity > 2 else int(tuples.sum()), 0), dtype=np.float32))
                continue
            chosen_entries = entries[0] == arity
            begins = _begins(tuples)
            rows = begins[row[state[chosen_entries]]] + entries[2, chosen_entries]
            found = np.zeros((int(tuples.sum()), counts[arity]), dtype=np.float32)
            found.reshape(-1)[rows * counts[arity] + entries[1, chosen_entries]] = 1
            values.append(found)
        types = NO_TYPES
        if self.breadth == 3 and self.depth > 3 and not counts[3] and (counts[1] or counts[2]):
            types = pair_types(sizes, values[1], values[2])
        return NLMInputs(*map(torch.from_numpy, (row, sizes, *values, *types)))

    def build(self, words: Vocabulary, outputs: int) -> NLM:
        from hstar.models.nlm import NLM

        self._check(words)
        return NLM(Channels.of(words).counts, outputs, self)

    def _check(self, words: Vocabulary) -> None:
        for name, arity in words.predicates:
            for limit in ("breadth", "depth"):
                if arity > getattr(self, limit):
                    advice = f"nlm needs a {limit} of {arity} for it"
                    if arity > MAX_BREADTH:
                        advice = f"nlm reads at most {MAX_BREADTH}; use another model, such as wl"
                    raise UnsupportedError(
                        f"predicate {name} of {words.domain} has {arity} arguments, and {advice}"
                    )
        if not words.predicates:
            raise UnsupportedError(f"{words.domain} has no predicates, and nlm reads nothing else")


# --- channels ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channels:
    """The place of every predicate among those of its arity, and of every type and constant."""

    counts: tuple[int, ...]  # per arity from 0 to MAX_BREADTH
    state: tuple[int, ...]  # per predicate: its channel for what holds
    goal: tuple[int, ...]
    kinds: tuple[int | None, ...]  # per type, then per constant: its channel of arity 1

    @staticmethod
    def of(words: Vocabulary) -> Channels:
        arities = [arity for _, arity in words.predicates]
        state = [arities[:i].count(arity) for i, arity in enumerate(arities)]
        counts = [2 * arities.count(arity) for arity in range(MAX_BREADTH + 1)]
        kinds: list[int | None] = [None] * (len(words.types) + len(words.constants))
        types = [i for i, name in enumerate(words.types) if name != "object"]
        if words.constants or len(types) > 1:
            for i in (*types, *range(len(words.types), len(kinds))):
                kinds[i] = counts[1]
                counts[1] += 1
        goal = [place + arities.count(arity) for place, arity in zip(state, arities, strict=True)]
        return Channels(tuple(counts), tuple(state), tuple(goal), tuple(kinds))


@dataclass(frozen=True, eq=False)
class NLMInstance:
    """Number of objects, and for all atoms and for what is true in every state: arity, channel, tuple."""

    objects: int
    atoms: Integers  # (3, atoms)
    fixed: Integers  # (3, atoms of the goal and kinds of objects)


def _columns(entries: list[tuple[int, int, int]]) -> Integers:
    found: Integers = np.array(entries, dtype=np.int64).reshape(-1, 3).T.copy()
    return found


def _truth(states: StateRows) -> tuple[Integers, Integers, Integers]:
    """Numbers of objects, and all that is true: of which state, and arity, channel and tuple (3, entries)."""
    used, instance = np.unique(states.instance, return_inverse=True)
    chosen: list[NLMInstance] = [states.instances[i] for i in used]
    objects = np.array([one.objects for one in chosen], dtype=np.int64)[instance]
    atoms = np.array([one.atoms.shape[1] for one in chosen], dtype=np.int64)
    fixed = np.array([one.fixed.shape[1] for one in chosen], dtype=np.int64)
    known = np.concatenate([np.zeros((3, 0), dtype=np.int64), *(one.atoms for one in chosen)], axis=1)
    given = np.concatenate([np.zeros((3, 0), dtype=np.int64), *(one.fixed for one in chosen)], axis=1)
    held = known[:, _begins(atoms)[instance[states.state]] + states.atom]
    number = fixed[instance]
    owner = np.repeat(np.arange(len(states)), number)
    within = np.arange(len(owner)) - np.repeat(_begins(number), number)
    always = given[:, _begins(fixed)[instance[owner]] + within]
    return objects, np.concatenate([states.state, owner]), np.concatenate([held, always], axis=1)


# --- twins ------------------------------------------------------------------------------------------------


def _without_twins(
    objects: Integers, state: Integers, entries: Integers, most: int
) -> tuple[Integers, Integers, Integers]:
    """Numbers of objects and what is true, with at most so many of any objects that are twins.

    The same is true of twins, alone and with every object, themselves too. So tuples in which one takes the
    place of another have the same features in all layers, and minima and maxima need one of them; if they are
    over different objects, as many as there are in a tuple. Atoms have at most two arguments here.
    """
    if not objects.any():
        return objects, state, entries
    arity, channel, position = entries
    argued = np.flatnonzero(arity)
    owner, single = state[argued], arity[argued] == 1
    first, second = np.divmod(position[argued], objects[owner])
    begins = _begins(objects)
    one, two = begins[owner] + np.where(single, second, first), begins[owner] + second

    # Sums of 64 random bits for all that is true of an object stand for the set of it.
    of_object = np.repeat(np.arange(len(objects)), objects)
    told = _random_bits(of_object)
    for role, own, other in ((0, one, two), (1, two, one)):
        what = ((channel[argued] * 2 + single) * 2 + role + 1) << 32  # from 1 on: others than those of states
        np.add.at(told, own, _random_bits(what + np.where(single, 0, other)))
    kept = _places_among(np.unique(told, return_inverse=True)[1])[0] < most
    if kept.all():
        return objects, state, entries

    left = np.bincount(of_object[kept], minlength=len(objects))
    number = np.cumsum(kept) - kept - _begins(left)[of_object]
    stays, moved = np.ones(len(arity), dtype=bool), np.zeros_like(position)
    stays[argued] = kept[one] & kept[two]
    moved[argued] = np.where(single, 0, number[one] * left[owner]) + number[two]
    return left, state[stays], np.stack([arity, channel, moved])[:, stays]


def _random_bits(numbers: Integers) -> npt.NDArray[np.uint64]:
    """Of numbers from 0 on, by the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: npt.NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return found


# --- types of pairs and triples -------------------------------------------------------------------------


class PairTypes(NamedTuple):
    """Pairs by all that is true of them: pairs of one type differ in nothing that the inputs tell.

    A triple is of the type (that of its first two objects, of the first and the last, of the last two). It
    has the number `numbers[place]`, where the place is the sum of `codes[0]`, `codes[1]` and `codes[2]` of
    the three. Types that there are no triples of have the number -1, as far as that is easy to tell.
    """

    types: npt.NDArray[np.int32]  # of every pair; none: there would be too many types of triples
    examples: Integers  # a pair of each type
    codes: npt.NDArray[np.int32]  # (3, types)
    numbers: npt.NDArray[np.int32]
    triples: Integers  # (3, types of triples): the types of their pairs


NO_TYPES = PairTypes(
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.int64),
    np.zeros((3, 0), dtype=np.int32),
    np.zeros(0, dtype=np.int32),
    np.zeros((3, 0), dtype=np.int64),
)


def pair_types(sizes: Integers, unary: npt.NDArray[np.float32], binary: npt.NDArray[np.float32]) -> PairTypes:
    """The types of all pairs of all states, given the numbers of objects and the truth values."""
    first, second, reverse = _pairs(sizes)
    if not len(first):
        return NO_TYPES
    objects, num_objects = _compress(*_pack(unary))
    relation, num_relations = _compress(*_pack(binary))
    both, num_both = _compress(relation * num_relations + relation[reverse], num_relations**2)
    ends, num_ends = objects[first] * num_objects + objects[second], num_objects**2
    types, number = _compress(ends * num_both + both, num_ends * num_both)
    examples = np.empty(number, dtype=np.int64)
    examples[types] = np.arange(len(types))

    # A triple's number: the type of its first pair, the second's among those of the same first object, and
    # the third's among those of the same two objects.
    start, end = objects[first[examples]], objects[second[examples]]
    among_first, most_first = _places_among(start)
    among_both, most_both = _places_among(start * num_objects + end)
    places = number * most_first * most_both
    if places > max(1 << 16, int((sizes**3).sum())):
        return NO_TYPES
    by_first = np.full((num_objects, most_first), -1)
    by_first[start, among_first] = np.arange(number)
    by_both = np.full((num_objects, num_objects, most_both), -1)
    by_both[start, end, among_both] = np.arange(number)
    others = by_first[start]  # (type, place among the first)
    thirds = by_both[end[:, None], end[others]]  # (type, place among the first, place among both)
    valid = (others >= 0)[:, :, None] & (thirds >= 0)
    codes = [np.arange(number) * most_first * most_both, among_first * most_both, among_both]
    if int((sizes**3).sum()) < _LOOK * np.count_nonzero(valid):
        valid &= _seen(sizes, [code[types] for code in codes], places).reshape(valid.shape)
    one, two, three = np.nonzero(valid)
    return PairTypes(
        types.astype(np.int32),
        examples,
        np.stack(codes).astype(np.int32),
        np.where(valid, np.cumsum(valid).reshape(valid.shape) - 1, -1).reshape(-1).astype(np.int32),
        np.stack([one, others[one, two], thirds[one, two, three]]),
    )


def _seen(sizes: Integers, codes: list[Integers], places: int) -> npt.NDArray[np.bool_]:
    """Which places of types there are triples at."""
    seen, begin = np.zeros(places, dtype=bool), 0
    for n, group in groupby(sizes.tolist()):
        pairs = slice(begin, begin + len(list(group)) * n * n)
        first, second, third = (code[pairs].reshape(-1, max(n, 1), max(n, 1)) for code in codes)
        for i in range(n):
            _core.keep_limits()
            seen[first[:, i, :, None] + second[:, i, None, :] + third] = True
        begin = pairs.stop
    return seen


def _pairs(sizes: Integers) -> tuple[Integers, Integers, Integers]:
    """Of every pair of objects of every state: the rows of both objects, and of the pair the other way."""
    of_object = np.repeat(np.arange(len(sizes)), sizes)
    first = np.repeat(np.arange(len(of_object)), sizes[of_object])
    state = of_object[first]
    n, object_, pair = sizes[state], _begins(sizes)[state], _begins(sizes**2)[state]
    i = first - object_
    j = np.arange(len(first)) - pair - i * n
    return first, object_ + j, pair + j * n + i


def _begins(lengths: Integers) -> Integers:
    """Where each of some parts begins that are behind one another."""
    begins: Integers = np.cumsum(lengths) - lengths
    return begins


def _pack(values: npt.NDArray[np.float32]) -> tuple[Integers, int]:
    """A code for the channels of each row, and what no code reaches."""
    codes, bound = np.zeros(len(values), dtype=np.int64), 1
    for begin in range(0, values.shape[1], _BITS):
        part = values[:, begin : begin + _BITS]
        bits = (part @ (2.0 ** np.arange(part.shape[1], dtype=np.float32))).astype(np.int64)
        codes, bound = _compress(codes, bound)
        codes, bound = (codes << part.shape[1]) + bits, bound << part.shape[1]
    return codes, bound


def _compress(codes: Integers, bound: int) -> tuple[Integers, int]:
    """Numbers for the codes that there are, in their order, and how many there are."""
    if bound <= _TABLE:
        seen = np.zeros(bound, dtype=bool)
        seen[codes] = True
        numbers = np.cumsum(seen) - 1
        return numbers[codes], int(numbers[-1]) + 1 if bound else 0
    known, found = np.unique(codes, return_inverse=True)
    return found.reshape(-1), len(known)


def _places_among(group: Integers) -> tuple[Integers, int]:
    """Of each entry: how many before it are in the same group; and the size of the largest group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(begins, append=len(group))
    places = np.empty_like(order)
    places[order] = np.arange(len(group)) - np.repeat(begins, counts)
    return places, int(counts.max())
