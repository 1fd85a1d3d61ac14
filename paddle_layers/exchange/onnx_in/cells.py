"""Recurrent cells: recognition of a GRU, an LSTM or a plain RNN in the step of a recurrence.

A body is followed node by node. Every value in it is a sum of terms, each a leaf alone or times a matrix, where a leaf
is the input of the step, a state, a function of a sum, or a product of sums. So the order of the terms and the split of
matrices into gates do not matter, and the result is compared with the formulas of the three cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .layers import NotSupported
from .symbolic_values import ConstantValue

NO_FIT = "inconsistent sizes in the loop body"

Leaf = Any
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class AffineSum:
    """Terms, which have a matrix each or are taken as they are, and numbers that are added to them."""

    terms: tuple[tuple[Leaf, ConstantValue | None], ...] = ()
    offset: Array | None = None

    @property
    def leaf(self) -> Leaf:
        """The only term, where it is taken as it is."""
        alone = len(self.terms) == 1 and self.terms[0][1] is None and self.offset is None
        return self.terms[0][0] if alone else None


@dataclass(frozen=True)
class StepInput:
    """The row of a step."""


@dataclass(frozen=True)
class CellState:
    """State of the previous step, by its position among the states of the loop."""

    place: int


@dataclass(frozen=True)
class CellActivation:
    """An activation of a sum, by ONNX's name."""

    name: str
    of: AffineSum


@dataclass(frozen=True)
class Product:
    """Two sums multiplied, number by number."""

    first: AffineSum
    second: AffineSum

    def pairs(self) -> tuple[tuple[AffineSum, AffineSum], tuple[AffineSum, AffineSum]]:
        """Both, in either order."""
        return (self.first, self.second), (self.second, self.first)


@dataclass(frozen=True)
class OneMinus:
    """1 minus a sum."""

    of: AffineSum


def of(leaf: Leaf) -> AffineSum:
    """A leaf as it is."""
    return AffineSum(((leaf, None),))


def added(one: AffineSum, other: AffineSum) -> AffineSum:
    """Both sums in one; where one is 0, the other itself."""
    if not one.terms and one.offset is None:
        return other
    if not other.terms and other.offset is None:
        return one
    offset = other.offset if one.offset is None else one.offset
    if one.offset is not None and other.offset is not None:
        if one.offset.size != other.offset.size and 1 not in (one.offset.size, other.offset.size):
            raise NotSupported(NO_FIT)
        offset = one.offset + other.offset
    return AffineSum((*one.terms, *other.terms), offset)


def mapped(one: AffineSum, matrix: ConstantValue) -> AffineSum:
    """A sum times a matrix. Raises `NotSupported` where it is more than a leaf."""
    if one.leaf is None or matrix.array.ndim != 2:
        raise NotSupported("the loop body multiplies more than its input or state by a matrix")
    return AffineSum(((one.leaf, matrix),))


def cut(one: AffineSum, start: int, end: int) -> AffineSum:
    """Some of the columns of a sum of maps."""
    if any(matrix is None for _, matrix in one.terms):
        raise NotSupported("the loop body slices its input or state")
    terms = [(leaf, ConstantValue(m.array[:, start:end], m.source)) for leaf, m in one.terms if m is not None]
    return AffineSum(tuple(terms), None if one.offset is None else one.offset[start:end])


# ---- cells


class Gate(NamedTuple):
    """Maps of the row and of the state, with the numbers that are added to each."""

    weight: ConstantValue
    recall: ConstantValue
    bias: Array
    recalled_bias: Array


@dataclass(frozen=True)
class Cell:
    """The parameters of a recurrent cell; gates are in ONNX's order."""

    kind: str
    gates: tuple[Gate, ...]
    functions: tuple[str, ...]
    state: int
    reset_after: bool = False


def cell_of(result: AffineSum) -> Cell | None:
    """The cell that gives a sum, where it is one of those known."""
    return _gru(result) or _lstm(result) or _plain(result)


def _plain(result: AffineSum) -> Cell | None:
    name, sums = _function(result)
    state = _state_of(sums)
    gate = None if state is None else _gate(sums, state)
    return None if gate is None or state is None else Cell("RNN", (gate,), (name,), state)


def _gru(result: AffineSum) -> Cell | None:
    """`update * state + (1 - update) * candidate`."""
    products = _products(result, 2)
    for kept, new in (products, products[::-1]) if products else ():
        for update, state in kept.pairs():
            for rest, candidate in new.pairs():
                # Identity of the sum: a gate that merely has equal weights is another gate.
                of_update = isinstance(rest.leaf, OneMinus) and rest.leaf.of is update
                if of_update and isinstance(state.leaf, CellState):
                    return _gates_of_gru(update, state.leaf.place, candidate)
    return None


def _gates_of_gru(update: AffineSum, state: int, candidate: AffineSum) -> Cell | None:
    gate_act, of_update = _function(update)
    act, sums = _function(candidate)
    inner = [leaf for leaf, _ in sums.terms if isinstance(leaf, Product)]
    if len(inner) != 1:
        return None
    for reset, recalled in inner[0].pairs():
        name, of_reset = _function(reset)
        first, second = _gate(of_update, state), _gate(of_reset, state)
        if name != gate_act or first is None or second is None:
            continue
        third = _candidate(sums, inner[0], recalled, state)
        if third is not None:
            # The reset gate may be applied before or after the product with the state; both forms exist
            # (`reset_after`).
            after = recalled.leaf is None
            return Cell("GRU", (first, second, third), (gate_act, act), state, reset_after=after)
    return None


def _candidate(sums: AffineSum, product: Product, recalled: AffineSum, state: int) -> Gate | None:
    """The reset gate before or after the linear transformation of the state."""
    terms = dict(sums.terms)
    own = terms.get(StepInput())
    if own is None or len(terms) != 2:
        return None
    bias = _numbers(sums, own)
    before, after = terms[product], dict(recalled.terms).get(CellState(state))
    if recalled.leaf == CellState(state) and before is not None:
        return Gate(own, before, bias, np.zeros_like(bias))
    if before is None and after is not None and len(recalled.terms) == 1:
        return Gate(own, after, bias, _numbers(recalled, own))
    return None


def _lstm(result: AffineSum) -> Cell | None:
    """`output * act(cells)`, where the cells are `forget * cells + input * candidate`."""
    products = _products(result, 1)
    for output, outer in products[0].pairs() if products else ():
        state_act, cells = _function(outer)
        parts = _products(cells, 2)
        for old, new in (parts, parts[::-1]) if parts else ():
            for forget, before in old.pairs():
                for enter, candidate in new.pairs():
                    found = _gates_of_lstm((enter, output, forget), candidate, before, state_act)
                    if found is not None:
                        return found
    return None


def _gates_of_lstm(
    gates: tuple[AffineSum, AffineSum, AffineSum], candidate: AffineSum, before: AffineSum, state_act: str
) -> Cell | None:
    named = [_function(one) for one in (*gates, candidate)]
    state = _state_of(named[0][1])
    if not isinstance(before.leaf, CellState) or state is None or state == before.leaf.place:
        return None
    found = [_gate(sums, state) for _, sums in named]
    usual = len({name for name, _ in named[:3]}) == 1 and named[0][0] == "Sigmoid"
    if not usual or any(one is None for one in found):
        return None
    return Cell("LSTM", tuple(one for one in found if one), (named[0][0], named[3][0], state_act), state)


def _function(one: AffineSum) -> tuple[str, AffineSum]:
    """An activation and its argument; a sum alone is linear."""
    return (one.leaf.name, one.leaf.of) if isinstance(one.leaf, CellActivation) else ("Affine", one)


def _products(one: AffineSum, count: int) -> list[Product]:
    """All terms, where they are so many products."""
    fits = len(one.terms) == count and one.offset is None
    found = [leaf for leaf, matrix in one.terms if isinstance(leaf, Product) and matrix is None]
    return found if fits and len(found) == count else []


def _state_of(one: AffineSum) -> int | None:
    return next((leaf.place for leaf, _ in one.terms if isinstance(leaf, CellState)), None)


def _gate(one: AffineSum, state: int) -> Gate | None:
    """A map of the row and one of the state."""
    terms = dict(one.terms)
    own, recall = terms.get(StepInput()), terms.get(CellState(state))
    if len(one.terms) != 2 or own is None or recall is None:
        return None
    bias = _numbers(one, own)
    return Gate(own, recall, bias, np.zeros_like(bias))


def _numbers(one: AffineSum, matrix: ConstantValue) -> Array:
    width = matrix.array.shape[1]
    if one.offset is not None and one.offset.size not in (1, width):
        raise NotSupported(NO_FIT)
    return np.zeros(width, np.float32) if one.offset is None else np.broadcast_to(one.offset, (width,))
