"""Elementwise functions of vectors that the compiler vectorizes.

In float32 the exponential is a polynomial, accurate to some units in the last place (ULP); in float64 it is the C
library's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from paddle_layers.kernels.primitives.compile_options import INNER, compiled, contracted, reordered

f32 = np.float32
PER_OCTAVE = f32(1 / math.log(2))
OCTAVE_HIGH = f32(0.693359375)
"""The high bits of log 2, so that multiples of it are exact."""
OCTAVE_LOW = f32(math.log(2) - 0.693359375)
# For |r| <= log(2) / 2 the first omitted term of the series, r**8 / 8!, is at most 6e-9.
SIXTH, FIFTH, FOURTH, THIRD, HALF = (f32(1 / math.factorial(n)) for n in (6, 5, 4, 3, 2))
ONE, TWO = f32(1), f32(2)
# 2**127, the largest power with a valid exponent field, is exp(88.03).
LARGE = f32(88)
"""Limit beyond which the exponential is not a float32."""
LOWEST, NOTHING = f32(-87), f32(0)
"""Below this value the exponential is not a normal float32."""
FLAT = f32(10)
"""Limit from which tanh is 1."""


@intrinsic
def power_of_two(typingctx: Any, exponent: Any) -> Any:
    """2 to an integer power given as float32, by the bits of the result."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(32)
        biased = builder.add(builder.fptosi(args[0], word), ir.Constant(word, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(word, 23)), ir.FloatType())

    return types.float32(types.float32), codegen


@contracted
def octave_and_rest(v):
    """The power of two `s` and the rest `p` of exp(v) = s (1 + p), for -`LARGE` <= v <= `LARGE`: Taylor's series."""
    octaves = np.rint(v * PER_OCTAVE)
    r = v - octaves * OCTAVE_HIGH
    r = r - octaves * OCTAVE_LOW
    p = SIXTH + r * (SIXTH / f32(7))
    p = FIFTH + r * p
    p = FOURTH + r * p
    p = THIRD + r * p
    p = HALF + r * p
    p = r + r * r * p
    return power_of_two(octaves), p


@contracted
def expm1(v):
    """exp(v) - 1 for -`LARGE` <= v <= `LARGE`, small values included."""
    scale, p = octave_and_rest(v)
    return scale * p + (scale - ONE)


def exp_of_negative(v):
    """exp(v) of a non-positive value; NaN propagates."""
    return math.exp(v)


# No test for overflow; results below the smallest normal float32 are 0, since processors handle denormals slowly.
@overload(exp_of_negative, jit_options=INNER | {"error_model": "numpy", "forceinline": True, "fastmath": {"contract"}})
def _by_type(v):
    def single(v):
        scale, rest = octave_and_rest(LOWEST if v < LOWEST else v)
        return NOTHING if v < LOWEST else scale + scale * rest

    def by_library(v):
        return math.exp(v)

    return single if v is types.float32 else by_library


@contracted
def exp_all(values, factor, peak, norm):
    """exp(factor * value - peak - norm) for a vector, in place; the exponents are below `LARGE`."""
    if values.itemsize == 8:
        for k in range(values.size):
            values[k] = math.exp(factor * values[k] - peak - norm)
        return
    for k in range(values.size):
        # Clamped below only: callers subtract the maximum. The exponential of -88 is 6e-39, 0 next to a maximum of 1.
        v = f32(factor * values[k] - peak - norm)
        scale, p = octave_and_rest(-LARGE if v < -LARGE else v)
        values[k] = scale + scale * p


@contracted
def sigmoid_all(values):
    """The logistic function of a vector, in place."""
    if values.itemsize == 8:
        for k in range(values.size):
            e = math.exp(-abs(values[k]))
            values[k] = 1 / (1 + e) if values[k] >= 0 else e / (1 + e)
        return
    for k in range(values.size):
        v = -f32(values[k])
        v = LARGE if v > LARGE else v  # comparisons are false for NaN, which propagates
        v = -LARGE if v < -LARGE else v
        values[k] = ONE / (TWO + expm1(v))


@contracted
def tanh_all(values):
    """The hyperbolic tangent of a vector, in place."""
    if values.itemsize == 8:
        for k in range(values.size):
            values[k] = math.tanh(values[k])
        return
    for k in range(values.size):
        v = abs(f32(values[k]))
        # tanh(v) = (exp(2v) - 1) / (exp(2v) + 1) by expm1 has no cancellation for small v; `copysign` restores the
        # sign.
        e = expm1(TWO * (FLAT if v > FLAT else v))
        values[k] = math.copysign(e / (e + TWO), f32(values[k]))


@compiled
def copy(result, values):
    """`result = values`.

    numba's assignment is ten times slower for a row, and takes 1.7 s to compile the first time.
    """
    for k in range(result.size):
        result[k] = values[k]


@contracted
def add_to(sums, values):
    """`sums += values`."""
    for k in range(sums.size):
        sums[k] += values[k]


@contracted
def add_product(sums, left, right):
    """`sums += left * right`."""
    for k in range(sums.size):
        sums[k] += left[k] * right[k]


@compiled
def multiply_by(values, factors):
    """`values *= factors`."""
    for k in range(values.size):
        values[k] *= factors[k]


@contracted
def multiply(result, left, right):
    """`result = left * right`."""
    for k in range(result.size):
        result[k] = left[k] * right[k]


@reordered
def total(values, zero):
    """Sum of a vector."""
    result = zero
    for i in range(values.size):
        result += values[i]
    return result
