"""Matrix products with a right matrix that is packed once into panels and used many times.

A panel has as many columns as a register tile, in the order of the products, so that a product reads it contiguously
and no register tile reloads its sums. With rows 12 KiB apart, the 256 rows of a block are in few sets of the caches,
and each is on a separate page.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, once
from paddle_layers.kernels.primitives.memory_ops import add_run, copy_run, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import (
    ENTRY,
    LANES,
    VECTOR,
    VECTORS,
    gemm_microkernel,
    out_of_line,
    rounded,
)

# One thread, AVX-512 with a peak of 117 GFLOP/s: 128x768 to 3072 takes 5.3 ms (112 GFLOP/s) with 512, 5.6 ms with 128;
# register tiles over the weight as it is 6.2 ms, BLAS 6.9 to 8 ms.
SUMMED = 512
"""Products per partial sum: limits the growth of rounding errors, and a panel of so many rows fits into an L2 cache."""
# A constant, as `MAX_CHUNKS`: bounds of tiles, and with them the rounding of sums, must not depend on threads.
TILES = 8
"""Work items of packing a matrix, and maximum number of those of a product."""
ROWS = 128
"""Rows whose sums for a panel stay in the cache until all partial sums are added."""


@also_in_python
def panel_numbers(depth, columns):
    """Elements of a packed matrix: the last panel has whole vectors."""
    return depth * rounded(columns)


@also_in_python
def tail_numbers():
    """Scratch elements of `multiply_panels`: a table entry, and the sums of a panel whose last vector is not full."""
    return ENTRY + ROWS * (VECTORS + 1) * LANES


@also_in_python
def block_numbers():
    """Scratch elements of `multiply_transposed`: those of `multiply_panels`, and a block of packed factors."""
    return tail_numbers() + ROWS * SUMMED


@once
def panels_of(columns, size):
    """Number of panels; a single vector left over joins the panel before it, as a tile of one vector is slow."""
    most, lanes = VECTORS * (VECTOR // size), VECTOR // size
    return max(1, (columns + most - lanes - 1) // most)


@once
def panel_at(panel, columns, size):
    """First column of a panel, their number, and the elements of a row: whole vectors."""
    most, lanes = VECTORS * (VECTOR // size), VECTOR // size
    left = panel * most
    wide = most if panel + 1 < panels_of(columns, size) else columns - left
    return left, wide, (wide + lanes - 1) // lanes * lanes


@once
def pack_panels(panels, stored, depth, columns, begin, end, transposed, size, one):
    """Packs the panels `begin` to `end` of a matrix (depth, columns), or of the transpose of the stored one.

    `panels` is an address, `stored` an address and the elements of a row.
    """
    matrix, pitch = stored
    for panel in range(begin, end):
        left, wide, line = panel_at(panel, columns, size)
        to = panels + left * depth * size
        if line > wide:  # lanes without a column are multiplied, too
            zeros(to, line * depth, size, one)
        if transposed:
            transpose(to, matrix + left * pitch * size, wide, depth, pitch, line, 1, size, one)
        else:
            for row in range(depth):
                copy_run(to + row * line * size, matrix + (row * pitch + left) * size, wide, size, one)


@once
def panel_bounds(item, items, columns, size):
    """Panels of a work item."""
    panels = panels_of(columns, size)
    return panels * item // items, panels * (item + 1) // items


@compiled
def pack_columns(first, last, panels, matrix, begin, end, transposed):
    """Packs the columns `begin` to `end` of a stored matrix, or their transpose; an item is a run of panels.

    `panels` is an address, of which one of `TILES` items fills a share; returns the address after the last panel.
    """
    size, one = matrix.itemsize, matrix.dtype.type(1)
    depth, columns = matrix.shape[0], end - begin
    if transposed:
        depth, columns = columns, depth
    low, _ = panel_bounds(first, TILES, columns, size)
    _, high = panel_bounds(last - 1, TILES, columns, size)
    of = (matrix.ctypes.data + begin * size, matrix.shape[1])
    pack_panels(panels, of, depth, columns, low, high, transposed, size, one)
    return panels + panel_numbers(depth, columns) * size


def packing_items() -> int:
    """Work items of `pack_columns`."""
    return TILES


@once
def multiply_panels(target, factors, rows, depth, panels, columns, begin, end, adding, place, size, one):
    """`rows` rows of y = x times the panels `begin` to `end` of a packed matrix (depth, columns), or of y += it.

    `target` and `factors`, y and x, are addresses and the elements of a row; `panels` and `place`, of `tail_numbers`
    scratch elements, are addresses.
    """
    (y, y_row), (x, x_row) = target, factors
    for panel in range(begin, end):
        left, _, line = panel_at(panel, columns, size)
        for low in range(0, rows, ROWS):
            # The sums of a block of rows stay in the cache until all partial sums are added.
            for top in range(0, depth, SUMMED):
                multiply_block(
                    (y + low * y_row * size, y_row), (x + (low * x_row + top) * size, x_row * size, size),
                    min(ROWS, rows - low), min(SUMMED, depth - top), panels + (left * depth + top * line) * size,
                    columns, panel, adding or top > 0, place, size, one,
                )  # fmt: skip


@once
def multiply_transposed(target, factors, low, high, depth, panels, columns, begin, end, adding, place, size, one):
    """Rows `low` to `high` of y = transposed x times some panels, or of y += it; `place` has `block_numbers` elements.

    Arguments are those of `multiply_panels`. Factors of adjacent sums are rows of x apart, so they are packed, too.
    """
    (y, y_row), (x, x_row) = target, factors
    block = place + tail_numbers() * size
    for top in range(0, max(depth, 1), SUMMED):  # without rows of x, the sums are zeros
        for first in range(low, high, ROWS):
            rows, many = min(ROWS, high - first), min(SUMMED, depth - top)
            for step in range(many):
                copy_run(block + step * ROWS * size, x + ((top + step) * x_row + first) * size, rows, size, one)
            for panel in range(begin, end):
                left, _, line = panel_at(panel, columns, size)
                multiply_block(
                    (y + first * y_row * size, y_row), (block, size, ROWS * size), rows, many,
                    panels + (left * depth + top * line) * size, columns, panel, adding or top > 0, place, size, one,
                )  # fmt: skip


@also_in_python
def transposed_product_numbers(columns):
    """Scratch elements of `transposed_product`."""
    return block_numbers() + panel_numbers(SUMMED, columns)


@once
def transposed_product(target, factors, right, rows, depth, columns, adding, place, size, one):
    """Y (rows, columns) = transposed x (depth, rows) times a matrix (depth, columns), or Y += it; packs blocks of both.

    `target`, `factors` and `right` are addresses and the elements of a row, `place` that of the scratch buffer.
    """
    (x, x_row), (matrix, pitch) = factors, right
    panels = place + block_numbers() * size
    for top in range(0, max(depth, 1), SUMMED):
        many, count = min(SUMMED, depth - top), panels_of(columns, size)
        pack_panels(panels, (matrix + top * pitch * size, pitch), many, columns, 0, count, False, size, one)
        multiply_transposed(
            target, (x + top * x_row * size, x_row), 0, rows, many, panels, columns, 0, count, adding or top > 0, place,
            size, one,
        )  # fmt: skip


@once
def multiply_block(target, factors, rows, depth, packed, columns, panel, adding, place, size, one):
    """At most `ROWS` rows and `SUMMED` products of a panel; `factors` are an address and the strides of both."""
    out_of_line()
    (y, y_row), (x, x_row, x_step) = target, factors
    left, wide, line = panel_at(panel, columns, size)
    sums, to = place + ENTRY * size, y + left * size
    full = line == wide
    set_entry(place, 0, 0, 0)
    gemm_microkernel(
        rows, line * size // VECTOR, 0, depth, line * size, x_step, 1, place, x, x_row, packed,
        to if full else sums, (y_row if full else line) * size, adding and full, one,
    )  # fmt: skip
    for row in range(0 if full else rows):
        if adding:
            add_run(to + row * y_row * size, sums + row * line * size, wide, size, one)
        else:
            copy_run(to + row * y_row * size, sums + row * line * size, wide, size, one)
