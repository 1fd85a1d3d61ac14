"""Sparse optimizer kernels: functions of one weight, applied to some rows of a parameter.

`ids_` holds the row numbers. Values and states are whole tables; a sparse gradient has one row per id. Names that end
in `_` are reserved for the kernels, so that no attribute of an optimizer can have them. A work item is a whole row if
the device prefers inner loops over contiguous elements, else a weight.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paddle_layers.define.functions.ir import copied, is_name, rewritten
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.generate.drivers import Kernel, indent
from paddle_layers.runtime.generate.specialise import helper_programs, specialise
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, Ref, spec_of, split_constants
from paddle_layers.runtime.launches.launch import Launch

ORIGIN = "paddle_layers.runtime.optimise.row_forms"
Arguments = Mapping[str, Argument]


def step_launch(function: Function, name: str, tables: Sequence[str], args: Arguments, whole_rows: bool) -> Launch:
    """The step of an optimizer on the rows of `gradient`."""
    cells = _cells(tables)
    step = _Scalar(function, args)
    lines = [f"{_join(cells)} = {step.call({**cells, 'gradient': 'gradient[u_, k_]'})}"]
    return _launch(name, _RowKernel(f"{function.name}_rows", tables, lines, helpers=step.helpers), args, whole_rows)


def penalty_launch(function: Function, name: str, args: Arguments, whole_rows: bool) -> Launch:
    """Adds `decay_mult_` times the penalty of a regularizer to the rows of `gradient`."""
    penalty = _Scalar(function, args)
    lines = [f"gradient[u_, k_] += decay_mult_ * {penalty.call(_cells(['value']))}"]
    kernel = _RowKernel(f"{function.name}_rows", ["gradient"], lines, helpers=penalty.helpers)
    return _launch(name, kernel, args, whole_rows)


def linear_launch(name: str, tables: Sequence[str], args: Arguments, whole_rows: bool) -> Launch:
    """Multiplies value and states of each weight of row u by the flattened matrix `maps_[u]`."""
    size = len(tables)
    cells = _cells(tables)
    head = [f"m{at}_ = maps_[u_, {at}]" for at in range(size * size)]
    sums = [
        " + ".join(f"m{size * row + at}_ * {cell}" for at, cell in enumerate(cells.values())) for row in range(size)
    ]
    kernel = _RowKernel("linear_steps", tables, [f"{_join(cells)} = {', '.join(sums)}"], head)
    return _launch(name, kernel, args, whole_rows)


def adaptive_launch(
    name: str, tables: Sequence[str], args: Arguments, factors: int, terms: int, whole_rows: bool
) -> Launch:
    """Moves the weights of row u by the blocks of steps `first_[u]` to `last_[u]`, then multiplies by the tails.

    A row of `sums_` holds the factors of value, mean and squares, the two values of the divisor, then as many
    coefficients as there are terms; see `adaptive_history`.
    """
    value, mean, squares = _cells(tables).values()
    names = ["value_", "mean_", "squares_", "root_", "epsilon_", *(f"c{at}_" for at in range(terms))]
    # The first block of a row is entered at the step that the row has made already.
    block = ["at_ = max(done_[u_], starts_[block_])", *(f"{n} = sums_[at_, {at}]" for at, n in enumerate(names))]
    # Horner's scheme with alternating signs.
    series = f"c{terms - 1}_"
    for at in reversed(range(terms - 1)):
        series = f"(c{at}_ - x_ * {series})"
    moves = [
        # One division for the move and for `x_`.
        f"inverse_ = real(1.0) / (math.sqrt({squares}) * root_ + epsilon_)",
        "x_ = real(1.0) - epsilon_ * inverse_",  # as a quotient it would be NaN for infinite squares
        f"{value} = value_ * {value} - {mean} * inverse_ * {series}",
        f"{mean} *= mean_",
        f"{squares} *= squares_",
    ]
    head = ["for block_ in range(first_[u_], last_[u_]):", *indent(block, 1)]
    tails = [f"t{at}_ = tails_[last_[u_], {at}]" for at in range(3)]
    rest = [f"{cell} *= t{at}_" for at, cell in enumerate((value, mean, squares))]
    assert len(names) == factors + terms
    return _launch(name, _RowKernel("adaptive_steps", tables, moves, head, (tails, rest)), args, whole_rows)


def spread_launch(name: str, args: Arguments, whole_rows: bool) -> Launch:
    """Scatters the rows of `gradient` into the table `dense`."""
    kernel = _RowKernel("spread_rows", ["dense"], ["dense[row_, k_] = gradient[u_, k_]"])
    return _launch(name, kernel, args, whole_rows)


def add_rows_launch(name: str, args: Arguments, whole_rows: bool) -> Launch:
    """Adds the rows of `gradient` to the table `dense`."""
    kernel = _RowKernel("add_rows", ["dense"], ["dense[row_, k_] += gradient[u_, k_]"])
    return _launch(name, kernel, args, whole_rows)


def _cells(tables: Sequence[str]) -> dict[str, str]:
    return {table: f"{table}[row_, k_]" for table in tables}


def _join(cells: Mapping[str, str]) -> str:
    return ", ".join(cells.values())


class _Scalar:
    """A function of one weight as a scalar helper: `x[i]` becomes `x`."""

    def __init__(self, function: Function, args: Arguments) -> None:
        constants, _ = split_constants(args)
        program = _without_index(specialise(function.program, constants, function.call)).named("weight_")
        self.names = program.arguments
        self.helpers = {**helper_programs(function.call), "weight_": program}

    def call(self, given: Mapping[str, str]) -> str:
        """The call with these expressions, and the kernel arguments for the others."""
        return f"weight_({', '.join(given.get(name, name) for name in self.names)})"


def _without_index(program: Program) -> Program:
    def array(node: ast.AST) -> ast.AST | None:
        return copied(node.value) if isinstance(node, ast.Subscript) and is_name(node.slice, "i") else None

    body = rewritten(program.tree.body, array)
    return program.rewritten(body, [name for name in program.arguments if name != "i"])


@dataclass(frozen=True)
class _RowKernel:
    """Source of a kernel: lines for row u of the ids, row `row` of the tables, column k.

    Args:
        name: Name of the kernel.
        targets: The tables that it changes.
        lines: Statements for each column.
        head: Statements for each row; a head that begins with a loop surrounds the loop over the columns.
        after: Another head with its lines.
        helpers: Functions that the lines call.
    """

    name: str
    targets: Sequence[str]
    lines: Sequence[str]
    head: Sequence[str] = ()
    after: tuple[Sequence[str], Sequence[str]] = ((), ())
    helpers: Mapping[str, Program] = field(default_factory=dict)


def _launch(name: str, source: _RowKernel, args: Arguments, whole_rows: bool) -> Launch:
    _, live = split_constants(args)
    ids, table = live["ids_"], live[source.targets[0]]
    assert isinstance(ids, Ref)
    assert isinstance(table, Ref)
    width = table.shape[1].extra
    live["width_"] = Extent(width)
    parts = 1 if whole_rows else width
    start = ["u_ = item_"] if whole_rows else ["u_ = item_ // width_", "k_ = item_ % width_"]
    body = [*start, "row_ = ids_[u_]", *_over_columns(source.head, source.lines, whole_rows)]
    body += _over_columns(*source.after, whole_rows)
    head_line = f"def {source.name}({', '.join(('item_', *live))}):"
    kernel = Kernel(
        name=source.name,
        origin=ORIGIN,
        program=Program.parse("\n".join([head_line, *indent(body, 1)])),
        helpers=dict(source.helpers),
        indices=("item_",),
        targets=tuple(source.targets),
        args={key: spec_of(value) for key, value in live.items()},
        procedure=True,
    )
    launch = Launch(source.name, name, kernel, list(live.values()), ids.shape[0] * parts)
    launch.weight = width if whole_rows else 1
    return launch


def _over_columns(head: Sequence[str], lines: Sequence[str], whole_rows: bool) -> list[str]:
    """The lines for all columns of a row, or for the one of the work item."""
    if not lines:
        return []
    inner = ["for k_ in range(width_):", *indent(list(lines), 1)] if whole_rows else list(lines)
    return [*head, *indent(inner, 1 if "".join(head[:1]).startswith("for") else 0)]
