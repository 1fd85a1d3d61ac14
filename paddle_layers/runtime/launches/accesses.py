"""Memory accesses of launches, and whether each element accesses only its own element of an array."""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.graph.domains import Extent

from .arguments import Argument, Held, Lagged, Ref, refs_of
from .buffers import Buffer
from .launch import Launch


class Access(NamedTuple):
    """One array that a launch reads or writes."""

    owner: object
    """The buffer, the parameter with its part, or the address: equal if the memory is the same."""
    writes: bool
    own: bool
    """Element i of the launch accesses element i of the array and no other, in memory order."""


def accesses(launch: Launch) -> list[Access]:
    """All accesses of a launch; an array that it reads and writes occurs twice."""
    code = launch.code
    touched = _of_kernel(launch, code) if isinstance(code, Kernel) else _of_tuned(launch, code)
    return [access for ref, writes, own in touched for access in _accesses(ref, writes, own)]


def elements(launch: Launch) -> Extent:
    """Number of elements of a launch's first target."""
    target = launch.args[0]
    assert isinstance(target, Ref)
    return _size(target)


def in_order(launch: Launch) -> bool:
    """Whether work item i of a point function writes the i-th of equal runs of each target."""
    code = launch.code
    return isinstance(code, Kernel) and not (code.scan or code.procedure or code.used_rows or code.along)


Touched = list[tuple[Ref, bool, bool]]


def _of_kernel(launch: Launch, kernel: Kernel) -> Touched:
    program, ordered, target = kernel.program, in_order(launch), launch.args[0]
    touched: Touched = []
    for name, value in zip(kernel.args, launch.args, strict=True):
        known = name in program.arguments
        own = ordered and _alike(value, target) and (not known or program.reads_own_element(name, kernel.indices))
        if name in kernel.targets:
            touched += [(ref, True, ordered) for ref in refs_of(value)]
            if kernel.accumulate or program.reads(name):
                touched += [(ref, False, own) for ref in refs_of(value)]
        elif not known or program.reads(name):
            touched += [(ref, False, own and known) for ref in refs_of(value)]
    return touched


def _of_tuned(launch: Launch, call: TunedCall) -> Touched:
    touched: Touched = []
    target, ordered = launch.args[0], call.tuned.runs is not None
    for name, value in zip(call.args, launch.args, strict=True):
        own = ordered and _alike(value, target)
        makes = name == "prepared" and call.tuned.prepared is not None
        if name in call.targets or name == "scratch" or makes:
            touched += [(ref, True, own) for ref in refs_of(value)]
        if not makes and (name not in call.targets or call.constants["accumulate"]):
            touched += [(ref, False, own and call.tuned.in_place) for ref in refs_of(value)]
    return touched


def _alike(value: Argument, target: Argument) -> bool:
    return isinstance(value, Ref) and isinstance(target, Ref) and value.shape == target.shape


def _accesses(ref: Ref, writes: bool, own: bool) -> list[Access]:
    owner = ref.owner
    if isinstance(owner, Lagged):
        owners = [owner.buffer, *([owner.boot] if owner.boot is not None else [])]
        # Rows of another step: never the element's own.
        return [Access(buffer.root, writes, own=False) for buffer in owners]
    if isinstance(owner, Buffer):
        # A reference to a part counts elements from another start, so equal indices are not equal addresses.
        whole = owner.extent == _size(ref)
        return [Access(owner.root, writes, own and whole)]
    return [Access((owner.parameter.name, owner.part) if isinstance(owner, Held) else owner, writes, own)]


def _size(ref: Ref) -> Extent:
    found = ref.shape[0]
    for size in ref.shape[1:]:
        found = found * size.extra
    return found
