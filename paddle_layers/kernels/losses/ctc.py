"""CTC loss (`ctc`): vectorized log-sum-exp recursions over the states of each time step."""

from __future__ import annotations

import math

import numpy as np

from paddle_layers.kernels.primitives.compile_options import compiled, contracted
from paddle_layers.kernels.primitives.scratch import part, take
from paddle_layers.kernels.primitives.vector_functions import LARGE, add_to, copy, exp_all, f32, octave_and_rest
from paddle_layers.kernels.tuned import tuned

MIN_WORK = 1 << 13
"""Minimum number of states of all rows for the tuned kernel; below it, the gain does not repay the compile time."""
# Takes the place of a maximum of minus infinity, from which scores are subtracted: -inf - (-inf) would be NaN.
LOWEST = f32(-1e30)
"""Lower bound of log-probabilities; only minus infinity is below."""
# The sum of three exponentials relative to the largest is between 1 and 3. Relative to the root of 3 the argument of
# the series stays below 0.27, so that six terms suffice for float32.
ROOT, LOG_ROOT = f32(math.sqrt(3)), f32(math.log(3) / 2)
THIRD, FIFTH, SEVENTH, NINTH, ELEVENTH = (f32(1 / n) for n in (3, 5, 7, 9, 11))


def sequences(S: int) -> int:
    """Work items: one per sequence."""
    return S


def states(T: int, U: int) -> int:
    """Number of states of all rows."""
    return T * U


def classes(T: int, C: int, U: int) -> int:
    """Number of classes and states of all rows."""
    return T * (C + U)


def step_scratch(U: int) -> int:
    """Scratch elements of an item: the previous row padded by two states on either side, skip transitions, scores."""
    return 3 * U + 2


def gradient_scratch(U: int, C: int) -> int:
    """Scratch elements of an item: marginal probabilities of the states, probabilities of the classes."""
    return U + C


@contracted
def exp_below_zero(v):
    """exp(v) for v <= 0; results below the smallest float32 are clamped to it."""
    scale, p = octave_and_rest(-LARGE if v < -LARGE else v)
    return scale + scale * p


@contracted
def log_near_one(v):
    """log(v) for 1 <= v <= 3: series of the inverse hyperbolic tangent around the root of 3."""
    z = (v - ROOT) / (v + ROOT)
    s = z * z
    p = NINTH + s * ELEVENTH
    p = SEVENTH + s * p
    p = FIFTH + s * p
    p = THIRD + s * p
    return LOG_ROOT + (z + z) * (f32(1) + s * p)


@compiled
def log_sum(a, b, c):
    """log(exp(a) + exp(b) + exp(c))."""
    high = max(a, b)
    peak = max(high, c)
    if peak == -math.inf:
        return peak
    return peak + math.log1p(math.exp(min(a, b) - peak) + math.exp(min(high, c) - peak))


@contracted
def add_logs(row, stays, moves, leaps, gates):
    """`row = log(exp(stays) + exp(moves) + exp(leaps + gates))`; gates are 0 or minus infinity."""
    if row.itemsize == 8:
        for u in range(row.size):
            row[u] = log_sum(stays[u], moves[u], leaps[u] + gates[u])
        return
    for u in range(row.size):
        a, b, c = f32(stays[u]), f32(moves[u]), f32(leaps[u] + gates[u])
        peak = a if a > b else b
        peak = c if c > peak else peak
        base = LOWEST if peak < LOWEST else peak
        # Relative to the maximum, so that the largest exponential is 1 and the sum is between 1 and 3.
        total = exp_below_zero(a - base) + exp_below_zero(b - base) + exp_below_zero(c - base)
        row[u] = peak if peak < LOWEST else base + log_near_one(total)


@compiled
def take_scores(scores, x, state, peak, norm):
    """Gathers the log-probabilities of the classes of the states."""
    for u in range(scores.size):
        scores[u] = x[state[u]] - peak - norm


@tuned("ctc", "ctc_alpha", items=sequences, scratch=step_scratch, work=states, least=MIN_WORK)
@compiled
def ctc_alpha(first, last, alpha, x, count, state, peak, norm, blank, S_start, scratch):
    items, U = S_start.size - 1, alpha.shape[1]
    for s in range(first, last):
        used = min(2 * count[s] + 1, U)
        own = part(scratch, s, items)
        before, at = take(own, 0, 1, used + 2)
        gates, at = take(own, at, 1, used)
        scores, at = take(own, at, 1, used)
        says = state[s]
        # Two states before the first one have probability 0. The third is the first blank before the first time step: a
        # path begins in it or moves on to the first label.
        before[0, :] = -np.inf
        before[0, 2] = 0
        for u in range(used):
            # A path may skip the blank between two labels only if these differ (Graves et al. 2006).
            leaps = u > 1 and says[u] != blank and says[u] != says[u - 2]
            gates[0, u] = 0 if leaps else -np.inf
        for t in range(S_start[s], S_start[s + 1]):
            row = alpha[t][:used]
            take_scores(scores[0], x[t], says, peak[t], norm[t])
            add_logs(row, before[0][2:], before[0][1:], before[0], gates[0])
            add_to(row, scores[0])
            copy(before[0][2:], row)
            alpha[t, used:] = -np.inf


@tuned("ctc", "ctc_beta", items=sequences, scratch=step_scratch, work=states, least=MIN_WORK)
@compiled
def ctc_beta(first, last, beta, x, count, state, peak, norm, blank, S_start, scratch):
    items, U = S_start.size - 1, beta.shape[1]
    for s in range(first, last):
        used = min(2 * count[s] + 1, U)
        own = part(scratch, s, items)
        after, at = take(own, 0, 1, used + 2)
        gates, at = take(own, at, 1, used)
        scores, at = take(own, at, 1, used)
        says = state[s]
        after[0, :] = -np.inf
        # A path ends in the last label or in the blank after it.
        after[0, used - 1] = 0
        for u in range(used):
            leaps = u < used - 2 and says[u] != blank and says[u] != says[u + 2]
            gates[0, u] = 0 if leaps else -np.inf
        for t in range(S_start[s + 1] - 1, S_start[s] - 1, -1):
            row = beta[t][:used]
            take_scores(scores[0], x[t], says, peak[t], norm[t])
            add_logs(row, after[0], after[0][1:], after[0][2:], gates[0])
            add_to(row, scores[0])
            copy(after[0][:used], row)
            beta[t, used:] = -np.inf


@tuned("ctc", "ctc_dx", items=sequences, scratch=gradient_scratch, work=classes, least=MIN_WORK)
@compiled
def ctc_dx(
    first, last, dx, dcost, x, count, state, peak, norm, alpha, beta, total, norm_by_times, S_start, scratch, accumulate
):  # fmt: skip
    items, C, U = S_start.size - 1, dx.shape[1], alpha.shape[1]
    for s in range(first, last):
        used = min(2 * count[s] + 1, U)
        marginals, at = take(part(scratch, s, items), 0, 1, used)
        probabilities, at = take(part(scratch, s, items), at, 1, C)
        rows = S_start[s + 1] - S_start[s]
        derivative = dcost[s] / dcost.dtype.type(rows) if norm_by_times else dcost[s]
        for t in range(S_start[s], S_start[s + 1]):
            if not accumulate:
                dx[t] = 0
            # No path fits: the loss is 0 where the labels need more steps than there are, else infinite. No gradient.
            if total[s] == -np.inf:
                continue
            take_scores(marginals[0], x[t], state[s], peak[t], norm[t])
            # Both recursions include the score of the row itself, which is therefore subtracted once.
            subtract_from(marginals[0], alpha[t], beta[t])
            exp_all(marginals[0], 1, total[s], 0)
            copy(probabilities[0], x[t])
            exp_all(probabilities[0], 1, peak[t], norm[t])
            for u in range(used):
                probabilities[0, state[s, u]] -= marginals[0, u]
            for c in range(C):
                dx[t, c] += derivative * probabilities[0, c]


@contracted
def subtract_from(scores, alpha, beta):
    """`scores = alpha + beta - scores`; minus infinity (no valid path) stays."""
    for u in range(scores.size):
        # Minus infinity minus minus infinity would be NaN.
        scores[u] = scores[u] if scores[u] == -np.inf else alpha[u] + beta[u] - scores[u]
