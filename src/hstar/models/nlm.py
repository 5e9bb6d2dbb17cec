"""`nlm`: the Neural Logic Machine, a network over tuples of objects, for all tasks of a domain.

Dong et al., "Neural Logic Machines" (ICLR 2019); as a heuristic: Núñez-Molina et al., "On Using Admissible
Bounds for Learning Forward Search Heuristics" (arXiv 2308.11905).

Layer l gives every tuple of r objects features, r from 0 to the breadth (and to what the layers after it
still need):

    x_r = sigmoid(W_r [y_r and its axes in all r! orders] + b_r)
    y_r = [x_(r-1) along a new last axis, x_r, min of x_(r+1) over its last axis, max of the same]

The last layer has r = 0 only, and no sigmoid. Tensors are flat: a row for each tuple of each state, states
in the order of their numbers of objects, so that there is neither padding nor a mask.

The wide y_r is never there. A linear map of all orders is one of y_r to r! times the features, whose parts
are then brought in order and added, and one of a copy is a copy of it. What two layers compute of triples
depends on the types of their pairs only (see `PairTypes`): there are few types, so it is computed once for
each, and minima and maxima go over the ranks of types, which are small integers. Where no gradient is needed,
the core takes them.

Differences: 1. min and max over nothing are 1 and 0, as for all and exists. 2. Of several tuples that have
the minimum, one gets the gradient; weights see no difference, since tuples that are equal for weights that
are not special have equal gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby, permutations
from math import factorial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from hstar import _core
from hstar.models.nlm_config import NLMConfig

ORDERS = tuple(permutations(range(3)))
INVERSE = tuple(ORDERS.index((a.index(0), a.index(1), a.index(2))) for a in ORDERS)

MOST_ROWS = 1 << 14  # that one step looks at where no gradient is needed: a millisecond or two
_LAST_BITS = 16  # for the number of an object


class NLMInputs(NamedTuple):
    """A batch of states, in the order of their numbers of objects; see `NLMConfig.inputs`."""

    row: Tensor  # where each state is
    objects: Tensor
    nullary: Tensor
    unary: Tensor
    binary: Tensor
    ternary: Tensor
    # As in `PairTypes`.
    types: Tensor
    examples: Tensor
    codes: Tensor
    numbers: Tensor
    triples: Tensor


class Rows(NamedTuple):
    """Features of tuples: row `row[i]` of the table is the i-th."""

    table: Tensor
    row: Tensor

    def dense(self) -> Tensor:
        """A row for each tuple."""
        return self.table.index_select(0, self.row)


class Transform(nn.Module):
    """The linear map of one arity of a layer.

    Its weights are those of the definition: for each order of the axes those of the lower arity, of its own,
    and of minimum and maximum of the higher one.
    """

    def __init__(self, arity: int, lower: int, own: int, upper: int, features: int, *, gain: float) -> None:
        super().__init__()
        self.arity, self.lower, self.own = arity, lower, own
        self.linear = nn.Linear(factorial(arity) * (lower + own + upper), features)
        # A sigmoid leaves at most a quarter of a difference. After four of them fresh weights of PyTorch
        # leave nothing to learn from, and it takes hundreds of updates to get off that plateau.
        with torch.no_grad():
            self.linear.weight.mul_(gain)

    def forward(
        self,
        lower: Tensor | None,
        own: Tensor | Rows | None,
        upper: Tensor | None,
        places: Places | Types,
    ) -> Tensor:
        """Before the sigmoid: a row for each tuple of this arity."""
        _core.keep_limits()
        if self.arity == 3 and isinstance(places, Places) and not torch.is_grad_enabled():
            assert not isinstance(own, Rows) and upper is None
            return self._triples(lower, own, places)
        bias = self.linear.bias
        features, orders = len(bias), factorial(self.arity)
        weight = self.linear.weight.view(features, orders, -1).transpose(0, 1).reshape(orders * features, -1)
        of_lower, of_own, of_upper = weight.T.tensor_split([self.lower, self.lower + self.own])
        below = None if lower is None else lower @ of_lower
        # All is added in place, for none of these sums is needed again.
        z = None if below is None or self.arity == 3 else places.spread(self.arity, below)
        if isinstance(own, Rows):
            found = Rows(own.table @ of_own, own.row).dense()
            z = found if z is None else z.add_(found)
        elif own is not None:
            z = own @ of_own if z is None else z.addmm_(own, of_own)
        if upper is not None:
            z = upper @ of_upper if z is None else z.addmm_(upper, of_upper)
        if self.arity == 2 and isinstance(places, Places) and z is not None and not z.requires_grad:
            z = places.fold_pairs(z)
        elif self.arity > 1 and z is not None:
            index, inverse = places.orders(self.arity)
            z = cast(Tensor, _Fold.apply(z, index, inverse))  # type: ignore[no-untyped-call]
        if self.arity == 3 and below is not None:
            found = _fold(below, places.pairs)
            z = found if z is None else z.add_(found)
        assert z is not None
        return z.add_(bias)

    def _triples(self, lower: Tensor | None, own: Tensor | None, places: Places) -> Tensor:
        """The same for triples where no gradient is needed: one state can have millions of them.

        Orders come in twos, which differ in their last two axes. For triples with the same first object both
        of two are one product with what it is the first, the second or the third object of.
        """
        features = len(self.linear.bias)
        weight = self.linear.weight.view(features, 3, 2, -1).permute(1, 3, 2, 0).flatten(2)
        of_lower, of_own = weight.tensor_split([self.lower], dim=1)
        bias = torch.cat([self.linear.bias, torch.zeros_like(self.linear.bias)])
        # What pairs give to (i, j, k): those of i and j, and those of j and k.
        if lower is None:
            of_first = bias.expand(len(places.reverse), -1)
            of_last = torch.zeros_like(of_first)
        else:
            first, second, of_last = (lower @ part for part in of_lower)
            of_first = second.index_select(0, places.reverse).add_(first).add_(bias)
        found = bias.new_empty((int((places.sizes**3).sum()), features))
        for n, pairs, triples, objects in places.blocks():
            _core.keep_limits()
            z = of_first[pairs].view(-1, n, n, 1, 2 * features)[:, objects]
            z = z + of_last[pairs].view(-1, 1, n, n, 2 * features)
            if own is not None:
                x = own[triples].view(-1, n, n, n, self.own)
                views = (
                    x[:, objects],
                    x[:, :, objects].transpose(1, 2),
                    x[:, :, :, objects].permute(0, 3, 1, 2, 4),
                )
                wide = torch.stack(views, dim=4).view(-1, 3 * self.own)
                z.view(-1, 2 * features).addmm_(wide, of_own.flatten(0, 1))
            same, reverse = z.view(*z.shape[:4], 2, features).unbind(4)
            to = found[triples].view(-1, n, n, n, features)[:, objects]
            torch.add(same, reverse.transpose(2, 3), out=to)
        return found


class NLM(nn.Module):
    """The network; see the top of the file. `channels` are those of the inputs by arity."""

    def __init__(self, channels: Sequence[int], outputs: int, config: NLMConfig) -> None:
        super().__init__()
        self.exclude_self, self.residual = config.exclude_self, config.residual
        width = [*channels[: config.breadth + 1], *[0] * (4 - config.breadth)]
        self.layers = nn.ModuleList()
        for after in reversed(range(config.depth)):
            features = config.features if after else outputs
            layer, found = nn.ModuleDict(), [0] * 5
            for arity in range(min(config.breadth, after) + 1):
                parts = width[arity - 1] if arity else 0, width[arity], 2 * width[arity + 1]
                if any(parts):
                    layer[str(arity)] = Transform(arity, *parts, features, gain=config.gain)
                    found[arity] = features + (width[arity] if config.residual else 0)
            self.layers.append(layer)
            width = found

    def forward(self, inputs: NLMInputs) -> Tensor:
        """Raw outputs of a batch of states, (states, outputs)."""
        places = Places(inputs.objects, self.exclude_self)
        values = (inputs.nullary, inputs.unary, inputs.binary, inputs.ternary)
        x: list[Tensor | Rows | None] = [value if value.shape[1] else None for value in values]
        typed = self._by_types(inputs, places) if len(inputs.types) else None
        for number, layer in enumerate(self._layers()):
            new: list[Tensor | Rows | None] = [None] * 4
            if typed is not None and number == 2 and 3 in layer:
                x[3] = typed.triples(places)
            for arity, transform in layer.items():
                if typed is not None and (number, arity) in ((0, 2), (0, 3), (1, 3)):
                    # Triples are read by `_by_types` and by minima and maxima only, both of which are done.
                    new[arity] = typed.pairs if arity == 2 else None
                    continue
                lower, own = x[arity - 1] if arity else None, x[arity]
                if typed is not None and arity == 2 and number in (1, 2):
                    upper = typed.extremes[number - 1]
                else:
                    upper = places.extremes(arity + 1, x[arity + 1]) if arity < 3 else None
                z = transform(_dense(lower), own, upper, places)
                if number == len(self.layers) - 1:
                    return cast(Tensor, z.index_select(0, inputs.row))
                new[arity] = self._hand_on(_dense(own) if self.residual else None, z)
            x = new
        raise AssertionError("the last layer has no outputs")

    def _layers(self) -> list[dict[int, Transform]]:
        layers = cast("list[nn.ModuleDict]", list(self.layers))
        return [{int(arity): cast(Transform, part) for arity, part in layer.items()} for layer in layers]

    def _hand_on(self, old: Tensor | None, z: Tensor) -> Tensor:
        old = old if self.residual else None
        if torch.is_grad_enabled():
            new = z.sigmoid()
            return new if old is None else torch.cat([old, new], dim=1)
        begin = 0 if old is None else old.shape[1]
        found = z.new_empty((len(z), begin + z.shape[1]))
        for part in slices(len(z)):
            if old is not None:
                found[part, :begin] = old[part]
            torch.sigmoid(z[part], out=found[part, begin:])
        return found

    def _by_types(self, inputs: NLMInputs, places: Places) -> Typed:
        """What the types of pairs and triples decide: pairs after one layer, triples after one and two."""
        types = Types(inputs, places)
        first, second = self._layers()[:2]
        unary = inputs.unary.index_select(0, types.first) if inputs.unary.shape[1] else None
        binary = inputs.binary.index_select(0, inputs.examples) if inputs.binary.shape[1] else None
        pairs = self._hand_on(binary, first[2](unary, binary, None, types))
        z = [first[3](binary, None, None, types)] if 3 in first else []
        triples = z[0].sigmoid() if z else None
        if 3 in second:
            z.append(second[3](pairs, triples, None, types))
            triples = self._hand_on(triples, z[-1])
        if not z:
            return Typed(inputs, Rows(pairs, inputs.types), triples, (None, None))
        found = typed_extremes(z, types, places)
        extremes = [found[0] if 3 in first else None, found[-1] if 3 in second else None]
        if self.residual and len(found) == 2:
            parts = [half for i in (0, 1) for half in (one.chunk(2, dim=1)[i] for one in found)]
            extremes[1] = torch.cat(parts, dim=1)
        return Typed(inputs, Rows(pairs, inputs.types), triples, (extremes[0], extremes[1]))


def _dense(x: Tensor | Rows | None) -> Tensor | None:
    return x.dense() if isinstance(x, Rows) else x


def slices(rows: int) -> Iterator[slice]:
    """All rows, a few at a time; a search is asked before each whether it has to stop."""
    for begin in range(0, rows, MOST_ROWS):
        _core.keep_limits()
        yield slice(begin, begin + MOST_ROWS)


# --- where tuples are -----------------------------------------------------------------------------------


class Places:
    """Where the tuples of a batch are in flat tensors, and what of them is combined with what."""

    def __init__(self, objects: Tensor, exclude_self: bool) -> None:
        self.exclude_self = exclude_self
        self.sizes = objects
        self.groups = [(n, len(list(group))) for n, group in groupby(objects.tolist())]
        self._last_axis: dict[int, tuple[Tensor, Tensor, Tensor, Tensor]] = {}

    def slices(self, arity: int) -> Iterator[tuple[int, slice]]:
        """Of all states with the same number of objects: that number, and where tuples of them are."""
        begin = 0
        for n, states in self.groups:
            end = begin + states * n**arity
            if n:
                yield n, slice(begin, end)
            begin = end

    def blocks(self) -> Iterator[tuple[int, slice, slice, slice]]:
        """All triples, a few at a time: those of all objects of some states, or of some first objects of one.

        The states' number of objects, where their pairs and triples are, and the first objects.
        """
        for (n, pairs), (_, triples) in zip(self.slices(2), self.slices(3), strict=True):
            states, objects = max(1, MOST_ROWS // n**3), max(1, MOST_ROWS // n**2)
            for begin, pair in zip(
                range(triples.start, triples.stop, states * n**3),
                range(pairs.start, pairs.stop, states * n**2),
                strict=True,
            ):
                end = min(begin + states * n**3, triples.stop)
                part = slice(pair, min(pair + states * n**2, pairs.stop)), slice(begin, end)
                for first in range(0, n, objects):
                    yield n, *part, slice(first, first + objects)

    @cached_property
    def of_object(self) -> Tensor:
        return torch.repeat_interleave(self.sizes)

    @cached_property
    def first(self) -> Tensor:
        return torch.repeat_interleave(self.sizes[self.of_object])

    @cached_property
    def reverse(self) -> Tensor:
        return self._order((1, 0))

    def orders(self, arity: int) -> tuple[Tensor, Tensor]:
        """For each order of the axes: the pair or triple that every one is then; and the same undone."""
        if arity == 2:
            both = torch.stack([torch.arange(len(self.reverse), device=self.sizes.device), self.reverse])
            return both, both
        return self._triples, self._triples[list(INVERSE)]

    @cached_property
    def _triples(self) -> Tensor:
        return torch.stack([self._order(axes) for axes in ORDERS])

    @cached_property
    def pairs(self) -> Tensor:
        """For each order of the axes: the pair that every triple begins with then."""
        return torch.repeat_interleave(self.sizes[self.of_object[self.first]])[self._triples]

    def _order(self, axes: tuple[int, ...]) -> Tensor:
        parts = [torch.zeros(0, dtype=torch.int64, device=self.sizes.device)]
        for n, part in self.slices(len(axes)):
            rows = torch.arange(part.start, part.stop, device=self.sizes.device).view(-1, *[n] * len(axes))
            parts.append(rows.permute(0, *(axis + 1 for axis in axes)).reshape(-1))
        return torch.cat(parts)

    def spread(self, arity: int, x: Tensor) -> Tensor:
        """Rows of the arity below, along a new last axis."""
        if arity == 2 and not x.requires_grad:
            found = x.new_empty((int((self.sizes**2).sum()), x.shape[1]))
            for (n, objects), (_, pairs) in zip(self.slices(1), self.slices(2), strict=True):
                found[pairs].view(-1, n, x.shape[1]).copy_(x[objects][:, None])
            return found
        return x.index_select(0, self.of_object if arity == 1 else self.first)

    def fold_pairs(self, x: Tensor) -> Tensor:
        """What `_fold` gives for pairs: views of the states take a fraction of the time of lists of rows."""
        channels = x.shape[1] // 2
        found = x.new_empty((len(x), channels))
        for n, pairs in self.slices(2):
            same, reverse = x[pairs].view(-1, n, n, 2, channels).unbind(3)
            torch.add(same, reverse.transpose(1, 2), out=found[pairs].view(same.shape))
        return found

    def extremes(self, arity: int, x: Tensor | Rows | None) -> Tensor | None:
        """Minima and maxima over the last axis, beside each other."""
        if x is None:
            return None
        table, row = x if isinstance(x, Rows) else (x, None)
        if _for_core(table):
            return self._native_extremes(arity, table, row)
        if row is not None:
            order = _ascending(table)
            return _at_ranks(table, order, self._native_extremes(arity, _ranks(order), row))
        begins, index, last, empty = self.last_axis(arity)
        nothing = torch.cat([table.new_ones(table.shape[1]), table.new_zeros(table.shape[1])])
        if not len(table):
            return nothing.expand(len(empty), -1)
        found = _extremes(table, index, begins, last)
        return torch.where(empty[:, None], nothing, found) if bool(empty.any()) else found

    def _native_extremes(self, arity: int, table: Tensor, row: Tensor | None) -> Tensor:
        result = table.new_empty((1, int((self.sizes ** (arity - 1)).sum()), 2 * table.shape[1]))
        _core.nlm_tuple_extremes(
            table=table.contiguous()[None].numpy(),
            row=None if row is None else row.cpu().numpy(),
            objects=self.sizes.cpu().numpy(),
            arity=arity,
            exclude_self=self.exclude_self,
            result=result.numpy(),
        )
        return result[0]

    def last_axis(self, arity: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """How tuples of an arity belong to those of one object less.

        Of the latter: where their rows begin, which rows to look at (objects, tuples), whether there are
        none. All have as many rows to look at as the largest state needs: some are there twice, which
        changes neither minimum nor maximum. Third comes the last object of every row.
        """
        if arity in self._last_axis:
            return self._last_axis[arity]
        sizes = self.sizes if arity == 1 else self.sizes[self.of_object]
        if arity > 2:
            sizes = sizes[self.first]
        most = max((n for n, _ in self.groups), default=0)
        last = torch.arange(most, device=sizes.device)[:, None]
        allowed, spare, empty = last < sizes, torch.zeros_like(sizes), sizes == 0
        if self.exclude_self and arity > 1:
            within = torch.arange(len(self.of_object), device=sizes.device)
            within = within - (torch.cumsum(self.sizes, 0) - self.sizes)[self.of_object]
            others = [within] if arity == 2 else [within[self.first], within[self.first[self.reverse]]]
            for other in others * 2:
                spare = spare + (spare == other)
            for other in others:
                allowed = allowed & (last != other)
            empty = sizes < arity
        begins = torch.cumsum(sizes, 0) - sizes
        total = int(sizes.sum())
        index = (begins + torch.where(allowed, last, spare)).clamp(max=max(0, total - 1))
        last = torch.arange(total, device=sizes.device) - begins.repeat_interleave(sizes)
        self._last_axis[arity] = begins, index, last, empty
        return self._last_axis[arity]


class Types:
    """The same for types of pairs and triples instead of pairs and triples."""

    def __init__(self, inputs: NLMInputs, places: Places) -> None:
        self.codes, self.numbers = inputs.codes, inputs.numbers
        self.of_pair = inputs.types
        self.first = places.first[inputs.examples]
        self.reverse = inputs.types[places.reverse[inputs.examples]].long()
        self._triples = inputs.triples

    def spread(self, arity: int, x: Tensor) -> Tensor:
        """Rows are of pairs already."""
        return x

    def orders(self, arity: int) -> tuple[Tensor, Tensor]:
        """For each order of the axes: the type that pairs or triples of every type have then; and undone."""
        if arity == 2:
            same = torch.arange(len(self.reverse), dtype=self.reverse.dtype, device=self.reverse.device)
            both = torch.stack([same, self.reverse])
            return both, both
        found = []
        for a, b, c in map(np.argsort, ORDERS):
            types = self._pair(a, b), self._pair(a, c), self._pair(b, c)
            codes = [code[type_] for code, type_ in zip(self.codes, types, strict=True)]
            found.append(self.numbers[codes[0] + codes[1] + codes[2]])
        triples = torch.stack(found)
        return triples, triples[list(INVERSE)]

    @cached_property
    def pairs(self) -> Tensor:
        """For each order of the axes: the type of the pair that triples of every type begin with then."""
        return torch.stack([self._pair(axes.index(0), axes.index(1)) for axes in ORDERS])

    def _pair(self, a: int, b: int) -> Tensor:
        return self._triples[a + b - 1] if a < b else self.reverse[self._triples[a + b - 1]]


class Typed(NamedTuple):
    """Features after the first layers, which `NLM._by_types` computes once for tuples of equal types."""

    inputs: NLMInputs
    pairs: Rows  # features after the first layer
    by_triple: Tensor | None  # features of types of triples after the second layer
    extremes: tuple[Tensor | None, Tensor | None]  # over triples, of every pair, after the two layers

    def triples(self, places: Places) -> Tensor | None:
        if self.by_triple is None:
            return None
        inputs, codes = self.inputs, [code[self.inputs.types] for code in self.inputs.codes]
        found = [self.by_triple[:0]]
        for n, pairs, _, objects in places.blocks():
            _core.keep_limits()
            first, second, third = (code[pairs].view(-1, n, n) for code in codes)
            place = first[:, objects, :, None] + second[:, objects, None, :] + third[:, None, :, :]
            found.append(self.by_triple.index_select(0, inputs.numbers[place.view(-1)]))
        return torch.cat(found)


# --- minima and maxima ----------------------------------------------------------------------------------


def typed_extremes(z: list[Tensor], types: Types, places: Places) -> list[Tensor]:
    """Of each z, values for types of triples before the sigmoid: what `Places.extremes` gives after it."""
    orders = [] if all(map(_for_core, z)) else [_ascending(one) for one in z]
    if orders:
        table = torch.stack([_ranks(order) for order in orders])
    else:
        table = z[0].new_empty((len(z), *z[0].shape))
        for part in slices(len(z[0])):
            torch.stack([one[part] for one in z], out=table[:, part])
            table[:, part].sigmoid_()
    result = table.new_empty((len(z), len(types.of_pair), 2 * table.shape[2]))
    _core.nlm_triple_extremes(
        table=table.numpy(),
        types=types.of_pair.cpu().numpy(),
        codes=types.codes.cpu().numpy(),
        numbers=types.numbers.cpu().numpy(),
        objects=places.sizes.cpu().numpy(),
        exclude_self=places.exclude_self,
        result=result.numpy(),
    )
    if not orders:
        return list(result)
    return [
        _at_ranks(one.sigmoid(), order, ranks) for one, order, ranks in zip(z, orders, result, strict=True)
    ]


def _for_core(x: Tensor) -> bool:
    """Whether the core takes minima and maxima of these themselves; where gradients flow, of their ranks."""
    return not x.requires_grad and x.device.type == "cpu" and x.dtype == torch.float32


def _ascending(table: Tensor) -> Tensor:
    """The rows (channels, rows) of a table by the values of each channel. NumPy sorts faster than torch."""
    return torch.from_numpy(np.argsort(table.detach().T.contiguous().cpu().numpy(), axis=1))


def _ranks(order: Tensor) -> Tensor:
    """(rows, channels), for the core: 1 for the lowest value of a channel, 2 for the next, all / (rows + 1).

    So the minimum over nothing, 1, comes after the last, and the maximum over nothing, 0, before the first.
    """
    channels, number = order.shape
    ascending = torch.arange(1, number + 1) / (number + 1)
    return torch.empty((channels, number)).scatter_(1, order, ascending.expand(channels, -1)).T.contiguous()


def _at_ranks(table: Tensor, order: Tensor, ranks: Tensor) -> Tensor:
    """The values that have these `_ranks`, minima and maxima beside each other."""
    channels, number = order.shape
    ends = table.new_tensor([[0.0], [1.0]]).expand(2, channels)[:, :, None]
    ordered = torch.cat([ends[0], table.T.gather(1, order.to(table.device)), ends[1]], dim=1)
    begins = torch.arange(channels) * (number + 2)
    index = (ranks * (number + 1)).round_().to(torch.int64).add_(begins.repeat(2))
    return _pick(ordered.view(-1), index.to(table.device))


def _extreme_rows(x: Tensor, index: Tensor) -> Tensor:
    """The lowest and, beside it, the highest of the rows that each column of `index` lists."""
    low = x.index_select(0, index[0])
    high, slab = low.clone(), torch.empty_like(low)
    for row in index[1:]:
        torch.index_select(x, 0, row, out=slab)
        torch.minimum(low, slab, out=low)
        torch.maximum(high, slab, out=high)
    return torch.cat([low, high], dim=1)


def _extremes(x: Tensor, index: Tensor, begins: Tensor, last: Tensor) -> Tensor:
    """Minimum and maximum of each channel beside each other, of the rows in each column of `index`.

    Values are from 0 to 1, so that they are in the order of the integers that have their bits. The last
    bits, which those of a float32 do not use in a float64, say which row it is.
    """
    if not x.requires_grad:
        return _extreme_rows(x, index)
    bits = x.detach().double().view(torch.int64).bitwise_and(-1 << _LAST_BITS).bitwise_or_(last[:, None])
    found = _extreme_rows(bits, index).bitwise_and_((1 << _LAST_BITS) - 1)
    channels = torch.arange(x.shape[1], device=x.device).repeat(2)
    place = found.add_(begins[:, None]).mul_(x.shape[1]).add_(channels)
    return _pick(x.reshape(-1), place)


def _pick(x: Tensor, index: Tensor) -> Tensor:
    """x[index], for many entries of a short x: the gradient of `gather` is the fastest."""
    return x.gather(0, index.view(-1)).view(index.shape)


def _fold(x: Tensor, index: Tensor) -> Tensor:
    """The channels are in as many parts as `index` (parts, rows) has: the sum of those rows of the parts."""
    parts, rows = index.shape
    channels = x.shape[1] // parts
    table, numbers = x.reshape(len(x) * parts, channels), torch.arange(parts, device=x.device)[:, None]
    found = []
    for part in slices(rows):
        place = index[:, part] * parts + numbers
        found.append(table.index_select(0, place.view(-1)).view(parts, -1, channels).sum(0))
    return torch.cat(found) if found else x.new_empty((0, channels))


class _Fold(torch.autograd.Function):
    """The same where each part of `index` is a permutation, which that of `inverse` undoes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(inverse)
        return _fold(x, index)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (inverse,) = ctx.saved_tensors
        found = gradients[0].index_select(0, inverse.T.reshape(-1))
        return found.view(inverse.shape[1], len(inverse) * found.shape[1]), None, None
