"""Winograd transforms of tiles, one vector of tiles at a time.

F(4x4, 3x3): 16 outputs from 36 products where the direct sum takes 144, as in A. Lavin and S. Gray, "Fast Algorithms
for Convolutional Neural Networks" (2015): `y = A' ((G g G') * (B' d B)) A` for 3x3 filters `g` and tiles `d` of 6x6
pixels. The gradient of `g` is `G' ((A dy A') * (B' d B)) G`. Each transform is applied to the columns, then to the
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from paddle_layers.kernels.primitives.compile_options import llvm_memory_code

from .microkernels import VECTOR

SIDE = 4
"""Rows and columns of the outputs of a tile."""
EDGE = 6
"""Rows and columns of its pixels, and of its products."""
POINTS = EDGE * EDGE
_I64 = ir.IntType(64)
_FAST = ("contract",)


class Lanes:
    """A vector in generated code, one tile per lane."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __add__(self, other: Lanes) -> Lanes:
        return Lanes(self.builder, self.builder.fadd(self.value, other.value, flags=_FAST))

    def __sub__(self, other: Lanes) -> Lanes:
        return Lanes(self.builder, self.builder.fsub(self.value, other.value, flags=_FAST))

    def __rmul__(self, factor: float) -> Lanes:
        type_ = self.value.type
        return Lanes(
            self.builder, self.builder.fmul(ir.Constant(type_, [factor] * type_.count), self.value, flags=_FAST)
        )


NEAR, FAR = 0.75, 1.5
"""Interpolation points of the polynomials besides 0 and infinity: these and their negatives. They are exact in binary,
and their rounding error is a quarter of that of the usual 1 and 2, hardly more than that of the direct sum.
"""


def pixels(d: list[Lanes]) -> list[Lanes]:
    """B' d."""
    near, far = NEAR**2, FAR**2
    # Points come in pairs of opposite sign: the values at both are the sum and the difference of an even and an odd
    # part, which halves the multiplications.
    even, odd = d[4] - far * d[2], NEAR * (d[3] - far * d[1])
    even_far, odd_far = d[4] - near * d[2], FAR * (d[3] - near * d[1])
    first, last = (near * far * d[at] - (near + far) * d[at + 2] + d[at + 4] for at in (0, 1))
    return [first, even + odd, even - odd, even_far + odd_far, even_far - odd_far, last]


def elements(g: list[Lanes]) -> list[Lanes]:
    """G g."""
    near, far = NEAR**2, FAR**2
    scale, scale_far = 1 / (2 * near * (near - far)), 1 / (2 * far * (far - near))
    even, odd = scale * g[0] + scale * near * g[2], scale * NEAR * g[1]
    even_far, odd_far = scale_far * g[0] + scale_far * far * g[2], scale_far * FAR * g[1]
    return [1 / (near * far) * g[0], even + odd, even - odd, even_far + odd_far, even_far - odd_far, g[2]]


def outputs(m: list[Lanes]) -> list[Lanes]:
    """A' m."""
    even, odd, even_far, odd_far = m[1] + m[2], m[1] - m[2], m[3] + m[4], m[3] - m[4]
    return [
        m[0] + even + even_far,
        NEAR * odd + FAR * odd_far,
        NEAR**2 * even + FAR**2 * even_far,
        NEAR**3 * odd + FAR**3 * odd_far + m[5],
    ]


def deltas(d: list[Lanes]) -> list[Lanes]:
    """A d, of output gradients."""
    # The transpose of `outputs`.
    even, odd = d[0] + NEAR**2 * d[2], NEAR * d[1] + NEAR**3 * d[3]
    even_far, odd_far = d[0] + FAR**2 * d[2], FAR * d[1] + FAR**3 * d[3]
    return [d[0], even + odd, even - odd, even_far + odd_far, even_far - odd_far, d[3]]


def gradients(m: list[Lanes]) -> list[Lanes]:
    """G' m, of filter gradients."""
    # The transpose of `elements`.
    near, far = NEAR**2, FAR**2
    scale, scale_far = 1 / (2 * near * (near - far)), 1 / (2 * far * (far - near))
    even, odd, even_far, odd_far = m[1] + m[2], m[1] - m[2], m[3] + m[4], m[3] - m[4]
    return [
        1 / (near * far) * m[0] + scale * even + scale_far * even_far,
        scale * NEAR * odd + scale_far * FAR * odd_far,
        scale * near * even + scale_far * far * even_far + m[5],
    ]


def _both_ways(transform: Callable[[list[Lanes]], list[Lanes]], rows: list[list[Lanes]]) -> list[list[Lanes]]:
    """Transforms the columns of a matrix, then its rows."""
    columns = [transform([row[at] for row in rows]) for at in range(len(rows[0]))]
    return [transform([column[at] for column in columns]) for at in range(len(columns[0]))]


def _interleaved(builder: Any, parts: list[Any]) -> list[Any]:
    """Interleaves four vectors."""
    count = parts[0].type.count
    for _ in range(2):
        halves = list(zip(parts[:2], parts[2:], strict=True))
        order = [
            [lane + half for pair in range(count // 2) for lane in (pair, pair + count)] for half in (0, count // 2)
        ]
        lanes = ir.VectorType(ir.IntType(32), count)
        parts = [builder.shuffle_vector(one, two, ir.Constant(lanes, o)) for one, two in halves for o in order]
    return parts


KINDS: dict[str, tuple[int, int, Callable[[list[Lanes]], list[Lanes]]]] = {
    "pixels": (EDGE, EDGE, pixels),
    "elements": (3, 3, elements),
    "outputs": (EDGE, EDGE, outputs),
    "deltas": (SIDE, EDGE, deltas),
    "gradients": (EDGE, EDGE, gradients),
}
"""Rows and columns that a transform reads, vectors per row stride, and the function of a column."""


def transform_function(module: Any, lanes: int, kind: str, real: Any) -> Any:
    """The function of a transform in an LLVM module, added if missing.

    It takes four integers: the address of the first vector, the byte stride of vectors, and the same for the results.
    """
    name = f"paddle_layers_winograd_{kind}_{real}_{lanes}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * 4), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    of, of_step, to, to_step = function.args
    size, vector = 4 if isinstance(real, ir.FloatType) else 8, ir.VectorType(real, lanes)

    def place(base: Any, step: Any, at: int) -> Any:
        return builder.inttoptr(builder.add(base, builder.mul(step, ir.Constant(_I64, at))), vector.as_pointer())

    edge, pitch, transform = KINDS[kind]
    given = [
        [Lanes(builder, builder.load(place(of, of_step, row * pitch + at), align=size)) for at in range(edge)]
        for row in range(edge)
    ]
    for row, results in enumerate(_both_ways(transform, given)):
        values = [result.value for result in results]
        if kind == "outputs":
            values = _interleaved(builder, values)
        for at, value in enumerate(values):
            if kind == "outputs":  # the outputs of a row of adjacent tiles are contiguous
                target = builder.add(to, builder.mul(to_step, ir.Constant(_I64, row)))
                target = builder.add(target, ir.Constant(_I64, at * lanes * size))
                builder.store(value, builder.inttoptr(target, vector.as_pointer()), align=size)
            else:
                builder.store(value, place(to, to_step, row * len(values) + at), align=size)
    builder.ret_void()
    return function


def _transform(kind: str) -> Any:
    @llvm_memory_code
    def transform(builder: Any, real: Any, size: int, of: Any, of_step: Any, to: Any, to_step: Any) -> None:
        builder.call(transform_function(builder.module, VECTOR // size, kind, real), [of, of_step, to, to_step])

    return transform


transform_pixels, transform_elements, transform_outputs, transform_deltas, transform_gradients = map(_transform, KINDS)
"""`transform(of, of_step, to, to_step, one)`: addresses and strides in bytes; `one` is 1 in the precision.

Pixels and products are 36 vectors of tiles in the order of a tile's rows, elements and their gradients are 9. Outputs
are 4 rows, `to_step` apart, in which the four outputs of each tile are contiguous; of their gradients, the first four
of the first four rows of a tile's pixels are read.
"""
