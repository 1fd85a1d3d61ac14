"""Pools of planes: maxima under windows of 3 x 3 and 2 x 2 pixels and where they are, gradients under the latter."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from .plane_code import BIT, I32, I64, SIDE, PlaneCode, meeting
from .tiles import Machine


def _larger(code: PlaneCode, one: Any, other: Any) -> Any:
    return code.builder.select(code.builder.fcmp_ordered(">", one, other), one, other)


def maxima(code: PlaneCode, machine: Machine, stride: int, args: Any, side: int = SIDE) -> None:
    """y (P, Q) = the largest pixels of x (H, W) under windows that have one; NaN wins."""
    x, H, W, y, P, Q, top, left = args
    builder, high = code.builder, machine.rows // 2
    code.outside = ir.Constant(code.vector, [-math.inf] * code.lanes)
    nothing = ir.Constant(ir.VectorType(BIT, code.lanes), None)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, code.lanes) as q:
        best, nan = code.vectors([code.outside] * high), code.vectors([nothing] * high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        load = code.columns(builder.sub(code.times(q, stride), left), W, stride)
        for row in range((high - 1) * stride + side):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                found, *others = load(code.place(x, h, W, ir.Constant(I64, 0)))[:side]
                unordered = builder.fcmp_unordered("uno", found, found)
                for other in others:
                    unordered = builder.or_(unordered, builder.fcmp_unordered("uno", other, other))
                    found = _larger(code, found, other)
                for _, at in meeting(row, stride, high, side):
                    builder.store(_larger(code, found, builder.load(best[at])), best[at])
                    builder.store(builder.or_(unordered, builder.load(nan[at])), nan[at])
        mask, no_number = code.mask(q, Q), ir.Constant(code.vector, [math.nan] * code.lanes)
        for at in range(high):
            with code.inside(code.add(p, at), P):
                value = builder.select(builder.load(nan[at]), no_number, builder.load(best[at]))
                code.put(code.place(y, code.add(p, at), Q, q), value, mask)


def _wins(code: PlaneCode, value: Any, best: Any) -> Any:
    """Whether it is the new maximum: the first of equal ones stays, and NaN once it came."""
    builder = code.builder
    return builder.and_(builder.fcmp_unordered(">", value, best), builder.fcmp_ordered("ord", best, best))


def positions(code: PlaneCode, machine: Machine, stride: int, args: Any, side: int = SIDE) -> None:
    """where (P, Q), whole numbers = the positions `h * W + w` of the first of the largest pixels under windows."""
    x, H, W, where, P, Q, top, left = args
    builder, high, lanes = code.builder, machine.rows // 2, code.lanes
    code.outside = ir.Constant(code.vector, [-math.inf] * lanes)
    whole, wide = ir.VectorType(I32, lanes), ir.VectorType(I64, lanes)
    counted = ir.Constant(whole, [stride * lane for lane in range(lanes)])
    unknown = ir.Constant(whole, [-1] * lanes)
    with code.each(ir.Constant(I64, 0), P, high) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        best, known = code.vectors([code.outside] * high), code.vectors([unknown] * high)
        code.fetch(code.place(x, code.times(p, stride), W, code.times(q, stride)), high * stride, W, stride)
        start = builder.sub(code.times(q, stride), left)
        load = code.columns(start, W, stride)
        columns = [builder.add(code.splat(builder.trunc(code.add(start, b), I32)), counted) for b in range(side)]
        extent = code.splat(builder.trunc(W, I32))
        none_before = [builder.icmp_unsigned(">=", columns[0], extent)]
        for column in columns[1:-1]:
            none_before.append(builder.and_(none_before[-1], builder.icmp_unsigned(">=", column, extent)))
        for row in range((high - 1) * stride + side):
            h = code.add(builder.sub(code.times(p, stride), top), row)
            with code.inside(h, H):
                found, *others = load(code.place(x, h, W, ir.Constant(I64, 0)))[:side]
                place = columns[0]
                for value, column, none in zip(others, columns[1:], none_before, strict=True):
                    better = builder.or_(_wins(code, value, found), none)
                    found, place = builder.select(better, value, found), builder.select(better, column, place)
                place = builder.add(place, code.splat(builder.trunc(builder.mul(h, W), I32)))
                for _, at in meeting(row, stride, high, side):
                    before, old = builder.load(best[at]), builder.load(known[at])
                    better = builder.or_(
                        _wins(code, found, before), builder.icmp_signed("<", old, ir.Constant(whole, None))
                    )
                    builder.store(builder.select(better, found, before), best[at])
                    builder.store(builder.select(better, place, old), known[at])
        mask = code.mask(q, Q)
        for at in range(high):
            with code.inside(code.add(p, at), P):
                place = code.add(where, code.times(code.add(builder.mul(code.add(p, at), Q), q), 8))
                code.put(place, builder.sext(builder.load(known[at]), wide), mask)


def give_to_places(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """dx (2P, 2Q) = deltas (P, Q) at the positions `where`, one under each window of 2 x 2 pixels, zeros elsewhere."""
    deltas, where, P, Q, dx = args
    builder, lanes = code.builder, code.lanes
    whole, W = ir.VectorType(I32, lanes), code.times(Q, 2)
    counted = ir.Constant(whole, [2 * lane for lane in range(lanes)])
    order = [lane + half for lane in range(lanes) for half in (0, lanes)]
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        mask, column = code.mask(q, Q), code.times(q, 2)
        delta = code.load(code.place(deltas, p, Q, q), mask)
        place = code.load_whole(code.add(where, code.times(code.add(builder.mul(p, Q), q), 8)), mask)
        first = builder.add(builder.mul(code.times(p, 2), W), column)  # that of the vector's first window
        place = builder.sub(place, builder.add(code.splat(builder.trunc(first, I32)), counted))
        masks = [code.mask(code.add(column, part), W) for part in (0, lanes)]
        for row in range(2):
            at = code.splat(builder.trunc(code.times(W, row), I32))
            one = builder.select(builder.icmp_signed("==", place, at), delta, code.zero)
            at = builder.add(at, ir.Constant(whole, [1] * lanes))
            other = builder.select(builder.icmp_signed("==", place, at), delta, code.zero)
            for part in (0, 1):
                run = code.shuffled(one, other, order[part * lanes : (part + 1) * lanes])
                to = code.place(dx, code.add(code.times(p, 2), row), W, code.add(column, part * lanes))
                code.put(to, run, masks[part])


def give_to_all(code: PlaneCode, machine: Machine, stride: int, args: Any) -> None:
    """dx (2P, 2Q) = a fourth of deltas (P, Q) for each pixel under their windows of 2 x 2 pixels."""
    deltas, P, Q, dx = args
    builder, lanes, W = code.builder, code.lanes, code.times(args[2], 2)
    fourth = ir.Constant(code.vector, [0.25] * lanes)
    with code.each(ir.Constant(I64, 0), P, 1) as p, code.each(ir.Constant(I64, 0), Q, lanes) as q:
        share = builder.fmul(code.load(code.place(deltas, p, Q, q), code.mask(q, Q)), fourth)
        for part in (0, lanes):
            column = code.add(code.times(q, 2), part)
            run, mask = code.shuffled(share, share, [(part + at) // 2 for at in range(lanes)]), code.mask(column, W)
            for row in range(2):
                code.put(code.place(dx, code.add(code.times(p, 2), row), W, column), run, mask)
