"""What a layer does to memory: every element is written, nothing dead is read, inputs stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.runtime import Net, Sequences

from .cases import Case

Results = dict[str, NDArray[Any]]


def check_memory(case: Case) -> Iterator[tuple[str, str | None]]:
    """Run twice, the second time with every buffer that should not matter full of NaN: the bits must be the same."""
    arrays = case.arrays()
    feeds = case.feeds(arrays)
    clean, poisoned = (_run(case, feeds, poison) for poison in (False, True))
    for name, values in clean.items():
        yield name, _compare(values, poisoned[name])
    for place, (before, after) in enumerate(zip(case.arrays(), arrays, strict=True)):
        same = all(np.array_equal(a, b) for a, b in zip(_parts(before), _parts(after), strict=True))
        yield f"in{place}", None if same else "the input was modified"


def _run(case: Case, feeds: dict[str, Any], poison: bool) -> Results:
    with case.net() as net:
        net.forward(feeds, phase=case.phase, step=0)
        results = {} if not case.definition.outputs else _outputs(net, case, feeds, poison)
        if case.phase == "train" and case.definition.facts.can_do_bp:
            results |= _gradients(net, case, feeds, poison)
        return results


def _outputs(net: Net, case: Case, feeds: dict[str, Any], poison: bool) -> Results:
    if poison:
        net.plan(case.phase).poison(0)
    outputs = net.forward(feeds, phase=case.phase, step=0)
    return {name: _array(value) for name, value in outputs.items()}


def _gradients(net: Net, case: Case, feeds: dict[str, Any], poison: bool) -> Results:
    outputs = net.forward(feeds, step=0)
    ones = {name: np.ones_like(_array(v)) for name, v in outputs.items() if _array(v).dtype.kind == "f"}
    net.backward(gradients=ones)
    if poison:
        net.plan("train").poison(0)
    net.forward(feeds, step=0)
    if poison:
        plan = net.plan("train")
        plan.poison(plan.boundary)
        net.arena.gradients.write(np.array(np.nan))
    net.backward(gradients=ones)
    found = {f"gradient of {p.name}": p.gradient.copy() for p in net.parameters.values() if p.gradient is not None}
    for place, type_ in enumerate(case.types):
        if type_.kind == "DENSE" and case.inputs[place].name in case.definition.facts.differentiable:
            found[f"gradient of in{place}"] = net.gradient(f"in{place}")
    return found


def _array(value: Any) -> NDArray[Any]:
    return np.asarray(value.data if isinstance(value, Sequences) else value)


def _parts(value: Any) -> list[Any]:
    return [value] if isinstance(value, np.ndarray) else [value.start, value.id, value.value]


def _compare(clean: NDArray[Any], poisoned: NDArray[Any]) -> str | None:
    if np.array_equal(clean, poisoned, equal_nan=True):
        return None
    place = tuple(int(i) for i in np.argwhere((clean != poisoned) & ~(np.isnan(clean) & np.isnan(poisoned)))[0])
    return f"at {place}: {clean[place]!r}, but {poisoned[place]!r} when unused memory is full of NaN"
