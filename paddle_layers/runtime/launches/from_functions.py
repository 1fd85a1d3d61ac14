"""Launches of a definition's functions, specialized for an operation, with bound arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import replace

from paddle_layers.define.checks.completeness import bias_text
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.define.functions.program import Program
from paddle_layers.kernels.selection import find_tuned, has_tuned
from paddle_layers.kernels.tuned import Tuned, tuned_kernels
from paddle_layers.runtime.generate.drivers import Kernel, PythonCall
from paddle_layers.runtime.generate.specialise import helper_programs, specialise
from paddle_layers.runtime.graph.domains import Extent, rows_of

from .arguments import Argument, Ref, last_ones, refs_of, spec_of, split_constants, uses
from .builtin import FILL, simple_launch
from .kernel_selection import choose, tuned_launches
from .launch import Computation, Launch, operations
from .scope import OperationScope, host_sizes


def make_launches(
    scope: OperationScope, function: Function, item: int | None, *, accumulate: bool = False
) -> list[Launch]:
    """Specializes a function for an operation (and an item of its repeatable input) and binds its arguments.

    That is one launch, but for two-step tuned kernels.
    """
    targets = [scope.resolve(target, function, item) for target in function.target_names]
    if function.python:
        return [python_launch(scope, function, accumulate=accumulate)]
    lead = function.indices
    wanted = [name for name in function.args[len(lead) :] if name not in ("before", "after")]
    groups = {group.lower() for group in scope.op.layer.groups.values()}
    sequence_index = next((name for name in wanted if name in groups and name not in lead), None)
    resolved = {name: scope.resolve(name, function, item) for name in wanted if name != sequence_index}
    # Specialized before kernels are compared: two layers with the same choices share one driver.
    constants, live = split_constants(resolved)
    program = specialise(function.program, constants, function.call)
    args: dict[str, Argument] = dict(zip(function.target_names, targets, strict=True))
    # Only what the specialized source still reads becomes an argument; others would keep buffers alive.
    args |= {name: value for name, value in live.items() if name in program.names}
    if "which" in lead:
        args["which"] = Extent(item or 0)
    sizes = _index_sizes(scope, function, item, sequence_index, args)
    row = _grouped_axis(scope, function, sequence_index)
    sequence = None if row is None else (sequence_index or "", scope.op.rows[row], scope.op.group_of(row))
    computation = Computation(function, program, sizes, args, accumulate, sequence)
    tuned = _tuned_kernel(scope, function, item)
    if tuned is not None and tuned.joint:
        return _joint_launches(scope, function, tuned, args, computation)
    if tuned is not None:
        launches = tuned_launches(scope, function, item, tuned, args, accumulate)
        launches[0].computes = (computation,)
        return launches
    kernel, extra = _kernel(scope, function, item, program, args, row, accumulate)
    args |= extra
    if function.role == "bias":
        kernel, args = _with_long_rows(scope, kernel, args)
    total, columns = _work_items(scope, function, args)
    launch = Launch(kernel.name, scope.op.name, kernel, list(args.values()), total, columns)
    _guess_work(launch, function, kernel, args)
    _note_uses(launch, function, kernel, args)
    launch.computes = (computation,)
    return [launch]


def _tuned_kernel(scope: OperationScope, function: Function, item: int | None) -> Tuned | None:
    """The tuned kernel for the current selection rows."""
    place = (scope.op.layer.name, function.name, scope.device)
    if not has_tuned(*place):
        return None
    tuned = choose(lambda rows: find_tuned(*place, host_sizes(scope, item, rows)))
    # In the loop of a recurrent group some of the functions may run after the loop.
    return None if tuned is not None and tuned.joint and scope.op.steps is not None else tuned


def joint_functions(scope: OperationScope, function: Function) -> tuple[str, ...]:
    """Functions that one tuned kernel computes together with this one; empty where no kernel does."""
    place = (scope.op.layer.name, function.name, scope.device)
    # Every selection is recorded, and repeated for batches of other sizes: most functions need none.
    if not has_tuned(*place) or not any(kernel.joint for kernel in tuned_kernels(*place)):
        return ()
    tuned = _tuned_kernel(scope, function, None)
    return () if tuned is None else tuned.joint


def _joint_launches(
    scope: OperationScope, function: Function, tuned: Tuned, args: Mapping[str, Argument], computation: Computation
) -> list[Launch]:
    """The launch of a kernel of several functions, at the last one; each gradient is cleared before the first sum."""
    adds, launches = function.role == "gradient", list[Launch]()
    if adds and not computation.accumulate:
        target = args[function.target_names[0]]
        assert isinstance(target, Ref)
        flat = functools.reduce(lambda total, size: total * size.extra, target.shape)
        launches.append(simple_launch(FILL, scope.op.name, [Ref(target.owner, (flat,)), 0.0]))
    scope.joint.append(computation)
    if function.name == tuned.joint[-1]:
        launches += tuned_launches(scope, function, None, tuned, args, adds)
        launches[-1].computes = tuple(scope.joint)
        scope.joint.clear()
    return launches


def _index_sizes(
    scope: OperationScope,
    function: Function,
    item: int | None,
    sequence_index: str | None,
    args: Mapping[str, Argument],
) -> dict[str, Extent]:
    """Size of each index of a function."""
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
    scope: OperationScope,
    function: Function,
    item: int | None,
    program: Program,
    args: Mapping[str, Argument],
    row: str | None,
    accumulate: bool,
) -> tuple[Kernel, dict[str, Argument]]:
    """The kernel of the driver, and the arguments that it takes besides those that the function requests."""
    layer, used_rows = scope.op.layer, None
    sequence, extra = _sequence(scope, function, row)
    extra = {name: value for name, value in extra.items() if name not in args}
    if function.scan:
        extra["reverse_"] = Extent(int(bool(scope.op.attributes.get("reverse"))))
    if function.used is not None:
        used = scope.index_arrays.used(scope.value(function.used.name, item), "id")
        if not _has_rows_of(args[function.target_names[0]], used):
            # The rows of a dense gradient that no id names must keep their zeros, or the contributions of other
            # operations.
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


def _grouped_axis(scope: OperationScope, function: Function, sequence_index: str | None) -> str | None:
    """The row axis of the target, if its sequences are needed; a layer may have several row axes with one group."""
    row = function.targets[0].axes[0].name if function.targets[0].axes else ""
    return row if row in scope.op.layer.groups and (function.scan or sequence_index) else None


def _sequence(
    scope: OperationScope, function: Function, row: str | None
) -> tuple[tuple[str, str] | None, dict[str, Argument]]:
    """Grouping of rows into sequences: the sequence index and the name of an array by which a driver finds it."""
    if row is None:
        return None, {}
    group = scope.op.layer.groups[row]
    name, kind = (f"{group}_start", "starts") if function.scan else (f"{row}_map", "map")
    return (group.lower(), name), {name: scope.sequence(kind, row)}


def _with_long_rows(
    scope: OperationScope, kernel: Kernel, args: Mapping[str, Argument]
) -> tuple[Kernel, dict[str, Argument]]:
    """A bias whose target has several trailing axes: they are flattened, as image rows alone leave vectors empty."""
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
    program = _parsed(bias_text(kernel.name, indices, name, bias.name, bias.indices[0]))
    specs = {name: spec_of(value, sizes=True) for name, value in args.items()}
    return replace(kernel, program=program, indices=indices, args=specs), args


@functools.lru_cache(maxsize=1 << 10)
def _parsed(text: str) -> Program:
    """One program per source: kernels are equal if their programs are the same."""
    return Program.parse(text)


def _has_rows_of(target: Argument, used: Ref) -> bool:
    """Whether a gradient is sparse: one row per used id, not one per row of the parameter."""
    return isinstance(target, Ref) and target.shape[0] == used.shape[0]


def _work_items(scope: OperationScope, function: Function, args: Mapping[str, Argument]) -> tuple[Extent, int]:
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


def _guess_work(launch: Launch, function: Function, kernel: Kernel, args: Mapping[str, Argument]) -> None:
    """Estimate of the operations of a launch, which determines how it is split."""
    sizes = {name: value.capacity for name, value in args.items() if isinstance(value, Extent)}
    each = operations(kernel.program, kernel.helpers, sizes)
    # Loops and exponentials count: `crf` once stayed on one thread, as its scan has one item per sequence (12.0 to 6.5
    # ms).
    launch.weight = max(launch.columns, 1) * each
    # An item writes a part of the target only, so the size of the whole says nothing about its work.
    if function.offsets.keys() & args.keys() or kernel.along:
        return
    launch.work = _largest(args)
    if kernel.scan:  # an item is a sequence, however long
        launch.work = max(launch.work, _largest({"target": args[function.target_names[0]]}) * each)


def _largest(args: Mapping[str, Argument]) -> int:
    """Elements of the largest array: a lower bound of the operations where arrays are read whole."""
    refs = [ref for value in args.values() for ref in refs_of(value)]
    return max((math.prod(size.capacity for size in ref.shape) for ref in refs), default=0)


def _note_uses(launch: Launch, function: Function, kernel: Kernel, args: Mapping[str, Argument]) -> None:
    """Records which buffers are read and written, and which a target may take over."""
    for name, value in args.items():
        if name in function.target_names:
            launch.writes += uses(value)
            if kernel.accumulate or kernel.program.reads(name):
                launch.reads += uses(value)
        elif name not in kernel.args or kernel.program.reads(name) or name not in function.args:
            launch.reads += uses(value)
    # These write elements in another order than they read them, or read the target itself.
    if kernel.accumulate or kernel.scan or kernel.procedure or kernel.used_rows or kernel.along:
        return
    for name, value in args.items():
        own = isinstance(value, Ref) and value.dtype == "real" and name not in function.target_names
        if own and kernel.program.reads_own_element(name, kernel.indices):
            launch.takeovers += [(giver, taker) for giver in uses(value) for taker in launch.writes]


def python_launch(scope: OperationScope, function: Function, *, accumulate: bool) -> Launch:
    """One call of a Python function of arrays."""
    names = (*function.target_names, *function.args)
    constants, args = split_constants({name: scope.resolve(name, function, None) for name in names})
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
