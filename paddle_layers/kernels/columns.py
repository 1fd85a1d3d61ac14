"""batch_norm of plain rows: neighbours belong to different channels, so a whole row is treated at once."""

from __future__ import annotations

from numba import njit

from .channels import SLICES, row_slices
from .tuned import tuned

WORTH_IT = 1 << 15
"""Numbers below which the point function stays: what a step gains does not pay the compiler."""


def numbers(N: int, C: int, rest: int) -> int:
    """Numbers in rows without pixels; no work where there are pixels, the point functions do well there."""
    return N * C if rest == 1 else 0


def plain(rest: int) -> bool:
    """Rows without pixels."""
    return rest == 1


@tuned("batch_norm", "batch_norm_y", items=row_slices, work=numbers, least=WORTH_IT, when=plain)
@njit(error_model="numpy")
def batch_norm_y(first, last, y, x, mean, scale, gain):
    N, C = x.shape[0], x.shape[1]
    parts, values, target = min(N, SLICES), x.ravel(), y.ravel()
    for n in range(N * first // parts, N * last // parts):
        row, result = values[n * C : n * C + C], target[n * C : n * C + C]
        for c in range(C):
            result[c] = (row[c] - mean[c]) * scale[c] * gain[c]


@tuned("batch_norm", "batch_norm_bias", items=row_slices, work=numbers, least=WORTH_IT, when=plain)
@njit(error_model="numpy")
def batch_norm_bias(first, last, y, bias):
    N, C = y.shape[0], y.shape[1]
    parts, target = min(N, SLICES), y.ravel()
    for n in range(N * first // parts, N * last // parts):
        result = target[n * C : n * C + C]
        for c in range(C):
            result[c] += bias[c]


@tuned("batch_norm", "batch_norm_dx", items=row_slices, work=numbers, least=WORTH_IT, when=plain)
@njit(error_model="numpy")
def batch_norm_dx(
    first, last, dx, dy, x, mean, scale, gain, a, b, accumulate, use_global_stats, training
):  # fmt: skip
    N, C = x.shape[0], x.shape[1]
    parts, one, zero = min(N, SLICES), x.dtype.type(1), x.dtype.type(0)
    fixed = use_global_stats or (use_global_stats is None and not training)
    share = zero if fixed else one / x.dtype.type(N)
    values, slopes, target = x.ravel(), dy.ravel(), dx.ravel()
    for n in range(N * first // parts, N * last // parts):
        row, slope, result = values[n * C : n * C + C], slopes[n * C : n * C + C], target[n * C : n * C + C]
        if not accumulate:
            result[:] = zero
        for c in range(C):
            mean_part = (a[c] + (row[c] - mean[c]) * scale[c] * b[c]) * share
            result[c] += gain[c] * scale[c] * (slope[c] - mean_part)
