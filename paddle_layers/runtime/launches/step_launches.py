"""Launches of memories: recurrent state, and its gradients, carried between the steps of a recurrent group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.graph.domains import Extent, rows_of
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.graph.steps import Steps

from .arguments import Argument, Lagged, Ref, refs_of
from .buffers import Buffer
from .builtin import ADD, FIRST_ROWS, simple_launch
from .launch import Launch, Loop


def memory_launch(op: Op, output: Buffer, boot: Buffer, carried: Buffer) -> Launch:
    """The rows of a memory in a step: the first rows of the carried value in the previous step."""
    kind = "int64" if output.dtype == "int64" else "real"
    given = Ref(Lagged(carried, boot), (output.extent,), kind)
    return simple_launch(ADD, op.name, [Ref(output, (output.extent,), kind), given])


def carried_gradient(op: Op, gradient: Buffer, memory: Buffer, *, accumulate: bool) -> Launch:
    """The gradient of a carried value in a step: that of the memory in the next step."""
    assert op.steps is not None
    # Sequences are sorted by length, so those that continue are the first rows; the ones that ended get zeros.
    rows = rows_of(op.steps.following, _width(op))
    args: list[Argument] = [Ref(gradient, (gradient.extent,)), Ref(Lagged(memory), (memory.extent,)), rows]
    return simple_launch(FIRST_ROWS, op.name, args, accumulate=accumulate)


def boot_gradient(op: Op, gradient: Buffer, memory: Buffer, *, accumulate: bool) -> Launch:
    """The gradient of a memory's boot value: that of the memory in the first step."""
    assert op.steps is not None
    rows = rows_of(op.steps.opening, _width(op))
    args: list[Argument] = [Ref(gradient, (gradient.extent,)), Ref(memory, (memory.extent,)), rows]
    return simple_launch(FIRST_ROWS, op.name, args, accumulate=accumulate)


def boot_extent(op: Op) -> Extent:
    """Number of elements of a memory's boot values."""
    assert op.steps is not None
    return rows_of(op.steps.longest_first, _width(op))


def _width(op: Op) -> int:
    return op.outputs[0].type.columns


def in_loop(launches: Sequence[Launch], steps: Steps | None, *, backward: bool) -> Sequence[Launch]:
    """Marks launches that are repeated in every step."""
    for launch in launches:
        launch.loop = Loop(steps, backward) if steps is not None else None
    return launches


def runs_by_rows(op: Op, function: Function) -> bool:
    """Whether the result of a function has rows, so that each step can have its own."""
    axes = function.targets[0].axes
    return bool(axes) and axes[0].name in op.rows


def chain(steps: Steps | None) -> list[Steps]:
    """A group and the surrounding ones, the outermost first."""
    found: list[Steps] = []
    while steps is not None:
        found.insert(0, steps)
        steps = steps.outer
    return found


def lagging(launches: Iterable[Launch]) -> list[Buffer]:
    """Buffers that are read in another step than the one in which they are written."""
    refs = [ref for launch in launches for argument in launch.args for ref in refs_of(argument)]
    return [ref.owner.buffer for ref in refs if isinstance(ref.owner, Lagged)]


def loop_bounds(launches: Sequence[Launch]) -> list[tuple[int, int]]:
    """First launch and one past the last of every outermost loop."""
    bounds: list[tuple[int, int]] = []
    before: tuple[object, ...] = ()
    for at, launch in enumerate(launches):
        loop = launch.loop
        # By the outermost group: nested loops belong to one section, which is unrolled as a whole.
        now = () if loop is None else (chain(loop.steps)[0], loop.backward)
        if now and now == before:
            bounds[-1] = (bounds[-1][0], at + 1)
        elif now:
            bounds.append((at, at + 1))
        before = now
    return bounds
