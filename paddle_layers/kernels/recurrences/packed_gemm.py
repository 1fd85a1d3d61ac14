"""Products of a time step with the recurrent weight, which is packed once per pass, by its own kernel.

BLAS packs its operands again in every call, which costs as much as the product itself where one has few rows, such as
those of one step of a recurrence. In the test phase the weight is packed once, until a parameter changes.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.packed_panels import (
    multiply_panels,
    pack_columns,
    panel_numbers,
    panels_of,
)


@compiled
def pack(first, last, prepared, weight, wide, transposed):
    """Packs the first `wide` columns of a weight and the others separately, or their transposes."""
    rest = pack_columns(first, last, prepared.ctypes.data, weight, 0, wide, transposed)
    pack_columns(first, last, rest, weight, wide, weight.shape[1], transposed)


@compiled
def step_product(sums, rows, values, panels, place):
    """The first `rows` rows of `sums` = those of `values` times a packed matrix; returns the address after it.

    `panels` and `place`, of `tail_numbers` scratch elements, are addresses.
    """
    size, one = sums.itemsize, sums.dtype.type(1)
    depth, columns = values.shape[1], sums.shape[1]
    multiply_panels(
        (sums.ctypes.data, columns), (values.ctypes.data, depth), rows, depth, panels, columns,
        0, panels_of(columns, size), False, place, size, one,
    )  # fmt: skip
    return panels + panel_numbers(depth, columns) * size
