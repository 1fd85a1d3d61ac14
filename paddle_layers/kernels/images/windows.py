"""Windows of an image laid out as columns (im2col) and added back, for products by BLAS."""

from __future__ import annotations

import numpy as np
from numba import njit

from paddle_layers.kernels.primitives.moves import pick_run


@njit(error_model="numpy")
def valid(extent, count, step, offset):
    """First and last of `count` positions `p` whose pixel `p * step + offset` lies within `extent`."""
    start = min(count, max(0, -(offset // step)))
    return start, max(start, min(count, (extent - offset + step - 1) // step))


@njit(error_model="numpy")
def lay_out(column, pixels, base, channels, top, bottom, Q, geometry):
    """Windows of the rows `top` to `bottom`: rows (channel, a, b), columns (p, q), zeros outside of the image.

    `base` is the first pixel of the first of `channels` planes in `pixels`; `geometry` as `conv` has it.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    size, one, zero = column.itemsize, column.dtype.type(1), column.dtype.type(0)
    rows, at = bottom - top, 0
    for channel in range(channels):
        for a in range(A):
            up = a * dilation_y - padding_y
            start, stop = valid(H, bottom, stride_y, up)
            start = max(start, top)
            height = max(0, stop - start)
            for b in range(B):
                left = b * dilation - padding
                first, last = valid(W, Q, stride, left)
                count = last - first
                if count < Q or height < rows:
                    for i in range(rows * Q):
                        column[np.uint64(at + i)] = zero
                source = base + (channel * H + start * stride_y + up) * W + left + first * stride
                target = at + (start - top) * Q + first
                at += rows * Q
                to, of = column.ctypes.data + target * size, pixels.ctypes.data + source * size
                for _ in range(height):
                    pick_run(to, of, count, stride, size, one)
                    to += Q * size
                    of += stride_y * W * size
