"""Gradients of region pools: each box adds what it took to a plane of the map; the point function asks every box."""

from __future__ import annotations

from paddle_layers.kernels.primitives.compiling import compiled, contracted
from paddle_layers.kernels.primitives.scratch import part
from paddle_layers.kernels.tuned import tuned

WORTH_IT = 1 << 12
"""Numbers of the map below which the point function stays: what a step gains does not pay the compiler."""
SLICES = 16


def numbers(N: int, C: int, H: int, W: int) -> int:
    """Numbers of the map."""
    return N * C * H * W


def planes(N: int, C: int) -> int:
    """Planes, of which an item writes some."""
    return N * C


def slices(N: int, C: int) -> int:
    """Slices of the planes; by shape only."""
    return min(N * C, SLICES)


def row_numbers(W: int) -> int:
    """Numbers of an item: a row of the map."""
    return W


@contracted
def add_multiple(sums, factor, values):
    """sums += factor * values."""
    for k in range(sums.size):
        sums[k] += factor * values[k]


@tuned("roi_pool", "roi_pool_dx", items=slices, runs=planes, work=numbers, least=WORTH_IT)
@compiled
def roi_pool_dx(first, last, dx, dy, where, R_start, accumulate):
    N, C = dx.shape[:2]
    parts, zero = min(N * C, SLICES), dx.dtype.type(0)
    for plane in range(N * C * first // parts, N * C * last // parts):
        n, c = plane // C, plane % C
        target = dx[n, c].ravel()
        if not accumulate:
            target[:] = zero
        for r in range(R_start[n], R_start[n + 1]):
            deltas, places = dy[r, c].ravel(), where[r, c].ravel()
            for i in range(places.size):
                if places[i] >= 0:
                    target[places[i]] += deltas[i]


@tuned("roi_align", "roi_align_dx", items=slices, runs=planes, work=numbers, least=WORTH_IT, scratch=row_numbers)
@compiled
def roi_align_dx(first, last, dx, dy, rows, columns, R_start, scratch, accumulate):
    N, C, H = dx.shape[:3]
    parts, zero = min(N * C, SLICES), dx.dtype.type(0)
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
                        if rows[r, p, h] != zero:
                            add_multiple(dx[n, c, h], rows[r, p, h], row)
