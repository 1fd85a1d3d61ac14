"""An interrupt at any line of a pass: the next pass gives what a new net gives."""

from __future__ import annotations

import contextlib
import functools
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers import Sequences

pytestmark = pytest.mark.usefixtures("as_python")

SMALL = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "hidden" type: "fc" input: "x" fc { size: 2 } }
layer { name: "norm" type: "batch_norm" input: "hidden" batch_norm { drop_rate: 0.2 } }
layer { name: "scores" type: "fc" input: "norm" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
layer { name: "error" type: "classification_error" input: "scores" input: "label" }
"""
NETWORK = """
layer { name: "words" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "start" type: "data" data { shape: 2 carry: "end" } }
layer { name: "table" type: "embedding" input: "words" embedding { size: 2 } }
layer {
  name: "states" type: "recurrent_group" input: "table" input: "start" recurrent_group { static: "start" }
  step {
    layer { name: "before" type: "memory" input: "start" memory { of: "state" } }
    layer { name: "state" type: "fc" input: "table" input: "before" fc { size: 2 act: "tanh" drop_rate: 0.3 } }
    output: "state"
  }
}
layer { name: "end" type: "seq_last" input: "states" }
layer { name: "hidden" type: "fc" input: "x" fc { size: 2 } }
layer { name: "norm" type: "batch_norm" input: "hidden" }
layer { name: "scores" type: "fc" input: "end" input: "norm" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
layer { name: "error" type: "classification_error" input: "scores" input: "label" }
"""
FOLDER = Path(pl.__file__).parent
ATOMIC = ("kernels", "layers", "config", "runtime/generate", "runtime/devices/cpu/interpreter.py")
"""Compiled code, for which Python stands here, and what keeps nothing."""
STATEFUL = ("runtime/net", "runtime/plan/plan", "runtime/plan/metrics", "runtime/batch/carried", "runtime/memory")
Results = dict[str, Any]


@functools.cache
def is_traced(file: str, files: tuple[str, ...]) -> bool:
    """Whether the lines of a file are counted; those of `contextlib` run between lines of ours."""
    path = Path(file)
    if not path.is_relative_to(FOLDER):
        return path.name == "contextlib.py"
    name = path.relative_to(FOLDER).as_posix()
    return name.startswith(files) and not name.startswith(ATOMIC)


class Interrupt:
    """Raises `KeyboardInterrupt` before line event number `at` in some files of the package, or lists all events."""

    def __init__(self, files: Sequence[str], at: int = -1) -> None:
        self.files, self.at = tuple(files), at
        self.events: list[tuple[str, int]] = []

    def _enter(self, frame: FrameType, *_: object) -> Callable[..., Any] | None:
        return self._line if is_traced(frame.f_code.co_filename, self.files) else None

    def _line(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if event == "line":
            if len(self.events) == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            self.events.append((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def run(self, function: Callable[[], object]) -> str:
        """Call a function; the place of the interrupt, or nothing."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            function()
        except KeyboardInterrupt as error:
            return str(error)
        finally:
            sys.settrace(before)
        return ""


def interrupts(files: Sequence[str], function: Callable[[], object]) -> list[Interrupt]:
    """One interrupt before each line that a function runs, at one of the times that it does."""
    every = Interrupt(files)
    every.run(function)
    places = list(enumerate(every.events))
    random.Random(1).shuffle(places)
    return [Interrupt(files, at) for at in sorted({event: at for at, event in places}.values())]


def batch(net: pl.Net, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(rows)
    made: dict[str, Any] = {"x": rng.standard_normal((rows, 3)), "label": rng.integers(0, 3, rows)}
    if "words" in net.network:
        lengths = rng.integers(1, 4, rows)
        starts = np.append(0, np.cumsum(lengths))
        made |= {"words": Sequences(rng.integers(0, 9, starts[-1]), starts), "start": rng.standard_normal((rows, 2))}
    return made


def step(net: pl.Net, rows: int) -> Results:
    """All that a forward and a backward pass give."""
    net.forward(batch(net, rows), step=rows)
    net.backward()
    return results(net)


def results(net: pl.Net) -> Results:
    """What can be read after a pass; what is refused is left out."""
    readers: dict[str, Callable[[], Any]] = {"loss": lambda: net.loss}
    for name in ("hidden", "scores"):
        readers |= {name: partial(net.value, name), f"gradient of {name}": partial(net.gradient, name)}
    for name, parameter in net.parameters.items():
        readers[f"gradient of {name}"] = partial(getattr, parameter, "gradient")
    found: Results = {}
    for name, read in readers.items():
        with contextlib.suppress(RuntimeError):
            found[name] = np.array(read())
    return found


def numbers(net: pl.Net) -> Results:
    """What outlives a pass."""
    return {
        **{name: parameter.stored.copy() for name, parameter in net.arena.by_name.items()},
        **{f"carried {name}": rows for name, rows in net.carried.rows.items()},
        **{name: np.array(value) for name, value in net.statistics().items()},
    }


def assert_in(found: Results, allowed: Sequence[Results], where: str) -> None:
    for name, array in found.items():
        assert any(name in one and np.array_equal(array, one[name]) for one in allowed), (name, where)


def new_net(text: str) -> pl.Net:
    return pl.Net(pl.loads(text), dtype="float64", seed=3, keep=["hidden", "scores"])


@pytest.mark.parametrize(
    ("text", "files"), [(SMALL, STATEFUL), pytest.param(NETWORK, ("",), marks=pytest.mark.slow)], ids=["small", "all"]
)
def test_the_pass_after_an_interrupt_is_that_of_a_new_net(text: str, files: tuple[str, ...]) -> None:
    net, states = new_net(text), {}
    expected = {rows: step(net, rows) for rows in (5, 3)}  # the interrupted batch has other rows than those around it
    states = {name: state.stored.copy() for name, state in net.states.items()}
    carried = net.carried.rows

    def start() -> None:
        net.arena.restore_states(states)
        net.carried.rows = carried
        net.reset_statistics()
        for phase in net._phases.values():
            phase._known.clear()  # so that every pass chooses its kernels, and can be interrupted there
        step(net, 3)

    start()
    before = numbers(net)
    step(net, 5)
    after = numbers(net)
    start()
    every = interrupts(files, lambda: step(net, 5))
    for interrupt in every:
        start()
        where = interrupt.run(lambda: step(net, 5))
        assert where
        assert_in(results(net), [*expected.values()], where)
        assert_in(numbers(net), [before, after], where)
        found = step(net, 3)
        assert found.keys() == expected[3].keys(), where
        assert_in(found, [expected[3]], where)


PLANNING = ("runtime/net", "runtime/plan/phase", "runtime/graph/domains")


WIDTHS = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "spread" type: "softmax" input: "x" }
layer { name: "squares" type: "dot_prod" input: "x" input: "spread" }
"""


def other_sizes(rows: int, width: int) -> Callable[[int, int], Any]:
    """Forward passes of a net, over some rows of a width; one has run."""
    net = pl.Net(pl.loads(WIDTHS), dtype="float64")

    def run(rows: int, width: int) -> Any:
        return net.forward({"x": np.arange(1.0, 1 + rows * width).reshape(rows, width)})["squares"]

    run(rows, width)
    return run


@pytest.mark.parametrize(("interrupted", "following"), [((9, 3), (8, 3)), ((2, 7), (2, 3)), ((2, 7), (2, 7))])
def test_a_plan_for_other_sizes_is_not_left_by_an_interrupt(
    interrupted: tuple[int, int], following: tuple[int, int]
) -> None:
    """Sizes of the graph, capacities and plans change one after the other."""
    expected = other_sizes(*following)(*following)
    other_sizes(2, 3)(*interrupted)  # what a process does once is done
    for interrupt in interrupts(PLANNING, partial(other_sizes(2, 3), *interrupted)):
        run = other_sizes(2, 3)
        where = interrupt.run(partial(run, *interrupted))
        assert where
        np.testing.assert_array_equal(run(*following), expected, where)


def test_an_interrupted_backward_pass_leaves_no_gradients_to_step_with() -> None:
    net = new_net(SMALL)
    optimizer = pl.Optimizer(net, "adam")
    net.forward(batch(net, 5))

    def fail(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        net.backward(ready=fail)
    for read in (lambda: net.parameters["scores.weight"].gradient, lambda: optimizer.step(0.1)):
        with pytest.raises(RuntimeError, match="the last backward pass was interrupted"):
            read()
    assert optimizer.steps == 0
    net.backward()
    optimizer.step(0.1)
