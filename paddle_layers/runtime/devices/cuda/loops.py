"""Loop analysis: reductions, and dependences between iterations."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from paddle_layers.runtime.generate.drivers import Array, Spec

EXTREMES = ("max", "min")


def range_of(loop: ast.For) -> tuple[str, str, str]:
    """First, last and step of a loop's range."""
    assert isinstance(loop.iter, ast.Call)
    given = [ast.unparse(argument) for argument in loop.iter.args]
    if len(given) == 1:
        return "0", given[0], "1"
    return given[0], given[1], given[2] if len(given) == 3 else "1"


def accumulators(loop: ast.For, types: Types) -> dict[str, str] | None:
    """Accumulators of a loop: sums (`+`) or extremes (`max`, `min`); `None` if their types are unknown."""
    found: dict[str, str] = {}
    inside = Types(types.args, types.known)
    for node in _statements(loop):
        how = _accumulation(node)
        if how is None:
            inside.note(node)
            continue
        name, kind, value = how
        if found.setdefault(name, kind) != kind or types.known.get(name) is None:
            return None
        # The threads' partial results must be summed in the type of the original accumulator, or the sum would be
        # rounded differently.
        if types.known[name] not in ("double", inside.of(value)):  # the sum would be of another type
            return None
    return found


def _accumulation(node: ast.stmt) -> tuple[str, str, ast.expr] | None:
    """The name, `+`, `max` or `min`, and the added or compared value."""
    if (
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.op, (ast.Add, ast.Sub))
    ):
        return node.target.id, "+", node.value
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call):
        name, call = node.targets[0].id, node.value
        if isinstance(call.func, ast.Name) and call.func.id in EXTREMES and len(call.args) == 2:
            others = [argument for argument in call.args if ast.unparse(argument) != name]
            if len(others) == 1:
                return name, call.func.id, others[0]
    return None


def carries(loop: ast.For, found: set[str], before: Mapping[str, str | None], after: list[ast.stmt]) -> bool:
    """Whether there are loop-carried or live-out values other than the accumulators."""
    loops = [node for node in ast.walk(loop) if isinstance(node, ast.For)]
    # A thread that leaves the loop early would miss a barrier, or a later iteration that another thread runs.
    if any(isinstance(node, (ast.While, ast.Break, ast.Continue, ast.Return)) for node in ast.walk(loop)):
        return True
    if not all(isinstance(one.iter, ast.Call) and ast.unparse(one.iter.func) == "range" for one in loops):
        return True
    own = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - found
    guarded = {name for branch in ast.walk(loop) if isinstance(branch, ast.If) for name in _let_out(branch, loop)}
    reads = sum(
        isinstance(node, ast.Name) and node.id in found and isinstance(node.ctx, ast.Load) for node in ast.walk(loop)
    )
    own_reads = sum(
        1 for node in _statements(loop) if (how := _accumulation(node)) and how[1] in EXTREMES and how[0] in found
    )
    return bool(own & (_needs(after, set()) | set(before) | guarded)) or reads != own_reads


def _let_out(branch: ast.If, loop: ast.For) -> set[str]:
    """Names that are assigned conditionally, and read where the condition may not hold, or before."""
    stored = {node.id for node in ast.walk(branch) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inside = Counter(_reads([*branch.body, *branch.orelse]))
    everywhere = Counter(_reads([loop]))
    outside = {name for name in stored if everywhere[name] > inside[name]}
    return outside | stored & (_needs(branch.body, set()) | _needs(branch.orelse, set()))


def _reads(statements: list[ast.stmt]) -> list[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _needs(statements: list[ast.stmt], assigned: set[str]) -> set[str]:
    """Names that statements may read before they assign them."""
    needed: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.For):
            needed |= names_in(statement.iter) - assigned
            needed |= _needs(statement.body, assigned | names_in(statement.target))
        elif isinstance(statement, ast.If):
            needed |= names_in(statement.test) - assigned
            needed |= _needs(statement.body, assigned) | _needs(statement.orelse, assigned)
        elif isinstance(statement, ast.Assign):
            needed |= names_in(statement.value) - assigned
            assigned = assigned | names_in(statement.targets[0])
        else:
            needed |= names_in(statement) - assigned
    return needed


def names_in(node: ast.AST) -> set[str]:
    """Names that occur."""
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _statements(loop: ast.For) -> Iterator[ast.stmt]:
    for node in ast.walk(loop):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            yield node


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
        name = ast.unparse(call.func)
        if name in ("real", "double"):
            return name
        if name in ("max", "min", "abs") or name.startswith("math."):
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
