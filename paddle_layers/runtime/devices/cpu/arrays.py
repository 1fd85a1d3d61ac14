"""Arrays of drivers: those of the argument tables, and memory on the stack.

numba's `carray` does the same for an address and a tuple of sizes; to look these up takes its compiler longer than many
a point function.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

LANES = 256
"""Neighbours that are computed side by side; their numbers stay in the first cache."""
I64 = ir.IntType(64)


@intrinsic(prefer_literal=True)
def argument(typingctx: Any, pointers: Any, at: Any, ints: Any, first: Any, sizes: Any, ones: Any, dtype: Any) -> Any:
    """The array whose address is number `at` of `pointers`: its `sizes` begin at number `first` of `ints`.

    `ones` axes of one element each follow. The numbers between the tables are literals.
    """
    counted, single = sizes.literal_value, ones.literal_value
    array = types.Array(dtype.instance_type, counted + single, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def entry(table: Any, index: int) -> Any:
            return builder.load(builder.gep(table, [ir.Constant(I64, index)]))

        shape = [entry(args[2], first.literal_value + axis) for axis in range(counted)]
        shape += [ir.Constant(I64, 1)] * single
        data = context.get_data_type(array.dtype).as_pointer()
        return contiguous(context, builder, array, builder.inttoptr(entry(args[0], at.literal_value), data), shape)

    return array(pointers, at, ints, first, sizes, ones, dtype), codegen


@intrinsic
def stack(typingctx: Any, dtype: Any) -> Any:
    """`LANES` numbers on the stack, whose address nobody else knows."""
    array = types.Array(dtype.instance_type, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.get_data_type(array.dtype)
        numbers = ir.ArrayType(number, LANES)
        memory = cgutils.alloca_once(builder, numbers)
        memory.align = 64
        data = builder.bitcast(memory, number.as_pointer())  # an address would hide that no other array lies here
        return contiguous(context, builder, array, data, [ir.Constant(I64, LANES)])

    return array(dtype), codegen


def contiguous(context: Any, builder: Any, kind: types.Array, data: Any, shape: list[Any]) -> Any:
    """The C-contiguous array at a pointer."""
    size = ir.Constant(I64, context.get_abi_sizeof(data.type.pointee))
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    made = make_array(kind)(context, builder)
    populate_array(made, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return made._getvalue()
