"""Image resizing (bilinear and nearest), row by row: horizontally with a table, then vertically by whole rows.

Gradients are in reverse order. A weight of zero is multiplied like any value, so that next to an infinite gradient or
NaN there may be NaN.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_PLANE_TILES
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, contracted
from paddle_layers.kernels.primitives.memory_ops import add_run, copy_run
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.primitives.plane_kernels import scatter_evenly
from paddle_layers.kernels.primitives.resampling import resample, set_places, set_weight, slack, table_numbers
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 17
"""Minimum number of elements for the tuned kernel; below it, the gain does not repay the compile time."""


def numbers(N: int, C: int, H: int, W: int, P: int, Q: int) -> int:
    """Number of elements of the images and of the results."""
    return N * C * (H * W + P * Q)


def planes(N: int, C: int) -> int:
    """Number of planes; an item writes some of them."""
    return N * C


def tile_count(N: int, C: int) -> int:
    """Number of plane tiles; depends on the shape only."""
    return min(N * C, MAX_PLANE_TILES)


@also_in_python
def most_terms(extent, count):
    """Maximum number of output pixels, of `count`, that an input pixel contributes to.

    They are within two pixels, rounded up, at an edge.
    """
    return min(count, 2 * ((count + max(extent - 1, 1) - 1) // max(extent - 1, 1)) + 3)


def forward_scratch(W: int, P: int, Q: int) -> int:
    """Scratch elements of an item: indices and weights of rows and columns, a table, an input row, two output rows."""
    return 2 * (P + Q) + int(table_numbers(Q, 2)) + W + 2 * Q + 3 * int(slack(2))


def backward_scratch(W: int, P: int, Q: int) -> int:
    """Scratch elements of an item: indices and weights, column starts, a table, a row before and after resampling."""
    terms = int(most_terms(W, Q))
    return 2 * (P + Q) + W + int(table_numbers(W, terms)) + Q + W + 2 * int(slack(terms))


def nearest_scratch(W: int, Q: int) -> int:
    """Scratch elements of an item, in either direction: column starts, a table, a row before and after resampling."""
    terms = (Q + W - 1) // W
    tables = max(int(table_numbers(Q, 1)), int(table_numbers(W, terms)))
    return max(W, Q) + tables + W + Q + 2 * int(slack(terms))


def countable(H: int, W: int, P: int, Q: int) -> bool:
    """Whether row and column indices are exact in floating point."""
    return max(H, W, P, Q) <= 1 << 24


def doubled(H: int, W: int, P: int, Q: int) -> bool:
    """Whether the scale is exactly 2 on both axes."""
    return (P, Q) == (2 * H, 2 * W)


def doubled_at_once(H: int, W: int, P: int, Q: int) -> bool:
    """Whether the scale is exactly 2 on both axes, on a CPU with masked loads."""
    return MASKS and doubled(H, W, P, Q)


def aligned(corners: str, H: int, W: int, P: int, Q: int) -> bool:
    """Whether the centers of the corner pixels are aligned."""
    return corners == "ALIGNED" and countable(H, W, P, Q)


def half_pixel(corners: str, H: int, W: int, P: int, Q: int) -> bool:
    """Whether the edges are aligned (half-pixel centers)."""
    return corners == "HALF_PIXEL" and countable(H, W, P, Q)


@compiled
def clear(values):
    """`values = 0`."""
    for k in range(values.size):
        values[k] = 0


@compiled
def cut(scratch, at, size):
    """A vector of zeros in the scratch buffer, and the start of the next one."""
    clear(scratch[at : at + size])
    return scratch[at : at + size], at + size


@compiled
def places(left, share, extent, aligned):
    """For every pixel of a result the source pixel at or before it, and the fraction to the next one."""
    count, half = left.size, share.dtype.type(0.5)
    pixels, end = share.dtype.type(extent), share.dtype.type(extent - 1)
    step = end / share.dtype.type(max(count - 1, 1)) if aligned else pixels / share.dtype.type(count)
    for p in range(count):
        at = share.dtype.type(p) * step
        # Edge pixels are replicated: positions before the first pixel center are clamped to it.
        if not aligned:
            at = min(max((share.dtype.type(p) + half) * step - half, half - half), end)
        # Rounding may reach the pixel after the last one.
        left[p] = min(int(at), extent - 1)
        share[p] = at - left[p]


@contracted
def between(result, above, under, share):
    """`result = (1 - share) * above + share * under`."""
    rest = result.dtype.type(1) - share
    for k in range(result.size):
        result[k] = rest * above[k] + share * under[k]


@contracted
def put_share(sums, values, share, adding):
    """`sums = share * values`, or `sums +=` where `adding`."""
    if adding:
        for k in range(values.size):
            sums[k] += share * values[k]
    else:
        for k in range(values.size):
            sums[k] = share * values[k]


@compiled
def lengthened(to, of, pixels, begin, width, table, picks, one):
    """A row of the image at the width of the result; the last pixel is replicated once."""
    copy_run(of.ctypes.data, pixels.ctypes.data + begin * of.itemsize, width, of.itemsize, one)
    # The second term of the last result, with weight 0 or a replicated edge.
    of[width] = of[width - 1]
    resample(to.ctypes.data, of.ctypes.data, table.ctypes.data, to.size - slack(2), 2, picks, one)


@compiled
def interpolate(first, last, y, x, scratch, aligned):
    """Interpolation `y` (N, C, P, Q) of `x` (N, C, H, W). A work item is some planes."""
    N, C, H, W = x.shape
    _, _, P, Q = y.shape
    size, one, items = y.itemsize, y.dtype.type(1), min(N * C, MAX_PLANE_TILES)
    pixels, results = x.ravel(), y.ravel()
    for item in range(first, last):
        own = part(scratch, item, items)
        row, at = cut(own, 0, P)
        down, at = cut(own, at, P)
        column, at = cut(own, at, Q)
        right, at = cut(own, at, Q)
        table, at = cut(own, at, table_numbers(Q, 2))
        source, at = cut(own, at, W + slack(2))
        above, at = cut(own, at, Q + slack(2))
        under, at = cut(own, at, Q + slack(2))
        places(row, down, H, aligned)
        places(column, right, W, aligned)
        picks = set_places(table.ctypes.data, column, Q, 2, size, one)
        for q in range(Q):
            set_weight(table, q, 0, 2, one - right[q])
            set_weight(table, q, 1, 2, right[q])
        for plane in range(N * C * item // items, N * C * (item + 1) // items):
            in_above, in_under = -1, -1
            for p in range(P):
                h = int(row[p])
                after = min(h + 1, H - 1)
                # Rows of the image are resampled once: what was below the last result row is above the next one.
                if in_above != h and in_under == h:
                    above, under, in_above, in_under = under, above, in_under, in_above
                if in_above != h:
                    lengthened(above, source, pixels, (plane * H + h) * W, W, table, picks, one)
                    in_above = h
                if in_under != after:
                    lengthened(under, source, pixels, (plane * H + after) * W, W, table, picks, one)
                    in_under = after
                begin = (plane * P + p) * Q
                between(results[begin : begin + Q], above, under, down[p])


@compiled
def reached(left, pixel, begin):
    """The first pixel of a result from `begin` on that a pixel of the image contributes to, and one past the last."""
    while begin < left.size and left[begin] < pixel - 1:
        begin += 1
    end = begin
    while end < left.size and left[end] <= pixel:
        end += 1
    return begin, end


@compiled
def added(left, share, at, pixel, extent, one):
    """Weight of a pixel of the image in pixel `at` of a result."""
    result = one - share[at] if left[at] == pixel else one - one
    # At the edge both terms are the last pixel, and their weights add up.
    return result + share[at] if min(left[at] + 1, extent - 1) == pixel else result


@compiled
def columns_back(table, begins, column, right, width, size, one):
    """Builds a table of the result columns that the columns of the image contribute to; returns `picks` and `terms`."""
    terms, q, end = 0, 0, 0
    for w in range(width):
        q, end = reached(column, w, q)
        terms = max(terms, end - q)
        begins[w] = q
    for w in range(width):
        q, end = reached(column, w, int(begins[w]))
        for term in range(end - q):
            set_weight(table, w, term, terms, added(column, right, q + term, w, width, one))
    return set_places(table.ctypes.data, begins, width, terms, size, one), terms


@compiled
def shortened(to, at, sums, result, table, width, terms, picks, accumulate, one):
    """A row of gradients of the image, from the sums of those of the result."""
    resample(result.ctypes.data, sums.ctypes.data, table.ctypes.data, width, terms, picks, one)
    place = to.ctypes.data + at * to.itemsize
    if accumulate:
        add_run(place, result.ctypes.data, width, to.itemsize, one)
    else:
        copy_run(place, result.ctypes.data, width, to.itemsize, one)


@compiled
def interpolate_back(first, last, dx, dy, accumulate, scratch, aligned):
    """Gradient `dx` (N, C, H, W) of `interpolate`, added to `dx` where `accumulate`."""
    N, C, H, W = dx.shape
    _, _, P, Q = dy.shape
    size, one, items, most = dy.itemsize, dy.dtype.type(1), min(N * C, MAX_PLANE_TILES), most_terms(W, Q)
    target, deltas = dx.ravel(), dy.ravel()
    for item in range(first, last):
        own = part(scratch, item, items)
        row, at = cut(own, 0, P)
        down, at = cut(own, at, P)
        column, at = cut(own, at, Q)
        right, at = cut(own, at, Q)
        begins, at = cut(own, at, W)
        table, at = cut(own, at, table_numbers(W, most))
        sums, at = cut(own, at, Q + slack(most))
        result, at = cut(own, at, W + slack(most))
        places(row, down, H, aligned)
        places(column, right, W, aligned)
        picks, terms = columns_back(table, begins, column, right, W, size, one)
        for plane in range(N * C * item // items, N * C * (item + 1) // items):
            p = 0
            for h in range(H):
                p, end = reached(row, h, p)
                # Where the result is smaller, no row of it reads this row of the image.
                if p == end:
                    clear(sums)
                for under in range(p, end):
                    begin = (plane * P + under) * Q
                    put_share(sums, deltas[begin : begin + Q], added(row, down, under, h, H, one), under > p)
                shortened(target, (plane * H + h) * W, sums, result, table, W, terms, picks, accumulate, one)


for _when, _aligned in ((aligned, "1"), (half_pixel, "0")):
    for _target, _kernel, _scratch in (("y", interpolate, forward_scratch), ("dx", interpolate_back, backward_scratch)):
        tuned(
            "bilinear_interp", f"bilinear_interp_{_target}", items=tile_count, runs=planes, scratch=_scratch,
            work=numbers, least=MIN_WORK, when=_when, arguments={"aligned": _aligned},
        )(_kernel)  # fmt: skip


@tuned(
    "nearest_interp", "nearest_interp_y", items=planes, runs=planes, work=numbers, least=MIN_WORK, when=doubled_at_once
)
@compiled
def doubled_y(first, last, y, x):
    _, _, H, W = x.shape
    size, one = x.itemsize, x.dtype.type(1)
    for plane in range(first, last):
        # Each vector is stored four times, without a table: 976 to 198 us for 64x20x24x24 values (one AVX-512 core).
        scatter_evenly((x.ctypes.data + plane * H * W * size, H, W, y.ctypes.data + plane * 4 * H * W * size), one)


@tuned(
    "nearest_interp", "nearest_interp_y", items=tile_count, runs=planes, scratch=nearest_scratch, work=numbers,
    least=MIN_WORK, when=countable,
)  # fmt: skip
@compiled
def nearest_interp_y(first, last, y, x, scratch):
    N, C, H, W = x.shape
    _, _, P, Q = y.shape
    size, one, items = y.itemsize, y.dtype.type(1), min(N * C, MAX_PLANE_TILES)
    for item in range(first, last):
        own = part(scratch, item, items)
        begins, at = cut(own, 0, Q)
        table, at = cut(own, at, table_numbers(Q, 1))
        source, at = cut(own, at, W + slack(1))
        result, at = cut(own, at, Q + slack(1))
        for q in range(Q):
            begins[q] = q * W // Q
            set_weight(table, q, 0, 1, one)
        picks = set_places(table.ctypes.data, begins, Q, 1, size, one)
        for plane in range(N * C * item // items, N * C * (item + 1) // items):
            before = -1
            for p in range(P):
                h = p * H // P
                if h != before:
                    copy_run(source.ctypes.data, x.ctypes.data + (plane * H + h) * W * size, W, size, one)
                    resample(result.ctypes.data, source.ctypes.data, table.ctypes.data, Q, 1, picks, one)
                    before = h
                copy_run(y.ctypes.data + (plane * P + p) * Q * size, result.ctypes.data, Q, size, one)


@contracted
def add_fours(to, upper, under, adding):
    """`to` = sums of 2 x 2 neighbors in two rows, or `to +=` where `adding`."""
    if adding:
        for w in range(to.size):
            to[w] += (upper[2 * w] + upper[2 * w + 1]) + (under[2 * w] + under[2 * w + 1])
    else:
        for w in range(to.size):
            to[w] = (upper[2 * w] + upper[2 * w + 1]) + (under[2 * w] + under[2 * w + 1])


@tuned("nearest_interp", "nearest_interp_dx", items=planes, work=numbers, least=MIN_WORK, when=doubled)
@compiled
def doubled_dx(first, last, dx, dy, accumulate):
    _, _, H, W = dx.shape
    target, deltas = dx.ravel(), dy.ravel()
    for row in range(first * H, last * H):
        upper, under = 4 * W * row, 4 * W * row + 2 * W
        add_fours(target[row * W : row * W + W], deltas[upper:under], deltas[under : under + 2 * W], accumulate)


@tuned(
    "nearest_interp", "nearest_interp_dx", items=tile_count, runs=planes, scratch=nearest_scratch, work=numbers,
    least=MIN_WORK, when=countable,
)  # fmt: skip
@compiled
def nearest_interp_dx(first, last, dx, dy, accumulate, scratch):
    N, C, H, W = dx.shape
    _, _, P, Q = dy.shape
    size, one, items, terms = dy.itemsize, dy.dtype.type(1), min(N * C, MAX_PLANE_TILES), (Q + W - 1) // W
    target, deltas = dx.ravel(), dy.ravel()
    for item in range(first, last):
        own = part(scratch, item, items)
        begins, at = cut(own, 0, W)
        table, at = cut(own, at, table_numbers(W, terms))
        sums, at = cut(own, at, Q + slack(terms))
        result, at = cut(own, at, W + slack(terms))
        for w in range(W):
            begins[w] = (w * Q + W - 1) // W
            for term in range(((w + 1) * Q + W - 1) // W - (w * Q + W - 1) // W):
                set_weight(table, w, term, terms, one)
        picks = set_places(table.ctypes.data, begins, W, terms, size, one)
        for plane in range(N * C * item // items, N * C * (item + 1) // items):
            for h in range(H):
                top, end = (h * P + H - 1) // H, ((h + 1) * P + H - 1) // H
                if top == end:
                    clear(sums)
                for p in range(top, end):
                    begin = (plane * P + p) * Q
                    put_share(sums, deltas[begin : begin + Q], one, p > top)
                shortened(target, (plane * H + h) * W, sums, result, table, W, terms, picks, accumulate, one)
