"""Interleaving and deinterleaving of runs by whole vectors; addresses are in bytes, as in `memory_ops`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from paddle_layers.kernels.primitives.compile_options import llvm_memory_code, once

from .memory_ops import add_1, move_1, place_of
from .microkernels import VECTOR


def _zipper(count: int, *, adding: bool = False) -> Any:
    """Interleaves two runs of `count` elements, or adds them to the target."""

    @llvm_memory_code
    def zip_(builder: Any, real: Any, size: int, target: Any, one_run: Any, other_run: Any) -> None:
        left, right = (builder.load(place_of(builder, at, real, count), align=size) for at in (one_run, other_run))
        for half in (0, count // 2):
            order = [lane + part for lane in range(half, half + count // 2) for part in (0, count)]
            value = builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(ir.IntType(32), count), order))
            at = builder.add(target, ir.Constant(target.type, 2 * half * size))
            place = place_of(builder, at, real, count)
            if adding:
                value = builder.fadd(builder.load(place, align=size), value)
            builder.store(value, place, align=size)

    return zip_


_zip_16, _zip_4 = (_zipper(count) for count in (16, 4))
_zip_add_4 = _zipper(4, adding=True)


@once
def interleave_runs(to, left, right, count, adding, size, one):
    """Interleaves two runs, or adds them to the target."""
    done = 0
    # No overlapping last vector here: its elements would be added twice.
    if adding:
        for k in range(0, count - 3, 4):
            _zip_add_4(to + 2 * k * size, left + k * size, right + k * size, one)
        done = count // 4 * 4
    elif count >= 16:
        for k in range(0, count - 15, 16):
            _zip_16(to + 2 * k * size, left + k * size, right + k * size, one)
        # The last vectors overlap those before: to write some elements twice is cheaper than a scalar remainder.
        rest = count - 16
        _zip_16(to + 2 * rest * size, left + rest * size, right + rest * size, one)
        done = count
    elif count >= 4:
        for k in range(0, count - 3, 4):
            _zip_4(to + 2 * k * size, left + k * size, right + k * size, one)
        rest = count - 4
        _zip_4(to + 2 * rest * size, left + rest * size, right + rest * size, one)
        done = count
    for k in range(done, count):
        for part, of in ((0, left), (1, right)):
            if adding:
                add_1(to + (2 * k + part) * size, of + k * size, one)
            else:
                move_1(to + (2 * k + part) * size, of + k * size, one)


def _unzipper(count: int) -> Any:
    """Deinterleaves a run of twice `count` elements into two runs."""

    @llvm_memory_code
    def unzip(builder: Any, real: Any, size: int, one_run: Any, other_run: Any, source: Any) -> None:
        places = (source, builder.add(source, ir.Constant(source.type, count * size)))
        left, right = (builder.load(place_of(builder, at, real, count), align=size) for at in places)
        for part, target in enumerate((one_run, other_run)):
            order = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(part, 2 * count, 2)))
            value = builder.shuffle_vector(left, right, order)
            builder.store(value, place_of(builder, target, real, count), align=size)

    return unzip


_unzip_16, _unzip_8, _unzip_4 = (_unzipper(count) for count in (16, 8, 4))


@once
def deinterleave_run(left, right, of, count, size, one):
    """Deinterleaves a run of twice `count` elements into two runs; the last vectors overlap those before."""
    if count >= 16:
        for k in range(0, count - 15, 16):
            _unzip_16(left + k * size, right + k * size, of + 2 * k * size, one)
        rest = count - 16
        _unzip_16(left + rest * size, right + rest * size, of + 2 * rest * size, one)
    elif count >= 8:
        rest = count - 8
        _unzip_8(left, right, of, one)
        _unzip_8(left + rest * size, right + rest * size, of + 2 * rest * size, one)
    elif count >= 4:
        rest = count - 4
        _unzip_4(left, right, of, one)
        _unzip_4(left + rest * size, right + rest * size, of + 2 * rest * size, one)
    else:
        for k in range(count):
            move_1(left + k * size, of + 2 * k * size, one)
            move_1(right + k * size, of + (2 * k + 1) * size, one)


@llvm_memory_code
def deal(builder: Any, real: Any, size: int, target: Any, target_step: Any, source: Any) -> None:
    """Six vectors with stride 4: the first from the first element on, the second from the second on, and so on.

    Five vectors are read; the strides between those that are written are in bytes.
    """
    count = VECTOR // size
    whole = target.type

    def parts(begin: int) -> list[Any]:
        at = [builder.add(source, ir.Constant(whole, begin * size + part * VECTOR)) for part in range(4)]
        return [builder.load(place_of(builder, place, real, count), align=size) for place in at]

    def picked(left: Any, right: Any, odd: int) -> Any:
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(odd, 2 * count, 2)))
        return builder.shuffle_vector(left, right, lanes)

    dealt = []
    for begin in (0, 4):
        # The last two of the six vectors begin four elements later, so that they are the first two of the next four
        # vectors.
        one_, two, three, four = parts(begin)
        halves = [(picked(one_, two, odd), picked(three, four, odd)) for odd in (0, 1)]
        dealt += [picked(*halves[at % 2], at // 2) for at in range(4 if begin == 0 else 2)]
    for at, value in enumerate(dealt):
        place = builder.add(target, builder.mul(target_step, ir.Constant(whole, at)))
        builder.store(value, place_of(builder, place, real, count), align=size)
