"""1-D resampling of rows: every output element is a weighted sum of adjacent input elements.

Indices and weights are in a table, one block per vector of results: the first input index, the relative indices of the
lanes, and a vector of weights per term. Where the inputs of a vector span two vectors, they are permuted in registers,
on a CPU that can; otherwise they are gathered from memory. A weight of zero is multiplied like any value.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled, llvm_code, llvm_memory_code, once

from .microkernels import HOST, VECTOR, Machine

LANES = 16
"""Lanes of the widest vectors."""
_I64, _I32 = ir.IntType(64), ir.IntType(32)
_ARGUMENTS = 6


@also_in_python
def table_numbers(count, terms):
    """Scratch elements of a table for `count` results of `terms` terms."""
    return (count + LANES - 1) // LANES * LANES * (2 + terms)


@also_in_python
def slack(terms):
    """Padding elements after a row for results of `terms` terms: they are read and multiplied by zero, and written."""
    return 2 * LANES + terms


class _Row:
    """Builder of a function over a row."""

    def __init__(self, function: Any, machine: Machine, real: Any) -> None:
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.module, self.real, self.machine = function.module, real, machine
        self.size = 4 if isinstance(real, ir.FloatType) else 8
        self.lanes = machine.bytes // self.size
        self.vector = ir.VectorType(real, self.lanes)
        self.whole = ir.VectorType(_I32 if self.size == 4 else _I64, self.lanes)

    def load(self, address: Any, type_: Any) -> Any:
        return self.builder.load(self.builder.inttoptr(address, type_.as_pointer()), align=self.size)

    def behind(self, address: Any, count: int) -> Any:
        return self.builder.add(address, ir.Constant(_I64, count))

    def from_registers(self, place: Any, lanes: Any) -> Any:
        """Elements at the relative indices, within two vectors."""
        real = "ps" if self.size == 4 else "pd"
        kind = ir.FunctionType(self.vector, [self.vector, self.whole, self.vector])
        # One instruction selects any lanes of two registers.
        pick = cgutils.get_or_insert_function(self.module, kind, f"llvm.x86.avx512.vpermi2var.{real}.512")
        low, high = (self.load(self.behind(place, at), self.vector) for at in (0, self.machine.bytes))
        return self.builder.call(pick, [low, lanes, high])

    def from_memory(self, place: Any, lanes: Any) -> Any:
        """Elements at the relative indices, gathered from memory."""
        result = ir.Constant(self.vector, ir.Undefined)
        for lane in range(self.lanes):
            at = self.builder.extract_element(lanes, ir.Constant(_I32, lane))
            at = self.builder.sext(at, _I64) if self.size == 4 else at
            number = self.load(self.builder.add(place, self.builder.mul(at, ir.Constant(_I64, self.size))), self.real)
            result = self.builder.insert_element(result, number, ir.Constant(_I32, lane))
        return result


def resampling_function(module: Any, machine: Machine, real: Any, picks: bool) -> Any:
    """The function of `resample` in an LLVM module, added if missing."""
    name = f"paddle_layers_resample_{real}_{machine.bytes}_{int(picks)}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * (_ARGUMENTS - 1)), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    to, of, table, count, terms = function.args
    row = _Row(function, machine, real)
    builder, lanes = row.builder, ir.Constant(_I64, row.lanes)
    blocks = builder.sdiv(builder.add(count, ir.Constant(_I64, row.lanes - 1)), lanes)
    vector = ir.Constant(_I64, machine.bytes)
    step = builder.mul(builder.add(terms, ir.Constant(_I64, 2)), vector)
    pick = row.from_registers if picks else row.from_memory
    sum_ = cgutils.alloca_once(builder, row.vector)
    with cgutils.for_range(builder, blocks) as loop:
        block = builder.add(table, builder.mul(loop.index, step))
        first = builder.add(of, row.load(block, _I64))
        behind = row.load(builder.add(block, vector), row.whole)
        builder.store(ir.Constant(row.vector, None), sum_)
        with cgutils.for_range(builder, terms) as term:
            numbers = pick(builder.add(first, builder.mul(term.index, ir.Constant(_I64, row.size))), behind)
            weights = row.load(
                builder.add(block, builder.mul(builder.add(term.index, ir.Constant(_I64, 2)), vector)), row.vector
            )
            product = builder.fmul(weights, numbers, flags=("contract",))
            builder.store(builder.fadd(builder.load(sum_), product, flags=("contract",)), sum_)
        place = builder.inttoptr(builder.add(to, builder.mul(loop.index, vector)), row.vector.as_pointer())
        builder.store(builder.load(sum_), place, align=row.size)
    builder.ret_void()
    return function


@llvm_memory_code
def _resample(builder, real, size, to, of, table, count, terms, picks):
    given, read = (to, of, table, count, terms), resampling_function(builder.module, HOST, real, False)
    if HOST.bytes < 64:
        builder.call(read, given)
        return
    picked = resampling_function(builder.module, HOST, real, True)
    with builder.if_else(builder.icmp_signed("!=", picks, ir.Constant(_I64, 0))) as (yes, no):
        with yes:
            builder.call(picked, given)
        with no:
            builder.call(read, given)


@once
def resample(to, of, table, count, terms, picks, one):
    """Computes `count` elements of `terms` terms each; `picks` is the result of `set_places`.

    `to`, `of` and `table` are addresses; `one` is 1 in the precision of the elements.
    """
    _resample(to, of, table, count, terms, picks, one)


@llvm_memory_code
def _set_whole(builder: Any, real: Any, size: int, place: Any, value: Any) -> None:
    """Writes an integer of the size of a floating-point value."""
    kind = _I64
    if size == 4:
        kind, value = _I32, builder.trunc(value, _I32)
    builder.store(value, builder.inttoptr(place, kind.as_pointer()), align=4)


@llvm_code(types.void(types.int64, types.int64))
def _set_long(builder: Any, place: Any, value: Any) -> None:
    """Writes an integer of eight bytes."""
    builder.store(value, builder.inttoptr(place, _I64.as_pointer()), align=4)


@once
def set_places(table, firsts, count, terms, size, one):
    """Writes the first input indices into a table: `firsts` counts from the start of the row, and is increasing.

    Returns 1 if all are permuted in registers, else 0.
    """
    lanes, picks = VECTOR // size, 1
    for block in range((count + lanes - 1) // lanes):
        place = table + block * (2 + terms) * VECTOR
        base = int(firsts[block * lanes])
        _set_long(place, base * size)
        for lane in range(lanes):
            # Lanes after the last result repeat its index, so that nothing outside of the row is read.
            behind = int(firsts[min(block * lanes + lane, count - 1)]) - base
            _set_whole(place + VECTOR + lane * size, behind, one)
            # Two vectors are not enough for this block. The choice is made for the whole row, so that the loop has no
            # branch.
            if behind >= 2 * lanes:
                picks = 0
    return picks if VECTOR == 64 else 0


@compiled
def set_weight(table, k, term, terms, weight):
    """Writes the weight of a term of result `k` into a table, as a lane of a vector."""
    lanes = VECTOR // table.itemsize
    table[(k // lanes * (2 + terms) + 2 + term) * lanes + k % lanes] = weight
