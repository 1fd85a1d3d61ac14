"""Epilogue fusion: in the test phase, a convolution applies the following norm, bias, relu or relu6 per channel.

The kernel applies it to its sums while they are in the L1 cache (`kernels.primitives.epilogues`), from a table that
depends on parameters only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from paddle_layers.kernels.constants import EPILOGUE_ROWS
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.generate.epilogues import table_kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.accesses import accesses, elements, in_order
from paddle_layers.runtime.launches.arguments import Ref, spec_of, uses
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .cache_blocked_fusion import DEVICES
from .parameter_caching import is_constant


def fuse_epilogues(launches: list[Launch], constants: list[Launch], read: Iterable[Buffer], device: str) -> None:
    """Shortens a forward pass; the tables are added to the `constants`. `read` are buffers that are read outside."""
    # The table depends on parameters only; without that pass it would be computed in each call.
    if device not in DEVICES or not runs("epilogues") or not runs("parameter-only caching"):
        return
    readers = Counter(buffer.root for launch in launches for buffer in {*launch.reads})
    outside = {buffer.root for buffer in read}
    done: list[Launch] = []
    for launch in launches:
        table = _table(done[-1], launch, readers, outside) if done else None
        known = {buffer.root for constant in constants for buffer in constant.writes}
        if table is None or not is_constant(table, known, Counter(table.writes)):
            done.append(launch)
        else:
            constants.append(table)
            done[-1] = _ended(done[-1], launch, table)
    launches[:] = done


def _table(first: Launch, second: Launch, readers: Counter[Buffer], outside: set[Buffer]) -> Launch | None:
    """The launch of the table with which the first one does the work of both, or None."""
    code, kernel = first.code, second.code
    if not isinstance(code, TunedCall) or "epilogue" not in code.tuned.names or "epilogue" in code.args:
        return None
    if not isinstance(kernel, Kernel) or second.loop is not None or not in_order(second) or len(kernel.targets) > 1:
        return None
    result, target = first.args[0], second.args[0]
    assert isinstance(result, Ref)
    assert isinstance(target, Ref)
    made, to = uses(result)[0].root, uses(target)
    if not to or elements(first) != elements(second) or target.shape[1:2] != result.shape[1:2]:
        return None
    # Someone else reads the sums before the norm, so they have to be stored.
    if made is not to[0].root and (made in outside or readers[made] > 1):
        return None
    if not all(access.own for access in accesses(second) if access.owner in (made, to[0].root)):
        return None
    given = dict(zip(kernel.args, second.args, strict=True))
    source = next((name for name, value in given.items() if isinstance(value, Ref) and value.owner is result.owner), "")
    found = table_kernel(kernel, source, [name for name, value in given.items() if value == 0.0])
    if found is None:
        return None
    rows, filters = Extent(EPILOGUE_ROWS), result.shape[1]
    buffer = Buffer(f"{second.op}.epilogue", rows * filters.extra, to[0].dtype)
    table = Ref(buffer, (rows, filters))
    args = [table, *(given[name] for name in list(found.args)[1:])]
    specs = {name: spec_of(value, sizes=True) for name, value in zip(found.args, args, strict=True)}
    launch = Launch(
        found.name, first.op, replace(found, args=specs), args, Extent(EPILOGUE_ROWS), result.shape[1].extra
    )
    launch.reads = [used for value in args[1:] for used in uses(value)]
    launch.writes = [buffer]
    return launch


def _ended(first: Launch, second: Launch, table: Launch) -> Launch:
    """The first launch with the target of the second one, whose work it does by the table."""
    code, result, target = first.code, first.args[0], second.args[0]
    assert isinstance(code, TunedCall)
    assert isinstance(result, Ref)
    assert isinstance(target, Ref)
    made = uses(result)
    return replace(
        first,
        name=f"{first.name} + {second.name}",
        code=replace(code, args={**code.args, "epilogue": spec_of(table.args[0])}),
        args=[result._replace(owner=target.owner), *first.args[1:], table.args[0]],
        reads=[*first.reads, *table.writes],
        writes=[*(buffer for buffer in first.writes if buffer not in made), *second.writes],
        work=max(first.work, second.work),
        computes=(*first.computes, *second.computes),
    )
