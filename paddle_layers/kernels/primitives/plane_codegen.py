"""LLVM IR builder for kernels on unpadded planes: vectorized over adjacent columns with masked loads and stores.

Pixels outside of the plane are masked, so that neither packing with padding nor unpacking is needed. That requires a
CPU with masked loads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from .microkernels import HOST, Machine

# AVX and later. LLVM would emulate masked loads element by element, so that other CPUs pack planes with padding.
MASKS = HOST.bytes >= 32
"""Whether the CPU has masked loads."""
SIDE = 3
# Without it, depthwise convolutions of large planes were five times slower.
AHEAD = 4096
"""Prefetch distance in bytes: the hardware prefetcher fails where several rows are read concurrently."""
I64, I32, BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)


class PlaneCode:
    """Builder of a function over a plane."""

    def __init__(self, function: Any, machine: Machine, real: Any) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.real, self.size = real, 4 if isinstance(real, ir.FloatType) else 8
        self.lanes = machine.bytes // self.size
        self.vector = ir.VectorType(real, self.lanes)
        self.zero = self.outside = ir.Constant(self.vector, None)

    def add(self, *values: Any) -> Any:
        """Sum of integers."""
        first, *others = (ir.Constant(I64, value) if isinstance(value, int) else value for value in values)
        for other in others:
            first = self.builder.add(first, other)
        return first

    def times(self, value: Any, factor: int) -> Any:
        """Product with an integer constant."""
        return self.builder.mul(value, ir.Constant(I64, factor))

    def place(self, base: Any, row: Any, width: Any, column: Any) -> Any:
        """Address of a pixel."""
        return self.add(base, self.times(self.add(self.builder.mul(row, width), column), self.size))

    def plane_of(self, base: Any, index: Any, rows: Any, width: Any) -> Any:
        """Address of a plane."""
        return self.place(base, self.builder.mul(index, rows), width, ir.Constant(I64, 0))

    def splat(self, value: Any) -> Any:
        """A vector with equal lanes."""
        vector = ir.VectorType(value.type, self.lanes)
        single = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(I32, self.lanes), None))

    def number(self, value: float) -> Any:
        """A vector of a constant."""
        return ir.Constant(self.vector, [value] * self.lanes)

    def factors(self, w: Any, step: Any) -> list[Any]:
        """The elements of a filter as vectors, with the stride `step` in bytes."""
        places = (self.builder.inttoptr(self.add(w, self.times(step, at)), self.real.as_pointer()) for at in range(9))
        return [self.splat(self.builder.load(place, align=self.size)) for place in places]

    def mask(self, start: Any, width: Any) -> Any:
        """Mask of the columns from `start` on that are inside a row of `width` pixels."""
        counted = ir.Constant(ir.VectorType(I32, self.lanes), list(range(self.lanes)))
        columns = self.builder.add(self.splat(self.builder.trunc(start, I32)), counted)
        # Unsigned: columns before the row, which are negative, are larger than any width and masked too.
        return self.builder.icmp_unsigned("<", columns, self.splat(self.builder.trunc(width, I32)))

    def _pointer(self, address: Any) -> Any:
        return self.builder.inttoptr(address, self.vector.as_pointer())

    def load(self, address: Any, mask: Any) -> Any:
        """Masked load, with a default outside of the mask."""
        kind = ir.FunctionType(self.vector, [self.vector.as_pointer(), I32, mask.type, self.vector])
        name = f"llvm.masked.load.v{self.lanes}f{8 * self.size}.p0"
        load = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(load, [self._pointer(address), ir.Constant(I32, self.size), mask, self.outside])

    def load_whole(self, address: Any, mask: Any) -> Any:
        """Masked load of 64-bit integers, converted to 32 bits."""
        wide = ir.VectorType(I64, self.lanes)
        kind = ir.FunctionType(wide, [wide.as_pointer(), I32, mask.type, wide])
        load = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.masked.load.v{self.lanes}i64.p0")
        place = self.builder.inttoptr(address, wide.as_pointer())
        result = self.builder.call(load, [place, ir.Constant(I32, 8), mask, ir.Constant(wide, None)])
        # Positions within a plane fit into 32 bits: as many lanes as float32 values.
        return self.builder.trunc(result, ir.VectorType(I32, self.lanes))

    def fetch(self, address: Any, rows: int, width: Any, vectors: int, *, writing: bool = False) -> None:
        """Prefetches some vectors of so many rows; the first begins at an address."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
        fetch = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        how = [ir.Constant(I32, value) for value in (int(writing), 3, 1)]
        for row in range(rows):
            for at in range(vectors):
                place = self.add(address, self.times(width, row * self.size), AHEAD + at * self.lanes * self.size)
                self.builder.call(fetch, [self.builder.inttoptr(place, byte), *how])

    def store(self, address: Any, value: Any, mask: Any, adding: Any) -> None:
        """Masked store, or accumulation where `adding`."""
        result = self.sums(1)[0]
        self.builder.store(value, result)
        with self.builder.if_then(adding):  # a load of values that were just written would stall
            self.builder.store(self.builder.fadd(value, self.load(address, mask)), result)
        value = self.builder.load(result)
        self.put(address, value, mask)

    def put(self, address: Any, value: Any, mask: Any) -> None:
        """Masked store of floating-point values or integers."""
        pointer = value.type.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [value.type, pointer, I32, mask.type])
        real = f"f{8 * self.size}" if value.type == self.vector else "i64"
        store = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.masked.store.v{self.lanes}{real}.p0")
        place = self.builder.inttoptr(address, pointer)
        self.builder.call(store, [value, place, ir.Constant(I32, self.size), mask])

    def sums(self, count: int) -> list[Any]:
        """Accumulators, initialized with zeros."""
        return self.vectors([self.zero] * count)

    def vectors(self, values: Sequence[Any]) -> list[Any]:
        """Stack slots of vectors with these values."""
        places = [cgutils.alloca_once(self.builder, value.type) for value in values]
        for place, value in zip(places, values, strict=True):
            self.builder.store(value, place)
        return places

    def add_product(self, sum_: Any, left: Any, right: Any) -> None:
        """Adds the product of two vectors to a stack slot."""
        product = self.builder.fmul(left, right, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(sum_), product, flags=("contract",)), sum_)

    def shuffled(self, one: Any, two: Any, order: list[int]) -> Any:
        """Shuffle of two vectors; the indices of the second one follow those of the first."""
        return self.builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(I32, self.lanes), order))

    @contextlib.contextmanager
    def each(self, first: Any, last: Any, step: int) -> Iterator[Any]:
        """Loop from `first` to before `last` with the step `step`."""
        count = self.builder.sdiv(self.add(self.builder.sub(last, first), step - 1), ir.Constant(I64, step))
        with cgutils.for_range(self.builder, count) as loop:
            yield self.add(first, self.times(loop.index, step))

    def inside(self, row: Any, rows: Any) -> Any:
        """For `with`: only for a row inside the plane."""
        return self.builder.if_then(self.builder.icmp_unsigned("<", row, rows))

    def columns(self, start: Any, width: Any, stride: int) -> Callable[[Any], list[Any]]:
        """Returns a loader of the three columns of windows from a row's address; the first ones begin at `start`."""
        if stride == 1:
            begins = [self.add(start, at * self.lanes) for at in range(2)]
        else:
            begins = [self.add(start, at * self.lanes) for at in range(SIDE)]
        masks = [self.mask(begin, width) for begin in begins]

        def load(row: Any) -> list[Any]:
            parts = [self.load(self.add(row, self.times(b, self.size)), m) for b, m in zip(begins, masks, strict=True)]
            if stride == 1:  # not three loads, most of which would cross cache lines
                return [self.shuffled(*parts, list(range(b, b + self.lanes))) for b in range(SIDE)]
            # The even and odd columns of two vectors; the third column of windows is the first one shifted by a lane.
            left, middle = (self.shuffled(*parts[:2], list(range(at, 2 * self.lanes, 2))) for at in (0, 1))
            return [left, middle, self.shuffled(left, parts[2], list(range(1, self.lanes + 1)))]

        return load

    def total(self, value: Any) -> Any:
        """Horizontal sum of a vector."""
        kind = ir.FunctionType(self.real, [self.real, self.vector])
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.size}"
        reduce = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(reduce, [ir.Constant(self.real, 0.0), value], fastmath=("reassoc",))


def meeting(row: int, stride: int, high: int) -> list[tuple[int, int]]:
    """Filter rows, and the windows of `high` rows in which they cover a given row of pixels."""
    return [(a, (row - a) // stride) for a in range(SIDE) if (row - a) % stride == 0 and 0 <= row - a < high * stride]
