"""One launch: what is to be compiled and its arguments, made by specialising a function for an operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.define.checks.completeness import bias_text
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.finding import find_tuned
from paddle_layers.kernels.tuned import Tuned, call_by_name
from paddle_layers.runtime.generate.drivers import Kernel, PythonCall, TunedCall
from paddle_layers.runtime.generate.specialise import helper_programs, specialise
from paddle_layers.runtime.graph.domains import Domain, Extent, rows_of

from .arguments import Argument, Ref, last_ones, refs_of, spec_of, uses
from .buffers import Buffer, Takeover
from .computation import Computation
from .scope import RowsOf, Scope, host_sizes

if TYPE_CHECKING:
    from paddle_layers.runtime.graph.steps import Steps


class Loop(NamedTuple):
    """The steps of a recurrent group, from the first to the last or back."""

    steps: Steps
    backward: bool


@dataclass
class Launch:
    """A call of a driver, to be put into the plan's tables."""

    name: str
    op: str
    code: Kernel | TunedCall
    """What the driver of a device is made from."""
    args: list[Argument]
    total: Extent | None
    columns: int = 1
    """Elements of a work item of a point function."""
    items: Callable[[RowsOf], int] | None = None
    """Work items of a tuned kernel for given rows."""
    runs: Callable[[RowsOf], int] | None = None
    """Of a tuned kernel: into how many equal runs its items cut the target, or 0."""
    domains: tuple[Domain, ...] = ()
    """Of a tuned kernel: whose rows decide."""
    weight: int = 1
    """Guess at the operations of an item."""
    work: int = 0
    """Guess at the operations of the whole launch, at the capacity of the domains, from below."""
    reads: list[Buffer] = field(default_factory=list)
    writes: list[Buffer] = field(default_factory=list)
    """Scratch memory too; parameters and their gradients are no buffers."""
    takeovers: list[tuple[Buffer, Buffer]] = field(default_factory=list)
    loop: Loop | None = None
    """The steps in which it runs again and again."""
    joins: bool = False
    """Whether it runs block by block with the launch before it."""
    fused: str = ""
    """In words: the launches that run block by block together, or why this one does not with the one before."""
    computes: tuple[Computation, ...] = ()
    """What it stands for, to be counted; a launch that does the work of several has theirs."""

    def mark(self, at: int) -> list[Takeover]:
        """Note the uses of buffers by this launch; gives the possible takeovers."""
        for buffer in (*self.reads, *self.writes):
            buffer.use(at)
        return [Takeover(at, giver, taker) for giver, taker in self.takeovers]


def make_launches(scope: Scope, function: Function, item: int | None, *, accumulate: bool = False) -> list[Launch]:
    """Specialise a function for an operation (and an item of its repeatable input) and bind its arguments.

    That is one launch, but for tuned kernels of two steps.
    """
    targets = [scope.resolve(target, function, item) for target in function.target_names]
    if function.python:
        return [python_launch(scope, function, accumulate=accumulate)]
    lead = function.indices
    wanted = [name for name in function.args[len(lead) :] if name not in ("before", "after")]
    groups = {group.lower(): (row, group) for row, group in scope.op.layer.groups.items()}
    sequence_index = next((name for name in wanted if name in groups and name not in lead), None)
    resolved = {n: scope.resolve(n, function, item) for n in wanted if n != sequence_index}
    known = {n: v for n, v in resolved.items() if v is None or isinstance(v, (bool, str))}
    program = specialise(function.program, known, function.call)
    args: dict[str, Argument] = dict(zip(function.target_names, targets, strict=True))
    args |= {n: v for n, v in resolved.items() if n not in known and n in program.names}
    if "which" in lead:
        args["which"] = Extent(item or 0)
    computation = Computation(
        function, program, _index_sizes(scope, function, item, sequence_index, args), args, accumulate
    )
    tuned = _tuned(scope, function, item)
    if tuned is not None:
        launches = _tuned_launches(scope, function, item, tuned, args, accumulate)
        launches[0].computes = (computation,)
        return launches
    kernel, extra = _kernel(scope, function, item, program, args, sequence_index, accumulate)
    args |= extra
    if function.role == "bias":
        kernel, args = _with_long_rows(scope, kernel, args)
    total, columns = _work_items(scope, function, args)
    launch = Launch(kernel.name, scope.op.name, kernel, list(args.values()), total, columns)
    launch.weight = max(columns, 1) << 3 * kernel.program.loop_depth
    launch.work = 0 if function.offsets.keys() & args.keys() or kernel.along else _largest(args)
    _note_uses(launch, function, kernel, args)
    launch.computes = (computation,)
    return [launch]


def python_launch(scope: Scope, function: Function, *, accumulate: bool) -> Launch:
    """One call of a Python function of arrays."""
    args: dict[str, Argument] = {}
    constants: dict[str, bool | str | None] = {}
    for name in (*function.target_names, *function.args):
        value = scope.resolve(name, function, None)
        if value is None or isinstance(value, (bool, str)):
            constants[name] = value
        else:
            args[name] = value
    outputs = scope.op.layer.outputs
    types = [scope.op.output(name)[0].type if name in outputs else None for name in function.target_names]
    ids = tuple(type_.size if type_ is not None and type_.kind == "INT" else 0 for type_ in types)
    kernel = Kernel(
        name=function.name,
        origin=f"{function.call.__module__}:{function.line}",
        program=function.program,
        helpers={},
        indices=(),
        targets=function.target_names,
        args={name: spec_of(value) for name, value in args.items()},
        accumulate=accumulate,
        procedure=True,
        python=PythonCall(function.call, scope.op.name, tuple(constants.items()), ids),
    )
    launch = Launch(kernel.name, scope.op.name, kernel, list(args.values()), Extent(1))
    for name, argument in args.items():
        if name in function.target_names:
            launch.writes += uses(argument)
        if name not in function.target_names or accumulate:
            launch.reads += uses(argument)
    return launch


def _index_sizes(
    scope: Scope, function: Function, item: int | None, sequence_index: str | None, args: Mapping[str, Argument]
) -> dict[str, Extent]:
    """How far each index of a function goes."""
    target, layer = args[function.target_names[0]], scope.op.layer
    assert isinstance(target, Ref)
    if function.role == "fill":
        return {function.indices[0]: scope.rows(str(function.options["per"]))}
    indices = [index for index in function.indices if index != "which"]
    sizes = dict(zip(indices, target.shape, strict=False))
    if function.used is not None:
        sizes["u"] = scope.index_arrays.used(scope.value(function.used.name, item), "id").shape[0]
    if function.along is not None:
        sizes[function.along.lower()] = Extent(scope.op.binding.sizes[function.along_item][item or 0])
    if sequence_index is not None:
        group = next(group for group in layer.groups.values() if group.lower() == sequence_index)
        sizes[sequence_index] = rows_of(scope.op.rows[group])
    return sizes


def _kernel(
    scope: Scope,
    function: Function,
    item: int | None,
    program: Program,
    args: Mapping[str, Argument],
    sequence_index: str | None,
    accumulate: bool,
) -> tuple[Kernel, dict[str, Argument]]:
    layer, sequence, used_rows = scope.op.layer, None, None
    extra: dict[str, Argument] = {}
    row = function.targets[0].axes[0].name if function.targets[0].axes else ""
    if row in layer.groups and (function.scan or sequence_index):
        group = layer.groups[row]
        array = f"{group}_start" if function.scan else f"{row}_map"
        kind = "starts" if function.scan else "map"
        found = scope.sequence(kind, row)
        if array not in args:
            extra[array] = found
        sequence = (group.lower(), array)
    if function.scan:
        extra["reverse_"] = Extent(int(bool(scope.op.attributes.get("reverse"))))
    if function.used is not None:
        used = scope.index_arrays.used(scope.value(function.used.name, item), "id")
        if not _has_rows_of(args[function.target_names[0]], used):
            used_rows, accumulate = "used_rows_", True
            extra[used_rows] = used
    if function.along is not None:
        sizes = scope.op.binding.sizes[function.along_item]
        extra |= {"begin_": Extent(sum(sizes[: item or 0])), "width_": Extent(sizes[item or 0])}
    kernel = Kernel(
        name=f"{layer.name}_{function.name}" if not function.name.startswith(layer.name) else function.name,
        origin=f"{function.call.__module__}:{function.line}",
        program=program,
        helpers=helper_programs(function.call),
        indices=tuple(index for index in function.indices if index != "which"),
        targets=function.target_names,
        args={name: spec_of(value, sizes=True) for name, value in {**args, **extra}.items()},
        accumulate=accumulate,
        scan=function.scan,
        procedure=function.role == "fill",
        sequence=sequence,
        along=function.along and function.along.lower(),
        used_rows=used_rows,
    )
    return kernel, extra


def _with_long_rows(scope: Scope, kernel: Kernel, args: Mapping[str, Argument]) -> tuple[Kernel, dict[str, Argument]]:
    """A bias whose target has several axes behind its own: they are one, as rows of an image leave vectors empty."""
    bias, name = scope.op.layer.bias, kernel.targets[0]
    target = args[name]
    assert bias is not None
    assert isinstance(target, Ref)
    along = kernel.indices.index(bias.indices[0])
    behind = target.shape[along + 1 :]
    if len(behind) < 2 or any(size.domain is not None for size in behind):
        return kernel, dict(args)
    indices = kernel.indices[: along + 2]
    shape = (*target.shape[: along + 1], Extent(math.prod(size.extra for size in behind)))
    args = {**args, name: target._replace(shape=shape)}
    program = Program.parse(bias_text(kernel.name, indices, name, bias.name, bias.indices[0]))
    specs = {name: spec_of(value, sizes=True) for name, value in args.items()}
    return replace(kernel, program=program, indices=indices, args=specs), args


def _has_rows_of(target: Argument, used: Ref) -> bool:
    """Whether a gradient has a row for each used id, and not one for each row of the parameter."""
    return isinstance(target, Ref) and target.shape[0] == used.shape[0]


def _work_items(scope: Scope, function: Function, args: Mapping[str, Argument]) -> tuple[Extent, int]:
    """Work items and elements of each: rows of the last axis, elements of a vector, sequences of a scan, calls."""
    target = args[function.target_names[0]]
    assert isinstance(target, Ref)
    columns = target.shape[-1].extra if len(target.shape) > 1 else 1
    if function.role == "fill":
        return scope.rows(str(function.options["per"])), columns
    if function.scan:
        return rows_of(scope.op.rows[scope.op.layer.groups[function.targets[0].axes[0].name]]), columns
    shape = list(target.shape)
    if function.along is not None:
        width = args["width_"]
        assert isinstance(width, Extent)
        shape[function.indices.index(function.along.lower())] = width
    if "used_rows_" in args:
        ids = args["used_rows_"]
        assert isinstance(ids, Ref)
        shape[0] = ids.shape[0]
    if function.along is None:
        shape = shape[: len(shape) - last_ones(target)]
    total: Extent = shape[0]
    for size in shape[1:-1]:
        total = total * size.extra
    return total, shape[-1].extra if len(shape) > 1 else 1


def _largest(args: Mapping[str, Argument]) -> int:
    """Elements of the largest array: what is read whole takes at least as many operations."""
    refs = [ref for value in args.values() for ref in refs_of(value)]
    return max((math.prod(size.capacity for size in ref.shape) for ref in refs), default=0)


def _note_uses(launch: Launch, function: Function, kernel: Kernel, args: Mapping[str, Argument]) -> None:
    """Which buffers are read and written, and which may be taken over by a target."""
    for name, value in args.items():
        if name in function.target_names:
            launch.writes += uses(value)
            if kernel.accumulate or kernel.program.reads(name):
                launch.reads += uses(value)
        elif name not in kernel.args or kernel.program.reads(name) or name not in function.args:
            launch.reads += uses(value)
    if kernel.accumulate or kernel.scan or kernel.procedure or kernel.used_rows or kernel.along:
        return
    for name, value in args.items():
        own = isinstance(value, Ref) and value.dtype == "real" and name not in function.target_names
        if own and kernel.program.reads_own_element(name, kernel.indices):
            launch.takeovers += [(giver, taker) for giver in uses(value) for taker in launch.writes]


def _tuned(scope: Scope, function: Function, item: int | None) -> Tuned | None:
    return find_tuned(scope.op.layer.name, function.name, scope.device, host_sizes(scope, item))


def _tuned_launches(
    scope: Scope,
    function: Function,
    item: int | None,
    tuned: Tuned,
    args: dict[str, Argument],
    accumulate: bool,
) -> list[Launch]:
    sizes = host_sizes(scope, item)
    if tuned.scratch is not None:
        count = Extent(tuned.scratch_size(sizes))
        scratch = Ref(Buffer(f"{function.name}.scratch", count, scope.index_arrays.dtype), (count,))
        args = {**args, "scratch": scratch}
    if tuned.prepared is not None:
        count = Extent(int(call_by_name(tuned.prepared, sizes)))
        prepared = Ref(Buffer(f"{function.name}.scratch, prepared", count, scope.index_arrays.dtype), (count,))
        args = {**args, "prepared": prepared}
    launches = [_tuned_launch(scope, function, item, tuned, args, accumulate)]
    if tuned.then is not None:
        launches.append(_tuned_launch(scope, function, item, tuned.then, args, accumulate))
        launches[-1].name, launches[-1].work = tuned.then.function.__name__, launches[0].work
    return launches


def _tuned_launch(
    scope: Scope,
    function: Function,
    item: int | None,
    tuned: Tuned,
    given: Mapping[str, Argument],
    accumulate: bool,
) -> Launch:
    args = {**given, "adding": Extent(int(accumulate))}
    constants: dict[str, Any] = {"accumulate": accumulate}
    for name in tuned.names:
        if name in args or name in ("accumulate", "scratch", "prepared"):
            continue
        value = scope.resolve(name, function, item)
        if value is None or isinstance(value, (bool, str)):
            constants[name] = value
        else:
            args[name] = value
    sizes = host_sizes(scope, item)
    args = {name: value for name, value in args.items() if name in tuned.names}
    if tuned.prepared is not None:  # what is written comes first
        args = {"prepared": args.pop("prepared"), **args}
    specs = {name: spec_of(value) for name, value in args.items()}
    call = TunedCall(f"{function.name}_tuned", tuned, specs, constants, function.target_names)
    launch = Launch(function.name, scope.op.name, call, list(args.values()), None)
    launch.work = int(call_by_name(tuned.work, sizes))
    launch.items = lambda rows: int(call_by_name(tuned.items, host_sizes(scope, item, rows)))
    if (runs := tuned.runs) is not None:
        launch.runs = lambda rows: int(call_by_name(runs, host_sizes(scope, item, rows)))
    launch.domains = tuple(scope.op.rows.values())
    for name, value in args.items():
        found = uses(value)
        makes = name == "prepared" and tuned.prepared is not None
        if name in function.target_names or name == "scratch" or makes:
            launch.writes += found
        if not makes and (name not in function.target_names or accumulate):
            launch.reads += found
    if tuned.in_place:
        launch.takeovers = [(giver, taker) for giver in launch.reads for taker in launch.writes]
    return launch


def buffers_of(launches: Sequence[Launch]) -> list[Buffer]:
    """All buffers that launches use, each once."""
    return list(dict.fromkeys(b for launch in launches for b in (*launch.reads, *launch.writes)))
