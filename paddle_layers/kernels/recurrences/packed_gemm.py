"""Matrix products with a weight that is packed once into panels and used many times.

BLAS packs its operands again in every call, which costs as much as the product itself where one has few rows, such as
those of one step of a recurrence.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.vector_functions import copy

WIDTH = 128
"""Bytes of a panel row: two of the widest registers."""
# 8 rows x 2 vectors are 16 of 32 registers of AVX-512. AVX2 has 16 registers: 3 x 2 sums of half as long vectors need
# 12, and the factors the rest.
ROWS = 8 if binding.get_host_cpu_features().get("avx512f") else 3
"""Rows of a product that are computed at once: with two registers each, as many as a core can hold."""


def _tile(rows: int) -> Any:
    """`rows` x `WIDTH` bytes of a product: sums stay in registers until they are complete."""

    def tile(typingctx: Any, depth: Any, a: Any, lda: Any, panel: Any, c: Any, ldc: Any, one: Any) -> Any:
        signature = types.void(*[types.int64] * 6, one)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            depth, a, lda, panel, c, ldc = args[:6]
            real, size = (ir.FloatType(), 4) if one == types.float32 else (ir.DoubleType(), 8)
            vector = ir.VectorType(real, WIDTH // 2 // size)

            def at(address: Any, row: Any, length: Any, type_: Any) -> Any:
                offset = builder.mul(builder.mul(row, length), ir.Constant(length.type, size))
                return builder.inttoptr(builder.add(address, offset), type_.as_pointer())

            number = [ir.Constant(depth.type, row) for row in range(rows)]
            left = [at(a, row, lda, real) for row in number]
            right = builder.inttoptr(panel, vector.as_pointer())
            zero = ir.Constant(vector, None)
            # Stack slots that LLVM promotes to registers, since their addresses never escape.
            sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(2)] for _ in range(rows)]
            with cgutils.for_range(builder, depth) as loop:
                first = builder.shl(loop.index, ir.Constant(depth.type, 1))
                pair = [builder.gep(right, [place]) for place in (first, builder.add(first, number[0].type(1)))]
                factors = [builder.load(place, align=size) for place in pair]
                for row in range(rows):
                    value = _splat(builder, builder.load(builder.gep(left[row], [loop.index]), align=size), vector)
                    for slot, factor in zip(sums[row], factors, strict=True):
                        product = builder.fmul(value, factor, flags=("contract",))
                        builder.store(builder.fadd(builder.load(slot), product, flags=("contract",)), slot)
            for row in range(rows):
                target = at(c, number[row], ldc, vector)
                for half, slot in enumerate(sums[row]):
                    place = builder.gep(target, [ir.Constant(depth.type, half)])
                    builder.store(builder.load(slot), place, align=size)
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(tile)


def _splat(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with equal lanes."""
    lane = ir.Constant(ir.IntType(32), 0)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, lane)
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(single, single, lanes)


# One function per number of rows: a variable number would keep the sums in memory instead of registers.
_tile_1, _tile_2, _tile_3, _tile_4 = _tile(1), _tile(2), _tile(3), _tile(4)
_tile_5, _tile_6, _tile_7, _tile_8 = _tile(5), _tile(6), _tile(7), _tile(8)


@compiled
def tile(rows, depth, a, lda, panel, c, ldc, one):
    """C (rows x panel) = A (rows x depth) times a panel; `rows` is at most `ROWS`."""
    if rows == 8:
        _tile_8(depth, a, lda, panel, c, ldc, one)
    elif rows == 7:
        _tile_7(depth, a, lda, panel, c, ldc, one)
    elif rows == 6:
        _tile_6(depth, a, lda, panel, c, ldc, one)
    elif rows == 5:
        _tile_5(depth, a, lda, panel, c, ldc, one)
    elif rows == 4:
        _tile_4(depth, a, lda, panel, c, ldc, one)
    elif rows == 3:
        _tile_3(depth, a, lda, panel, c, ldc, one)
    elif rows == 2:
        _tile_2(depth, a, lda, panel, c, ldc, one)
    else:
        _tile_1(depth, a, lda, panel, c, ldc, one)


@also_in_python
def padded(columns, size):
    """Columns rounded up to whole panels of elements of `size` bytes; 4 gives the maximum."""
    width = WIDTH // size
    return (columns + width - 1) // width * width


@compiled
def pack(panels, matrix, begin, end, transposed):
    """Packs the columns `begin` to `end` of a matrix, or their transpose, into panels, padded with zeros."""
    # Not a view of these columns: numba would copy its rows element by element.
    depth, columns = matrix.shape[0], end - begin
    if transposed:
        depth, columns = columns, depth
    width = WIDTH // matrix.itemsize
    for left in range(0, columns, width):
        here = min(width, columns - left)
        for row in range(depth):
            into = panels[left * depth + row * width : left * depth + (row + 1) * width]
            # The last panel is multiplied whole, and its additional columns are never read.
            if here < width:
                into[:] = 0
            if transposed:
                for column in range(here):
                    into[column] = matrix[left + column, begin + row]
            else:
                copy(into[:here], matrix[row, begin + left : begin + left + here])


@compiled
def panel_product(result, rows, values, panels, depth):
    """The first `rows` rows of `result` = those of `values` times a packed matrix of `depth` rows.

    `result` has whole panels of columns.
    """
    size, one = result.itemsize, result.dtype.type(1)
    width, lda, ldc = WIDTH // size, values.shape[1], result.shape[1]
    # Panels in the outer loop: one (32 KiB for 256 rows) stays in the cache for all rows of the left operand.
    for left in range(0, ldc, width):
        panel = panels.ctypes.data + left * depth * size
        for top in range(0, rows, ROWS):
            tile(
                min(ROWS, rows - top), depth,
                values.ctypes.data + top * lda * size, lda, panel,
                result.ctypes.data + (top * ldc + left) * size, ldc, one,
            )  # fmt: skip
