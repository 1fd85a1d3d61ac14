"""Pooling of planes: maxima, argmaxima and means of windows of 3 x 3 and 2 x 2 pixels; gradients of the latter."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from .microkernels import Machine
from .plane_codegen import BIT, I32, I64, SIDE, PlaneCode, meeting


def _larger(code: PlaneCode, one: Any, other: Any) -> Any:
    return code.builder.select(code.builder.fcmp_ordered(">", one, other), one, other)


def maxima(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Maxima `y` (P, Q) of `x` (H, W) under windows with at least one pixel; NaN wins."""
    x, H, W, y, P, Q, top, left = args
    builder, high = code.builder, machine.rows // 2
    # The neutral element of maxima: masked pixels never win.
    code.outside = ir.Constant(code.vector, [-math.inf] * code.lanes)
    nothing = ir.Constant(ir.VectorType(BIT, code.lanes), None)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, code.lanes) as q:
        best, nan = code.vectors([code.outside] * high), code.vectors([nothing] * high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        load = code.columns(builder.sub(code.times(q, stride), left), W, stride)
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                found, *others = load(code.place(x, h, W, ir.Constant(I64, 0)))
                # Ordered comparisons ignore NaN, so that a mask records which windows contain one.
                unordered = builder.fcmp_unordered("uno", found, found)
                for other in others:
                    unordered = builder.or_(unordered, builder.fcmp_unordered("uno", other, other))
                    found = _larger(code, found, other)
                for _, at in meeting(row, stride, high):
                    builder.store(_larger(code, found, builder.load(best[at])), best[at])
                    builder.store(builder.or_(unordered, builder.load(nan[at])), nan[at])
        mask, no_number = code.mask(q, Q), ir.Constant(code.vector, [math.nan] * code.lanes)
        for at in range(high):
            with code.inside(code.add(p, at), P):
                value = builder.select(builder.load(nan[at]), no_number, builder.load(best[at]))
                code.put(code.place(y, code.add(p, at), Q, q), value, mask)


def _wins(code: PlaneCode, value: Any, best: Any) -> Any:
    """Whether it is the new maximum: the first of equal values and NaN win."""
    builder = code.builder
    return builder.and_(builder.fcmp_unordered(">", value, best), builder.fcmp_ordered("ord", best, best))


def positions(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Positions `where` (P, Q), integers `h * W + w`, of the first maximum under each window."""
    x, H, W, where, P, Q, top, left = args
    builder, high, lanes = code.builder, machine.rows // 2, code.lanes
    code.outside = ir.Constant(code.vector, [-math.inf] * lanes)
    whole, wide = ir.VectorType(I32, lanes), ir.VectorType(I64, lanes)
    counted = ir.Constant(whole, [stride * lane for lane in range(lanes)])
    # -1 marks windows without a pixel: the first one must win even if it is -inf, as masked pixels are.
    unknown = ir.Constant(whole, [-1] * lanes)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        best, known = code.vectors([code.outside] * high), code.vectors([unknown] * high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        start = builder.sub(code.times(q, stride), left)
        load = code.columns(start, W, stride)
        columns = [builder.add(code.splat(builder.trunc(code.add(start, b), I32)), counted) for b in range(SIDE)]
        extent = code.splat(builder.trunc(W, I32))
        # Likewise for columns: the first column inside of the plane must replace masked ones, whatever its value.
        none_before = [builder.icmp_unsigned(">=", columns[0], extent)]
        for column in columns[1:-1]:
            none_before.append(builder.and_(none_before[-1], builder.icmp_unsigned(">=", column, extent)))
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                found, *others = load(code.place(x, h, W, ir.Constant(I64, 0)))
                place = columns[0]
                for value, column, none in zip(others, columns[1:], none_before, strict=True):
                    better = builder.or_(_wins(code, value, found), none)
                    found, place = builder.select(better, value, found), builder.select(better, column, place)
                place = builder.add(place, code.splat(builder.trunc(builder.mul(h, W), I32)))
                for _, at in meeting(row, stride, high):
                    before, old = builder.load(best[at]), builder.load(known[at])
                    better = builder.or_(
                        _wins(code, found, before), builder.icmp_signed("<", old, ir.Constant(whole, None))
                    )
                    builder.store(builder.select(better, found, before), best[at])
                    builder.store(builder.select(better, place, old), known[at])
        mask = code.mask(q, Q)
        for at in range(high):
            with code.inside(code.add(p, at), P):
                # Stored as 64-bit integers, the type of index tensors; computed in 32 bits, where a vector has all
                # lanes.
                place = code.add(where, code.times(code.add(builder.mul(code.add(p, at), Q), q), 8))
                code.put(place, builder.sext(builder.load(known[at]), wide), mask)


def _largest_of_4(code: PlaneCode, args: Any, p: Any, q: Any) -> tuple[Any, list[Any]]:
    """Maxima of non-overlapping 2 x 2 windows, and their positions: top right, bottom right, bottom left.

    Where a window crosses the right or lower edge, its first pixel is inside: no other one wins there.
    """
    x, H, W = args[:3]
    builder, lanes = code.builder, code.lanes
    row, column = code.times(p, 2), code.times(q, 2)
    masks = [code.mask(code.add(column, part), W) for part in (0, lanes)]
    there = code.splat(builder.icmp_unsigned("<", code.add(row, 1), H))
    code.fetch(code.place(x, row, W, column), 2, W, 2)
    pixels = []
    for at in range(2):
        parts = [
            code.load(code.place(x, code.add(row, at), W, code.add(column, part)), mask)
            for part, mask in zip((0, lanes), masks, strict=True)
        ]
        pixels += [code.shuffled(*parts, list(range(side, 2 * lanes, 2))) for side in range(2)]
        masks = [builder.and_(mask, there) for mask in masks]
    upper, under = (_wins(code, pixels[at + 1], pixels[at]) for at in (0, 2))
    largest = [builder.select(wins, pixels[at + 1], pixels[at]) for wins, at in ((upper, 0), (under, 2))]
    lower = _wins(code, largest[1], largest[0])
    return builder.select(lower, *reversed(largest)), [upper, under, lower]


def maxima_of_4(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Maxima `y` (P, Q) of `x` (H, W) under non-overlapping 2 x 2 windows; NaN wins."""
    _, _, _, y, P, Q = args
    code.outside = code.number(-math.inf)
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, code.lanes) as q:
        code.put(code.place(y, p, Q, q), _largest_of_4(code, args, p, q)[0], code.mask(q, Q))


def positions_of_4(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Positions `where` (P, Q), integers, of the first maximum under the same windows."""
    _, _, W, where, P, Q = args
    builder, lanes = code.builder, code.lanes
    whole, wide = ir.VectorType(I32, lanes), ir.VectorType(I64, lanes)
    code.outside = code.number(-math.inf)
    behind = [ir.Constant(whole, [2 * lane + right for lane in range(lanes)]) for right in range(2)]
    below = code.splat(builder.trunc(W, I32))
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        upper, under, lower = _largest_of_4(code, args, p, q)[1]
        above, under = (builder.select(wins, *reversed(behind)) for wins in (upper, under))
        place = builder.select(lower, builder.add(under, below), above)
        first = code.splat(builder.trunc(code.times(code.add(builder.mul(p, W), q), 2), I32))
        to = code.add(where, code.times(code.add(builder.mul(p, Q), q), 8))
        code.put(to, builder.sext(builder.add(place, first), wide), code.mask(q, Q))


def scatter_to_argmax(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Scatters `deltas` (P, Q) to `dx` (2P, 2Q) at the positions `where`, one per 2 x 2 window; zeros at others."""
    deltas, where, P, Q, dx = args
    builder, lanes = code.builder, code.lanes
    whole, W = ir.VectorType(I32, lanes), code.times(Q, 2)
    counted = ir.Constant(whole, [2 * lane for lane in range(lanes)])
    order = [lane + half for lane in range(lanes) for half in (0, lanes)]
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        mask, column = code.mask(q, Q), code.times(q, 2)
        delta = code.load(code.place(deltas, p, Q, q), mask)
        place = code.load_whole(code.add(where, code.times(code.add(builder.mul(p, Q), q), 8)), mask)
        first = builder.add(builder.mul(code.times(p, 2), W), column)  # position of the vector's first window
        place = builder.sub(place, builder.add(code.splat(builder.trunc(first, I32)), counted))
        masks = [code.mask(code.add(column, part), W) for part in (0, lanes)]
        # Every pixel of the plane is written, zeros too, so that the target need not be cleared first.
        for row in range(2):
            at = code.splat(builder.trunc(code.times(W, row), I32))
            one = builder.select(builder.icmp_signed("==", place, at), delta, code.zero)
            at = builder.add(at, ir.Constant(whole, [1] * lanes))
            other = builder.select(builder.icmp_signed("==", place, at), delta, code.zero)
            for part in (0, 1):
                run = code.shuffled(one, other, order[part * lanes : (part + 1) * lanes])
                to = code.place(dx, code.add(code.times(p, 2), row), W, code.add(column, part * lanes))
                code.put(to, run, masks[part])


def scatter_evenly(code: PlaneCode, machine: Machine, stride: int, args: Any, factor: float = 1.0) -> None:
    """Scatters `deltas` (P, Q) times a factor to `dx` (2P, 2Q), to each pixel under their 2 x 2 windows."""
    deltas, P, Q, dx = args
    builder, lanes, W = code.builder, code.lanes, code.times(args[2], 2)
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        share = builder.fmul(code.load(code.place(deltas, p, Q, q), code.mask(q, Q)), code.number(factor))
        for part in (0, lanes):
            column = code.add(code.times(q, 2), part)
            run, mask = code.shuffled(share, share, [(part + at) // 2 for at in range(lanes)]), code.mask(column, W)
            for row in range(2):
                code.put(code.place(dx, code.add(code.times(p, 2), row), W, column), run, mask)


def _counted(code: PlaneCode, start: Any, extent: Any, before: Any, behind: Any) -> Any:
    """Pixels of windows of `SIDE` along an axis, plus the counted padding before and after; 1 if that is nothing.

    Integers, or vectors of integers.
    """
    builder, kind = code.builder, start.type
    one, side = (ir.Constant(kind, n if kind == I64 else [n] * code.lanes) for n in (1, SIDE))
    end, limit, first = builder.add(start, side), builder.add(extent, behind), builder.neg(before)
    end = builder.select(builder.icmp_signed("<", end, limit), end, limit)
    count = builder.sub(end, builder.select(builder.icmp_signed(">", start, first), start, first))
    # A window without counted pixels has the sum 0; the divisor 1 avoids 0 / 0.
    return builder.select(builder.icmp_signed(">", count, one), count, one)


def means(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Means `y` (P, Q): sums of the pixels of x (H, W) under windows, divided by `_counted` of both axes."""
    x, H, W, y, P, Q, top, left, *reach = args
    builder, high, lanes = code.builder, machine.rows // 2, code.lanes
    behind = ir.Constant(ir.VectorType(I32, lanes), [stride * lane for lane in range(lanes)])
    extents = [code.splat(builder.trunc(value, I32)) for value in (W, *reach[2:])]
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        sums = code.sums(high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        start = builder.sub(code.times(q, stride), left)
        load = code.columns(start, W, stride)
        for row in range((high - 1) * stride + SIDE):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                first, second, third = load(code.place(x, h, W, ir.Constant(I64, 0)))
                # The sum of three columns is shared by the windows above and below: 235 to 108 us for stride 2, 904 to
                # 269 us for stride 1 (64x20x24x24 values, one core of an AMD EPYC with AVX-512).
                total = builder.fadd(builder.fadd(first, second), third)
                for _, at in meeting(row, stride, high):
                    builder.store(builder.fadd(builder.load(sums[at]), total), sums[at])
        columns = _counted(code, builder.add(code.splat(builder.trunc(start, I32)), behind), *extents)
        mask = code.mask(q, Q)
        for at in range(high):
            with code.inside(code.add(p, at), P):
                begin = builder.sub(code.times(code.add(p, at), stride), top)
                rows = code.splat(builder.trunc(_counted(code, begin, H, *reach[:2]), I32))
                count = builder.sitofp(builder.mul(rows, columns), code.vector)
                code.put(code.place(y, code.add(p, at), Q, q), builder.fdiv(builder.load(sums[at]), count), mask)


def means_of_4(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """Means `y` (P, Q) of non-overlapping 2 x 2 windows in x, whose rows have W pixels."""
    x, W, y, P, Q = args
    builder, lanes = code.builder, code.lanes
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        column, sums = code.times(q, 2), []
        code.fetch(code.place(x, code.times(p, 2), W, column), 2, W, 2)
        # The two rows are added before the shuffle, which halves the number of shuffles.
        for part in (0, lanes):
            mask = code.mask(code.add(column, part), W)
            upper, under = (
                code.load(code.place(x, code.add(code.times(p, 2), row), W, code.add(column, part)), mask)
                for row in range(2)
            )
            sums.append(builder.fadd(upper, under))
        left, right = (code.shuffled(*sums, list(range(at, 2 * lanes, 2))) for at in range(2))
        mean = builder.fmul(builder.fadd(left, right), code.number(0.25))
        code.put(code.place(y, p, Q, q), mean, code.mask(q, Q))
