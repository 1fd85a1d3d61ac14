"""Runs of numbers copied, added, picked and turned by whole vectors: short rows are not worth a compiler's loop.

Places are addresses in bytes; `size` is that of a number and `one` is 1 in its precision.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LANES = 8
"""Numbers that are moved at once; rows that are shorter go by halves, quarters and single ones."""


def _real(precision: Any) -> tuple[Any, int]:
    return (ir.FloatType(), 4) if precision == types.float32 else (ir.DoubleType(), 8)


def _place(builder: Any, address: Any, real: Any, count: int) -> Any:
    return builder.inttoptr(address, ir.VectorType(real, count).as_pointer())


def _mover(count: int, *, step: int = 1, adding: bool = False) -> Any:
    """Copy `count` numbers, every `step`-th from the first one on, or add them to what is there."""

    def move(typingctx: Any, target: Any, source: Any, one: Any) -> Any:
        signature = types.void(types.int64, types.int64, one)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            real, size = _real(one)
            place = _place(builder, args[0], real, count)
            value = builder.load(_place(builder, args[1], real, count * step), align=size)
            if step > 1:
                picked = ir.Constant(ir.VectorType(ir.IntType(32), count), [k * step for k in range(count)])
                value = builder.shuffle_vector(value, value, picked)
            if adding:
                value = builder.fadd(builder.load(place, align=size), value)
            builder.store(value, place, align=size)
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(move)


_move_8, _move_4, _move_2, _move_1 = (_mover(count) for count in (8, 4, 2, 1))
_add_8, _add_4, _add_1 = (_mover(count, adding=True) for count in (8, 4, 1))
_every_second, _every_third, _every_fourth = (_mover(LANES, step=step) for step in (2, 3, 4))


@intrinsic
def set_zero(typingctx, target, one):
    """Put a zero there."""
    signature = types.void(types.int64, one)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        real, size = _real(one)
        builder.store(ir.Constant(real, 0.0), builder.inttoptr(args[0], real.as_pointer()), align=size)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def set_entry(typingctx, table, index, left, right):
    """Write two whole numbers as an entry of a table of offsets."""
    signature = types.void(*[types.int64] * 4)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        place = builder.add(args[0], builder.shl(args[1], ir.Constant(whole, 4)))
        for value in args[2:]:
            builder.store(value, builder.inttoptr(place, whole.as_pointer()), align=4)
            place = builder.add(place, ir.Constant(whole, 8))
        return context.get_dummy_value()

    return signature, codegen


@njit(error_model="numpy")
def zeros(to, count, size, one):
    """Put `count` zeros there."""
    for _ in range(count):
        set_zero(to, one)
        to += size


@njit(error_model="numpy")
def copy_run(to, of, count, size, one):
    """Copy `count` numbers; the last vector overlaps the one before it."""
    if count >= 8:
        for k in range(count // 8):
            _move_8(to + k * 8 * size, of + k * 8 * size, one)
        rest = (count - 8) * size
        _move_8(to + rest, of + rest, one)
    elif count >= 4:
        rest = (count - 4) * size
        _move_4(to, of, one)
        _move_4(to + rest, of + rest, one)
    elif count >= 2:
        rest = (count - 2) * size
        _move_2(to, of, one)
        _move_2(to + rest, of + rest, one)
    elif count == 1:
        _move_1(to, of, one)


@njit(error_model="numpy")
def add_run(to, of, count, size, one):
    """Add `count` numbers to those that are there."""
    for k in range(count // 8):
        _add_8(to + k * 8 * size, of + k * 8 * size, one)
    done = count // 8 * 8
    if count - done >= 4:
        _add_4(to + done * size, of + done * size, one)
        done += 4
    for k in range(done, count):
        _add_1(to + k * size, of + k * size, one)


@njit(error_model="numpy")
def pick_run(to, of, count, step, size, one):
    """Copy `count` numbers that lie `step` numbers apart; nothing behind the last one is read."""
    done = 0
    if step == 1:
        copy_run(to, of, count, size, one)
        done = count
    elif step <= 4:
        for k in range((count - 1) // LANES):
            to_k, of_k = to + k * LANES * size, of + k * LANES * step * size
            if step == 2:
                _every_second(to_k, of_k, one)
            elif step == 3:
                _every_third(to_k, of_k, one)
            else:
                _every_fourth(to_k, of_k, one)
        done = max(count - 1, 0) // LANES * LANES
    for k in range(done, count):
        _move_1(to + k * size, of + k * step * size, one)


@njit(error_model="numpy")
def spread_run(to, of, count, step, adding, size, one):
    """Copy `count` numbers to places that lie `step` numbers apart, or add them to what is there."""
    if step == 1 and adding:
        add_run(to, of, count, size, one)
    elif step == 1:
        copy_run(to, of, count, size, one)
    elif adding:
        for k in range(count):
            _add_1(to + k * step * size, of + k * size, one)
    else:
        for k in range(count):
            _move_1(to + k * step * size, of + k * size, one)
