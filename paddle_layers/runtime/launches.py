"""One launch: a driver and what its arguments are. Names that a function asks for are resolved here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.define.analysis import mentions, reads, reads_own_element
from paddle_layers.define.axes import REST
from paddle_layers.define.fields import Field
from paddle_layers.define.functions import Function
from paddle_layers.kernels.tuned import Tuned, call_by_name, find_tuned

from .buffers import Buffer, Takeover
from .compiler import Driver, cpu_driver, depth_of_loops, tuned_driver
from .domains import Domain, Extent, rows_of
from .drivers import Array, Kernel, Spec
from .graph import Op, Value
from .parameters import Parameter
from .specialise import helper_trees, specialise

if TYPE_CHECKING:
    from .auxiliary import Auxiliary


class Memory(NamedTuple):
    """The value or the gradient of a parameter."""

    parameter: Parameter
    part: str


class Ref(NamedTuple):
    """An array argument: whose memory, and the shape in which it is seen."""

    owner: Buffer | Memory | Fixed
    shape: tuple[Extent, ...]
    dtype: str = "real"


class Fixed(NamedTuple):
    """Memory that somebody else holds."""

    array: Any


class Key(NamedTuple):
    """A whole number that is new in every step: the key of an operation's random numbers."""

    op: str


class Rate(NamedTuple):
    """A real number `weight / rows`."""

    weight: float
    domain: Domain | None


class Setting(NamedTuple):
    """A real number that is new in every step: the value of that name times a factor."""

    name: str
    factor: float = 1.0


Argument = (
    Ref | tuple[Ref, ...] | Extent | tuple[Extent | float, ...] | float | Key | Rate | Setting | None | bool | str
)
"""What an argument of a launch may be; None, truth values and texts are folded into the driver's text."""


@dataclass
class Launch:
    """A call of a driver, to be put into the plan's tables."""

    name: str
    op: str
    driver: Driver
    args: list[Argument]
    total: Extent | None
    kernel: Kernel | None = None
    """What a point function's driver was made from; None for tuned kernels."""
    items: Callable[[], int] | None = None
    """Work items of a tuned kernel for the rows of this batch."""
    weight: int = 1
    """Guess at the operations of an item."""
    work: int = 0
    """Guess at the operations of the whole launch, at the capacity of the domains, from below."""
    reads: list[Buffer] = field(default_factory=list)
    writes: list[Buffer] = field(default_factory=list)
    takeovers: list[tuple[Buffer, Buffer]] = field(default_factory=list)

    def mark(self, at: int) -> list[Takeover]:
        """Note the uses of buffers by this launch; gives the possible takeovers."""
        for buffer in (*self.reads, *self.writes):
            buffer.use(at)
        return [Takeover(at, giver, taker) for giver, taker in self.takeovers]


class SequenceKey(NamedTuple):
    """Auxiliary arrays of a plan by kind, leaf domain and grouping domain (`starts`, `map`, `before`)."""

    kind: str
    leaf: Domain
    group: Domain
    reverse: bool = False


class Names:
    """What the names mean in one operation of one plan."""

    def __init__(self, op: Op, training: bool, tensors: dict[str, list[Ref]], auxiliary: Auxiliary) -> None:
        self.op, self.training, self.tensors, self.auxiliary = op, training, tensors, auxiliary

    def shape(self, field_: Field, item: int = 0) -> tuple[Extent, ...]:
        """How a point function sees the field: rows first, `...` merged, axes of width 1 left out."""
        op, axes = self.op, field_.axes
        if not axes:
            return (Extent(1),)
        shape: list[Extent] = []
        for axis in axes:
            if axis.name == REST:
                size = math.prod(op.binding.sizes[REST])
                shape.append(rows_of(op.rows[REST], size) if axis is axes[0] else Extent(size))
            elif axis is axes[0] and axis.name in op.rows:
                shape.append(rows_of(op.rows[axis.name]))
            elif axis.name != "1":
                sizes = op.binding.sizes[axis.name]
                shape.append(Extent(sizes[item] if axis.per_item else sizes))
        return tuple(shape)

    def size(self, name: str, item: int | None) -> Argument:
        """Size of an axis."""
        if name in self.op.rows:
            return rows_of(self.op.rows[name])
        size = self.op.binding.sizes[name]
        if isinstance(size, list):
            return Extent(size[item]) if item is not None else tuple(Extent(n) for n in size)
        return Extent(size)

    def resolve(self, name: str, function: Function, item: int | None) -> Argument:
        """The argument that a function asks for by name."""
        layer = self.op.layer
        if name in self.tensors or name in layer.fields or (name[1:] in layer.fields and name[0] == "d"):
            return self._tensor(name, function, item)
        if name == "training":
            return self.training
        if name == "key":
            return Key(self.op.name)
        if name == "which":
            return Extent(item or 0)
        if name in layer.axis_names:
            return self.size(name, item if function.over is not None else None)
        if name in layer.attributes:
            return plain_argument(self.op.attributes[name])
        return self._sequence_or_sparse(name, item)

    def _tensor(self, name: str, function: Function, item: int | None) -> Argument:
        found = self.tensors.get(name)
        if not found:
            return None
        base = self.op.layer.fields.get(name) or self.op.layer.fields[name[1:]]
        if not base.per_item:
            return found[0]
        own = function.over is not None and (base is function.over or base.per == function.over.name)
        target = name in function.target_names
        return found[item or 0] if own or target else tuple(found)

    def _sequence_or_sparse(self, name: str, item: int | None) -> Argument:
        for row, group in self.op.layer.groups.items():
            leaf, outer = self.op.rows[row], self.op.rows[group]
            if name == f"{group}_start":
                return self.auxiliary.sequence(SequenceKey("starts", leaf, outer))
            if name == "before_of":
                reverse = bool(self.op.attributes.get("reverse"))
                return self.auxiliary.sequence(SequenceKey("before", leaf, outer, reverse))
        stem, _, part = name.rpartition("_used_")
        if stem in self.op.layer.inputs:
            return self.auxiliary.used(self.value(stem, item), part)
        stem, _, part = name.rpartition("_")
        return self.auxiliary.sparse(self.value(stem, item), part)

    def value(self, name: str, item: int | None) -> Value:
        """The value given for an input, or for the item of a repeatable one."""
        return self.op.argument(name)[item or 0]


def plain_argument(value: Any) -> Argument:
    """An attribute as an argument: constants stay, whole numbers become sizes."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, tuple):
        return tuple(v if isinstance(v, float) else Extent(v) for v in value)
    return Extent(value)


def make_launch(names: Names, function: Function, item: int | None, dtype: str, *, accumulate: bool = False) -> Launch:
    """Specialise a function for an operation (and an item of its repeatable input) and bind its arguments."""
    targets = [names.resolve(target, function, item) for target in function.target_names]
    lead = function.indices
    wanted = [name for name in function.args[len(lead) :] if name not in ("before", "after")]
    groups = {group.lower(): (row, group) for row, group in names.op.layer.groups.items()}
    sequence_index = next((name for name in wanted if name in groups and name not in lead), None)
    resolved = {n: names.resolve(n, function, item) for n in wanted if n != sequence_index}
    known = {n: v for n, v in resolved.items() if v is None or isinstance(v, (bool, str))}
    tree = specialise(function.tree, known, function.call)
    args: dict[str, Argument] = dict(zip(function.target_names, targets, strict=True))
    args |= {n: v for n, v in resolved.items() if n not in known and mentions(tree, n)}
    asked = {*args, *lead, "before", "after", sequence_index}
    tree.args.args = [argument for argument in tree.args.args if argument.arg in asked]
    if "which" in lead:
        args["which"] = Extent(item or 0)
    tuned = _tuned(names, function, item)
    if tuned is not None:
        return _tuned_launch(names, function, item, tuned, args, dtype, accumulate)
    accumulate = accumulate or function.used is not None
    kernel, extra = _kernel(names, function, item, tree, args, sequence_index, accumulate)
    args |= extra
    total = _total(names, function, args)
    launch = Launch(kernel.name, names.op.name, cpu_driver(kernel, dtype), list(args.values()), total, kernel)
    launch.weight, launch.work = _weight(kernel, args), _largest(args)
    _note_uses(launch, function, kernel, args)
    return launch


def _kernel(
    names: Names,
    function: Function,
    item: int | None,
    tree: Any,
    args: Mapping[str, Argument],
    sequence_index: str | None,
    accumulate: bool,
) -> tuple[Kernel, dict[str, Argument]]:
    layer, sequence, used_rows = names.op.layer, None, None
    extra: dict[str, Argument] = {}
    row = function.targets[0].axes[0].name if function.targets[0].axes else ""
    if row in layer.groups and (function.scan or sequence_index):
        group = layer.groups[row]
        array = f"{group}_start" if function.scan else f"{row}_map"
        kind = "starts" if function.scan else "map"
        found = names.auxiliary.sequence(SequenceKey(kind, names.op.rows[row], names.op.rows[group]))
        if array not in args:
            extra[array] = found
        sequence = (group.lower(), array)
    if function.scan:
        extra["reverse_"] = Extent(int(bool(names.op.attributes.get("reverse"))))
    if function.used is not None:
        used_rows = "used_rows_"
        extra[used_rows] = names.auxiliary.used(names.value(function.used.name, item), "id")
    kernel = Kernel(
        name=f"{layer.name}_{function.name}" if not function.name.startswith(layer.name) else function.name,
        origin=f"{function.call.__module__}:{function.line}",
        tree=tree,
        helpers=helper_trees(function.call),
        indices=tuple(index for index in function.indices if index != "which"),
        targets=function.target_names,
        args={name: spec_of(value) for name, value in {**args, **extra}.items()},
        accumulate=accumulate,
        scan=function.scan,
        procedure=function.role == "fill",
        sequence=sequence,
        used_rows=used_rows,
    )
    return kernel, extra


def spec_of(value: Argument) -> Spec:
    """What the generator has to know of an argument."""
    if isinstance(value, Ref):
        return Array(len(value.shape), value.dtype)
    if isinstance(value, tuple) and value and isinstance(value[0], Ref):
        return tuple(Array(len(ref.shape), ref.dtype) for ref in value)
    if isinstance(value, (float, Rate, Setting)):
        return "real"
    if isinstance(value, tuple) and not isinstance(value, Key):
        return f"{'reals' if value and isinstance(value[0], float) else 'ints'} {len(value)}"
    return "int"


def _total(names: Names, function: Function, args: Mapping[str, Argument]) -> Extent:
    """Work items: rows of the last axis, elements of a vector, sequences of a scan, calls of a procedure."""
    if function.role == "fill":
        return rows_of(names.op.rows[str(function.options["per"])])
    if function.scan:
        return rows_of(names.op.rows[names.op.layer.groups[function.targets[0].axes[0].name]])
    target = args[function.target_names[0]]
    assert isinstance(target, Ref)
    shape = list(target.shape)
    if function.used is not None:
        ids = args["used_rows_"]
        assert isinstance(ids, Ref)
        shape[0] = ids.shape[0]
    total: Extent = shape[0]
    for size in shape[1:-1]:
        total = total * size.extra
    return total


def _weight(kernel: Kernel, args: Mapping[str, Argument]) -> int:
    target = args[kernel.targets[0]]
    columns = target.shape[-1].extra if isinstance(target, Ref) and len(target.shape) > 1 else 1
    return max(columns, 1) << 3 * depth_of_loops(kernel.tree)


def _largest(args: Mapping[str, Argument]) -> int:
    """Elements of the largest array: what is read whole takes at least as many operations."""
    refs = [ref for value in args.values() for ref in _refs(value)]
    return max((math.prod(size.capacity for size in ref.shape) for ref in refs), default=0)


def _refs(value: Argument) -> list[Ref]:
    """The arrays of an argument."""
    if isinstance(value, Ref):
        return [value]
    return [part for part in value if isinstance(part, Ref)] if isinstance(value, tuple) else []


def uses(value: Argument) -> list[Buffer]:
    """The buffers behind an argument."""
    return [ref.owner for ref in _refs(value) if isinstance(ref.owner, Buffer)]


def _note_uses(launch: Launch, function: Function, kernel: Kernel, args: Mapping[str, Argument]) -> None:
    """Which buffers are read and written, and which may be taken over by a target."""
    for name, value in args.items():
        if name in function.target_names:
            launch.writes += uses(value)
            if kernel.accumulate or reads(kernel.tree, name):
                launch.reads += uses(value)
        elif name not in kernel.args or reads(kernel.tree, name) or name not in function.args:
            launch.reads += uses(value)
    if kernel.accumulate or kernel.scan or kernel.procedure or kernel.used_rows:
        return
    for name, value in args.items():
        own = isinstance(value, Ref) and value.dtype == "real" and name not in function.target_names
        if own and reads_own_element(kernel.tree, name, kernel.indices):
            launch.takeovers += [(giver, taker) for giver in uses(value) for taker in launch.writes]


def _tuned(names: Names, function: Function, item: int | None) -> Tuned | None:
    return find_tuned(names.op.layer.name, function.name, "cpu", host_sizes(names, item))


def host_sizes(names: Names, item: int | None, *, capacity: bool = True) -> dict[str, Any]:
    """Axis sizes and attributes as plain numbers for the host functions of tuned kernels; rows at capacity or now."""
    sizes: dict[str, Any] = dict(names.op.attributes)
    for name in names.op.layer.axis_names:
        if name in names.op.rows:
            sizes[name] = names.op.rows[name].capacity if capacity else names.op.rows[name].rows
        elif name in names.op.binding.sizes:
            size = names.op.binding.sizes[name]
            sizes[name] = size[item or 0] if isinstance(size, list) else size
    return sizes


def _tuned_launch(
    names: Names,
    function: Function,
    item: int | None,
    tuned: Tuned,
    args: dict[str, Argument],
    dtype: str,
    accumulate: bool,
) -> Launch:
    constants: dict[str, Any] = {"accumulate": accumulate}
    for name in tuned.names:
        if name in args or name in ("accumulate", "scratch"):
            continue
        value = names.resolve(name, function, item)
        if value is None or isinstance(value, (bool, str)):
            constants[name] = value
        else:
            args[name] = value
    sizes = host_sizes(names, item)
    args = {name: value for name, value in args.items() if name in tuned.names}
    if "scratch" in tuned.names and tuned.scratch is not None:
        count = Extent(call_by_name(tuned.items, sizes) * call_by_name(tuned.scratch, sizes))
        args["scratch"] = Ref(Buffer(f"{function.name}.scratch", count, dtype), (count,))
    specs = {name: spec_of(value) for name, value in args.items()}
    driver = tuned_driver(f"{function.name}_tuned", tuned, specs, constants, dtype)
    launch = Launch(function.name, names.op.name, driver, list(args.values()), None)
    launch.work = int(call_by_name(tuned.work, sizes))
    launch.items = lambda: int(call_by_name(tuned.items, host_sizes(names, item, capacity=False)))
    for name, value in args.items():
        found = uses(value)
        if name in function.target_names or name == "scratch":
            launch.writes += found
        if name not in function.target_names or accumulate:
            launch.reads += found
    if tuned.in_place:
        launch.takeovers = [(giver, taker) for giver in launch.reads for taker in launch.writes]
    return launch


def buffers_of(launches: Sequence[Launch]) -> list[Buffer]:
    """All buffers that launches use, each once."""
    return list({id(b): b for launch in launches for b in (*launch.reads, *launch.writes)}.values())
