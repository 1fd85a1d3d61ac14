"""Built-in point functions of the framework, and launches of functions over flat ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from paddle_layers.define.functions.point_functions import Function, double, real
from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.generate.specialise import helper_programs, specialise

from .arguments import Argument, Ref, spec_of, split_constants, uses
from .launch import Computation, Launch


def fill_value(i, y, value):
    """Fills with a constant."""
    return value


def add_value(i, y, x):
    """Copies; the driver may accumulate instead."""
    return x[i]


def first_rows(i, y, x, n):
    """Copies the first n elements, followed by zeros."""
    return x[i] if i < n else 0.0


def gradient_squares(i, squares, gradient, n, block):
    """Sum of the squares of a block, in float64."""
    total = double(0)
    # Float64: the sum of many small squares would lose digits in float32, and an overflowing square would hide a large
    # but finite norm.
    for j in range(i * block, min(i * block + block, n)):
        total += double(gradient[j]) * double(gradient[j])
    return total


def root_of_squares(i, norm, squares, blocks):
    """The norm, from the sums of the blocks."""
    total = double(0)
    for j in range(blocks):
        total += squares[j]
    return real(math.sqrt(total))


def norm_factor(i, factor, squares, blocks, limit):
    """Scale that clips the norm to the limit; 1 if it is below."""
    total = double(0)
    for j in range(blocks):
        total += squares[j]
    norm = math.sqrt(total)
    return real(limit / norm) if norm > limit else 1.0


def scale_gradient(i, gradient, factor):
    """Multiplies by a factor that was computed before."""
    return gradient[i] * factor[0]


def clamp_gradient(i, gradient, limit):
    """Clips to plus or minus the limit; NaN stays."""
    if gradient[i] > limit:
        return limit
    return -limit if gradient[i] < -limit else gradient[i]


def running_sum(i, total, x, kept):
    """Adds to the previous sum, if it is kept."""
    return total[i] + x[i] if kept > 0 else x[i]


def has_non_finite(i, found, x, n, block):
    """1 for a block with a NaN or an infinity: only these differ from themselves by a non-zero value."""
    first = max(i * block, 0)
    wrong = real(0.0)
    for j in range(first, min(first + block, n)):
        # A difference instead of a comparison with NaN, and a sum instead of an early exit: the loop vectorizes.
        wrong += x[j] - x[j]
    return 0.0 if wrong == 0.0 else 1.0


def towards(i, average, x, share):
    """Moving average: moves the average toward a value by a fraction; the value itself for a fraction of 1."""
    # Without the special case the first value would be rounded by the difference, and a NaN would never leave the
    # average.
    return average[i] + share * (x[i] - average[i]) if share < 1 else x[i]


def masked(i, x, mask):
    """Sets to zero where the mask is zero."""
    return x[i] * mask[i]


def unit_factor(i, factor, value, outer, inner, units, limit):
    """Scale that clips the norm of a unit to the limit; 1 if it is below."""
    total = double(0)
    for a in range(outer):
        for b in range(inner):
            one = double(value[(a * units + i) * inner + b])
            total += one * one
    norm = math.sqrt(total)
    return real(limit / norm) if norm > limit else 1.0


def scale_units(i, value, factor, inner, units):
    """Multiplies by the factor of its unit."""
    return value[i] * factor[i // inner % units]


def column_sum(i, total, x):
    """Sum of a column, in float64."""
    added = double(0)
    for n in range(x.shape[0]):
        added += double(x[n, i])
    return added


def seed_value(i, y, divisor, weight):
    """Gradient of the total loss with respect to a loss whose sum has a separate divisor."""
    return real(double(weight) / max(divisor[0], double(1)))


# Fixed, so that sums are partitioned by shape; small enough that large arrays have work for all threads.
BLOCK = 4096
"""Elements per partial sum of squares: the same sum at any number of threads."""
SQUARES = Function("builtin", (), gradient_squares)
NORM = Function("builtin", (), root_of_squares)
NORM_FACTOR = Function("builtin", (), norm_factor)
SCALE = Function("builtin", (), scale_gradient)
CLAMP = Function("builtin", (), clamp_gradient)
RUNNING_SUM = Function("builtin", (), running_sum)
NON_FINITE = Function("builtin", (), has_non_finite)
TOWARDS = Function("builtin", (), towards)
MASK = Function("builtin", (), masked)
UNIT_FACTOR = Function("builtin", (), unit_factor)
UNIT_SCALE = Function("builtin", (), scale_units)
SUM = Function("builtin", (), column_sum)
SEED = Function("builtin", (), seed_value)
FILL = Function("builtin", (), fill_value)
ADD = Function("builtin", (), add_value)
FIRST_ROWS = Function("builtin", (), first_rows)


def simple_launch(function: Function, op: str, args: Sequence[Argument], *, accumulate: bool = False) -> Launch:
    """A launch of one of the functions above: the first argument is the target."""
    named = dict(zip(function.args[1:], args, strict=True))
    return flat_launch(function, op, [next(iter(named))], named, accumulate=accumulate)


def flat_launch(
    function: Function,
    op: str,
    targets: Sequence[str],
    args: Mapping[str, Argument],
    *,
    accumulate: bool = False,
    factor: str | None = None,
) -> Launch:
    """A launch of a function of `i` over flat arrays; `args` holds the targets and what the function requests."""
    constants, live = split_constants(args)
    owners = [value.owner for value in live.values() if isinstance(value, Ref)]
    kernel = Kernel(
        name=function.name,
        origin=f"{function.call.__module__}:{function.line}",
        program=specialise(function.program, constants, function.call),
        helpers=helper_programs(function.call),
        indices=("i",),
        targets=tuple(targets),
        args={name: spec_of(value) for name, value in live.items()},
        accumulate=accumulate,
        factor=factor,
        apart=len({*owners}) == len(owners),  # there are no takeovers here
    )
    target = live[targets[0]]
    assert isinstance(target, Ref)
    launch = Launch(function.name, op, kernel, list(live.values()), target.shape[0])
    launch.computes = (Computation(function, kernel.program, {"i": target.shape[0]}, live, accumulate),)
    launch.writes = [buffer for name in targets for buffer in uses(live[name])]
    launch.reads = [b for name, value in live.items() if accumulate or name not in targets for b in uses(value)]
    return launch
