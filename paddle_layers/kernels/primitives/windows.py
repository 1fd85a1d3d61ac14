"""3x3 windows of a plane, straight from where it lies: vectors run over neighbouring columns, some rows at a time.

What lies outside of the plane is masked when vectors are loaded and stored, so that nothing is laid out with borders
first and nothing is taken out behind. That needs a core whose loads have masks. As elsewhere, a padded zero is
multiplied like a number.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .tiles import HOST, Machine

MASKS = HOST.bytes >= 32
"""Whether the core's loads have masks."""
SIDE = 3
AHEAD = 4096
"""Bytes ahead of what is worked on that are asked for: the core's own guess fails where some rows go on together."""
_I64, _I32, _BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)


class _Code:
    """The code of a function over a plane that is being built."""

    def __init__(self, function: Any, machine: Machine, real: Any) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.real, self.size = real, 4 if isinstance(real, ir.FloatType) else 8
        self.lanes = machine.bytes // self.size
        self.vector = ir.VectorType(real, self.lanes)
        self.zero = ir.Constant(self.vector, None)

    def add(self, *values: Any) -> Any:
        """The sum of whole numbers."""
        first, *others = (ir.Constant(_I64, value) if isinstance(value, int) else value for value in values)
        for other in others:
            first = self.builder.add(first, other)
        return first

    def times(self, value: Any, factor: int) -> Any:
        return self.builder.mul(value, ir.Constant(_I64, factor))

    def place(self, base: Any, row: Any, width: Any, column: Any) -> Any:
        """The address of a pixel."""
        return self.add(base, self.times(self.add(self.builder.mul(row, width), column), self.size))

    def splat(self, value: Any) -> Any:
        """A vector of equal numbers."""
        vector = ir.VectorType(value.type, self.lanes)
        single = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(_I32, self.lanes), None))

    def factors(self, w: Any, step: Any) -> list[Any]:
        """A filter's elements as vectors; `step` bytes lie between them."""
        places = (self.builder.inttoptr(self.add(w, self.times(step, at)), self.real.as_pointer()) for at in range(9))
        return [self.splat(self.builder.load(place, align=self.size)) for place in places]

    def mask(self, start: Any, width: Any) -> Any:
        """Which columns from `start` on a row of `width` pixels has."""
        counted = ir.Constant(ir.VectorType(_I32, self.lanes), list(range(self.lanes)))
        columns = self.builder.add(self.splat(self.builder.trunc(start, _I32)), counted)
        return self.builder.icmp_unsigned("<", columns, self.splat(self.builder.trunc(width, _I32)))

    def _pointer(self, address: Any) -> Any:
        return self.builder.inttoptr(address, self.vector.as_pointer())

    def load(self, address: Any, mask: Any) -> Any:
        """The numbers that a mask lets through, and zeros."""
        kind = ir.FunctionType(self.vector, [self.vector.as_pointer(), _I32, mask.type, self.vector])
        name = f"llvm.masked.load.v{self.lanes}f{8 * self.size}.p0"
        load = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(load, [self._pointer(address), ir.Constant(_I32, self.size), mask, self.zero])

    def fetch(self, address: Any, rows: int, width: Any, vectors: int, *, writing: bool = False) -> None:
        """Ask for what some vectors of so many rows will need soon; the first begins at an address."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        fetch = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        how = [ir.Constant(_I32, value) for value in (int(writing), 3, 1)]
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
        kind = ir.FunctionType(ir.VoidType(), [self.vector, self.vector.as_pointer(), _I32, mask.type])
        name = f"llvm.masked.store.v{self.lanes}f{8 * self.size}.p0"
        store = cgutils.get_or_insert_function(self.builder.module, kind, name)
        self.builder.call(store, [value, self._pointer(address), ir.Constant(_I32, self.size), mask])

    def sums(self, count: int) -> list[Any]:
        """Vectors of zeros that something is added to."""
        places = [cgutils.alloca_once(self.builder, self.vector) for _ in range(count)]
        for place in places:
            self.builder.store(self.zero, place)
        return places

    def add_product(self, sum_: Any, left: Any, right: Any) -> None:
        product = self.builder.fmul(left, right, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(sum_), product, flags=("contract",)), sum_)

    def shuffled(self, one: Any, two: Any, order: list[int]) -> Any:
        return self.builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(_I32, self.lanes), order))

    @contextlib.contextmanager
    def each(self, first: Any, last: Any, step: int) -> Iterator[Any]:
        """A loop over the first of every `step` numbers from `first` to before `last`."""
        count = self.builder.sdiv(self.add(self.builder.sub(last, first), step - 1), ir.Constant(_I64, step))
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


def _meeting(row: int, stride: int, high: int) -> list[tuple[int, int]]:
    """Rows of a filter, and the windows of `high` rows of them whose row that is, for a row of pixels under them."""
    return [(a, (row - a) // stride) for a in range(SIDE) if (row - a) % stride == 0 and 0 <= row - a < high * stride]


def _correlate(code: _Code, machine: Machine, stride: int, args: Any) -> None:
    """y (P, Q) = the correlation of x (H, W) with a filter, or y += where `adding`."""
    x, H, W, w, w_step, y, P, Q, top, left, adding = args
    builder, high = code.builder, machine.rows // 2
    factors = code.factors(w, w_step)
    adds = builder.trunc(adding, _BIT)
    with code.each(ir.Constant(_I64, 0), P, high) as p, code.each(ir.Constant(_I64, 0), Q, code.lanes) as q:
        sums = code.sums(high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        code.fetch(code.place(y, p, Q, q), high, Q, 1, writing=True)
        load = code.columns(builder.sub(code.times(q, stride), left), W, stride)
        mask = code.mask(q, Q)
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                pixels = load(code.place(x, h, W, ir.Constant(_I64, 0)))
                for a, at in _meeting(row, stride, high):
                    for b in range(SIDE):
                        code.add_product(sums[at], factors[a * SIDE + b], pixels[b])
        for at, sum_ in enumerate(sums):
            with code.inside(code.add(p, at), P):
                code.store(code.place(y, code.add(p, at), Q, q), builder.load(sum_), mask, adds)


def _dots(code: _Code, machine: Machine, stride: int, args: Any) -> None:
    """Add to the gradient of a filter what a plane of deltas (P, Q) gives with pixels (H, W)."""
    x, H, W, deltas, P, Q, dw, top, left = args
    builder, high = code.builder, machine.rows // 2
    sums = code.sums(SIDE * SIDE)
    with code.each(ir.Constant(_I64, 0), P, high) as p, code.each(ir.Constant(_I64, 0), Q, code.lanes) as q:
        own = code.sums(high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        code.fetch(code.place(deltas, p, Q, q), high, Q, 1)
        load = code.columns(builder.sub(code.times(q, stride), left), W, stride)
        mask = code.mask(q, Q)
        for at, place in enumerate(own):
            with code.inside(code.add(p, at), P):
                builder.store(code.load(code.place(deltas, code.add(p, at), Q, q), mask), place)
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                pixels = load(code.place(x, h, W, ir.Constant(_I64, 0)))
                pixels = [builder.select(mask, pixel, code.zero) for pixel in pixels]  # none times an infinite one
                for a, at in _meeting(row, stride, high):
                    for b in range(SIDE):
                        code.add_product(sums[a * SIDE + b], builder.load(own[at]), pixels[b])
    for at, sum_ in enumerate(sums):
        place = builder.inttoptr(code.add(dw, at * code.size), code.real.as_pointer())
        total = code.total(builder.load(sum_))
        builder.store(builder.fadd(builder.load(place, align=code.size), total), place, align=code.size)


def _spread(code: _Code, machine: Machine, stride: int, args: Any) -> None:
    """dx (H, W) = the gradient of a correlation whose windows are two pixels apart, or dx += where `adding`.

    With the padding, the pixels of row 2i are under row 0 of windows i and row 2 of windows i - 1, those of row 2i + 1
    under row 1 of windows i; so it is with columns.
    """
    deltas, P, Q, w, dx, H, W, top, left, adding = args
    builder, high, lanes = code.builder, machine.rows // 4, code.lanes
    factors = code.factors(w, ir.Constant(_I64, code.size))
    adds = builder.trunc(adding, _BIT)
    half = ir.Constant(_I64, 1)
    (i_first, i_last), (j_first, j_last) = (
        (builder.ashr(border, half), builder.ashr(code.add(extent, border, 1), half))
        for border, extent in ((top, H), (left, W))
    )
    with code.each(i_first, i_last, high) as i, code.each(j_first, j_last, lanes) as j:
        sums = code.sums(4 * high)  # even and odd rows, in each even and odd columns
        code.fetch(code.place(deltas, i, Q, j), high, Q, 1)
        code.fetch(code.place(dx, code.times(i, 2), W, code.times(j, 2)), 2 * high, W, 2, writing=True)
        before = code.add(j, -1)
        mask, mask_before = code.mask(j, Q), code.mask(before, Q)
        for row in range(high + 1):
            p = code.add(i, row - 1)
            with code.inside(p, P):
                here = code.load(code.place(deltas, p, Q, j), mask)
                other = code.load(code.place(deltas, p, Q, before), mask_before)
                for a in range(SIDE):
                    at = row if a == 2 else row - 1
                    if not 0 <= at < high:
                        continue
                    even, odd = sums[4 * at + a % 2 * 2 : 4 * at + a % 2 * 2 + 2]
                    code.add_product(even, factors[a * SIDE], here)
                    code.add_product(odd, factors[a * SIDE + 1], here)
                    code.add_product(even, factors[a * SIDE + 2], other)
        column = builder.sub(code.times(j, 2), left)
        order = [lane + half_ for lane in range(lanes) for half_ in (0, lanes)]
        masks = [code.mask(code.add(column, part), W) for part in (0, lanes)]
        for at in range(2 * high):
            h = code.add(builder.sub(code.times(i, 2), top), at)
            with code.inside(h, H):
                even, odd = (builder.load(sum_) for sum_ in sums[2 * at : 2 * at + 2])
                for part in (0, 1):
                    place = code.place(dx, h, W, code.add(column, part * lanes))
                    run = code.shuffled(even, odd, order[part * lanes : (part + 1) * lanes])
                    code.store(place, run, masks[part], adds)


KINDS: dict[str, tuple[Callable[..., None], int, int]] = {
    "correlate": (_correlate, 1, 11),
    "correlate_2": (_correlate, 2, 11),
    "dots": (_dots, 1, 9),
    "dots_2": (_dots, 2, 9),
    "spread_2": (_spread, 2, 10),
}
"""What builds a function, the columns from one window to the next, and how many whole numbers it takes."""


def window_function(module: Any, machine: Machine, kind: str, real: Any) -> Any:
    """The function of a kind in an LLVM module, which gets it where it has none."""
    name = f"paddle_layers_windows_{kind}_{real}_{machine.bytes}"
    if name in module.globals:
        return module.globals[name]
    build, stride, count = KINDS[kind]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * count), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    code = _Code(function, machine, real)
    build(code, machine, stride, function.args)
    code.builder.ret_void()
    return function


def _caller(kind: str) -> Any:
    """An intrinsic that calls the function of a kind: a tuple of its whole numbers, and 1 in the precision."""

    def call(typingctx: Any, given: Any, one: Any) -> Any:
        count = KINDS[kind][2]
        signature = types.void(types.UniTuple(types.int64, count), one)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            real = ir.FloatType() if one == types.float32 else ir.DoubleType()
            function = window_function(builder.module, HOST, kind, real)
            builder.call(function, cgutils.unpack_tuple(builder, args[0], count))
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(call)


correlate, correlate_2, dots, dots_2, spread_2 = map(_caller, KINDS)
"""Calls with the numbers `x H W w w_step y P Q top left adding`, `x H W deltas P Q dw top left`, and
`deltas P Q w dx H W top left adding`: addresses, `w_step` in bytes from one element of the filter to the next, `top`
and `left` the padding, `adding` 0 or 1."""
