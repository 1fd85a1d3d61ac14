"""3-D pooling (`pool3d`): maxima over planes, rows and columns of a window in turn; gradients are scattered."""

from __future__ import annotations

import numpy as np

from paddle_layers.kernels.primitives.compile_options import compiled, inlined
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

from .pool_reductions import (
    MARGIN,
    MAX_TILES,
    MIN_WORK,
    bounds,
    comes_first,
    place_of_one,
    places_across,
    planes,
    tile_count,
    whole_windows,
    wins,
)

Triple = tuple[int, int, int]


def operations(N: int, C: int, R: int, P: int, Q: int, size: Triple) -> int:
    """Four per element under a window: load, compare, select, store."""
    return 4 * N * C * R * P * Q * size[0] * size[1] * size[2]


def windows(N: int, C: int, R: int, P: int, Q: int) -> int:
    """Number of windows."""
    return N * C * R * P * Q


def is_maximum(pool_type: str, Z: int, H: int, W: int) -> bool:
    """Maxima in volumes whose positions are exact in floating point."""
    return pool_type == "MAX" and Z * H * W <= 1 << 24


def is_mean(pool_type: str) -> bool:
    """Means, with any divisor."""
    return pool_type == "AVERAGE"


def maxima_and_places(H: int, W: int) -> int:
    """Scratch elements for the maxima of a plane and of a row, their positions, and those of the windows."""
    return 2 * H * W + 3 * (W + MARGIN)


@inlined
def highest_planes(v, k, volume, area, start, stop):
    """Maximum of each column through some planes, and its position: the first of equal values."""
    first = v.dtype.type(start * area)
    # Positions are floating-point like the values, so that one comparison selects lanes of both.
    for i in range(area):
        v[np.uint64(i)] = volume[np.uint64(start * area + i)]
        k[np.uint64(i)] = first + v.dtype.type(np.int32(i))
    for z in range(start + 1, stop):
        plane = v.dtype.type(z * area)
        for i in range(area):
            element = volume[np.uint64(z * area + i)]
            better = wins(element, v[np.uint64(i)])
            v[np.uint64(i)] = element if better else v[np.uint64(i)]
            k[np.uint64(i)] = plane + v.dtype.type(np.int32(i)) if better else k[np.uint64(i)]


@inlined
def highest_of_rows(row_v, row_k, v, k, W, top, low):
    """Maximum of each column of some rows of a plane of maxima, and its position."""
    for w in range(W):
        row_v[np.uint64(w)], row_k[np.uint64(w)] = v[np.uint64(top * W + w)], k[np.uint64(top * W + w)]
    for h in range(top + 1, low):
        for w in range(W):
            b, place = v[np.uint64(h * W + w)], k[np.uint64(h * W + w)]
            better = comes_first(b, place, row_v[np.uint64(w)], row_k[np.uint64(w)])
            row_v[np.uint64(w)] = b if better else row_v[np.uint64(w)]
            row_k[np.uint64(w)] = place if better else row_k[np.uint64(w)]


@compiled
def row_places(places, found, v, k, W, size, step, ahead):
    """Positions of the maxima of a row of windows: vectorized for two or three columns, else one by one."""
    Q = places.size
    begin, end = whole_windows(Q, W, size, step, ahead) if 2 <= size <= 3 and step <= 2 else (Q, Q)
    start, inner = begin * step - ahead, end - begin
    if size == 3 and step == 1:
        places_across(found, v, k, start, inner, 3, 1)
    elif size == 3:
        places_across(found, v, k, start, inner, 3, 2)
    elif step == 1:
        places_across(found, v, k, start, inner, 2, 1)
    else:
        places_across(found, v, k, start, inner, 2, 2)
    for q in range(inner):
        # By 32 bits: the conversion to 64 is a vector instruction with AVX-512 only.
        places[np.uint64(begin + q)] = np.int32(found[np.uint64(q)])
    for q in range(Q - inner):
        edge = q if q < begin else q + inner
        left, right = bounds(edge, step, ahead, size, W)
        places[np.uint64(edge)] = place_of_one(v, k, left, right)


@tuned(
    "pool3d", "pool3d_where", items=tile_count, runs=planes, work=operations, least=MIN_WORK, when=is_maximum,
    scratch=maxima_and_places,
)  # fmt: skip
@compiled
def maximum_where(first, last, where, x, scratch, size, step, ahead):
    N, C, Z, H, W = x.shape
    _, _, R, P, Q = where.shape
    volumes, parts, row = N * C, min(N * C, MAX_TILES), W + MARGIN
    elements, places = x.ravel(), where.ravel()
    for item in range(first, last):
        own = part(scratch, item, parts)
        v, k, rest = own[: H * W], own[H * W : 2 * H * W], own[2 * H * W :]
        row_v, row_k, found = rest[:row], rest[row : 2 * row], rest[2 * row :]
        for plane in range(volumes * item // parts * R, volumes * (item + 1) // parts * R):
            start, stop = bounds(plane % R, step[0], ahead[0], size[0], Z)
            volume = elements[plane // R * Z * H * W : (plane // R + 1) * Z * H * W]
            if start < stop:
                highest_planes(v, k, volume, H * W, start, stop)
            for p in range(P):
                top, low = bounds(p, step[1], ahead[1], size[1], H)
                own_places = places[(plane * P + p) * Q : (plane * P + p + 1) * Q]
                if start < stop and top < low:
                    highest_of_rows(row_v, row_k, v, k, W, top, low)
                    row_places(own_places, found, row_v, row_k, W, size[2], step[2], ahead[2])
                else:
                    own_places[:] = -1


@tuned("pool3d", "pool3d_y", items=tile_count, runs=planes, work=windows, least=MIN_WORK, when=is_maximum)
@compiled
def maximum_y(first, last, y, x, where):
    volumes, parts = x.shape[0] * x.shape[1], min(x.shape[0] * x.shape[1], MAX_TILES)
    elements, count = x.size // max(volumes, 1), y.size // max(volumes, 1)
    pixels, result, places, zero = x.ravel(), y.ravel(), where.ravel(), y.dtype.type(0)
    for volume in range(volumes * first // parts, volumes * last // parts):
        for i in range(volume * count, (volume + 1) * count):
            place = places[np.uint64(i)]
            result[np.uint64(i)] = pixels[np.uint64(volume * elements + place)] if place >= 0 else zero


@tuned("pool3d", "pool3d_dx", items=tile_count, runs=planes, work=operations, least=MIN_WORK, when=is_maximum)
@compiled
def maximum_dx(first, last, dx, dy, where, accumulate):
    volumes, parts = dx.shape[0] * dx.shape[1], min(dx.shape[0] * dx.shape[1], MAX_TILES)
    elements, count = dx.size // max(volumes, 1), dy.size // max(volumes, 1)
    target, deltas, places = dx.ravel(), dy.ravel(), where.ravel()
    for volume in range(volumes * first // parts, volumes * last // parts):
        if not accumulate:
            target[volume * elements : (volume + 1) * elements] = 0
        for i in range(volume * count, (volume + 1) * count):
            place = places[np.uint64(i)]
            if place >= 0:
                target[np.uint64(volume * elements + place)] += deltas[np.uint64(i)]


@inlined
def counted(p, size, step, ahead, behind, extent, divisor):
    """Divisor of a mean along an axis."""
    if divisor == "KERNEL":
        return size
    if divisor == "PADDED":
        return max(1, min(p * step - ahead + size, extent + behind) - (p * step - ahead))
    start, stop = bounds(p, step, ahead, size, extent)
    return max(1, stop - start)


@inlined
def columns_of(w, Q, W, step, ahead):
    """The first window of a row whose element `w` is a column, and one past the last."""
    first = min(Q, max(0, -((w - ahead) // step)))
    return first, max(first, min(Q, (W - 1 + ahead - w) // step + 1))


@inlined
def spread_row(target, begin, shares, left, right, step):
    """Adds the shares of a row of windows to one column of each."""
    for q in range(right - left):
        target[np.uint64(begin + q * step)] += shares[np.uint64(left + q)]


def one_row(Q: int) -> int:
    """Scratch elements for the shares of a row of windows."""
    return Q


@tuned(
    "pool3d", "pool3d_dx", items=tile_count, runs=planes, work=operations, least=MIN_WORK, when=is_mean, scratch=one_row
)  # fmt: skip
@compiled
def mean_dx(first, last, dx, dy, scratch, accumulate, divisor, size, step, ahead, behind):
    N, C, Z, H, W = dx.shape
    _, _, R, P, Q = dy.shape
    volumes, parts = N * C, min(N * C, MAX_TILES)
    target, deltas = dx.ravel(), dy.ravel()
    for item in range(first, last):
        shares = part(scratch, item, parts)
        for volume in range(volumes * item // parts, volumes * (item + 1) // parts):
            if not accumulate:
                target[volume * Z * H * W : (volume + 1) * Z * H * W] = 0
            for row in range(R * P):
                planes_under = counted(row // P, size[0], step[0], ahead[0], behind[0], Z, divisor)
                rows_under = counted(row % P, size[1], step[1], ahead[1], behind[1], H, divisor)
                for q in range(Q):
                    columns_under = counted(q, size[2], step[2], ahead[2], behind[2], W, divisor)
                    elements = dx.dtype.type(planes_under * rows_under * columns_under)
                    shares[q] = deltas[np.uint64((volume * R * P + row) * Q + q)] / elements
                start, stop = bounds(row // P, step[0], ahead[0], size[0], Z)
                top, low = bounds(row % P, step[1], ahead[1], size[1], H)
                for z in range(start, stop):
                    for h in range(top, low):
                        # Column by column of the windows: the inner loop runs over the windows of a row, not over two
                        # or three columns.
                        for w in range(size[2]):
                            left, right = columns_of(w, Q, W, step[2], ahead[2])
                            begin = ((volume * Z + z) * H + h) * W + w + left * step[2] - ahead[2]
                            spread_row(target, begin, shares, left, right, step[2])
