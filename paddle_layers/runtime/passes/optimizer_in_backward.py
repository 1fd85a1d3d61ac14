"""Optimizer-in-backward: each parameter is updated within the backward pass.

That is as soon as it and its gradient are no longer read. Gradients of parameters are then regular buffers of the plan,
and share memory with others (buffer reuse).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Held, Owner, Ref, refs_of, with_owners
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import FILL, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.step_launches import loop_bounds
from paddle_layers.runtime.memory.parameters import Parameter

KEPT = "add a callback with on_gradients or on_step to keep parameter gradients"


@dataclass
class Updates:
    """The update of each of these parameters by an optimizer, given the memory of its gradient."""

    parameters: Sequence[Parameter]
    launches: Callable[[Parameter, Ref], list[Launch]]
    numbers: dict[str, float] = field(default_factory=dict)
    """Settings of the step that the next backward pass makes, such as the learning rate."""

    def take_numbers(self) -> dict[str, float]:
        """The settings, for one pass. Raises `RuntimeError` for a pass without an announced step."""
        if not self.numbers:
            raise RuntimeError(f"this training updates parameters during backward, once per step; {KEPT}")
        # Taken once: a second backward pass without a new step would apply the same learning rate, and momentum, again.
        numbers, self.numbers = self.numbers, {}
        return numbers


def insert_updates(backward: Sequence[Launch], updates: Updates, dtype: str) -> list[Launch]:
    """The launches including the updates; gradients of parameters have buffers instead of the arena."""
    gradients = {one: Buffer(f"gradient of {one.name}", Extent(one.size), dtype) for one in updates.parameters}
    ready: dict[int, list[Parameter]] = {}
    last = last_uses(backward)
    for parameter in updates.parameters:
        ready.setdefault(last.get(parameter, len(backward) - 1), []).append(parameter)
    # A gradient that no launch writes still has an update (momentum and weight decay move its parameter), with a
    # gradient of zero.
    written = {owner.parameter for launch in backward for owner in _held(launch) if owner.part == "gradient"}
    launches: list[Launch] = [
        simple_launch(FILL, parameter.name, [_flat(gradient), 0.0])
        for parameter, gradient in gradients.items()
        if parameter not in written
    ]
    # After the last use of the parameter as well as of its gradient: gradients of inputs read the old weight.
    for at, launch in enumerate(backward):
        _give_buffers(launch, gradients)
        launches.append(launch)
        for parameter in ready.get(at, ()):
            launches += updates.launches(parameter, _flat(gradients[parameter]))
    return launches


def last_uses(backward: Sequence[Launch]) -> dict[Parameter, int]:
    """For each parameter the last launch that uses it or its gradient: in a loop, the last one of the loop."""
    # Within a loop the next step uses both again.
    loop_end = {at: last - 1 for first, last in loop_bounds(backward) for at in range(first, last)}
    return {owner.parameter: loop_end.get(at, at) for at, launch in enumerate(backward) for owner in _held(launch)}


def _held(launch: Launch) -> list[Held]:
    owners = [ref.owner for argument in launch.args for ref in refs_of(argument)]
    return [owner for owner in owners if isinstance(owner, Held)]


def _give_buffers(launch: Launch, gradients: Mapping[Parameter, Buffer]) -> None:
    """Replaces gradients in the arena by buffers; each counts as read, too, since it may be added to."""

    def given(owner: Owner) -> Owner:
        return gradients[owner.parameter] if isinstance(owner, Held) and owner.part == "gradient" else owner

    own = [gradients[owner.parameter] for owner in _held(launch) if owner.part == "gradient"]
    launch.args = [with_owners(argument, given) for argument in launch.args]
    launch.reads, launch.writes = [*launch.reads, *own], [*launch.writes, *own]


def _flat(buffer: Buffer) -> Ref:
    return Ref(buffer, (buffer.extent,), "float64" if buffer.dtype == "float64" else "real")
