"""Update each parameter within the backward pass, as soon as nothing reads it or its gradient any more.

Gradients of parameters are then buffers of the plan like others, and share memory with what lives at other times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Argument, Held, Ref, refs_of
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.launches.builtin import FILL, simple_launch
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.launches.step_launches import loop_bounds
from paddle_layers.runtime.memory.parameters import Parameter

KEPT = "a callback with one of the methods on_gradients and on_step keeps the gradients of parameters"


@dataclass
class Updates:
    """What an optimizer does to each of these parameters, given where its gradient lies."""

    parameters: Sequence[Parameter]
    launches: Callable[[Parameter, Ref], list[Launch]]
    numbers: dict[str, float] = field(default_factory=dict)
    """Those of the step that the next backward pass makes, such as the learning rate."""

    def take_numbers(self) -> dict[str, float]:
        """The numbers, for one pass. Raises `RuntimeError` for a pass that belongs to no step."""
        if not self.numbers:
            raise RuntimeError(f"backward passes of this training update the parameters, once in a step: {KEPT}")
        numbers, self.numbers = self.numbers, {}
        return numbers


def update_early(backward: Sequence[Launch], updates: Updates, dtype: str) -> list[Launch]:
    """The launches with those of the updates among them; gradients of parameters have buffers in place of the arena."""
    loop_end = {at: last - 1 for first, last in loop_bounds(backward) for at in range(first, last)}
    gradients = {
        parameter: Buffer(f"gradient of {parameter.name}", Extent(parameter.size), dtype)
        for parameter in updates.parameters
    }
    done: dict[Parameter, int] = {}
    for at, launch in enumerate(backward):
        held = [ref.owner for argument in launch.args for ref in refs_of(argument) if isinstance(ref.owner, Held)]
        done |= {owner.parameter: loop_end.get(at, at) for owner in held}
        own = list(dict.fromkeys(gradients[owner.parameter] for owner in held if owner.part == "gradient"))
        launch.args = [_moved(argument, gradients) for argument in launch.args]
        launch.reads, launch.writes = [*launch.reads, *own], [*launch.writes, *own]
    ready: dict[int, list[Parameter]] = {}
    written = {buffer for launch in backward for buffer in launch.writes}
    launches: list[Launch] = []
    for parameter, gradient in gradients.items():
        if gradient not in written:
            launches.append(simple_launch(FILL, parameter.name, [_flat(gradient), 0.0]))
        ready.setdefault(done.get(parameter, len(backward) - 1), []).append(parameter)
    for at, launch in enumerate(backward):
        launches.append(launch)
        for parameter in ready.get(at, ()):
            launches += updates.launches(parameter, _flat(gradients[parameter]))
    return launches


def _flat(buffer: Buffer) -> Ref:
    return Ref(buffer, (buffer.extent,), "float64" if buffer.dtype == "float64" else "real")


def _moved(argument: Argument, gradients: dict[Parameter, Buffer]) -> Argument:
    """The argument with the buffers of gradients in place of those in the arena."""
    if isinstance(argument, Ref):
        owner = argument.owner
        own = isinstance(owner, Held) and owner.part == "gradient"
        return argument._replace(owner=gradients[owner.parameter]) if isinstance(owner, Held) and own else argument
    if isinstance(argument, tuple) and argument and isinstance(argument[0], Ref):
        return tuple(_moved(ref, gradients) for ref in argument)  # type: ignore[return-value]
    return argument
