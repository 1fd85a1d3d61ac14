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
import copy
import dataclasses
import functools
from collections.abc import Mapping
from itertools import pairwise

from paddle_layers.define.functions.program import Program, copied
from paddle_layers.runtime.generate.drivers import Kernel

from .loops import EXTREMES, Types, accumulators, carries, names_in, range_of


@functools.lru_cache(maxsize=1 << 14)
def shared_by_block(kernel: Kernel) -> Kernel | None:
    """The kernel with shared loops, or `None` if it has other loops, or none."""
    # Their loops depend on earlier rows, or write more than one element.
    if kernel.scan or kernel.procedure:
        return None
    tree, types = kernel.program.tree, Types(kernel.args)
    body: list[ast.stmt] = []
    shared = 0
    for at, statement in enumerate(tree.body):
        if isinstance(statement, ast.For):
            lines = _share(statement, types, tree.body[at + 1 :], shared)
            if lines is None:
                return None
            body += lines
            shared += 1
        elif any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(statement)):
            return None
        else:
            types.note(statement)
            body.append(statement)
    if not shared:
        return None
    changed = copy.copy(tree)
    changed.body = body
    return dataclasses.replace(kernel, program=Program(ast.fix_missing_locations(changed)))


def _share(loop: ast.For, types: Types, after: list[ast.stmt], number: int) -> list[ast.stmt] | None:
    """The statements of a loop, or `None` if there are loop-carried dependences."""
    found = accumulators(loop, types)
    if not found or carries(loop, set(found), types.known, after):
        return None
    renamed = _Rename({name: f"{name}_part_" for name in found}).visit(copied(loop))
    # A sum starts at zero in every thread and is added to the initial value once; an extreme may start at it in all of
    # them.
    begin = [f"{name}_part_ = {name if how in EXTREMES else f'{types.known[name]}(0)'}" for name, how in found.items()]
    combine = [line for name, how in found.items() for line in _combine(name, how, str(types.known[name]), number)]
    return [*_parse(begin), *_every_nth(renamed), *_parse(combine)]


def _combine(name: str, how: str, type_: str, number: int) -> list[str]:
    """Tree reduction: half of the threads take the results of the other half, until one has all of it."""
    table, mine = f"{name}_block{number}_", "cuda.threadIdx.x"
    join = f"{how}({{}}, {{}})" if how in EXTREMES else "{} + {}"
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


def _parse(lines: list[str]) -> list[ast.stmt]:
    return ast.parse("\n".join(lines)).body


# ---- distribution of iterations to threads


def _every_nth(loop: ast.For) -> list[ast.stmt]:
    """A perfect loop nest is flattened, so that adjacent threads read adjacent memory.

    Indices are advanced by addition, without a division per iteration.
    """
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], ast.For) and _is_free(inner, nest):
        nest.append(inner)
    if len(nest) == 1:
        first, last, step = range_of(loop)
        mine, stride = (
            ("cuda.threadIdx.x", "THREADS") if step == "1" else (f"cuda.threadIdx.x * ({step})", f"({step}) * THREADS")
        )
        numbers = f"range({mine if first == '0' else f'{first} + {mine}'}, {last}, {stride})"
        loop.iter = ast.parse(numbers, mode="eval").body
        return [loop]
    total = " * ".join("max({1} - ({0}), 0)".format(*range_of(one)) for one in nest)
    whole = ast.parse(f"for iteration_ in range(cuda.threadIdx.x, {total}, THREADS):\n    pass").body[0]
    assert isinstance(whole, ast.For)
    names = [ast.unparse(one.target) for one in nest]
    here = [f"{name} = {range_of(one)[0]} + {name}_place_" for name, one in zip(names, nest, strict=True)]
    whole.body = [*_parse(here), *nest[-1].body, *_parse(_step_on(names))]
    return [*_parse(_first_place(names, nest)), whole]


def _first_place(names: list[str], nest: list[ast.For]) -> list[str]:
    """First iteration of a thread in the nest, and the step to its next one; the slow division is done once."""
    lines = [
        f"{name}_size_ = max({{1}} - ({{0}}), 1)".format(*range_of(one)) for name, one in zip(names, nest, strict=True)
    ]
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
    return not names_in(inner.iter) & outer and all(range_of(loop)[2] == "1" for loop in (*nest, inner))


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)
