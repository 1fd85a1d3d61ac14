"""Depthwise 3x3 convolution of a plane, some rows at a time, and its gradients; dispatch of the pooling functions.

As in the other kernels, padding is multiplied like any value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle_layers.kernels.constants import EPILOGUE_ROWS

from . import epilogues, im2col, plane_pooling
from .microkernels import HOST, Machine
from .plane_codegen import BIT, I64, SIDE, PlaneCode, meeting


def _correlate(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Convolution `y` (P, Q) of `x` (H, W) with a filter, or `y +=` where `adding`; then the epilogue of a table."""
    x, H, W, w, w_step, y, P, Q, top, left, adding, table, step = args
    # Half the rows of a product tile: 9 factors, the epilogue and the loaded pixels share the registers with the sums.
    builder, high = code.builder, machine.rows // 2
    ends = builder.icmp_unsigned("!=", table, ir.Constant(I64, 0))
    limits = code.sums(EPILOGUE_ROWS)
    with builder.if_then(ends):
        for place, number in zip(limits, epilogues.row_numbers(builder, table, step, code.real), strict=True):
            builder.store(code.splat(number), place)
    factors = code.factors(w, w_step)
    adds = builder.trunc(adding, BIT)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, code.lanes) as q:
        sums = code.sums(high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        code.fetch(code.place(y, p, Q, q), high, Q, 1, writing=True)
        load = code.columns(builder.sub(code.times(q, stride), left), W, stride)
        mask = code.mask(q, Q)
        # Each row of pixels is loaded once and multiplied for all windows that contain it.
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                pixels = load(code.place(x, h, W, ir.Constant(I64, 0)))
                for a, at in meeting(row, stride, high):
                    for b in range(SIDE):
                        code.add_product(sums[at], factors[a * SIDE + b], pixels[b])
        for at, sum_ in enumerate(sums):
            with code.inside(code.add(p, at), P):
                # In registers, before the store: 0.03 ms of MobileNet v1's batch of one less than a pass after the
                # plane.
                with builder.if_then(ends):
                    builder.store(epilogues.ended(builder, [*map(builder.load, limits)], builder.load(sum_)), sum_)
                code.store(code.place(y, code.add(p, at), Q, q), builder.load(sum_), mask, adds)


def _dots(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Adds the filter gradient of a plane of deltas (P, Q) and pixels (H, W)."""
    x, H, W, deltas, P, Q, dw, top, left = args
    builder, high = code.builder, machine.rows // 2
    sums = code.sums(SIDE * SIDE)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, code.lanes) as q:
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
                pixels = load(code.place(x, h, W, ir.Constant(I64, 0)))
                pixels = [builder.select(mask, pixel, code.zero) for pixel in pixels]  # no 0 * inf
                for a, at in meeting(row, stride, high):
                    for b in range(SIDE):
                        code.add_product(sums[a * SIDE + b], builder.load(own[at]), pixels[b])
    for at, sum_ in enumerate(sums):
        place = builder.inttoptr(code.add(dw, at * code.size), code.real.as_pointer())
        total = code.total(builder.load(sum_))
        builder.store(builder.fadd(builder.load(place, align=code.size), total), place, align=code.size)


def _spread(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Input gradient `dx` (H, W) of a convolution with stride 2, added to `dx` where `adding`.

    With the padding, the pixels of row 2i are under row 0 of windows i and row 2 of windows i - 1, those of row 2i + 1
    under row 1 of windows i; columns are analogous.
    """
    deltas, P, Q, w, dx, H, W, top, left, adding = args
    # Each row of deltas has four sums, one per parity of row and column: half the rows of `_correlate`.
    builder, high, lanes = code.builder, machine.rows // 4, code.lanes
    factors = code.factors(w, ir.Constant(I64, code.size))
    adds = builder.trunc(adding, BIT)
    half = ir.Constant(I64, 1)
    (i_first, i_last), (j_first, j_last) = (
        (builder.ashr(border, half), builder.ashr(code.add(extent, border, 1), half))
        for border, extent in ((top, H), (left, W))
    )
    with code.each(i_first, i_last, high) as i, code.each(j_first, j_last, lanes) as j:
        sums = code.sums(4 * high)  # even and odd rows, each with even and odd columns
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
    "correlate": (_correlate, 1, 13),
    "correlate_2": (_correlate, 2, 13),
    "dots": (_dots, 1, 9),
    "dots_2": (_dots, 2, 9),
    "spread_2": (_spread, 2, 10),
    "maxima": (plane_pooling.maxima, 1, 8),
    "maxima_2": (plane_pooling.maxima, 2, 8),
    "maxima_of_4": (plane_pooling.maxima_of_4, 2, 6),
    "positions": (plane_pooling.positions, 1, 8),
    "positions_2": (plane_pooling.positions, 2, 8),
    "positions_of_4": (plane_pooling.positions_of_4, 2, 6),
    "scatter_to_argmax": (plane_pooling.scatter_to_argmax, 2, 5),
    "scatter_quarters": (functools.partial(plane_pooling.scatter_evenly, factor=0.25), 2, 4),
    "scatter_evenly": (plane_pooling.scatter_evenly, 2, 4),
    "means_of_4": (plane_pooling.means_of_4, 2, 5),
    "means": (plane_pooling.means, 1, 12),
    "means_2": (plane_pooling.means, 2, 12),
    "pack_windows": (im2col.pack_windows, 1, 6),
    "sum_windows": (im2col.sum_windows, 1, 7),
}
"""Builder of a function, the column stride of windows, and the number of its integer arguments."""


def window_function(module: Any, machine: Machine, kind: str, real: Any) -> Any:
    """The function of a kind in an LLVM module, added if missing."""
    name = f"paddle_layers_windows_{kind}_{real}_{machine.bytes}"
    if name in module.globals:
        return module.globals[name]
    build, stride, count = KINDS[kind]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * count), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    code = PlaneCode(function, machine, real)
    build(code, machine, stride, function.args)
    code.builder.ret_void()
    return function


def _caller(kind: str) -> Any:
    """An intrinsic that calls the function of a kind: a tuple of its integers, and 1 in the precision."""

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


correlate, correlate_2, dots, dots_2, spread_2 = (_caller(kind) for kind in list(KINDS)[:5])
maxima, maxima_2, maxima_of_4, positions, positions_2, positions_of_4, scatter_to_argmax, scatter_quarters = (
    _caller(kind) for kind in list(KINDS)[5:13]
)
scatter_evenly, means_of_4, means, means_2 = (_caller(kind) for kind in list(KINDS)[13:17])
pack_windows, sum_windows = (_caller(kind) for kind in list(KINDS)[17:])
"""Calls with the arguments `x H W w w_step y P Q top left adding table step`, `x H W deltas P Q dw top left`,
`deltas P Q w dx H W top left adding`, for maxima and positions `x H W y P Q top left`, but `of_4` `x H W y P Q`,
`deltas where P Q dx`, `deltas P Q dx` to give each pixel a fourth or all, for means `x W y P Q` `of_4` and
`x H W y P Q top left` with the counted padding above, below, before and after the pixels, `x A B matrix P Q` and
`matrix A B P Q dx adding`: addresses, `w_step` the byte stride of filter elements, `top` and `left` the padding,
`adding` 0 or 1, `table` and `step` those of an epilogue. Pooling windows are 3 x 3 pixels, or non-overlapping 2 x 2
`of_4`.
"""
