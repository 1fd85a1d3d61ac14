"""Vectorization of column reductions: a point function whose loops run across rows, for many adjacent columns at once.

The sum of a column has a stride of one row, but adjacent columns are contiguous. Here the loop over the rows is the
outer one, and every other statement runs for all adjacent columns (lanes) in a vectorized loop; intermediate values are
arrays of lanes. The order of each element's own operations is preserved.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set
from typing import Any

from paddle_layers.define.functions.program import Program, copied

NAME = "columns_"
LANE, FIRST, WIDTH = "lane_", "first_", "width_"
"""Lane index, index of the first lane, number of lanes."""


def column_form(program: Program, lane: str, single: Set[str] = frozenset()) -> Program | None:
    """A function that computes `lane` from `first_` on, `width_` lanes: the results are in `result0_`, `result1_` ...

    `single` are the sizes, such as `x.shape[2]`, of last axes of one element: adjacent columns are those of the axis
    before. `None` if the loops of the function depend on the lane, or if none runs across rows.
    """
    tree = _Single(single).visit(copied(program.tree))
    assert isinstance(tree, ast.FunctionDef)
    *body, last = tree.body
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    # An early return ends one element; in lane-by-lane loops it would end all lanes.
    if returns != [last] or not isinstance(last, ast.Return) or last.value is None:
        return None
    loops = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.For)]
    own = _differing(body, lane)
    # Float64 accumulators stay scalar: arrays of lanes have the precision of the tensor.
    if not loops or not _goes_across(loops, lane) or _used_as_index(tree, own) or "double" in program.names:
        return None
    # The loops become outer loops that all lanes share, so each lane must run the same iterations.
    if any(_names(loop.iter) & {*own, lane} for loop in loops):
        return None
    results = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    given = [f"result{at}_" for at in range(len(results))]
    stores: list[ast.stmt] = [
        ast.Assign([_name(name, ast.Store())], value) for name, value in zip(given, results, strict=True)
    ]
    arrays = {*own, *given}
    lines = _lane_by_lane([*body, *stores], arrays, lane)
    if lines is None:
        return None
    memory = [_parsed(f"{name} = stack_(real)") for name in sorted(own)]
    tree.name, tree.body = NAME, [*memory, *lines]
    names = [argument for argument in program.arguments if argument != lane]
    tree.args.args = [ast.arg(name) for name in (*names, FIRST, WIDTH, *given)]
    return Program(ast.fix_missing_locations(tree), program.place)


def _goes_across(loops: Iterable[ast.For], lane: str) -> bool:
    """Whether the reads of loops are contiguous along the lanes, and not along the loops."""
    counters = {name for loop in loops for name in _names(loop.target)}
    found = False
    for node in (node for loop in loops for node in ast.walk(loop)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            indices = [names for index in node.slice.elts if (names := _names(index) - {"numba"})]
            along = indices[-1] if len(indices) > 1 else set()
            # The innermost loop already reads contiguously and vectorizes as it is.
            if along & counters:
                return False
            found |= lane in along
    return found


def _used_as_index(tree: ast.AST, names: set[str]) -> bool:
    """Whether one of the names is an integer: an array of lanes holds floating-point values."""
    subscripts = (node for node in ast.walk(tree) if isinstance(node, ast.Subscript))
    return any(_names(node.slice) & names for node in subscripts)


def _lane_by_lane(body: list[ast.stmt], arrays: set[str], lane: str) -> list[ast.stmt] | None:
    """Statements in loops over the lanes, and the loops around these; `None` if a loop is inside a condition."""
    lines: list[ast.stmt] = []
    together: list[ast.stmt] = []

    def flush() -> None:
        if together:
            head = [_parsed(f"{lane} = {FIRST} + {LANE}")]
            loop = _parsed(f"for {LANE} in range({WIDTH}):\n    pass")
            assert isinstance(loop, ast.For)
            loop.body = [*head, *(_Lanes(arrays).visit(statement) for statement in together)]
            lines.append(loop)
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
        elif isinstance(statement, (ast.Assign, ast.AugAssign)) and not _assigned([statement]) & arrays:
            flush()
            lines.append(statement)
        # A loop inside a condition may run for some lanes only.
        elif any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(statement)):
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


class _Lanes(ast.NodeTransformer):
    """Rewrites the name of an array of lanes to its element."""

    def __init__(self, arrays: set[str]) -> None:
        self.arrays = arrays

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.arrays:
            return node
        # numba's check for a negative index would prevent vectorization.
        index = ast.parse(f"numba.uint64({LANE})", mode="eval").body
        return ast.Subscript(_name(node.id, ast.Load()), index, node.ctx)


def _differing(body: Iterable[ast.stmt], lane: str) -> set[str]:
    """Names whose values differ from lane to lane, and those that are assigned in a condition."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    conditions = (node for node in nodes if isinstance(node, ast.If))
    # A condition may hold in some lanes only, so that a variable assigned there needs a value per lane even if the
    # value itself does not depend on the lane.
    differing = {name for condition in conditions for name in _assigned([condition])}
    while True:
        found = {
            name
            for node in nodes
            if isinstance(node, (ast.Assign, ast.AugAssign)) and _names(node.value) & {lane, *differing}
            for name in _assigned([node])
        }
        if found <= differing:
            return differing
        differing |= found


def _assigned(body: Iterable[ast.stmt]) -> set[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _name(name: str, context: ast.expr_context) -> ast.Name:
    return ast.Name(name, context)


def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]
