"""Zero-padded planes: windows of an image as vectors of contiguous pixels.

The rows of a plane are contiguous, so that a run of pixels continues in the next row: the pixel below is `pitch`
elements later. A filter then reads, for each of its elements, one run for all windows; the results between the rows are
skipped when rows are unpacked. The right padding of a row is also the left padding of the next one.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import also_in_python, once
from paddle_layers.kernels.primitives.interleaving import interleave_runs
from paddle_layers.kernels.primitives.memory_ops import copy_run, gather_run, scatter_run, zeros
from paddle_layers.kernels.primitives.microkernels import out_of_line

SLACK = 16
"""Padding elements after the last plane: the last vector may extend past its end."""


@also_in_python
def pitch_of(width, reach, before, after):
    """Row pitch in elements: `width` pixels and the reach of the filters, minus the padding that rows share.

    `before` and `after` are the zeros on the left and on the right; negative ones are pixels that are not read.
    """
    return width + reach - shared(reach, before, after)


@also_in_python
def shared(reach, before, after):
    """Padding on the right of a row that is also the left padding of the next one."""
    return max(0, min(reach, before, after))


@also_in_python
def plane_size(rows, pitch, shared_zeros):
    """Number of elements of a plane."""
    return rows * pitch + shared_zeros


@once
def pack_plane(to, of, extents, top, left, rows, pitch, shared_zeros, steps, size, one):
    """Packs `rows` rows of a plane of `extents` pixels from row `top` and column `left` on, which may be outside.

    `steps` are the row and column strides.
    """
    out_of_line()
    (H, W), (step_y, step_x) = extents, steps
    first = min(pitch, max(0, -(left // step_x)))
    last = max(first, min(pitch, (W - left + step_x - 1) // step_x))
    for row in range(rows):
        h = top + row * step_y
        if 0 <= h < H and last > first:
            zeros(to, first, size, one)
            source = of + (h * W + left + first * step_x) * size
            if step_x == 1:
                copy_run(to + first * size, source, last - first, size, one)
            else:
                gather_run(to + first * size, source, last - first, step_x, size, one)
            zeros(to + last * size, pitch - last, size, one)
        else:
            zeros(to, pitch, size, one)
        to += pitch * size
    zeros(to, shared_zeros, size, one)


@once
def take_rows(to, of, rows, width, to_row, of_row, step, adding, size, one):
    """Unpacks `rows` rows of `width` pixels of a plane, or adds them; their pixels are written with the stride `step`.

    `to_row` and `of_row` are row strides in elements.
    """
    out_of_line()
    for row in range(rows):
        if step == 1 and not adding:
            copy_run(to + row * to_row * size, of + row * of_row * size, width, size, one)
        else:
            scatter_run(to + row * to_row * size, of + row * of_row * size, width, step, adding, size, one)


@once
def take_pairs(to, left, right, rows, width, to_row, of_row, adding, size, one):
    """As `take_rows`, with the pixels of two planes interleaved."""
    out_of_line()
    for row in range(rows):
        at = row * of_row * size
        interleave_runs(to + row * to_row * size, left + at, right + at, width, adding, size, one)
