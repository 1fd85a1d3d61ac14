"""Compiler options of kernel functions: NumPy error semantics, inlining, no entry points for Python and C.

Entry points for callers in Python and C took a fifth of the compile time.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.extending import register_jitable

from .numba_pipelines import BodyCompiler, PartCompiler

INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
OUTER: Any = {"pipeline_class": BodyCompiler}
"""Options of the body of a driver."""

# `error_model="numpy"` divides without a branch for zero, which would prevent vectorization. Fast math is enabled per
# function and flag, since `nnan` and `ninf` would break NaN propagation.
compiled: Any = njit(error_model="numpy", **INNER)
"""Strict IEEE rounding of every operation."""
contracted: Any = njit(error_model="numpy", fastmath={"contract"}, **INNER)
"""Permits fused multiply-add, which rounds once."""
reordered: Any = njit(error_model="numpy", fastmath={"reassoc"}, **INNER)
"""Permits reassociation of sums."""
inlined: Any = njit(error_model="numpy", forceinline=True, **INNER)
"""Inlined by LLVM."""
# numba makes a specialization of a called function for each constant among its arguments; inlined code has none.
copied: Any = njit(error_model="numpy", inline="always")
"""Inlined before type inference, which compiles faster than a call."""
# `register_jitable` types constants as plain integers: with `njit` there were four specializations of
# `gemm_microkernel`, and two or three of copies and transpositions.
once: Any = register_jitable(error_model="numpy", **INNER)
"""Compiled once for all callers; other functions are specialized for every constant that a caller passes."""
also_in_python: Any = register_jitable(**INNER)
"""Also callable by the host."""
