"""Memory on the stack for the numbers of neighbours that are computed side by side."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 256
"""Neighbours that are computed side by side; their numbers stay in the first cache."""


@intrinsic
def stack(typingctx: Any) -> Any:
    """The address of `LANES` numbers of at most 8 bytes, which nobody else knows."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        memory = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), LANES))  # type: ignore[no-untyped-call]  # numba has no types
        memory.align = 64
        return builder.bitcast(memory, cgutils.voidptr_t)

    return types.voidptr(), codegen
