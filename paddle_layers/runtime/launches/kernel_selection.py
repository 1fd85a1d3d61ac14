"""Kernel selection by the rows of a batch, and launches of the selected tuned kernels, which replace a point function.

Selections are recorded while a plan is made, so that later batches can be checked: a plan may run a batch if the same
kernels are selected for it. Then a result depends on the batch alone: not on the capacity of the plan, which earlier
batches have determined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from contextvars import Context, ContextVar, copy_context
from typing import Any, NamedTuple, TypeVar

from paddle_layers.define.concurrency import switched
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.kernels.constants import NO_EPILOGUE
from paddle_layers.kernels.tuned import Tuned, call_by_name, unknown_argument
from paddle_layers.runtime.generate.drivers import TunedCall
from paddle_layers.runtime.graph.domains import Domain, Extent, RowsOf, ScratchSize, chosen_rows_of

from .arguments import Argument, Ref, refs_of, spec_of, split_constants, uses
from .buffers import Buffer
from .launch import Launch
from .scope import OperationScope, UnknownArgument, host_sizes

T = TypeVar("T")


class KernelSelection(NamedTuple):
    """A selection and the function to repeat it, with the switches at that time."""

    choose: Callable[[RowsOf], object]
    chosen: object
    context: Context

    def holds(self) -> bool:
        """Whether it is the same for the current selection rows."""
        return bool(self.context.run(self.choose, chosen_rows_of) == self.chosen)


_NOTED: ContextVar[list[KernelSelection] | None] = ContextVar("choices of the plan that is being made", default=None)


def noting(choices: list[KernelSelection]) -> AbstractContextManager[None]:
    """Context manager: selections are recorded."""
    return switched(_NOTED, choices)


def choose(chooser: Callable[[RowsOf], T]) -> T:
    """Selects for the current selection rows, and records it."""
    chosen = chooser(chosen_rows_of)
    noted = _NOTED.get()
    if noted is not None:
        # With the context variables of this moment: a later check must not depend on switches, such as disabled passes,
        # that are set then.
        noted.append(KernelSelection(chooser, chosen, copy_context()))
    return chosen


def tuned_launches(
    scope: OperationScope,
    function: Function,
    item: int | None,
    tuned: Tuned,
    args: Mapping[str, Argument],
    accumulate: bool,
) -> list[Launch]:
    """The launch of a tuned kernel, or the two of a two-step one; they share scratch buffers."""
    sizes = host_sizes(scope, item)
    args = {**args}
    if tuned.scratch is not None:
        # Sized per batch and not by capacity: a kernel divides its scratch memory by the rows that it is called for.
        size = ScratchSize(
            extra=tuned.scratch_size(sizes),
            needed=lambda rows: tuned.scratch_size(host_sizes(scope, item, rows)),
            domains=tuple(scope.op.rows.values()),
        )
        args["scratch"] = _memory(scope, f"{function.name}.scratch", size)
    if tuned.prepared is not None:
        count = int(call_by_name(tuned.prepared, sizes))
        args["prepared"] = _memory(scope, f"{function.name}.scratch, prepared", Extent(count))
    launches = [_tuned_launch(scope, function, item, tuned, args, accumulate)]
    if tuned.then is not None:
        launches.append(_tuned_launch(scope, function, item, tuned.then, args, accumulate))
        launches[-1].name, launches[-1].work = tuned.then.function.__name__, launches[0].work
    return launches


def _memory(scope: OperationScope, name: str, extent: Extent) -> Ref:
    """Private buffers of a kernel."""
    return Ref(Buffer(name, extent, scope.index_arrays.dtype), (extent,))


def _written_rows(scope: OperationScope, args: Mapping[str, Argument], targets: Iterable[str]) -> list[Domain]:
    """The rows of the targets, if all targets have rows of the batch."""
    found = [ref.shape[0].domain for name in targets if name in args for ref in refs_of(args[name])]
    return [one for one in found if one is not None] if {*found} <= {*scope.op.rows.values()} else []


def _tuned_launch(
    scope: OperationScope,
    function: Function,
    item: int | None,
    tuned: Tuned,
    known: Mapping[str, Argument],
    accumulate: bool,
) -> Launch:
    # Of the rows for which the kernel is selected: its launches keep them for batches of other sizes.
    chosen = choose(lambda rows: tuned.folded_arguments(host_sizes(scope, item, rows))) if tuned.folded else {}
    # `accumulate` is folded into the source, `adding` is decided at run time: expensive kernels use the latter and are
    # compiled once instead of twice (3 of 29 s for ResNet-50).
    constants: dict[str, Any] = {"accumulate": accumulate, "epilogue": NO_EPILOGUE, **chosen}
    given = {**known, "adding": Extent(int(accumulate))}
    args, folded = _arguments(scope, function, item, tuned, given, constants)
    specs = {name: spec_of(value) for name, value in args.items()}
    computed = [one for one in scope.op.layer.functions if one.name in tuned.joint] or [function]
    targets = tuple(target for one in computed for target in one.target_names)
    call = TunedCall(f"{function.name}_tuned", tuned, specs, constants | folded, targets)
    launch = Launch(function.name, scope.op.name, call, list(args.values()), None)
    launch.domains = tuple(scope.op.rows.values())
    launch.work = int(call_by_name(tuned.work, host_sizes(scope, item)))
    written = [] if tuned.prepared is not None else _written_rows(scope, known, targets)

    def items_of(rows: RowsOf) -> int:
        # Without rows there is nothing to write, but a kernel for one row would write that.
        if written and not any(map(rows, written)):
            return 0
        return int(call_by_name(tuned.items, host_sizes(scope, item, rows) | chosen))

    launch.items = items_of
    if (runs := tuned.runs) is not None:
        launch.runs = lambda rows: int(call_by_name(runs, host_sizes(scope, item, rows)))
    _add_accesses(launch, tuned, args, targets, accumulate)
    return launch


def _arguments(
    scope: OperationScope,
    function: Function,
    item: int | None,
    tuned: Tuned,
    given: Mapping[str, Argument],
    constants: Mapping[str, Any],
) -> tuple[dict[str, Argument], dict[str, Any]]:
    """The arguments of a kernel in their order, and further ones that are constants."""
    args = {name: value for name, value in given.items() if name in tuned.names}
    asked = [name for name in tuned.names if name not in args and name not in (*constants, "scratch", "prepared")]
    try:
        folded, resolved = split_constants({name: scope.resolve(name, function, item) for name in asked})
    except UnknownArgument as error:
        layer = scope.op.layer
        names = (*layer.fields, *layer.axis_names, *layer.attributes)
        raise unknown_argument(tuned.call, str(error), names) from None
    args |= resolved
    if tuned.prepared is not None:  # targets come first
        args = {"prepared": args.pop("prepared"), **args}
    return args, folded


def _add_accesses(
    launch: Launch, tuned: Tuned, args: Mapping[str, Argument], targets: Iterable[str], accumulate: bool
) -> None:
    for name, value in args.items():
        prepares = name == "prepared" and tuned.prepared is not None
        if name in targets or name == "scratch" or prepares:
            launch.writes += uses(value)
        if not prepares and (name not in targets or accumulate):
            launch.reads += uses(value)
    if tuned.in_place:
        launch.takeovers = [(giver, taker) for giver in launch.reads for taker in launch.writes]
