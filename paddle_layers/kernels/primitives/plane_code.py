"""Code over the pixels of a plane, straight from where they lie: vectors run over neighbouring columns.

What lies outside of the plane is masked when vectors are loaded and stored, so that nothing is laid out with borders
first and nothing is taken out behind. That needs a core whose loads have masks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from .tiles import HOST, Machine

MASKS = HOST.bytes >= 32
"""Whether the core's loads have masks."""
SIDE = 3
AHEAD = 4096
"""Bytes ahead of what is worked on that are asked for: the core's own guess fails where some rows go on together."""
I64, I32, BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)


class PlaneCode:
    """The code of a function over a plane that is being built."""

    def __init__(self, function: Any, machine: Machine, real: Any) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.real, self.size = real, 4 if isinstance(real, ir.FloatType) else 8
        self.lanes = machine.bytes // self.size
        self.vector = ir.VectorType(real, self.lanes)
        self.zero = self.outside = ir.Constant(self.vector, None)

    def add(self, *values: Any) -> Any:
        """The sum of whole numbers."""
        first, *others = (ir.Constant(I64, value) if isinstance(value, int) else value for value in values)
        for other in others:
            first = self.builder.add(first, other)
        return first

    def times(self, value: Any, factor: int) -> Any:
        """A whole number so many times."""
        return self.builder.mul(value, ir.Constant(I64, factor))

    def place(self, base: Any, row: Any, width: Any, column: Any) -> Any:
        """The address of a pixel."""
        return self.add(base, self.times(self.add(self.builder.mul(row, width), column), self.size))

    def plane_of(self, base: Any, index: Any, rows: Any, width: Any) -> Any:
        """The address of one of some planes."""
        return self.place(base, self.builder.mul(index, rows), width, ir.Constant(I64, 0))

    def splat(self, value: Any) -> Any:
        """A vector of equal numbers."""
        vector = ir.VectorType(value.type, self.lanes)
        single = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(I32, self.lanes), None))

    def number(self, value: float) -> Any:
        """A vector of a number that is known."""
        return ir.Constant(self.vector, [value] * self.lanes)

    def factors(self, w: Any, step: Any) -> list[Any]:
        """A filter's elements as vectors; `step` bytes lie between them."""
        places = (self.builder.inttoptr(self.add(w, self.times(step, at)), self.real.as_pointer()) for at in range(9))
        return [self.splat(self.builder.load(place, align=self.size)) for place in places]

    def mask(self, start: Any, width: Any) -> Any:
        """Which columns from `start` on a row of `width` pixels has."""
        counted = ir.Constant(ir.VectorType(I32, self.lanes), list(range(self.lanes)))
        columns = self.builder.add(self.splat(self.builder.trunc(start, I32)), counted)
        return self.builder.icmp_unsigned("<", columns, self.splat(self.builder.trunc(width, I32)))

    def _pointer(self, address: Any) -> Any:
        return self.builder.inttoptr(address, self.vector.as_pointer())

    def load(self, address: Any, mask: Any) -> Any:
        """The numbers that a mask lets through, and what is outside."""
        kind = ir.FunctionType(self.vector, [self.vector.as_pointer(), I32, mask.type, self.vector])
        name = f"llvm.masked.load.v{self.lanes}f{8 * self.size}.p0"
        load = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(load, [self._pointer(address), ir.Constant(I32, self.size), mask, self.outside])

    def load_whole(self, address: Any, mask: Any) -> Any:
        """As 32 bits, the whole numbers of 64 bits that a mask lets through."""
        wide = ir.VectorType(I64, self.lanes)
        kind = ir.FunctionType(wide, [wide.as_pointer(), I32, mask.type, wide])
        load = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.masked.load.v{self.lanes}i64.p0")
        place = self.builder.inttoptr(address, wide.as_pointer())
        result = self.builder.call(load, [place, ir.Constant(I32, 8), mask, ir.Constant(wide, None)])
        return self.builder.trunc(result, ir.VectorType(I32, self.lanes))

    def fetch(self, address: Any, rows: int, width: Any, vectors: int, *, writing: bool = False) -> None:
        """Ask for what some vectors of so many rows will need soon; the first begins at an address."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
        fetch = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        how = [ir.Constant(I32, value) for value in (int(writing), 3, 1)]
        for row in range(rows):
            for at in range(vectors):
                place = self.add(address, self.times(width, row * self.size), AHEAD + at * self.lanes * self.size)
                self.builder.call(fetch, [self.builder.inttoptr(place, byte), *how])

    def store(self, address: Any, value: Any, mask: Any, adding: Any) -> None:
        """Write the numbers that a mask lets through, or add them to what is there where `adding` says so."""
        result = self.sums(1)[0]
        self.builder.store(value, result)
        with self.builder.if_then(adding):  # a load of numbers that were just written would wait for them
            self.builder.store(self.builder.fadd(value, self.load(address, mask)), result)
        value = self.builder.load(result)
        self.put(address, value, mask)

    def put(self, address: Any, value: Any, mask: Any) -> None:
        """Write the numbers that a mask lets through, real or whole ones."""
        pointer = value.type.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [value.type, pointer, I32, mask.type])
        real = f"f{8 * self.size}" if value.type == self.vector else "i64"
        store = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.masked.store.v{self.lanes}{real}.p0")
        place = self.builder.inttoptr(address, pointer)
        self.builder.call(store, [value, place, ir.Constant(I32, self.size), mask])

    def sums(self, count: int) -> list[Any]:
        """Vectors of zeros that something is added to."""
        return self.vectors([self.zero] * count)

    def vectors(self, values: Sequence[Any]) -> list[Any]:
        """Places of vectors with these values."""
        places = [cgutils.alloca_once(self.builder, value.type) for value in values]
        for place, value in zip(places, values, strict=True):
            self.builder.store(value, place)
        return places

    def add_product(self, sum_: Any, left: Any, right: Any) -> None:
        """Add the product of two vectors to what a place has."""
        product = self.builder.fmul(left, right, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(sum_), product, flags=("contract",)), sum_)

    def shuffled(self, one: Any, two: Any, order: list[int]) -> Any:
        """The numbers of two vectors at some places, those of the second one behind those of the first."""
        return self.builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(I32, self.lanes), order))

    @contextlib.contextmanager
    def each(self, first: Any, last: Any, step: int) -> Iterator[Any]:
        """A loop over the first of every `step` numbers from `first` to before `last`."""
        count = self.builder.sdiv(self.add(self.builder.sub(last, first), step - 1), ir.Constant(I64, step))
        with cgutils.for_range(self.builder, count) as loop:
            yield self.add(first, self.times(loop.index, step))

    def inside(self, row: Any, rows: Any) -> Any:
        """For `with`: only for a row that is there."""
        return self.builder.if_then(self.builder.icmp_unsigned("<", row, rows))

    def columns(self, start: Any, width: Any, stride: int) -> Callable[[Any], list[Any]]:
        """What loads, from the address of a row, the three columns of windows: the first one's begin at `start`."""
        if stride == 1:
            begins = [self.add(start, at * self.lanes) for at in range(2)]
        else:
            begins = [self.add(start, at * self.lanes) for at in range(SIDE)]
        masks = [self.mask(begin, width) for begin in begins]

        def load(row: Any) -> list[Any]:
            parts = [self.load(self.add(row, self.times(b, self.size)), m) for b, m in zip(begins, masks, strict=True)]
            if stride == 1:  # not three loads, most of which would go across lines of the cache
                return [self.shuffled(*parts, list(range(b, b + self.lanes))) for b in range(SIDE)]
            left, middle = (self.shuffled(*parts[:2], list(range(at, 2 * self.lanes, 2))) for at in (0, 1))
            return [left, middle, self.shuffled(left, parts[2], list(range(1, self.lanes + 1)))]

        return load

    def total(self, value: Any) -> Any:
        """The sum of a vector's numbers."""
        kind = ir.FunctionType(self.real, [self.real, self.vector])
        name = f"llvm.vector.reduce.fadd.v{self.lanes}f{8 * self.size}"
        reduce = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(reduce, [ir.Constant(self.real, 0.0), value], fastmath=("reassoc",))


def meeting(row: int, stride: int, high: int) -> list[tuple[int, int]]:
    """Rows of a filter, and the windows of `high` rows of them whose row that is, for a row of pixels under them."""
    return [(a, (row - a) // stride) for a in range(SIDE) if (row - a) % stride == 0 and 0 <= row - a < high * stride]
