"""RoI pooling and RoI align: bin bounds per axis are computed once for all channels.

Gradients are accumulated per box and plane. The point functions compute the bounds for every value, and every pixel
checks all boxes.
"""

from __future__ import annotations

import math

from paddle_layers.kernels.constants import MAX_PLANE_TILES
from paddle_layers.kernels.primitives.compile_options import compiled, contracted
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 12
"""Minimum number of elements of the feature map for the tuned kernel; below it, the gain does not repay the compile
time.
"""
FAR, MOST = 1e6, 1024
"""As in the layers: a coordinate outside of any image, and the maximum number of samples per bin."""
EXACT = 1 << 24
"""Integers up to this one are exact in floating point, the type of the tables."""


def numbers(N: int, C: int, H: int, W: int) -> int:
    """Number of elements of the feature map."""
    return N * C * H * W


def planes(N: int, C: int) -> int:
    """Number of planes; an item writes some of them."""
    return N * C


def tile_count(N: int, C: int) -> int:
    """Number of plane tiles; depends on the shape only."""
    return min(N * C, MAX_PLANE_TILES)


def row_numbers(W: int) -> int:
    """Scratch elements of an item: one row of the feature map."""
    return W


def countable(H: int, W: int) -> bool:
    """Whether row and column indices are exact in floating point."""
    return max(H, W) <= EXACT


def bin_numbers(P: int, Q: int) -> int:
    """Scratch elements of an item: bounds of the row and column bins."""
    return 2 * (P + Q)


def share_numbers(H: int, W: int, P: int, Q: int) -> int:
    """Scratch elements of an item: per bin, the indices and weights of its rows or columns; and one row of the map."""
    return P * (2 * H + 1) + Q * (2 * W + 1) + W


@compiled
def nearest_pixel(v, real):
    """As in the layer."""
    # To convert a value beyond the range of integers is undefined.
    v = min(max(v, real(-FAR)), real(FAR))
    # Half away from zero, as `round` of C does; Python rounds half to even.
    return int(v + real(0.5)) if v >= real(0) else -int(real(0.5) - v)


@compiled
def set_bins(bins, low, high, extent, real):
    """The first pixel of each bin between two corners in `bins[0]`, and one past the last in `bins[1]`."""
    # Malformed boxes have one pixel, as in Fast R-CNN.
    first, last, count = nearest_pixel(low, real), nearest_pixel(high, real), bins.shape[1]
    size = max(last - first + 1, 1)
    for p in range(count):
        bins[0, p] = min(max(first + p * size // count, 0), extent)
        # Rounded up, while the begin is rounded down: adjacent bins may share a pixel, and none is lost.
        bins[1, p] = min(max(first + ((p + 1) * size + count - 1) // count, 0), extent)


@compiled
def largest(y, where, x, rows, columns):
    """Maximum of each bin of a plane, and its pixel."""
    W, zero = x.shape[1], x.dtype.type(0)
    for p in range(y.shape[0]):
        top, bottom = int(rows[0, p]), int(rows[1, p])
        for q in range(y.shape[1]):
            left, right = int(columns[0, q]), int(columns[1, q])
            best, at = zero, -1
            for h in range(top, bottom):
                row = x[h]
                for w in range(left, right):
                    value = row[w]
                    # Bitwise operators, so that the selections have no branches.
                    more = (at < 0) | (value > best) | (math.isnan(value) & (not math.isnan(best)))
                    best = value if more else best
                    at = h * W + w if more else at
            y[p, q] = best
            where[p, q] = at


@tuned(
    "roi_pool", "roi_pool_y", items=tile_count, work=numbers, least=MIN_WORK, scratch=bin_numbers, when=countable
)  # fmt: skip
@compiled
def roi_pool_y(first, last, y, where, x, box, R_start, scratch, spatial_scale):
    N, C, H, W = x.shape
    P, Q = y.shape[2:]
    parts, real = min(N * C, MAX_PLANE_TILES), x.dtype.type
    scale = real(spatial_scale)
    for item in range(first, last):
        table = part(scratch, item, parts)
        rows, columns = table[: 2 * P].reshape((2, P)), table[2 * P : 2 * (P + Q)].reshape((2, Q))
        plane, end = N * C * item // parts, N * C * (item + 1) // parts
        while plane < end:
            n = plane // C
            behind = min(end, (n + 1) * C)
            for r in range(R_start[n], R_start[n + 1]):
                # Bins are found once per box, for all channels: 24 to 7.3 ms for 64 boxes of two maps of 256x14x14 (one
                # core of an AMD EPYC with AVX-512).
                set_bins(rows, box[r, 1] * scale, box[r, 3] * scale, H, real)
                set_bins(columns, box[r, 0] * scale, box[r, 2] * scale, W, real)
                for c in range(plane - n * C, behind - n * C):
                    largest(y[r, c], where[r, c], x[n, c], rows, columns)
            plane = behind


@contracted
def add_multiple(sums, factor, values):
    """`sums += factor * values`."""
    for k in range(sums.size):
        sums[k] += factor * values[k]


@compiled
def add_share(counts, pixels, shares, p, pixel, share):
    """Increases the weight of a pixel in bin `p`."""
    count = int(counts[p])
    # Samples are ordered, so that a pixel is among the last ones, if at all.
    for at in range(count - 1, -1, -1):
        if pixels[p, at] == pixel:
            shares[p, at] += share
            return
    pixels[p, count] = pixel
    shares[p, count] = share
    counts[p] = count + 1


@compiled
def set_shares(counts, pixels, shares, low, high, scale, ratio, aligned):
    """Pixel indices and mean interpolation weights of each bin between two corners of an axis."""
    real, count, extent = shares.dtype.type, counts.size, shares.shape[1]
    half, one, zero = real(0.5), real(1), real(0)
    size = (high - low) * scale
    size = (size if aligned else max(size, one)) / real(count)
    whole = int(min(max(size, zero), real(MOST)))
    # The ceiling of the size.
    places = ratio if ratio > 0 else min(whole + (1 if size > real(whole) else 0), MOST)
    start, share = low * scale - (half if aligned else zero), one / real(max(places, 1))
    for p in range(count):
        counts[p] = 0
        for j in range(places):
            place = start + (real(p) + (real(j) + half) / real(places)) * size
            # As in torchvision: samples up to one pixel outside take the border, others count as zero.
            if place >= -one and place <= real(extent):
                inside = min(max(place, zero), real(extent - 1))
                pixel = int(inside)
                further = inside - real(pixel)
                add_share(counts, pixels, shares, p, pixel, (one - further) * share)
                add_share(counts, pixels, shares, p, min(pixel + 1, extent - 1), further * share)


@contracted
def weighted(y, x, rows, columns, row):
    """Weighted sum of each bin of a plane: vertically for the columns of all bins, then horizontally."""
    counts, pixels, shares = columns
    down, row_pixels, row_shares = rows
    zero = row.dtype.type(0)
    for p in range(y.shape[0]):
        row[:] = zero
        # Rows are combined first, as whole vectors; only the last step goes column by column.
        for i in range(int(down[p])):
            add_multiple(row, row_shares[p, i], x[int(row_pixels[p, i])])
        for q in range(y.shape[1]):
            total = zero
            for j in range(int(counts[q])):
                total += shares[q, j] * row[int(pixels[q, j])]
            y[p, q] = total


@compiled
def share_table(table, count, extent):
    """Counts, pixel indices and weights of `count` bins."""
    numbers = count * extent
    pixels = table[count : count + numbers].reshape((count, extent))
    return table[:count], pixels, table[count + numbers : count + 2 * numbers].reshape((count, extent))


@tuned(
    "roi_align", "roi_align_y", items=tile_count, work=numbers, least=MIN_WORK, scratch=share_numbers, when=countable
)  # fmt: skip
@compiled
def roi_align_y(first, last, y, x, box, R_start, scratch, spatial_scale, sampling_ratio, aligned):
    N, C, H, W = x.shape
    P, Q = y.shape[2:]
    parts, scale = min(N * C, MAX_PLANE_TILES), x.dtype.type(spatial_scale)
    for item in range(first, last):
        table = part(scratch, item, parts)
        split = P * (2 * H + 1)
        rows, columns = share_table(table, P, H), share_table(table[split:], Q, W)
        row = table[split + Q * (2 * W + 1) :][:W]
        plane, end = N * C * item // parts, N * C * (item + 1) // parts
        while plane < end:
            n = plane // C
            behind = min(end, (n + 1) * C)
            for r in range(R_start[n], R_start[n + 1]):
                # Once per box, for all channels: 30 to 4.6 ms, measured as for `roi_pool`.
                set_shares(*rows, box[r, 1], box[r, 3], scale, sampling_ratio, aligned)
                set_shares(*columns, box[r, 0], box[r, 2], scale, sampling_ratio, aligned)
                for c in range(plane - n * C, behind - n * C):
                    weighted(y[r, c], x[n, c], rows, columns, row)
            plane = behind


@tuned("roi_pool", "roi_pool_dx", items=tile_count, runs=planes, work=numbers, least=MIN_WORK)
@compiled
def roi_pool_dx(first, last, dx, dy, where, R_start, accumulate):
    N, C = dx.shape[:2]
    parts, zero = min(N * C, MAX_PLANE_TILES), dx.dtype.type(0)
    for plane in range(N * C * first // parts, N * C * last // parts):
        n, c = plane // C, plane % C
        target = dx[n, c].ravel()
        if not accumulate:
            target[:] = zero
        # Every box scatters to its own pixels; a loop over pixels would ask all bins of all boxes: 153 to 2.5 ms.
        for r in range(R_start[n], R_start[n + 1]):
            deltas, places = dy[r, c].ravel(), where[r, c].ravel()
            for i in range(places.size):
                if places[i] >= 0:
                    target[places[i]] += deltas[i]


@tuned("roi_align", "roi_align_dx", items=tile_count, runs=planes, work=numbers, least=MIN_WORK, scratch=row_numbers)
@compiled
def roi_align_dx(first, last, dx, dy, rows, columns, R_start, scratch, accumulate):
    N, C, H = dx.shape[:3]
    parts, zero = min(N * C, MAX_PLANE_TILES), dx.dtype.type(0)
    for item in range(first, last):
        row = part(scratch, item, parts)
        for plane in range(N * C * item // parts, N * C * (item + 1) // parts):
            n, c = plane // C, plane % C
            if not accumulate:
                dx[n, c].ravel()[:] = zero
            for r in range(R_start[n], R_start[n + 1]):
                for p in range(dy.shape[2]):
                    row[:] = zero
                    for q in range(dy.shape[3]):
                        add_multiple(row, dy[r, c, p, q], columns[r, q])
                    for h in range(H):
                        # Most rows are outside of the bin.
                        if rows[r, p, h] != zero:
                            add_multiple(dx[n, c, h], rows[r, p, h], row)
