"""Layer helpers in float32 (sigmoid, GELU): fewer operations and smaller errors than the generic source.

Guards of the generic source, such as against overflow of an exponential or splitting the square in its exponent, are
known here to be unnecessary or are shared. Largest errors in ULP over all floats: sigmoid 3, gelu 6.
`tests/kernels/test_elementary.py` measures them. NaN, infinities and denormals are handled as by the generic source.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from paddle_layers.kernels.primitives.compile_options import llvm_code

from .elementary import OCTAVE_HIGH, OCTAVE_LOW, ONE, PER_OCTAVE, REAL, ROUNDING, WORD, _word, first_half, inlined

f32 = np.float32
ZERO = f32(0)
E1, E2, E3, E4, E5, E6 = (
    f32(c)
    for c in (
        *(-0.5, 0.1250000298023224, -0.020833054557442665, 0.0026042487006634474),
        *(-0.0002616950951050967, 2.1630556148011237e-05),
    )
)
"""Polynomial of (exp(-r / 2) - 1) / r for |r| <= log(2), accurate to 2e-9 of the exponential."""
# 2**44 lifts exp(-15**2 / 2) = 2**-162 to 2**-118, a normal float32; 2**-44 keeps exp(104) = 2**150 finite.
LIFT = 44
"""Exponent offset of powers of 2, so that none of them is denormal."""

# In float32 the result is 1 from about 17 on, and 0 below -104: clamping does not change it.
SURE, NEVER = f32(50), f32(-104)
"""Limits beyond which the logistic function is 1 or 0."""
SMALL, SMALLER = f32(2.0**-LIFT), f32(2.0 ** (-2 * LIFT))

PER_SQUARE = f32(0.5 / math.log(2))
SQUARE_HIGH, SQUARE_LOW = f32(2) * OCTAVE_HIGH, f32(2) * OCTAVE_LOW
FAR = f32(15)
"""Upper limit of a normal variable: the probability of larger values is not a float32."""
DENSITY_AT_0 = f32(0.3989422804014327 * 2.0**-LIFT)
P0, P1, P2, P3, P4 = (
    f32(c)
    for c in (*(0.5000000596046448, 0.43829452991485596, 0.183234304189682, 0.04063279926776886, 0.004116205032914877),)
)
Q0, Q1, Q2, Q3, Q4, Q5 = (
    f32(c * 2.0**LIFT)
    for c in (
        *(1.0000001192092896, 1.6744741201400757, 1.2025009393692017, 0.46946829557418823),
        *(0.1018577590584755, 0.01031767763197422),
    )
)
"""exp(a**2 / 2) times the probability that a normal variable is above a >= 0 is about P(a) / Q(a), accurate to 6e-9.

The last digits were searched among coefficients accurate to 6e-9, so that rounding errors in `gelu` are small.
"""


@llvm_code(types.float32(types.float32, types.float32))
def lifted(builder: Any, value: Any, octaves: Any) -> Any:
    """`value` times 2 to an integer power plus `LIFT`, by its bits; the exponent is given with `ROUNDING` added."""
    more = builder.add(builder.shl(builder.bitcast(octaves, WORD), _word(23)), _word(LIFT << 23))
    return builder.bitcast(builder.add(builder.bitcast(value, WORD), more), REAL)


@inlined
def exp_of_half(r):
    """exp(-r / 2) for |r| <= log(2)."""
    p = E5 + r * E6
    p = E4 + r * p
    p = E3 + r * p
    p = E2 + r * p
    p = E1 + r * p
    return ONE + r * p


@inlined
def sigmoid_single(v):
    """1 / (1 + exp(-v)); both sides of the fraction are scaled down, so that the exponential is finite."""
    v = NEVER if v < NEVER else v  # comparisons are false for NaN, which propagates
    v = SURE if v > SURE else v
    octaves = ROUNDING - v * PER_OCTAVE
    n = octaves - ROUNDING
    r = v + n * OCTAVE_HIGH
    r = r + n * OCTAVE_LOW
    # Both sides of the fraction have the factor 2**-44, so that the sign needs no case: 10 multiplications instead of
    # 14, 357 to 264 us for 64x20x24x24 values on one core of an AMD EPYC with AVX-512.
    return SMALL / (SMALL + lifted(SMALLER, octaves) * exp_of_half(r + r))


@inlined
def lifted_density(a):
    """exp(-a**2 / 2) for 0 <= a <= `FAR`, times 2**`LIFT`: the square is split into two parts."""
    b: Any = first_half(a)
    square = b * b
    octaves = ROUNDING - square * PER_SQUARE
    n = octaves - ROUNDING
    r = square + n * SQUARE_HIGH
    r = r + n * SQUARE_LOW
    # a**2 - b**2 as a product: the difference of the rounded squares would have lost its digits.
    return lifted(exp_of_half(r + (a - b) * (a + b)), octaves)


@inlined
def ratio(a):
    """Numerator and denominator of the factor of the density."""
    p = P3 + a * P4
    p = P2 + a * p
    p = P1 + a * p
    q = Q4 + a * Q5
    q = Q3 + a * q
    q = Q2 + a * q
    q = Q1 + a * q
    return P0 + a * p, Q0 + a * q


@inlined
def gelu_single(v):
    """`v` times the normal CDF: max(v, 0) minus the tail of the other side."""
    a = abs(v)
    a = FAR if a > FAR else a
    p, q = ratio(a)
    # The small tail is computed for both signs: one minus a value near one would cancel. The division is
    # rounded the same in vectors and remainders; with a reciprocal estimate, results would depend on the split over
    # threads.
    return (v if v > ZERO else ZERO) - lifted_density(a) * p * a / q


@inlined
def gelu_derivative_single(v):
    """Normal CDF plus `v` times the density."""
    a = abs(v)
    a = FAR if a > FAR else a
    p, q = ratio(a)
    # Exponential and fraction serve both terms: 1019 to 421 us for 64x20x24x24 values, measured as above.
    below = lifted_density(a) * (p / q - a * DENSITY_AT_0)
    return ONE - below if v > ZERO else below


SINGLE = {"sigmoid": sigmoid_single, "gelu": gelu_single, "gelu_derivative": gelu_derivative_single}
"""Helpers of `paddle_layers.layers.helpers` with a float32 implementation here, by name."""


def single_form(helper: Callable[..., Any]) -> Any:
    """The float32 implementation of a helper."""
    return SINGLE[helper.__name__]
