"""Parameter-only caching: results that depend on parameters only are computed once in the phase test.

They are computed again when a parameter may have changed. Transformed or packed filters, the scale and shift of a batch
norm: these launches move to the beginning of the pass, and their results keep their memory. `Changes` knows when they
have to run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from paddle_layers.runtime.generate.drivers import Kernel
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, Held, Ref, refs_of
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.launch import Launch

from . import runs


def take_parameter_only(launches: list[Launch]) -> list[Launch]:
    """Removes the launches of a forward pass that only read parameters and their results; returns them in order."""
    if not runs("parameter-only caching"):
        return []
    writers = Counter(buffer.root for launch in launches for buffer in launch.writes)
    known: set[Buffer] = set()
    found = []
    for launch in launches:
        if is_constant(launch, known, writers):
            found.append(launch)
            launch.loop = None  # once, not in every step of a recurrent group
            known.update(buffer.root for buffer in launch.writes)
    launches[:] = [launch for launch in launches if launch not in found]
    return found


def kept_results(constants: Sequence[Launch], launches: Sequence[Launch], outside: Iterable[Buffer]) -> list[Buffer]:
    """The results of the first `constants` launches that are read by others, or `outside`."""
    made = {buffer.root for launch in constants for buffer in _results(launch)}
    read = [*outside, *(buffer for launch in launches[len(constants) :] for buffer in launch.reads)]
    return list(dict.fromkeys(buffer for buffer in read if buffer.root in made))


def is_constant(launch: Launch, known: set[Buffer], writers: Counter[Buffer]) -> bool:
    """Whether a launch only reads parameters and `known` results; `writers` counts the launches that write each."""
    prepares = not isinstance(launch.code, Kernel) and launch.code.tuned.prepared is not None
    if not prepares and (launch.loop is not None or not isinstance(launch.code, Kernel)):
        return False
    targets = _results(launch)
    # A second writer adds values of a batch.
    if any(writers[buffer.root] > 1 for buffer in targets):
        return False
    written = {buffer.root for buffer in targets}
    for ref in (ref for value in _given(launch) for ref in refs_of(value)):
        owner = ref.owner
        if isinstance(owner, Held):
            if owner.parameter.by_rows:  # whose pending steps are made for the rows that a batch reads
                return False
        elif not isinstance(owner, Buffer) or owner.root not in known | written:
            return False
    return bool(targets) and all(_is_fixed(value) for value in launch.args)


def _given(launch: Launch) -> Iterator[Argument]:
    """All arguments but scratch buffers."""
    for name, value in zip(launch.code.args, launch.args, strict=True):
        if name != "scratch":
            yield value


def _results(launch: Launch) -> list[Buffer]:
    """Outputs of a launch that may be read."""
    scratch = [
        ref.owner
        for name, value in zip(launch.code.args, launch.args, strict=True)
        if name == "scratch"
        for ref in refs_of(value)
    ]
    return [buffer for buffer in launch.writes if buffer not in scratch]


def _is_fixed(value: Any) -> bool:
    """Whether an argument depends on neither the rows of a batch nor the step."""
    if isinstance(value, Ref):
        return all(size.domain is None for size in value.shape)
    if isinstance(value, Extent):
        return value.domain is None
    if isinstance(value, tuple):
        return type(value) is tuple and all(_is_fixed(part) for part in value)
    return isinstance(value, float)
