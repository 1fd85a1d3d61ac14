"""Block-parallel reductions: sums and extremes whose loops are shared by the threads of a block, one element per block.

One thread per element leaves a GPU idle if there are few elements with long loops, such as the mean of a channel or the
largest score of a row. The rewritten source gives each thread every n-th iteration of a loop; the partial results of
the threads are then combined in a fixed order, so the bits are the same in every run. Added names end in `_`, so that
they do not collide with the author's.

Measured on an H100: with one thread for each of its 500 elements, the filter gradient of LeNet's first layer took 82 of
the 87 ms of a training step with 1024 images; with shared loops the whole step takes 4.03 ms.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.drivers import Array, Kernel, Spec


@functools.lru_cache(maxsize=1 << 14)
def shared_by_block(kernel: Kernel) -> Kernel | None:
    """The kernel with shared loops, or `None` if it has other loops, or none."""
    # Their loops depend on earlier rows, or write more than one element.
    if kernel.scan or kernel.procedure:
        return None
    tree, types = kernel.program.tree, _Types(kernel.args)
    body: list[ast.stmt] = []
    shared = 0
    for at, statement in enumerate(tree.body):
        if isinstance(statement, ast.For):
            lines = _share(statement, types, tree.body[at + 1 :], shared)
            if lines is None:
                return None
            body += lines
            shared += 1
        elif any(ir.all_of(statement, *ir.LOOPS)):
            return None
        else:
            types.note(statement)
            body.append(statement)
    if not shared:
        return None
    return dataclasses.replace(kernel, program=Program.build(tree.name, kernel.program.arguments, body))


def _share(loop: ast.For, types: _Types, after: list[ast.stmt], number: int) -> list[ast.stmt] | None:
    """The statements of a loop, or `None` if there are loop-carried dependences."""
    found = _accumulators(loop, types)
    if not found or _carries(loop, set(found), types.known, after):
        return None
    renamed = ir.copied(loop, {name: f"{name}_part_" for name in found})
    # A sum starts at zero in every thread and is added to the initial value once; an extreme may start at it in all of
    # them.
    zeros = {name: f"{types.known[name]}(0)" for name, how in found.items() if how not in ir.EXTREMES}
    begin = [f"{name}_part_ = {zeros.get(name, name)}" for name in found]
    combine = [line for name, how in found.items() for line in _combine(name, how, str(types.known[name]), number)]
    return [*ir.statements(*begin), *_every_nth(renamed), *ir.statements(*combine)]


def _combine(name: str, how: str, type_: str, number: int) -> list[str]:
    """Tree reduction: half of the threads take the results of the other half, until one has all of it."""
    table, mine = f"{name}_block{number}_", "cuda.threadIdx.x"
    join = f"{how}({{}}, {{}})" if how in ir.EXTREMES else "{} + {}"
    return [
        f"{table} = cuda.shared.array(THREADS, {type_})",
        f"{table}[{mine}] = {name}_part_",
        "cuda.syncthreads()",
        "width_ = THREADS // 2",
        "while width_ > 0:",
        f"    if {mine} < width_:",
        f"        {table}[{mine}] = {join.format(f'{table}[{mine}]', f'{table}[{mine} + width_]')}",
        "    cuda.syncthreads()",
        "    width_ //= 2",
        f"{name} = {join.format(name, f'{table}[0]')}",
        "cuda.syncthreads()",
    ]


# ---- analysis: reductions, and dependences between iterations


def _range_texts(loop: ast.For) -> tuple[str, str, str]:
    """First value, bound and step of a loop over a range."""
    first, last, step = map(ast.unparse, ir.range_of(loop) or ())
    return first, last, step


def _accumulators(loop: ast.For, types: _Types) -> dict[str, str] | None:
    """Accumulators of a loop: sums (`+`) or extremes (`max`, `min`); `None` if their types are unknown."""
    found: dict[str, str] = {}
    inside = _Types(types.args, types.known)
    for node in ir.all_of(loop, *ir.BINDINGS):
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


def _carries(loop: ast.For, found: set[str], before: Mapping[str, str | None], after: list[ast.stmt]) -> bool:
    """Whether there are loop-carried or live-out values other than the accumulators."""
    # A thread that leaves the loop early would miss a barrier, or a later iteration that another thread runs.
    if any(ir.all_of(loop, ast.While, ast.Break, ast.Continue, ast.Return)):
        return True
    if not all(map(ir.range_of, ir.all_of(loop, ast.For))):
        return True
    own = ir.stores_of(loop) - found
    guarded = {name for branch in ir.all_of(loop, ast.If) for name in _let_out(branch, loop)}
    return bool(own & (_needs(after, set()) | set(before) | guarded) or ir.reads_of_accumulators(loop, found))


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


class _Types:
    """Types of names: `real`, `double`, `whole`; `None` if unknown."""

    def __init__(self, args: Mapping[str, Spec], known: Mapping[str, str | None] | None = None) -> None:
        self.args, self.known = args, dict(known or {})

    def note(self, statement: ast.stmt) -> None:
        """Records the type of an assignment."""
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            self.known[statement.targets[0].id] = self.of(statement.value)

    def of(self, value: ast.expr) -> str | None:
        """Type of an expression, from its leaves."""
        match value:
            case ast.Constant(number):
                return "whole" if isinstance(number, int) else "real"
            case ast.Name(name):
                return self.known.get(name) or {"real": "real", "int": "whole"}.get(str(self.args.get(name)))
            case ast.Subscript(ast.Attribute(attr="shape")):
                return "whole"
            case ast.Subscript(array) if isinstance(spec := self.args.get(ast.unparse(array)), Array):
                return {"real": "real", "float64": "double"}.get(spec.dtype, "whole")
            case ast.Call(ast.Name("real" | "double" as name)):
                return name
            case ast.Call(ast.Name("max" | "min" | "abs") | ast.Attribute(ast.Name("math")), parts):
                return self._joined(parts)
            case ast.BinOp(left, op, right):
                kind = self._joined([left, right])
                return None if kind == "whole" and isinstance(op, ast.Div) else kind
            case ast.UnaryOp(_, operand):
                return self.of(operand)
            case ast.IfExp(_, one, other):
                return self._joined([one, other])
        return None

    def _joined(self, parts: Iterable[ast.expr]) -> str | None:
        """The type that all have; mixed types are unknown."""
        kinds = {*map(self.of, parts)}
        return kinds.pop() if len(kinds) == 1 else None


# ---- distribution of iterations to threads


def _every_nth(loop: ast.For) -> list[ast.stmt]:
    """A perfect loop nest is flattened, so that adjacent threads read adjacent memory.

    Indices are advanced by addition, without a division per iteration.
    """
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], ast.For) and _is_free(inner, nest):
        nest.append(inner)
    if len(nest) == 1:
        first, last, step = _range_texts(loop)
        mine, stride = (
            ("cuda.threadIdx.x", "THREADS") if step == "1" else (f"cuda.threadIdx.x * ({step})", f"({step}) * THREADS")
        )
        numbers = f"range({mine if first == '0' else f'{first} + {mine}'}, {last}, {stride})"
        loop.iter = ir.expression(numbers)
        return [loop]
    total = " * ".join("max({1} - ({0}), 0)".format(*_range_texts(one)) for one in nest)
    names = [ast.unparse(one.target) for one in nest]
    here = [f"{name} = {_range_texts(one)[0]} + {name}_place_" for name, one in zip(names, nest, strict=True)]
    body = [*ir.statements(*here), *nest[-1].body, *ir.statements(*_step_on(names))]
    whole = ir.loop_over("iteration_", f"cuda.threadIdx.x, {total}, THREADS", body)
    return [*ir.statements(*_first_place(names, nest)), whole]


def _first_place(names: list[str], nest: list[ast.For]) -> list[str]:
    """First iteration of a thread in the nest, and the step to its next one; the slow division is done once."""
    ranges = zip(names, map(_range_texts, nest), strict=True)
    lines = [f"{name}_size_ = max({last} - ({first}), 1)" for name, (first, last, _) in ranges]
    for what, number in (("place", "cuda.threadIdx.x"), ("step", "THREADS")):
        rest = number
        for name in reversed(names[1:]):
            lines += [f"{name}_{what}_ = {rest} % {name}_size_", f"{name}_rest_ = {rest} // {name}_size_"]
            rest = f"{name}_rest_"
        lines += [f"{names[0]}_{what}_ = {rest}"]
    return lines


def _step_on(names: list[str]) -> list[str]:
    """Advances to the next iteration of the thread, by addition with carry."""
    lines = [f"{name}_place_ += {name}_step_" for name in names]
    for outer, name in reversed([*pairwise(names)]):
        lines += [
            f"if {name}_place_ >= {name}_size_:",
            f"    {name}_place_ -= {name}_size_",
            f"    {outer}_place_ += 1",
        ]
    return lines


def _is_free(inner: ast.For, nest: list[ast.For]) -> bool:
    """Whether a loop's bounds do not depend on the surrounding loops, and its step is one."""
    outer = {ast.unparse(loop.target) for loop in nest}
    return not ir.names_of(inner.iter) & outer and all(_range_texts(loop)[2] == "1" for loop in (*nest, inner))
