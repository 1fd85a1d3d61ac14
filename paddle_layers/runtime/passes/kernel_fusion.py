"""Kernel fusion of consecutive elementwise launches of a layer: a norm, its bias, its activation.

Otherwise each would read and write all elements once more. Intermediate values are neither written nor read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from paddle_layers.runtime.generate.authors import LIBRARY
from paddle_layers.runtime.generate.drivers import Array, Kernel
from paddle_layers.runtime.generate.merging import Merged, merged_kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.accesses import accesses, elements, in_order
from paddle_layers.runtime.launches.arguments import Argument, Ref, uses
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs
from .cache_blocked_fusion import DEVICES


def fuse_kernels(passes: Sequence[list[Launch]], read: Iterable[Buffer], device: str) -> None:
    """Shortens the forward and the backward pass; `read` are buffers that are read outside of the launches."""
    if device not in DEVICES or not runs("kernel fusion"):
        return
    readers = Counter(root for launches in passes for launch in launches for root in _read_by(launch))
    outside = {buffer.root for buffer in read}
    for launches in passes:
        merged: list[Launch] = []
        for launch in launches:
            one = _merged(merged[-1], launch, readers, outside) if merged else None
            if one is None:
                merged.append(launch)
            else:
                # Fusion removes reads of the intermediate result, so the counts of later decisions change with it.
                readers.subtract([*_read_by(merged[-1]), *_read_by(launch)])
                readers.update(_read_by(one))
                merged[-1] = one
        launches[:] = merged


def _read_by(launch: Launch) -> set[Buffer]:
    return {buffer.root for buffer in launch.reads}


def _merged(first: Launch, second: Launch, readers: Counter[Buffer], outside: set[Buffer]) -> Launch | None:
    """The fused launch of both, or None."""
    one, other = first.code, second.code
    if not isinstance(one, Kernel) or not isinstance(other, Kernel) or not _is_plain(first) or not _is_plain(second):
        return None
    if second.op != first.op and not second.op.startswith(f"{first.op}."):
        return None  # the time of a launch is that of one layer
    if not {computed.function for computed in first.computes}.isdisjoint(each.function for each in second.computes):
        return None  # one launch per input item: there would be kernels for any number of items
    alike = _shape(first) == _shape(second) or len(_shape(first)) != len(_shape(second))
    if elements(first) != elements(second) or not alike:
        return None
    made, target = first.writes[0].root, second.writes[0].root
    # The intermediate result is not stored any more, so nothing else may read it.
    if made is not target and (made in outside or readers[made] > (made in _read_by(first)) + 1):
        return None
    touched = [*accesses(first), *accesses(second)]
    # A neighboring element of the result would not exist yet.
    if not all(access.own for access in touched if access.owner in (made, target)):
        return None
    passed = tuple(name for name, value in zip(other.args, second.args, strict=True) if _lies_in(value, made))
    found = merged_kernel(one, other, passed) if made in _read_by(second) else None
    return None if found is None else _launch(first, second, found)


def _is_plain(launch: Launch) -> bool:
    """Whether a launch computes floats elementwise, without loops, into a buffer, from this library's source."""
    code = launch.code
    assert isinstance(code, Kernel)
    if not in_order(launch) or launch.loop is not None or code.sequence or code.factor or code.program.has_loops:
        return False
    if len(code.targets) > 1 or not launch.writes or not _is_ours(code):
        return False
    target = code.args[code.targets[0]]
    simple = all(isinstance(spec, str) or (isinstance(spec, Array) and not spec.ones) for spec in code.args.values())
    return simple and isinstance(target, Array) and target.dtype == "real"


def _is_ours(kernel: Kernel) -> bool:
    """Whether its errors never have to be attributed to a plugin's source line."""
    return kernel.program.place is None or Path(kernel.program.place[0]).is_relative_to(LIBRARY)


def _shape(launch: Launch) -> tuple[Extent, ...]:
    """Shape of the target."""
    target = launch.args[0]
    assert isinstance(target, Ref)
    return target.shape


def _lies_in(value: Argument, buffer: Buffer) -> bool:
    return isinstance(value, Ref) and isinstance(value.owner, Buffer) and value.owner.root is buffer


def _launch(first: Launch, second: Launch, merged: Merged) -> Launch:
    """The launch of a fused kernel: the second one's target, and the other inputs of both."""
    kernel, pair = merged.kernel, (first, second)
    lead = pair[merged.leads]
    shape = _shape(lead)
    given: dict[str, Argument] = {}
    for launch, names in zip(pair, merged.names, strict=True):
        other = len(_shape(launch)) != len(shape)
        for name, value in zip(launch.code.args, launch.args, strict=True):
            if name in names:
                given[names[name]] = Ref(value.owner, shape, value.dtype) if other and isinstance(value, Ref) else value
    launch = replace(
        lead,
        name=f"{first.name} + {second.name}",
        op=first.op,
        code=kernel,
        args=[given[name] for name in kernel.args],
        work=max(first.work, second.work),
        computes=(*first.computes, *second.computes),
    )
    read = {name: value for name, value in given.items() if kernel.program.reads(name)}
    launch.writes = uses(given[kernel.targets[0]])
    launch.reads = [buffer for value in read.values() for buffer in uses(value)]
    own = (value for name, value in read.items() if kernel.program.reads_own_element(name, kernel.indices))
    launch.takeovers = [(giver, taker) for value in own for giver in uses(value) for taker in launch.writes]
    return launch
