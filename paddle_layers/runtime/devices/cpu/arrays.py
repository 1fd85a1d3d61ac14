"""Arrays in drivers: views of the argument tables, and stack arrays.

numba's `carray` does the same for an address and a tuple of sizes; its compilation takes longer than that of many a
point function.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

# A multiple of every vector width; with several arrays of lanes and the rows that they are computed from, 1 KiB each in
# float32 still leaves most of a 32 KiB L1 cache free.
LANES = 256
"""Adjacent elements that are computed together; their values stay in the L1 cache."""
I64 = ir.IntType(64)


@intrinsic(prefer_literal=True)
def argument(typingctx: Any, pointers: Any, at: Any, ints: Any, first: Any, sizes: Any, ones: Any, dtype: Any) -> Any:
    """The array whose address is entry `at` of `pointers`: its `sizes` begin at entry `first` of `ints`.

    It is followed by `ones` axes of one element each. The literal arguments are constants of the driver.
    """
    # Literals make the offsets constants of the generated code. An ordinary function would be a specialization per
    # argument for numba to type and lower, which is most of what a small driver costs to compile.
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
    """`LANES` elements on the stack, whose address does not escape."""
    array = types.Array(dtype.instance_type, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.get_data_type(array.dtype)
        numbers = ir.ArrayType(number, LANES)
        # In the entry block of the function: an `alloca` where the array is used would grow the stack in every
        # iteration.
        memory = cgutils.alloca_once(builder, numbers)
        # A cache line, and the alignment of the widest vectors: no load crosses two lines.
        memory.align = 64
        data = builder.bitcast(memory, number.as_pointer())  # an escaping address would prevent alias analysis
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
