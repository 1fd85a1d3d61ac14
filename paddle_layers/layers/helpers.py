"""Functions that the layers' point functions share; they run on every device.

Some have another form in float32 on the CPU, in `kernels.primitives.float32_helpers`.
"""

import math

from paddle_layers.define import helper, real

WORD = 0xFFFFFFFF
# Multiplier and key increment (2**32 over the golden ratio) of Random123, the authors' implementation.
PHILOX_FACTOR = 0xD256D193
PHILOX_STEP = 0x9E3779B9
ROOT_HALF = 0.7071067811865476  # 1 / sqrt(2)
DENSITY_AT_0 = 0.3989422804014327  # of normal numbers: 1 / sqrt(2 pi)


@helper
def exceeds(v, best):
    """Whether `v` is the new maximum where `best` was it: the first of equal ones stays, and NaN once it came."""
    return v > best or (math.isnan(v) and not math.isnan(best))


@helper
def times(factor, v):
    """`factor * v`, but 0 for 0 times infinity: what a function comes to that falls faster than its argument grows."""
    return factor * v if factor != 0.0 or math.isnan(v) else 0.0


@helper
def sigmoid(v):
    """Logistic function 1 / (1 + exp(-v)), without overflow for any `v`."""
    # The exponential of a value that is not positive cannot overflow.
    e = math.exp(-abs(v))
    return (1.0 if v >= 0.0 else e) / (1.0 + e)


@helper
def gelu(v):
    """GELU: `v` times the standard normal distribution function."""
    # By erfc instead of 1 + erf: the sum would cancel to 0 for negative values, where gelu is small but not 0.
    return times(0.5 * math.erfc(-v * ROOT_HALF), v)


@helper
def gelu_derivative(v):
    """Derivative of `gelu`: the normal distribution function plus `v` times the density at `v`."""
    return 0.5 * math.erfc(-v * ROOT_HALF) + times(DENSITY_AT_0 * math.exp(-0.5 * v * v), v)


@helper
def philox(key, i):
    """Integer in [0, 2**32) that depends on `key` and `i` only: the first word of Philox2x32-10.

    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). The low word of `key` is the generator's
    key, the high one chooses the stream. A product of two words may wrap around: its 64 bits are the same in
    signed arithmetic, on CUDA and in Python's unbounded numbers.
    """
    left = i & WORD
    right = ((i >> 32) ^ (key >> 32)) & WORD
    word = key & WORD
    # Ten rounds are the default of Random123.
    for _ in range(10):
        product = left * PHILOX_FACTOR
        left = ((product >> 32) & WORD) ^ word ^ right
        right = product & WORD
        word = (word + PHILOX_STEP) & WORD
    return left


@helper
def uniform(key, i):
    """Number in [0, 1), a multiple of 2**-24: the same on every device, at any thread count and after a resume."""
    # 24 bits are the mantissa of a float32, so that the product is exact and never rounds up to 1.
    return real(philox(key, i) >> 8) * 5.9604644775390625e-08
