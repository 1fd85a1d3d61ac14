"""Vectorized copy, add, strided gather and scatter, transpose and prefetch of runs.

Short rows do not repay a compiler's loop. Addresses are in bytes; `size` is the element size and `one` is 1 in its
precision.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle_layers.kernels.primitives.compile_options import copied, llvm_code, llvm_memory_code, once

from .microkernels import VECTOR, out_of_line

LINE = 64
"""Bytes of a cache line."""
# A call of `memcpy` takes longer than moving a row of few pixels; eight elements are one AVX register of float32.
LANES = 8
"""Elements that are moved at once; shorter rows use halves, quarters and single elements."""


def place_of(builder: Any, address: Any, real: Any, count: int) -> Any:
    return builder.inttoptr(address, ir.VectorType(real, count).as_pointer())


def _mover(count: int, *, step: int = 1, first: int = 0, adding: bool = False) -> Any:
    """Copies `count` elements with stride `step` from element `first` on, or adds them to the target."""

    @llvm_memory_code
    def move(builder: Any, real: Any, size: int, target: Any, source: Any) -> None:
        place = place_of(builder, target, real, count)
        value = builder.load(place_of(builder, source, real, count * step), align=size)
        # One wide load and a shuffle instead of a gather, which loads lane by lane.
        if step > 1:
            picked = ir.Constant(ir.VectorType(ir.IntType(32), count), [first + k * step for k in range(count)])
            value = builder.shuffle_vector(value, value, picked)
        if adding:
            value = builder.fadd(builder.load(place, align=size), value)
        builder.store(value, place, align=size)

    return move


move_16, move_8, _move_4, _move_2, move_1 = (_mover(count) for count in (16, 8, 4, 2, 1))
_add_8, _add_4, add_1 = (_mover(count, adding=True) for count in (8, 4, 1))
_every_second, _every_third, _every_fourth = (_mover(LANES, step=step) for step in (2, 3, 4))
_other_second = _mover(LANES, step=2, first=1)
_every_second_16, _other_second_16 = (_mover(2 * LANES, step=2, first=first) for first in (0, 1))


@llvm_memory_code
def set_zero(builder: Any, real: Any, size: int, target: Any) -> None:
    """Writes a zero."""
    builder.store(ir.Constant(real, 0.0), builder.inttoptr(target, real.as_pointer()), align=size)


@llvm_code(types.void(types.int64))
def _fetch(builder: Any, address: Any) -> None:
    """Prefetches a cache line into the L2 cache."""
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # Read, moderate locality, data: L2 instead of L1, where the data would displace what the current tile reads.
    builder.call(fetch, [builder.inttoptr(address, byte), *(ir.Constant(word, value) for value in (0, 2, 1))])


@once
def fetch_run(of, count, size):
    """Prefetches `count` elements; the memory may end before them."""
    # A prefetch of an invalid address has no effect, so that callers need not know where the memory ends.
    for byte in range(0, count * size, LINE):
        _fetch(of + byte)


@llvm_code(types.void(*[types.int64] * 4))
def set_entry(builder: Any, table: Any, index: Any, left: Any, right: Any) -> None:
    """Writes two integers as an entry of an offset table."""
    whole = ir.IntType(64)
    place = builder.add(table, builder.shl(index, ir.Constant(whole, 4)))
    for value in (left, right):
        # Tables are in scratch buffers of float32, which guarantee no alignment of 8 bytes.
        builder.store(value, builder.inttoptr(place, whole.as_pointer()), align=4)
        place = builder.add(place, ir.Constant(whole, 8))


def _get_entry(typingctx: Any, table: Any, index: Any) -> Any:
    """The two integers of an entry."""
    signature = types.UniTuple(types.int64, 2)(types.int64, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.IntType(64)
        place = builder.add(args[0], builder.shl(args[1], ir.Constant(whole, 4)))
        places = (builder.inttoptr(at, whole.as_pointer()) for at in (place, builder.add(place, ir.Constant(whole, 8))))
        return context.make_tuple(builder, signature.return_type, [builder.load(at, align=4) for at in places])

    return signature, codegen


get_entry: Any = intrinsic(_get_entry)


@once
def zeros(to, count, size, one):
    """Writes `count` zeros."""
    for _ in range(count):
        set_zero(to, one)
        to += size


@once
def copy_run(to, of, count, size, one):
    """Copies `count` elements; the last vector overlaps the one before it."""
    # To move some elements twice in an overlapping vector is cheaper than a scalar remainder.
    if count >= 16:
        for k in range(count // 16):
            move_16(to + k * 16 * size, of + k * 16 * size, one)
        rest = (count - 16) * size
        move_16(to + rest, of + rest, one)
    elif count >= 8:
        for k in range(count // 8):
            move_8(to + k * 8 * size, of + k * 8 * size, one)
        rest = (count - 8) * size
        move_8(to + rest, of + rest, one)
    elif count >= 4:
        rest = (count - 4) * size
        _move_4(to, of, one)
        _move_4(to + rest, of + rest, one)
    elif count >= 2:
        rest = (count - 2) * size
        _move_2(to, of, one)
        _move_2(to + rest, of + rest, one)
    elif count == 1:
        move_1(to, of, one)


@once
def add_run(to, of, count, size, one):
    """Adds `count` elements to the target."""
    out_of_line()
    # No overlap as in `copy_run`: elements would be added twice.
    for k in range(count // 8):
        _add_8(to + k * 8 * size, of + k * 8 * size, one)
    done = count // 8 * 8
    if count - done >= 4:
        _add_4(to + done * size, of + done * size, one)
        done += 4
    for k in range(done, count):
        add_1(to + k * size, of + k * size, one)


@once
def gather_second(to, of, count, size, one):
    """Copies `count` elements with stride 2; nothing after the last one is read."""
    wide = 2 * LANES if count > 2 * LANES else LANES
    for k in range(0, (count - 1) // wide * wide, wide):
        if wide == LANES:
            _every_second(to + k * size, of + 2 * k * size, one)
        else:
            _every_second_16(to + k * size, of + 2 * k * size, one)
    last = count - wide  # the last ones, shifted by one element
    if count <= LANES:
        for k in range(count):
            move_1(to + k * size, of + 2 * k * size, one)
    elif wide == LANES:
        # Read one element earlier, of which the odd lanes are taken: the load ends with the last element of the run.
        _other_second(to + last * size, of + (2 * last - 1) * size, one)
    else:
        _other_second_16(to + last * size, of + (2 * last - 1) * size, one)


@once
def gather_run(to, of, count, step, size, one):
    """Copies `count` elements with the stride `step`; nothing after the last one is read."""
    done = 0
    if step == 1:
        copy_run(to, of, count, size, one)
        done = count
    elif step == 2:
        gather_second(to, of, count, size, one)
        done = count
    elif step <= 4:
        for k in range((count - 1) // LANES):
            to_k, of_k = to + k * LANES * size, of + k * LANES * step * size
            if step == 3:
                _every_third(to_k, of_k, one)
            else:
                _every_fourth(to_k, of_k, one)
        # The last vector of a strided load would extend past the last element of the run.
        done = max(count - 1, 0) // LANES * LANES
    for k in range(done, count):
        move_1(to + k * size, of + k * step * size, one)


@once
def pack_factors(to, of, rows, row_step, channels, channel_step, elements, width, size, one):
    """Packs the factors of a tile's rows contiguously, with the stride `width` between elements.

    The elements of a channel are contiguous; steps are in bytes.
    """
    out_of_line()
    for channel in range(channels):
        for row in range(rows):
            source = of + channel * channel_step + row * row_step
            for element in range(elements):
                move_1(to + (element * width + row) * size, source + element * size, one)
        to += elements * width * size


@once
def scatter_run(to, of, count, step, adding, size, one):
    """Copies `count` elements to a target with the stride `step`, or adds them."""
    out_of_line()
    if step == 1 and adding:
        add_run(to, of, count, size, one)
    elif step == 1:
        copy_run(to, of, count, size, one)
    elif adding:
        for k in range(count):
            add_1(to + k * step * size, of + k * size, one)
    else:
        for k in range(count):
            move_1(to + k * step * size, of + k * size, one)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of a square matrix: repeated interleaving of its halves transposes it, log2(side) times."""
    count = len(rows)
    lanes = ir.VectorType(ir.IntType(32), count)
    low, high = (
        [lane + half for pair in range(count // 2) for lane in (pair, pair + count)] for half in (0, count // 2)
    )
    for _ in range(count.bit_length() - 1):
        pairs = list(zip(rows[: count // 2], rows[count // 2 :], strict=True))
        rows = [
            builder.shuffle_vector(one, two, ir.Constant(lanes, order)) for one, two in pairs for order in (low, high)
        ]
    return rows


@llvm_memory_code
def transpose_square(builder, real, size, target, target_row, source, source_row):
    """Transposes a square tile; its side is a vector, the strides between rows are in bytes."""
    count, rows = VECTOR // size, []
    for _ in range(count):
        rows.append(builder.load(place_of(builder, source, real, count), align=size))
        source = builder.add(source, source_row)
    for column in _transposed(builder, rows):
        builder.store(column, place_of(builder, target, real, count), align=size)
        target = builder.add(target, target_row)


@once
def transpose(to, of, rows, columns, of_row, to_row, step, size, one):
    """Transposes `columns` columns of a matrix, `step` elements apart, to rows of `rows` elements.

    `of_row` and `to_row` are the row strides in elements before and after.
    """
    out_of_line()
    side, done = VECTOR // size, 0
    if step == 1 and columns >= side:
        done = rows // side * side
        for top in range(0, done, side):
            for left in range(0, columns, side):
                # The last square is shifted back into the matrix, and writes some columns twice.
                at = min(left, columns - side)
                transpose_square(
                    to + (at * to_row + top) * size, to_row * size, of + (top * of_row + at) * size, of_row * size, one
                )
    for row in range(done, rows):
        for column in range(columns):
            move_1(to + (column * to_row + row) * size, of + (row * of_row + column * step) * size, one)


@copied
def scatter_sums(to, to_row, sums, spare, pixels, count, width, adding, size, one):
    """Transposes `count` columns of a matrix of sums to rows of `pixels` elements, or adds them to the target.

    `to_row` is the row stride in bytes, `width` the number of elements of a row of sums; `spare` is the address of a
    scratch buffer for accumulation.
    """
    # Transposed tiles overlap, so that they cannot be added directly.
    if adding:
        transpose(spare, sums, pixels, count, width, pixels, 1, size, one)
        for k in range(count):
            add_run(to + k * to_row, spare + k * pixels * size, pixels, size, one)
    else:
        transpose(to, sums, pixels, count, width, to_row // size, 1, size, one)
