"""Epilogue fusion: in the test phase, a convolution applies the following norm, bias, relu or relu6 per channel.

The kernel applies it to its sums while they are in the L1 cache (`kernels.primitives.epilogues`), from a table that
depends on parameters only; the elementwise launches are fused into that table.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from paddle_layers.define.functions import ir
from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.constants import EPILOGUE_ROWS
from paddle_layers.runtime.generate.drivers import Array, Kernel, TunedCall
from paddle_layers.runtime.generate.merging import value_of
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.accesses import accesses, elements, in_order
from paddle_layers.runtime.launches.arguments import Ref, spec_of, uses
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .cache_blocked_fusion import DEVICES
from .parameter_caching import is_constant

ROW = "row_"
"""Row index of the table: mean, factor, shift, low and high."""


def fuse_epilogues(launches: list[Launch], constants: list[Launch], read: Iterable[Buffer], device: str) -> None:
    """Shortens a forward pass; the tables are added to the `constants`. `read` are buffers that are read outside."""
    # The table depends on parameters only; without that pass it would be computed in each call.
    if device not in DEVICES or not runs("epilogues") or not runs("parameter-only caching"):
        return
    readers = Counter(buffer.root for launch in launches for buffer in {*launch.reads})
    outside = {buffer.root for buffer in read}
    done: list[Launch] = []
    for launch in launches:
        table = _table(done[-1], launch, readers, outside) if done else None
        known = {buffer.root for constant in constants for buffer in constant.writes}
        if table is None or not is_constant(table, known, Counter(table.writes)):
            done.append(launch)
        else:
            constants.append(table)
            done[-1] = _ended(done[-1], launch, table)
    launches[:] = done


def _table(first: Launch, second: Launch, readers: Counter[Buffer], outside: set[Buffer]) -> Launch | None:
    """The launch of the table with which the first one does the work of both, or None."""
    code, kernel = first.code, second.code
    if not isinstance(code, TunedCall) or "epilogue" not in code.tuned.names or "epilogue" in code.args:
        return None
    if not isinstance(kernel, Kernel) or second.loop is not None or not in_order(second) or len(kernel.targets) > 1:
        return None
    result, target = first.args[0], second.args[0]
    assert isinstance(result, Ref)
    assert isinstance(target, Ref)
    made, to = uses(result)[0].root, uses(target)
    if not to or elements(first) != elements(second) or target.shape[1:2] != result.shape[1:2]:
        return None
    # Someone else reads the sums before the norm, so they have to be stored.
    if made is not to[0].root and (made in outside or readers[made] > 1):
        return None
    if not all(access.own for access in accesses(second) if access.owner in (made, to[0].root)):
        return None
    given = dict(zip(kernel.args, second.args, strict=True))
    source = next((name for name, value in given.items() if isinstance(value, Ref) and value.owner is result.owner), "")
    found = table_kernel(kernel, source, [name for name, value in given.items() if value == 0.0])
    if found is None:
        return None
    rows, filters = Extent(EPILOGUE_ROWS), result.shape[1]
    buffer = Buffer(f"{second.op}.epilogue", rows * filters.extra, to[0].dtype)
    table = Ref(buffer, (rows, filters))
    args = [table, *(given[name] for name in list(found.args)[1:])]
    specs = {name: spec_of(value, sizes=True) for name, value in zip(found.args, args, strict=True)}
    launch = Launch(
        found.name, first.op, replace(found, args=specs), args, Extent(EPILOGUE_ROWS), result.shape[1].extra
    )
    launch.reads = [used for value in args[1:] for used in uses(value)]
    launch.writes = [buffer]
    return launch


def _ended(first: Launch, second: Launch, table: Launch) -> Launch:
    """The first launch with the target of the second one, whose work it does by the table."""
    code, result, target = first.code, first.args[0], second.args[0]
    assert isinstance(code, TunedCall)
    assert isinstance(result, Ref)
    assert isinstance(target, Ref)
    made = uses(result)
    return replace(
        first,
        name=f"{first.name} + {second.name}",
        code=replace(code, args={**code.args, "epilogue": spec_of(table.args[0])}),
        args=[result._replace(owner=target.owner), *first.args[1:], table.args[0]],
        reads=[*first.reads, *table.writes],
        writes=[*(buffer for buffer in first.writes if buffer not in made), *second.writes],
        work=max(first.work, second.work),
        computes=(*first.computes, *second.computes),
    )


class _Affine(NamedTuple):
    """`(own - mean) * factor + shift`; None for 0, 1 and 0."""

    mean: ast.expr | None = None
    factor: ast.expr | None = None
    shift: ast.expr | None = None


def table_kernel(kernel: Kernel, source: str, zeros: Collection[str]) -> Kernel | None:
    """The kernel that computes the epilogue table of `kernel`, an elementwise map of `source`; `None` if not affine.

    It loops over rows, channels and positions. `zeros` are arguments that are 0.
    """
    value = value_of(kernel)
    if value is None or len(kernel.indices) != 3:
        return None
    # Rounding casts are dropped: sums in registers have the tensor's precision already, and casts would hide the affine
    # form.
    result = _plain(value.result, value.given)
    # Limits outermost, then scale and shift: the order in which the kernel applies the table.
    low, high, inner = _limits(result, zeros)
    found = _affine(inner, kernel, source)
    if found is None or not all(_of_channel(part, kernel) for part in (low, high)):
        return None
    rows = [found.mean or _number("0.0"), found.factor or _number("1.0"), found.shift or _number("0.0"), low]
    chosen = high
    for at, row in reversed([*enumerate(rows)]):
        chosen = ast.IfExp(ir.expression(f"{ROW} == {at}"), row, chosen)
    names = ir.names_of(chosen)
    specs = {name: spec for name, spec in kernel.args.items() if name in names}
    indices = (ROW, kernel.indices[1])
    return replace(
        kernel,
        name=f"{kernel.name}_epilogue",
        program=Program.build("epilogue", [*indices, *specs], [ast.Return(chosen)]),
        indices=indices,
        targets=("epilogue",),
        args={"epilogue": Array(2), **specs},
        accumulate=False,
    )


def _plain(value: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with its assigned names substituted, and without rounding of floating-point values."""

    def unrounded(node: ast.AST) -> ast.AST | None:
        match node:
            case ast.Call(ast.Name("real"), [inner]) if not isinstance(inner, ast.Constant):
                return ir.rewritten(inner, unrounded)
        return None

    known: dict[str, ast.expr] = {}
    for name, part in given.items():
        known[name] = ir.copied(part, known)
    return ir.rewritten(ir.copied(value, known), unrounded)


def _limits(value: ast.expr, zeros: Collection[str]) -> tuple[ast.expr, ast.expr, ast.expr]:
    """The limits of relu and relu6, and the limited value; infinite ones without them."""
    match value:
        case ast.IfExp(
            ast.Compare(left, [ast.Gt()], [low]), kept, ast.Call(ast.Name("times"), [ast.Name(slope), other])
        ) if slope in zeros and _alike(left, kept, other) and ast.unparse(low) == "real(0.0)":
            return low, ir.expression("real(math.inf)"), left
        case ast.IfExp(
            ast.Compare(left, [ast.LtE()], [low]), lowest,
            ast.IfExp(ast.Compare(again, [ast.GtE()], [high]), highest, kept),
        ) if _alike(left, again, kept) and _alike(low, lowest) and _alike(high, highest):  # fmt: skip
            return low, high, left
    return ir.expression("real(-math.inf)"), ir.expression("real(math.inf)"), value


def _affine(value: ast.expr, kernel: Kernel, source: str) -> _Affine | None:
    if array := ir.array_at(value, kernel.indices):
        return _Affine() if array == source else None
    if not isinstance(value, ast.BinOp):
        return None
    inner, other = value.left, value.right
    found = _affine(inner, kernel, source)
    if found is None and not isinstance(value.op, ast.Sub):
        inner, other = other, inner
        found = _affine(inner, kernel, source)
    if found is None or not _of_channel(other, kernel):
        return None
    match value.op:
        case ast.Mult():
            shift = found.shift and ast.BinOp(found.shift, ast.Mult(), other)
            return found._replace(factor=_joined(found.factor, ast.Mult(), other), shift=shift)
        case ast.Add():
            return found._replace(shift=_joined(found.shift, ast.Add(), other))
        # A mean is only subtracted first: after a factor, the kernel's order of operations would round differently.
        case ast.Sub() if found == _Affine():
            return _Affine(mean=other)
    return None


def _joined(first: ast.expr | None, operator: ast.operator, other: ast.expr) -> ast.expr:
    return other if first is None else ast.BinOp(first, operator, other)


def _of_channel(value: ast.expr, kernel: Kernel) -> bool:
    """Whether an expression is constant per channel: numbers, and elements of vectors of channels."""
    channel = kernel.indices[1]
    vectors = {name for name, spec in kernel.args.items() if isinstance(spec, Array) and spec.ndim == 1}
    known = {"real", "math", *(name for name, spec in kernel.args.items() if spec == "real")}
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript):
            if ast.unparse(node.value) not in vectors or ast.unparse(node.slice) != channel:
                return False
        elif isinstance(node, ast.Name) and node.id not in {*known, *vectors, channel}:
            return False
    return True


def _alike(*values: ast.expr) -> bool:
    return len({ast.unparse(value) for value in values}) == 1


def _number(text: str) -> ast.expr:
    return ir.expression(f"real({text})")
