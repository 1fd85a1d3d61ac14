"""Driver source: a specialized point function inside the loop nest of a device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.tuned import Tuned

INDENT = "    "


class Array(NamedTuple):
    """An argument that is a C-contiguous array; `dtype` is `real` or a numba integer type."""

    ndim: int
    dtype: str = "real"
    ones: int = 0
    """Number of trailing axes with exactly one element: adjacent elements are then those of the axis before."""


Spec = Array | tuple[Array, ...] | str
"""An array, a tuple of arrays, `"int"`, `"real"`, or `"ints N"` and `"reals N"`: tuples of N numbers."""


class PythonCall(NamedTuple):
    """A Python function of arrays, in one operation."""

    call: Callable[..., Any]
    op: str
    constants: tuple[tuple[str, bool | str | None], ...]
    """Arguments that are not numbers."""
    ids: tuple[int, ...]
    """Number of ids of each target; 0 for floating-point targets."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """Everything that determines the source of a driver; equal if the source is the same."""

    name: str
    origin: str
    program: Program
    helpers: Mapping[str, Program]
    indices: tuple[str, ...]
    """Index arguments without `which`."""
    targets: tuple[str, ...]
    args: Mapping[str, Spec]
    """Targets first, then what the function reads, in the order of the argument tables."""
    accumulate: bool = False
    scan: str | None = None
    procedure: bool = False
    """Whether the function writes its targets itself."""
    sequence: tuple[str, str] | None = field(default=None)
    """Index of the sequence and the array that gives it (`("s", "T_map")`), or the starts when scanning."""
    along: str | None = None
    """Index that counts in a part of the targets: from `begin_` on, `width_` wide."""
    used_rows: str | None = None
    """Array of the row numbers that the first index counts."""
    factor: str | None = None
    """Argument that the result is multiplied by."""
    apart: bool = False
    """Targets never alias other arguments: a driver that permits aliasing is also correct, but slower."""
    python: PythonCall | None = None
    """Python function that replaces the program, which then is not an element function."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @functools.cached_property
    def _parts(self) -> tuple[Hashable, ...]:
        """Mappings are compared with their order, which is that of the argument tables."""
        # Cached: kernels are dictionary keys wherever a plan is made.
        values = (getattr(self, name) for name in self.__dataclass_fields__)
        return tuple(tuple(value.items()) if isinstance(value, Mapping) else value for value in values)

    @property
    def programs(self) -> list[Program]:
        """The helpers and the element function."""
        return [*self.helpers.values(), self.program.named("element_")]

    @property
    def ones(self) -> tuple[str, ...]:
        """The last indices, if their axes have one element: they stay 0, and a loop runs over the index before."""
        target = self.args[self.targets[0]]
        if self.procedure or self.scan or self.along or not isinstance(target, Array) or not target.ones:
            return ()
        return self.indices[-target.ones :]

    def call(self) -> str:
        """The call of the element function."""
        return f"element_({', '.join(self.program.arguments)})"

    @property
    def sizes(self) -> list[str]:
        """Size of each index."""
        shape = f"{self.targets[0]}.shape"
        return ["width_" if index == self.along else f"{shape}[{axis}]" for axis, index in enumerate(self.indices)]

    def value(self, result: str | None = None) -> str:
        """What is stored in a single target."""
        return f"{self.factor} * {result or self.call()}" if self.factor else result or self.call()

    def store(self, result: str | None = None, index: str = "{}") -> list[str]:
        """Lines that store one element; they compute it, unless its name is given. `index` wraps the indices."""
        at = list(self.indices) or ["0"]
        if self.used_rows:
            at[0] = f"{self.used_rows}[{at[0]}]"
        if self.along:
            at[self.indices.index(self.along)] += " + begin_"
        place, sign = ", ".join(map(index.format, at)), "+=" if self.accumulate else "="
        if len(self.targets) == 1:
            return [f"{self.targets[0]}[{place}] {sign} {self.value(result)}"]
        stores = [f"{target}[{place}] {sign} value_[{i}]" for i, target in enumerate(self.targets)]
        return [f"value_ = {result or self.call()}", *stores]


@dataclass(frozen=True)
class TunedCall:
    """A tuned kernel with the known properties of its arguments."""

    name: str
    tuned: Tuned
    args: Mapping[str, Spec]
    constants: Mapping[str, Any]
    """Arguments that are folded into the source: None, booleans and strings."""
    targets: tuple[str, ...]


def python_text(kernel: Kernel, dtype: str) -> str:
    """Placeholder source of a kernel that is not compiled."""
    assert kernel.python is not None
    reason = "Python functions run on the CPU"
    return f'"""{kernel.name} from {kernel.origin}, {dtype}: {hash(kernel)}."""\nraise TypeError("{reason}")\n'


def unravel(indices: Sequence[str], sizes: Sequence[str], rest: str, cast: str = "{}") -> list[str]:
    """Lines that split a flat index into indices; the first index takes the rest. `cast` wraps sizes."""
    lines = []
    # No division for the first index, which gets what is left.
    for axis in range(len(indices) - 1, 0, -1):
        size = cast.format(sizes[axis])
        lines += [f"{indices[axis]} = {rest} % {size}", f"rest_ = {rest} // {size}"]
        rest = "rest_"
    return [*lines, f"{indices[0]} = {rest}"] if indices else []


def header(kernel: Kernel, dtype: str, device: str) -> list[str]:
    """First lines of a driver."""
    return [f'"""{kernel.name} from {kernel.origin}, {dtype}, {device}. Generated: do not edit."""', "import math", ""]


def functions(programs: Iterable[Program], decorator: str | None) -> list[str]:
    """Lines of functions, each with a decorator."""
    lines = []
    for program in programs:
        lines += ["", *([decorator] if decorator else []), *program.text.splitlines()]
    return lines


def indent(lines: list[str], depth: int) -> list[str]:
    """Indents the lines."""
    return [INDENT * depth + line for line in lines]


def sequence_line(kernel: Kernel) -> list[str]:
    """The line that looks up the sequence of a row, if the function needs it."""
    if kernel.sequence is None:
        return []
    index, mapping = kernel.sequence
    return [f"{index} = {mapping}[{kernel.indices[0]}]"]


def scan_lines(kernel: Kernel, columns: str, barrier: str | None) -> list[str]:
    """Rows of sequence `t_` in order; `reverse_` reverses it."""
    assert kernel.sequence is not None
    index, starts = kernel.sequence
    row, target = kernel.indices[0], kernel.targets[0]
    back = "0" if kernel.scan == "forward" else "1"
    step = [
        f"{row} = first_ + q_ if reverse_ == {back} else last_ - 1 - q_",
        f"lower_ = {row} - 1 if {row} > first_ else -1",
        # Row numbers instead of pointers: -1 marks the boundary of a sequence in both directions.
        f"upper_ = {row} + 1 if {row} + 1 < last_ else -1",
        "before = upper_ if reverse_ else lower_",
        "after = lower_ if reverse_ else upper_",
        f"for column_ in {columns}:",
        *indent([*unravel(("_row", *kernel.indices[1:]), kernel.sizes, "column_")[:-1], *kernel.store()], 1),
        *([barrier] if barrier else []),
    ]
    return [
        f"{index} = t_",
        f"first_ = {starts}[{index}]",
        f"last_ = {starts}[{index} + 1]",
        f"columns_ = {target}.size // max({target}.shape[0], 1)",
        "for q_ in range(last_ - first_):",
        *indent(step, 1),
    ]
