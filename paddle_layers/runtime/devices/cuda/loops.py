"""Loop analysis: reductions, and dependences between iterations."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from paddle_layers.define.functions import ir
from paddle_layers.runtime.generate.drivers import Array, Spec


def range_texts(loop: ast.For) -> tuple[str, str, str]:
    """First value, bound and step of a loop over a range."""
    first, last, step = map(ast.unparse, ir.range_of(loop) or ())
    return first, last, step


def accumulators(loop: ast.For, types: Types) -> dict[str, str] | None:
    """Accumulators of a loop: sums (`+`) or extremes (`max`, `min`); `None` if their types are unknown."""
    found: dict[str, str] = {}
    inside = Types(types.args, types.known)
    for node in _statements(loop):
        how = ir.accumulation_of(node)
        if how is None or how.sign == "*":
            inside.note(node)
            continue
        name, value = how.name, how.term
        kind = how.sign if how.sign in ir.EXTREMES else "+"
        if found.setdefault(name, kind) != kind or types.known.get(name) is None:
            return None
        # The threads' partial results must be summed in the type of the original accumulator, or the sum would be
        # rounded differently.
        if types.known[name] not in ("double", inside.of(value)):  # the sum would be of another type
            return None
    return found


def carries(loop: ast.For, found: set[str], before: Mapping[str, str | None], after: list[ast.stmt]) -> bool:
    """Whether there are loop-carried or live-out values other than the accumulators."""
    loops = [node for node in ast.walk(loop) if isinstance(node, ast.For)]
    # A thread that leaves the loop early would miss a barrier, or a later iteration that another thread runs.
    if any(isinstance(node, (ast.While, ast.Break, ast.Continue, ast.Return)) for node in ast.walk(loop)):
        return True
    if not all(map(ir.range_of, loops)):
        return True
    own = ir.stores_of(loop) - found
    guarded = {name for branch in ast.walk(loop) if isinstance(branch, ast.If) for name in _let_out(branch, loop)}
    reads = sum(name in found for name in ir.occurrences(loop, ast.Load))
    accumulations = [how for node in _statements(loop) if (how := ir.accumulation_of(node))]
    own_reads = sum(how.sign in ir.EXTREMES and how.name in found for how in accumulations)
    return bool(own & (_needs(after, set()) | set(before) | guarded)) or reads != own_reads


def _let_out(branch: ast.If, loop: ast.For) -> set[str]:
    """Names that are assigned conditionally, and read where the condition may not hold, or before."""
    stored = ir.stores_of(branch)
    inside = Counter(ir.occurrences([*branch.body, *branch.orelse], ast.Load))
    everywhere = Counter(ir.occurrences(loop, ast.Load))
    outside = {name for name in stored if everywhere[name] > inside[name]}
    return outside | stored & (_needs(branch.body, set()) | _needs(branch.orelse, set()))


def _needs(statements: list[ast.stmt], assigned: set[str]) -> set[str]:
    """Names that statements may read before they assign them."""
    needed: set[str] = set()
    for statement in statements:
        if (head := ir.head_of(statement)) is not None:
            needed |= ir.names_of(head) - assigned
            inside = assigned | ir.names_of(ir.targets_of(statement))
            needed = needed.union(*(_needs(block, inside) for block in ir.blocks_of(statement)))
        elif isinstance(statement, ast.Assign):
            needed |= ir.names_of(statement.value) - assigned
            assigned = assigned | ir.names_of(statement.targets)
        else:
            needed |= ir.names_of(statement) - assigned
    return needed


def _statements(loop: ast.For) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(loop) if isinstance(node, ir.BINDINGS))


class Types:
    """Types of names: `real`, `double`, `whole`; `None` if unknown."""

    def __init__(self, args: Mapping[str, Spec], known: Mapping[str, str | None] | None = None) -> None:
        self.args, self.known = args, dict(known or {})

    def note(self, statement: ast.stmt) -> None:
        """Records the type of an assignment."""
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            self.known[statement.targets[0].id] = self.of(statement.value)

    def of(self, value: ast.expr) -> str | None:
        """Type of an expression, from its leaves."""
        if isinstance(value, ast.Call):
            return self._call(value)
        if isinstance(value, ast.Constant):
            return "whole" if isinstance(value.value, int) else "real"
        if isinstance(value, ast.Subscript):
            return self._element(value)
        if isinstance(value, ast.Name):
            return self.known.get(value.id) or self._argument(value.id)
        if isinstance(value, ast.BinOp):
            return self._joined(value.left, value.right, division=isinstance(value.op, ast.Div))
        if isinstance(value, ast.UnaryOp):
            return self.of(value.operand)
        return self._joined(value.body, value.orelse) if isinstance(value, ast.IfExp) else None

    def _call(self, call: ast.Call) -> str | None:
        name = ir.callee(call)
        if name in ("real", "double"):
            return name
        if name in (*ir.EXTREMES, "abs") or name.startswith("math."):
            return self._joined(*call.args)
        return None

    def _joined(self, *parts: ast.expr, division: bool = False) -> str | None:
        """Mixed types are unknown, and the quotient of integers is not an integer."""
        kinds = {self.of(part) for part in parts}
        return None if len(kinds) > 1 or (division and kinds == {"whole"}) else kinds.pop()

    def _element(self, value: ast.Subscript) -> str | None:
        spec = self.args.get(ast.unparse(value.value))
        if isinstance(spec, Array):
            return {"real": "real", "float64": "double"}.get(spec.dtype, "whole")
        return "whole" if isinstance(value.value, ast.Attribute) and value.value.attr == "shape" else None

    def _argument(self, name: str) -> str | None:
        return {"real": "real", "int": "whole"}.get(str(self.args.get(name)))
