"""Branch-free float32 exponentials and logarithms without calls, so that the compiler vectorizes loops over them.

Drivers of float32 use these instead of those of `math`. Largest errors, in units in the last place (ULP), over all
floats: exp 1, expm1 2, tanh 3, log 1, log1p 2, erfc 4; `tests/kernels/test_elementary.py` measures them. NaN,
infinities, denormals and overflow are handled as by `math`. In float64, and as plain Python, they are its functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from .compile_options import INNER, llvm_code

f32 = np.float32
ZERO, HALF, ONE, TWO = f32(-0.0), f32(0.5), f32(1), f32(2)
"""Negative zero, the neutral element of addition."""
PER_OCTAVE = f32(1 / math.log(2))
# Cody-Waite reduction: the high part has 9 bits, so that its product with an exponent of up to 8 bits is exact, and the
# low part corrects the remainder. One constant would lose the last bits of large arguments.
OCTAVE_HIGH = f32(0.693359375)
"""The high bits of log 2, so that multiples of it are exact."""
OCTAVE_LOW = f32(math.log(2) - 0.693359375)
# 1.5 * 2**23: one unit in the last place is 1 there, so that the addition itself rounds to the nearest integer, without
# a rounding instruction, which not all vector units have.
ROUNDING = f32(3 << 22)
"""Added to a small value, it leaves the nearest integer in the last bits."""
E0, E1, E2, E3, E4 = (
    f32(c) for c in (0.5, 0.16666512191295624, 0.0416661873459816, 0.008369598537683487, 0.0013951717410236597)
)
"""Polynomial of (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2, accurate to 4e-9 of the exponential."""
# log(2**128) is 88.7, and exp(-104) is below half of the smallest denormal: clamped arguments still give infinity and
# 0, and their exponents fit the integer arithmetic.
LARGEST, SMALLEST = f32(89), f32(-104)
"""Limits beyond which the exponential is infinite or zero."""
# exp(-20) is 2e-9, less than half a unit in the last place of -1.
FLAT = f32(-20)
"""Limit below which the exponential minus one is minus one."""
# 1 - tanh(10) is 4e-9, less than half a unit in the last place of 1.
ONE_FROM = f32(10)
"""Limit from which tanh is 1."""
# The range is centered at log 1 = 0: |f| stays below 0.42, and near 1 no multiple of log 2 cancels against log(1 + f).
L0, L1, L2, L3, L4, L5, L6, L7 = (
    f32(c)
    for c in (
        *(0.3333333134651184, -0.250008225440979, 0.20001226663589478, -0.16623356938362122),
        *(0.14201761782169342, -0.131601944565773, 0.12761549651622772, -0.07634429633617401),
    )
)
"""Polynomial of (log(1 + f) - f + f**2 / 2) / f**3 between sqrt(1/2) and sqrt(2), accurate to 6e-9 of the logarithm."""
# A denormal has no leading bit, so its exponent field says nothing; times 2**23 it is normal.
TINY, UP, UP_OCTAVES = f32(2.0**-126), f32(2.0**23), f32(23)
"""Scaling of denormals before their exponent is read."""
INFINITY, NAN = f32(math.inf), f32(math.nan)
# erfc(10.1) is below half of the smallest denormal. The fraction (a - 3) / (a + 3) maps all a >= 0 to -1 to 1, as in M.
# Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x**2) erfc x" (1981).
CENTRE, VANISHED = f32(3), f32(10.1)
"""Limit beyond which erfc is 0."""
C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10 = (
    f32(c)
    for c in (
        *(1.2530080080032349, -0.13562114536762238, -0.04756239801645279, 0.1296464204788208, -0.11927097290754318),
        *(0.06829576939344406, -0.023797528818249702, 0.002567378571256995, 0.0020018115174025297),
        *(-0.0007775860722176731, -0.0002681290789041668),
    )
)
"""(1 + 2a) exp(a**2) erfc(a) as a polynomial of (a - 3) / (a + 3), accurate to 2e-9."""
N0, N1, N2, N3, N4 = (
    f32(c)
    for c in (1.1283791065216064, -0.37612608075141907, 0.11282838135957718, -0.02675815485417843, 0.004719927906990051)
)
"""erf(v) / v as a polynomial of v**2 for |v| < 1/2."""

WORD = ir.IntType(32)
REAL = ir.FloatType()


def _word(value: int) -> Any:
    return ir.Constant(WORD, value)


def _power(builder: Any, exponent: Any) -> Any:
    """2 to an integer power, by its bits."""
    return builder.bitcast(builder.shl(builder.add(exponent, _word(127)), _word(23)), REAL)


def _rounded(builder: Any, value: Any) -> Any:
    """The integer to whose value `ROUNDING` has been added."""
    return builder.sub(builder.bitcast(value, WORD), _word(int(ROUNDING.view(np.int32))))


@llvm_code(types.float32(types.float32, types.float32))
def scaled(builder: Any, value: Any, octaves: Any) -> Any:
    """`value` times a power of 2, whose exponent has `ROUNDING` added; in two steps, as it may not be a float32."""
    whole = _rounded(builder, octaves)
    # Powers from 2**-149 to 2**128 are needed, but the exponent field only has those from -126 to 127.
    half = builder.ashr(whole, _word(1))
    first = builder.fmul(value, _power(builder, half))
    return builder.fmul(first, _power(builder, builder.sub(whole, half)))


@llvm_code(types.float32(types.float32))
def half_power(builder: Any, octaves: Any) -> Any:
    """Half of 2 to an integer power, given with `ROUNDING` added."""
    return _power(builder, builder.sub(_rounded(builder, octaves), _word(1)))


@llvm_code(types.float32(types.float32))
def octave_of(builder: Any, value: Any) -> Any:
    """The binary exponent of a value whose mantissa is normalized to the range from sqrt(1/2) to sqrt(2)."""
    # The bits of sqrt(1/2) are subtracted first: the exponent field then changes at sqrt(1/2) times a power of two,
    # and the arithmetic shift rounds towards minus infinity for negative exponents too.
    bits = builder.sub(builder.bitcast(value, WORD), _word(int(f32(0.5**0.5).view(np.int32))))
    return builder.sitofp(builder.ashr(bits, _word(23)), REAL)


@llvm_code(types.float32(types.float32))
def mantissa_of(builder: Any, value: Any) -> Any:
    """The mantissa, normalized to the same range."""
    bits, root = builder.bitcast(value, WORD), _word(int(f32(0.5**0.5).view(np.int32)))
    fraction = builder.and_(builder.sub(bits, root), _word((1 << 23) - 1))
    return builder.bitcast(builder.add(fraction, root), REAL)


@llvm_code(types.float32(types.float32))
def first_half(builder: Any, value: Any) -> Any:
    """The upper 12 bits of the mantissa: the square is exact."""
    # 12 of 24 bits of the significand remain, so that a product of two such values has at most 24.
    return builder.bitcast(builder.and_(builder.bitcast(value, WORD), _word(-(1 << 12))), REAL)


INLINED: Any = {"error_model": "numpy", "forceinline": True, **INNER}
inlined: Callable[[Any], Any] = njit(fastmath={"contract"}, **INLINED)


@inlined
def octaves_and_rest(v, more):
    """exp(v + more) = 2**n (1 + p): n with `ROUNDING` added, and p. `more` is small compared to v."""
    # The functions are branch-free: a branch or a call would keep LLVM from vectorizing the loop that calls them.
    # `contract` is permitted, `reassoc` is not: it would cancel the addition of `ROUNDING`.
    octaves = v * PER_OCTAVE + ROUNDING
    n = octaves - ROUNDING
    r = v - n * OCTAVE_HIGH
    r = r - n * OCTAVE_LOW + more
    p = E3 + r * E4
    p = E2 + r * p
    p = E1 + r * p
    p = E0 + r * p
    # exp(r) - 1 instead of exp(r): expm1 and tanh need it without the rounding error of adding 1.
    return octaves, r + r * r * p


@inlined
def exp_of_sum(v, more):
    """exp(v + more), where `more` is small compared to v. Comparisons are false for NaN, which propagates."""
    v = SMALLEST if v < SMALLEST else v
    v = LARGEST if v > LARGEST else v
    octaves, p = octaves_and_rest(v, more)
    return scaled(ONE + p, octaves)


@inlined
def exp_single(v):
    """exp(v)."""
    return exp_of_sum(v, ZERO)


@inlined
def expm1_single(v):
    """exp(v) - 1, without cancellation for small v; computes half of it, which is finite wherever the result is."""
    # At 128 octaves the power of two is not a float32, half of it is; doubling is exact.
    low = FLAT if v < FLAT else v
    octaves, p = octaves_and_rest(LARGEST if low > LARGEST else low, ZERO)
    half: Any = half_power(octaves)
    return TWO * (half * p + (half - HALF))


@inlined
def tanh_single(v):
    """tanh(v)."""
    a = abs(v)
    # tanh(a) = (exp(2a) - 1) / (exp(2a) + 1) keeps its relative accuracy for small a; `copysign` keeps negative zero.
    e = expm1_single(TWO * (ONE_FROM if a > ONE_FROM else a))
    return math.copysign(e / (e + TWO), v)


@inlined
def log_single(v):
    """log(v): infinite for 0 and infinity, NaN below 0."""
    small = v < TINY
    u = v * UP if small else v
    n = octave_of(u) - (UP_OCTAVES if small else -ZERO)
    f = mantissa_of(u) - ONE
    g = L6 + f * L7
    g = L5 + f * g
    g = L4 + f * g
    g = L3 + f * g
    g = L2 + f * g
    g = L1 + f * g
    g = L0 + f * g
    square = f * f
    # Small terms are added first, so that their rounding errors are below the last place of the result.
    rest = f * square * g + n * OCTAVE_LOW - HALF * square
    result = f + rest + n * OCTAVE_HIGH
    result = result if v > ZERO else (-INFINITY if v == ZERO else NAN)
    # `v + v` is infinity for infinity and NaN for NaN.
    return result if v < INFINITY else v + v


@inlined
def log1p_single(v):
    """log(1 + v), without cancellation for small v."""
    # `lost` is what rounding 1 + v drops; log(u + lost) is log(u) + lost / u to first order. Zero, negative and
    # infinite u have no such correction.
    u = ONE + v
    lost = v - (u - ONE)
    result = log_single(u)
    return result + lost / u if (u > ZERO) & (u < INFINITY) else result


@inlined
def erfc_single(v):
    """1 - erf(v), without cancellation: the square in the exponent is split into two parts."""
    a = abs(v)
    a = VANISHED if a > VANISHED else a
    u = a / (a + CENTRE)
    q = u + u - ONE  # (a - 3) / (a + 3), without its rounding errors for small a
    p = C9 + q * C10
    p = C8 + q * p
    p = C7 + q * p
    p = C6 + q * p
    p = C5 + q * p
    p = C4 + q * p
    p = C3 + q * p
    p = C2 + q * p
    p = C1 + q * p
    p = C0 + q * p
    # A rounding error of a**2 is an equal relative error of the exponential: at a = 10 dozens of units in the last
    # place. So -a**2 is split into the exact square of `b` and a small rest.
    b: Any = first_half(a)
    tail = exp_of_sum(-b * b, (b - a) * (b + a)) * p / (ONE + TWO * a)
    far = TWO - tail if v < ZERO else tail
    square = v * v
    p = N3 + square * N4
    p = N2 + square * p
    p = N1 + square * p
    near = ONE - v * (N0 + square * p)
    # For small values 1 - erf(v) does not cancel, and erf needs fewer terms.
    return near if a < HALF else far


SINGLE = {
    "exp": exp_single,
    "expm1": expm1_single,
    "tanh": tanh_single,
    "log": log_single,
    "log1p": log1p_single,
    "erfc": erfc_single,
}
"""Functions of `math` with a float32 implementation here, by name."""


def exp(v):
    return math.exp(v)


def expm1(v):
    return math.expm1(v)


def tanh(v):
    return math.tanh(v)


def log(v):
    return math.log(v)


def log1p(v):
    return math.log1p(v)


def erfc(v):
    return math.erfc(v)


def _choose_by_type(function: Any) -> None:
    """Overload: the float32 implementation for float32, and that of `math` for all other types."""
    single, exact = SINGLE[function.__name__], getattr(math, function.__name__)

    def by_polynomial(v):
        return single(v)

    def by_library(v):
        return exact(v)

    @overload(function, jit_options=INLINED)
    def choose(v):
        return by_polynomial if v is types.float32 else by_library


for _function in (exp, expm1, tanh, log, log1p, erfc):
    _choose_by_type(_function)


# ---- extremes


def maximum(a, b):
    return b if b > a or math.isnan(b) else a


def minimum(a, b):
    return b if b < a or math.isnan(b) else a


# Intrinsics instead of comparisons: LLVM recognizes them in vectorized reductions.
def _instruction(name: str) -> Any:
    @intrinsic
    def call(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            form = ir.FunctionType(kind, [kind, kind])
            return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [kind], form), args)

        return (a(a, b), codegen) if a is b and isinstance(a, types.Float) else None

    return call


def _choose_instruction(function: Any, name: str) -> None:
    """Overload: an instruction for floating-point values, and the Python source for others."""
    real: Any = _instruction(name)
    text: Any = njit(**INLINED)(function)

    def by_instruction(a, b):
        return real(a, b)

    def by_text(a, b):
        return text(a, b)

    @overload(function, jit_options=INLINED)
    def choose(a, b):
        return by_instruction if a is b and isinstance(a, types.Float) else by_text


# `llvm.maximum` and `llvm.minimum` propagate NaN as the Python source does; `llvm.maxnum` would drop it.
_choose_instruction(maximum, "maximum")
_choose_instruction(minimum, "minimum")
