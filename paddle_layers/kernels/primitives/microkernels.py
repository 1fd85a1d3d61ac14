"""Register-tiled micro-kernels of products (GEMM, convolution): all sums stay in registers until they are complete.

`sum over o, i of w[r, o, i] * x[o, i, v]` for the rows `r` of a tile and some adjacent vectors `v`: convolutions, their
gradients and matrix products are such sums, with different address patterns of `o` and `i`. `o` has a constant stride;
the offsets of `i` to the two addresses are in a table. Products of a tile are bound by the multipliers of the core.

The same source generates code for every machine: `Machine` describes the vector width and the number of registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

from paddle_layers.kernels.primitives.compile_options import also_in_python, llvm_code, llvm_memory_code, once


class Machine(NamedTuple):
    """Vector width and register tile sizes of a CPU."""

    bytes: int
    """Bytes of a vector."""
    rows: int
    """Rows of the largest tile, a power of two."""
    vectors: int
    """Vectors per row of the largest tile."""


def machine_of(features: Mapping[str, bool], triple: str) -> Machine:
    """The machine with these LLVM features; the remaining registers hold the vectors of a row and a factor."""
    # 8 x 3 sums, 3 vectors and a factor are 28 of 32 registers. Each step loads 3 vectors and 8 factors for 24
    # multiply-adds, so loads do not limit the two multipliers.
    if features.get("avx512f"):
        return Machine(64, 8, 3)
    # 16 registers: 4 x 3 sums, 3 vectors, 1 factor.
    if features.get("avx2") and features.get("fma"):
        return Machine(32, 4, 3)
    # NEON has 32 registers of 16 bytes, SSE2 16 of them without fused multiply-add, which needs one more for the
    # product.
    return Machine(16, 8, 3) if triple.startswith(("aarch64", "arm64")) else Machine(16, 4, 2)


HOST = machine_of(binding.get_host_cpu_features(), binding.get_process_triple())
VECTOR = HOST.bytes
ROWS, VECTORS = HOST.rows, HOST.vectors
# A row has one factor per step, so that 3 sums would wait for each other: a multiply-add takes 4 cycles and two start
# per cycle, hence 8 independent sums.
LONG = 8
"""Vectors of a tile of one row."""
LANES = 16
"""Lanes of the widest vectors of any machine: packed data are padded to a multiple of it."""
# 16 bytes for float32, two 64-bit offsets; float64 uses half of them. One layout for both keeps the sizes of scratch
# buffers independent of the precision.
ENTRY = 4
"""Elements per table entry."""

_I64 = ir.IntType(64)
_ARGUMENTS = 11


@also_in_python
def rounded(count):
    """The next multiple of the widest vectors."""
    return (count + LANES - 1) // LANES * LANES


def _constant(value: int) -> Any:
    return ir.Constant(_I64, value)


def _splat(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with equal lanes."""
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(single, single, lanes)


class _Tile:
    """Builder of one tile: `rows` x `vectors` sums."""

    def __init__(self, function: Any, machine: Machine, rows: int, vectors: int, real: Any) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.real, self.size = real, 4 if isinstance(real, ir.FloatType) else 8
        self.vector = ir.VectorType(real, machine.bytes // self.size)
        self.places = [(row, at, at * machine.bytes) for row in range(rows) for at in range(vectors)]
        zero = ir.Constant(self.vector, None)
        # Stack slots that LLVM promotes to registers, since their addresses never escape.
        self.sums = [cgutils.alloca_once_value(self.builder, zero) for _ in self.places]

    def load(self, address: Any, type_: Any) -> Any:
        return self.builder.load(self.builder.inttoptr(address, type_.as_pointer()), align=min(self.size, 8))

    def offset(self, address: Any, step: Any, count: int) -> Any:
        return self.builder.add(address, self.builder.mul(step, _constant(count)))

    def put(self, y: Any, y_row: Any, *, adding: bool) -> None:
        """Stores the sums, or adds them to the target."""
        for sum_, (row, _, byte) in zip(self.sums, self.places, strict=True):
            address = self.builder.add(self.offset(y, y_row, row), _constant(byte))
            value = self.builder.load(sum_)
            if adding:
                value = self.builder.fadd(self.load(address, self.vector), value)
            place = self.builder.inttoptr(address, self.vector.as_pointer())
            self.builder.store(value, place, align=self.size)

    def add_products(self, x: Any, w: Any, w_row: Any) -> None:
        """One step of the reduction: every row's factor times the vectors."""
        vectors = {byte: self.load(self.builder.add(x, _constant(byte)), self.vector) for _, _, byte in self.places}
        factors: dict[int, Any] = {}
        for sum_, (row, _, byte) in zip(self.sums, self.places, strict=True):
            if row not in factors:
                number = self.load(self.offset(w, w_row, row), self.real)
                factors[row] = _splat(self.builder, number, self.vector)
            # `contract` fuses multiplication and addition into one instruction.
            product = self.builder.fmul(factors[row], vectors[byte], flags=("contract",))
            self.builder.store(self.builder.fadd(self.builder.load(sum_), product, flags=("contract",)), sum_)


def tile_function(module: Any, machine: Machine, rows: int, vectors: int, real: Any) -> Any:
    """The function of a tile in an LLVM module, added if missing; all arguments are integers.

    Its arguments are those of `gemm_microkernel` from `outer` on, without the last one.
    """
    name = f"paddle_layers_tile_{real}_{machine.bytes}_{rows}x{vectors}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * _ARGUMENTS), name)
    # The linker keeps one copy of what several kernels emit; inlining would cost compile time, and a tile runs long
    # enough for a call.
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    outer, x_outer, w_outer, inner, table, w, w_row, x, y, y_row, accumulate = function.args
    tile = _Tile(function, machine, rows, vectors, real)
    builder = tile.builder
    with cgutils.for_range(builder, outer) as o:
        x_o = builder.add(x, builder.mul(o.index, x_outer))
        w_o = builder.add(w, builder.mul(o.index, w_outer))
        with cgutils.for_range(builder, inner) as i:
            entry = builder.add(table, builder.shl(i.index, _constant(4)))
            x_i = builder.add(x_o, tile.load(entry, _I64))
            w_i = builder.add(w_o, tile.load(builder.add(entry, _constant(8)), _I64))
            tile.add_products(x_i, w_i, w_row)
    # Decided once per tile at run time: kernels compiled for both cases took 3.2 of 29 s of ResNet-50's compile time.
    with builder.if_else(builder.icmp_signed("!=", accumulate, _constant(0))) as (adds, sets):
        with adds:
            tile.put(y, y_row, adding=True)
        with sets:
            tile.put(y, y_row, adding=False)
    builder.ret_void()
    return function


def shapes(machine: Machine) -> list[tuple[int, int]]:
    """Rows and vectors of the available tiles; a single row has many vectors, as dependent sums are latency-bound.

    Rows are repeatedly halved, so that few tiles are needed for the remainder.
    """
    rows = [machine.rows >> k for k in range(machine.rows.bit_length())]
    return [(high, wide) for high in rows for wide in range(1, machine.vectors + 1)] + [(1, LONG)]


@llvm_code(types.void())
def out_of_line(builder: Any) -> None:
    """Prevents inlining of the calling function, which would cost seconds of compile time."""
    builder.function.attributes.add("noinline")


@llvm_memory_code
def _tile(builder, real, size, shape, outer, x_outer, w_outer, inner, table, w, w_row, x, y, y_row, accumulate):
    """Calls the tile of a shape, `rows * 16 + vectors`."""
    end = builder.append_basic_block("tile_end")
    choice = builder.switch(shape, end)
    for rows, vectors in shapes(HOST):
        function = tile_function(builder.module, HOST, rows, vectors, real)
        block = builder.append_basic_block("tile")
        choice.add_case(_constant(rows * 16 + vectors), block)
        builder.position_at_end(block)
        builder.call(function, [outer, x_outer, w_outer, inner, table, w, w_row, x, y, y_row, accumulate])
        builder.branch(end)
    builder.position_at_end(end)


@once
def gemm_microkernel(
    rows, vectors, spare, outer, x_outer, w_outer, inner, table, w, w_row, x, y, y_row, accumulate, one
):  # fmt: skip
    """Sums of products for `rows` rows of `vectors` vectors; `one` is 1 in the precision of the elements.

    Addresses and strides are in bytes: `x + o * x_outer + table[i][0]` is the first vector of a term and
    `w + o * w_outer + table[i][1] + r * w_row` its factor for a row; `y + r * y_row` is the target of the sums, or what
    they are added to when accumulating. The last `spare` bytes of a row's vectors are outside the row: the last tile
    begins so much earlier and computes some sums twice, which is invalid with accumulation or with a single vector.
    """
    out_of_line()
    row = 0
    while row < rows:
        # Remainders are tiles of 4, 2 and 1 rows, so that each size is compiled once instead of every number of rows.
        high = ROWS
        while high > rows - row:
            high >>= 1
        at = 0
        while at < vectors:
            wide = min(vectors - at, VECTORS)
            if high == 1 and vectors - at >= LONG:
                wide = LONG
            elif vectors - at == VECTORS + 1:
                wide = (VECTORS + 1) // 2  # a tile of a single vector leaves multipliers idle
            if spare > 0 and wide == vectors:
                wide -= 1  # an overlapping tile needs one before it
            byte = at * VECTOR - (spare if at + wide == vectors else 0)
            _tile(
                high * 16 + wide, outer, x_outer, w_outer, inner, table, w + row * w_row, w_row,
                x + byte, y + row * y_row + byte, y_row, np.int64(accumulate), one,
            )  # fmt: skip
            at += wide
        row += high


@once
def vectors_of(count, size):
    """Number of vectors that hold `count` elements of `size` bytes."""
    lanes = VECTOR // size
    return (count + lanes - 1) // lanes


def dots_function(module: Any, machine: Machine, count: int, real: Any) -> Any:
    """The function of `count` dot products with one vector in an LLVM module, added if missing."""
    name = f"paddle_layers_dots_{real}_{machine.bytes}_{count}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * 5), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    tile = _Tile(function, machine, 1, count, real)
    builder = tile.builder
    vectors, x, table, d, y = function.args
    places = [builder.add(x, tile.load(builder.add(table, _constant(16 * at)), _I64)) for at in range(count)]
    with cgutils.for_range(builder, vectors) as v:
        run = builder.mul(v.index, _constant(machine.bytes))
        factor = tile.load(builder.add(d, run), tile.vector)
        for sum_, place in zip(tile.sums, places, strict=True):
            product = builder.fmul(factor, tile.load(builder.add(place, run), tile.vector), flags=("contract",))
            builder.store(builder.fadd(builder.load(sum_), product, flags=("contract",)), sum_)
    bits = 8 * tile.size
    reduce = cgutils.get_or_insert_function(
        module, ir.FunctionType(real, [real, tile.vector]), f"llvm.vector.reduce.fadd.v{tile.vector.count}f{bits}"
    )
    for at, sum_ in enumerate(tile.sums):
        offset = tile.load(builder.add(table, _constant(16 * at + 8)), _I64)
        place = builder.inttoptr(builder.add(y, offset), real.as_pointer())
        total = builder.call(reduce, [ir.Constant(real, 0.0), builder.load(sum_)], fastmath=("reassoc",))
        builder.store(builder.fadd(builder.load(place, align=tile.size), total), place, align=tile.size)
    builder.ret_void()
    return function


# Nine independent sums hide the latency of multiply-add, as `LONG` does.
DOTS = (9, 3, 1)
"""Numbers of dot products that are computed at once: those of a 3x3 filter, and the remainder of others."""


@llvm_memory_code
def _dots(builder: Any, real: Any, size: int, many: Any, vectors: Any, x: Any, table: Any, d: Any, y: Any) -> None:
    """Calls the function of `many` dot products, one of `DOTS`."""
    end = builder.append_basic_block("dots_end")
    choice = builder.switch(many, end)
    for count in DOTS:
        block = builder.append_basic_block("dots")
        choice.add_case(_constant(count), block)
        builder.position_at_end(block)
        builder.call(dots_function(builder.module, HOST, count, real), [vectors, x, table, d, y])
        builder.branch(end)
    builder.position_at_end(end)


@once
def add_dots(count, vectors, x, table, d, y, one):
    """Adds the dot products of a run of vectors `d` with others to elements.

    `y + table[i][1]` accumulates that of `x + table[i][0]`, in bytes; `one` is 1 in the precision of the elements.
    """
    out_of_line()
    done = 0
    while done < count:
        many = 9 if count - done >= 9 else (3 if count - done >= 3 else 1)
        _dots(many, vectors, x, table + done * 16, d, y, one)
        done += many
