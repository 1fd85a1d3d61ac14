"""Windows of an image laid out as columns (im2col) and added back, for products by BLAS."""

from __future__ import annotations

import numpy as np
from numba import njit

from paddle_layers.kernels.primitives.blas import LANES, add, add_half, move, move_half


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
                if stride == 1 and count >= LANES:
                    to, of = column.ctypes.data + target * size, pixels.ctypes.data + source * size
                    rest = (count - LANES) * size
                    for _ in range(height):
                        for lane in range(count // LANES):
                            move(to + lane * LANES * size, of + lane * LANES * size, one)
                        if count % LANES:
                            move(to + rest, of + rest, one)
                        to += Q * size
                        of += stride_y * W * size
                elif stride == 1 and count == LANES // 2:
                    to, of = column.ctypes.data + target * size, pixels.ctypes.data + source * size
                    for _ in range(height):
                        move_half(to, of, one)
                        to += Q * size
                        of += stride_y * W * size
                else:
                    for p in range(height):
                        for q in range(count):
                            pixel = source + p * stride_y * W + q * stride
                            column[np.uint64(target + p * Q + q)] = pixels[np.uint64(pixel)]


@njit(error_model="numpy")
def add_back(column, pixels, base, channels, top, bottom, Q, geometry):
    """Add windows to the pixels that they cover: the transpose of `lay_out`."""
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    size, one = column.itemsize, column.dtype.type(1)
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
                target = base + (channel * H + start * stride_y + up) * W + left + first * stride
                source = at + (start - top) * Q + first
                at += rows * Q
                whole = count // LANES if stride == 1 else 0
                half = stride == 1 and count % LANES >= LANES // 2
                done = whole * LANES + LANES // 2 if half else whole * LANES
                to, of = pixels.ctypes.data + target * size, column.ctypes.data + source * size
                for p in range(height):
                    for lane in range(whole):
                        add(to + lane * LANES * size, of + lane * LANES * size, one)
                    if half:
                        add_half(to + whole * LANES * size, of + whole * LANES * size, one)
                    to += stride_y * W * size
                    of += Q * size
                    for q in range(done, count):
                        pixel = target + p * stride_y * W + q * stride
                        pixels[np.uint64(pixel)] += column[np.uint64(source + p * Q + q)]
