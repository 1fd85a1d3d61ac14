"""Lazy Adam: many steps without a gradient are applied at once, from the decay of the first moment.

In step k after its last gradient a weight moves by `scale_k * m_k / (sqrt(v_k) + epsilon_k)`, with m_k = m * mean^k and
sqrt(v_k) = sqrt(v) * g_k, g_k = squares^(k/2). The sum over k has no closed form for all v, because of epsilon. But g_k
/ epsilon_k hardly changes from step to step. Compared to a step c it is larger by a factor 1 + d_k, and

    sqrt(v) * g_k + epsilon_k = epsilon_k / epsilon_c * p * (1 + x * d_k),
    p = sqrt(v) * g_c + epsilon_c,   x = sqrt(v) * g_c / p, between 0 and 1.

1 / (1 + x * d) is the geometric series of -x * d, so that a block of steps is a polynomial of x, divided by p, whose
coefficients are sums over its steps: `scale_k * epsilon_c / epsilon_k * mean^k * d_k^j`.

**Error bound.** The remainder of the series after its J-th term is (-x * d)^J times the move itself. A block holds the
steps with |d| <= u^(1/J), where u is half the distance from 1 to the next value of the data type: so every move is
accurate to a factor 1 ± u, as if it were rounded once. And when a mean has decayed for K steps, the remaining moves are
less than `largest scale * m / (sqrt(v) + epsilon)` times f^K / (1 - f), with f = mean / sqrt(squares), since epsilon_k
falls no faster than g_k, as an `AdaptiveStep` promises. They are omitted once that factor is at most u.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import AdaptiveStep

Ints = NDArray[np.int64]
TERMS = {"float32": 6, "float64": 13}
"""Terms of the series: a block of Adam's usual steps is longer than the decay of a mean, in both data types."""
LONGEST = 256
"""Maximum number of steps per block. Each new step updates the sums from every step of its block."""
FACTORS = 5
"""Elements before the coefficients: factors of value, mean and squares over the block, g_c and epsilon_c."""
SMALLEST = 1e-100
"""Instead of a zero factor of squares: it cannot be divided by."""


class AdaptiveHistory:
    """Pending steps of some rows, in blocks."""

    def __init__(self, steps: int, dtype: str) -> None:
        self.terms = TERMS[dtype]
        self.roundoff = float(np.finfo(dtype).eps) / 2
        self.spread = self.roundoff ** (1 / self.terms)
        self.steps = self.blocks = 0
        self.sums = np.zeros((steps, FACTORS + self.terms))
        """For each step, the factors and coefficients from before it to the end of its block, or to now."""
        self.starts = np.zeros(steps + 1, np.int64)
        """The first step of each block."""
        self.tails = np.ones((steps + 1, 3))
        """For each block, the factors of value, mean and squares from before it to now; then a row of ones."""
        self.lifetime = 0
        """Steps in which a mean fades."""

    def add(self, step: AdaptiveStep) -> int:
        """Records a step. Returns the first step whose sums have changed."""
        if self.steps == 0:
            self.lifetime = self._lifetime(step)
        if self.blocks == 0 or not self._fits(step):
            self._open(step)
        start = int(self.starts[self.blocks - 1])
        self._extend(start, step)
        self._add_to_sums(self.sums[start : self.steps + 1], step)
        self.tails[: self.blocks] *= (step.value, step.mean, step.squares)
        self.steps += 1
        return start

    def forget(self) -> None:
        """Clears the history: all rows have made all steps."""
        self.tails[: self.blocks] = 1.0
        self.steps = self.blocks = 0

    def blocks_from(self, done: Ints) -> tuple[Ints, Ints]:
        """The first blocks of rows that have made so many steps, and the block from which on nothing moves."""
        starts = self.starts[: self.blocks]
        return np.searchsorted(starts, done, "right") - 1, np.searchsorted(starts, done + self.lifetime)

    def saved(self) -> dict[str, NDArray[Any]]:
        """State for `restore`."""
        return {
            "sums": self.sums[: self.steps],
            "starts": self.starts[: self.blocks],
            "tails": self.tails[: self.blocks],
            "lifetime": np.array([self.lifetime]),
        }

    def restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        """Restores a saved state. Raises `ValueError` for anything else."""
        sums = stored(found, "sums", (None, self.sums.shape[1]), "f")
        starts = stored(found, "starts", (None,), "iu")
        tails = stored(found, "tails", (len(starts), 3), "f")
        lifetime = int(stored(found, "lifetime", (1,), "iu")[0])
        steps, blocks = len(sums), len(starts)
        rising = blocks > 0 and starts[0] == 0 and starts[-1] <= steps and bool(np.all(starts[1:] > starts[:-1]))
        # A checkpoint is untrusted: these indices go to a kernel without bounds checks.
        if not 0 < steps <= len(self.sums) or not rising or not 0 <= lifetime < 2**53:
            raise ValueError("the pending steps are inconsistent")
        self.steps, self.blocks, self.lifetime = steps, blocks, lifetime
        self.sums[:steps], self.starts[:blocks], self.tails[:blocks] = sums, starts, tails

    def _lifetime(self, step: AdaptiveStep) -> int:
        fading = step.mean / math.sqrt(max(step.squares, SMALLEST))
        # The mean decays no faster than the divisor: no step can be omitted.
        if fading >= 1:
            return len(self.sums)
        return math.ceil(math.log(self.roundoff * (1 - fading)) / math.log(fading)) if fading else 1

    def _root(self, step: AdaptiveStep, steps: int) -> float:
        """The factor g of the square root of the second moment after so many steps."""
        return math.sqrt(max(step.squares, SMALLEST)) ** steps

    def _deviation(self, step: AdaptiveStep) -> float:
        """The d of a step after the open block."""
        start = self.starts[self.blocks - 1]
        root, epsilon = self.sums[start, 3:FACTORS]
        return float(self._root(step, int(self.steps + 1 - start)) / root * epsilon / step.epsilon - 1)

    def _fits(self, step: AdaptiveStep) -> bool:
        """Whether the step fits into the open block."""
        # Bounds the cost of a step: without it, long runs of steps with a constant rate would update ever longer sums.
        short = self.steps - self.starts[self.blocks - 1] < LONGEST
        return bool(short and abs(self._deviation(step)) <= self.spread)

    def _open(self, step: AdaptiveStep) -> None:
        """Begins a block at the step. Its c is later: since g falls, d goes from +spread to -spread."""
        self.starts[self.blocks] = self.steps
        self.blocks += 1
        self.sums[self.steps, 3:FACTORS] = self._root(step, 1) / (1 + self.spread), step.epsilon

    def _extend(self, start: int, step: AdaptiveStep) -> None:
        """Adds empty sums from before the step on."""
        new = self.sums[self.steps]
        root, epsilon = self.sums[start, 3:FACTORS]
        new[:] = 0.0
        new[0] = 1.0
        new[3:FACTORS] = root / self._root(step, self.steps - start), epsilon

    def _add_to_sums(self, sums: NDArray[np.float64], step: AdaptiveStep) -> None:
        steps = np.arange(len(sums), 0, -1)
        sums[:, 0] *= step.value
        sums[:, 1] = step.mean**steps
        sums[:, 2] = step.squares**steps
        size = step.scale * (sums[0, 4] / step.epsilon) * sums[:, 1]
        sums[:, FACTORS:] *= step.value
        sums[:, FACTORS:] += np.outer(size, self._deviation(step) ** np.arange(self.terms))


def stored(found: Mapping[str, NDArray[Any]], name: str, shape: tuple[int | None, ...], kinds: str) -> NDArray[Any]:
    """An array of a file if it has this shape (None: any length) and one of these kinds; else `ValueError`."""
    array = found.get(name)
    if array is None:
        raise ValueError(f"missing `{name}` of the pending steps")
    wanted = tuple(have if want is None else want for have, want in zip(array.shape, shape, strict=False))
    if len(wanted) != len(shape) or array.shape != wanted or array.dtype.kind not in kinds:
        raise ValueError(f"`{name}` of the pending steps has invalid dtype {array.dtype} or shape {array.shape}")
    return array
