"""How the functions of kernels are compiled: numbers as in NumPy, and as a part of each compiled caller.

They have no entries for callers in Python and in C, for which the compiler needed a fifth of its time.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.extending import register_jitable

from .parts import BodyCompiler, PartCompiler

INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
OUTER: Any = {"pipeline_class": BodyCompiler}
"""How the body of a driver is compiled."""

compiled: Any = njit(error_model="numpy", **INNER)
"""Rounds every operation."""
contracted: Any = njit(error_model="numpy", fastmath={"contract"}, **INNER)
"""A product and a sum may become one operation, which rounds once."""
reordered: Any = njit(error_model="numpy", fastmath={"reassoc"}, **INNER)
"""Sums may be added up in any order."""
inlined: Any = njit(error_model="numpy", forceinline=True, **INNER)
"""The optimiser copies it into its callers."""
copied: Any = njit(error_model="numpy", inline="always")
"""It is copied into its callers before types are known, which takes the compiler less time than a call."""
once: Any = register_jitable(error_model="numpy", **INNER)
"""It is compiled once for all callers; of others, there is one form for every constant that a caller passes."""
also_in_python: Any = register_jitable(**INNER)
"""For the host, too, as it is."""
