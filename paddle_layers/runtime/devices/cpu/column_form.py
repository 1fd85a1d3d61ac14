"""Vectorization of column reductions: a point function whose loops run across rows, for many adjacent columns at once.

The sum of a column has a stride of one row, but adjacent columns are contiguous. Here the loop over the rows is the
outer one, and every other statement runs for all adjacent columns (lanes) in a vectorized loop; intermediate values are
arrays of lanes. The order of each element's own operations is preserved.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from typing import Any

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program

NAME = "columns_"
LANE, FIRST, WIDTH = "lane_", "first_", "width_"
"""Lane index, index of the first lane, number of lanes."""


def column_form(program: Program, lane: str, single: Set[str] = frozenset()) -> Program | None:
    """A function that computes `lane` from `first_` on, `width_` lanes: the results are in `result0_`, `result1_` ...

    `single` are the sizes, such as `x.shape[2]`, of last axes of one element: adjacent columns are those of the axis
    before. `None` if the loops of the function depend on the lane, or if none runs across rows.
    """
    tree: ast.FunctionDef = _Single(single).visit(ir.copied(program.tree))
    *body, last = tree.body
    returns = list(ir.all_of(tree, ast.Return))
    # An early return ends one element; in lane-by-lane loops it would end all lanes.
    if returns != [last] or not isinstance(last, ast.Return) or last.value is None:
        return None
    loops = list(ir.all_of(body, ast.For))
    own = _differing(body, lane)
    # Float64 accumulators stay scalar: arrays of lanes have the precision of the tensor.
    if not loops or not _goes_across(loops, lane) or _used_as_index(tree, own) or "double" in program.names:
        return None
    # The loops become outer loops that all lanes share, so each lane must run the same iterations.
    if any(ir.names_of(loop.iter) & {*own, lane} for loop in loops):
        return None
    results = ir.items_of(last.value)
    given = [f"result{at}_" for at in range(len(results))]
    arrays = {*own, *given}
    lines = _lane_by_lane([*body, *map(ir.assign, given, results)], arrays, lane)
    if lines is None:
        return None
    memory = ir.statements(*(f"{name} = stack_(real)" for name in sorted(own)))
    names = [argument for argument in program.arguments if argument != lane]
    return program.named(NAME).rewritten([*memory, *lines], [*names, FIRST, WIDTH, *given])


def _goes_across(loops: Sequence[ast.For], lane: str) -> bool:
    """Whether the reads of loops are contiguous along the lanes, and not along the loops."""
    counters = ir.names_of(loop.target for loop in loops)
    found = False
    for node in ir.all_of(loops, ast.Subscript):
        if isinstance(node.slice, ast.Tuple):
            indices = [names for index in node.slice.elts if (names := ir.names_of(index) - {"numba"})]
            along = indices[-1] if len(indices) > 1 else set()
            # The innermost loop already reads contiguously and vectorizes as it is.
            if along & counters:
                return False
            found |= lane in along
    return found


def _used_as_index(tree: ast.AST, names: set[str]) -> bool:
    """Whether one of the names is an integer: an array of lanes holds floating-point values."""
    return any(ir.names_of(node.slice) & names for node in ir.all_of(tree, ast.Subscript))


def _lane_by_lane(body: list[ast.stmt], arrays: set[str], lane: str) -> list[ast.stmt] | None:
    """Statements in loops over the lanes, and the loops around these; `None` if a loop is inside a condition."""
    lines: list[ast.stmt] = []
    together: list[ast.stmt] = []

    def of_lane(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Name) or node.id not in arrays:
            return None
        # numba's check for a negative index would prevent vectorization.
        return ast.Subscript(ir.load(node.id), ir.expression(f"numba.uint64({LANE})"), node.ctx)

    def flush() -> None:
        if together:
            head = ir.statements(f"{lane} = {FIRST} + {LANE}")
            lines.append(ir.loop_over(LANE, WIDTH, [*head, *ir.rewritten(together, of_lane)]))
            together.clear()

    for statement in body:
        if isinstance(statement, ast.For):
            flush()
            inner = _lane_by_lane(statement.body, arrays, lane)
            if inner is None:
                return None
            statement.body = inner
            lines.append(statement)
        # The same value in every lane: computed once instead of once per lane.
        elif isinstance(statement, ir.BINDINGS) and not ir.stores_of(statement) & arrays:
            flush()
            lines.append(statement)
        # A loop inside a condition may run for some lanes only.
        elif any(ir.all_of(statement, *ir.LOOPS)):
            return None
        else:
            together.append(statement)
    flush()
    return lines


class _Single(ast.NodeTransformer):
    """Rewrites loops over axes of one element to a single iteration, with the index 0."""

    def __init__(self, sizes: Set[str]) -> None:
        self.ranges = {f"range({size})" for size in sizes}
        self.counters: set[str] = set()

    def visit_For(self, node: ast.For) -> Any:
        if ast.unparse(node.iter) not in self.ranges or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        self.counters.add(node.target.id)
        found: list[Any] = [self.visit(statement) for statement in node.body]
        return [one for part in found for one in (part if isinstance(part, list) else [part])]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(0) if node.id in self.counters and isinstance(node.ctx, ast.Load) else node


def _differing(body: list[ast.stmt], lane: str) -> set[str]:
    """Names whose values differ from lane to lane, and those that are assigned in a condition."""
    # A condition may hold in some lanes only, so that a variable assigned there needs a value per lane even if the
    # value itself does not depend on the lane.
    conditional = ir.stores_of(ir.all_of(body, ast.If))
    return ir.dependents(body, {lane, *conditional}) - {lane}
