"""What is folded into a driver's text is what holds when a network is built."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

import paddle_layers as pl
from paddle_layers.define import helper
from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.generate.specialise import helper_programs, specialise
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.schedule.schedule import LaunchSchedule

SCALE = 3


@helper
def times_scale(value, unread):
    return SCALE * value


def scaled(i, x, unread):
    return times_scale(x[i], unread) + SCALE


def texts() -> tuple[str, str]:
    function = Function("builtin", (), scaled)
    program = specialise(function.program, {}, function.call)
    return program.text, helper_programs(function.call)["times_scale"].text


def test_numbers_of_the_module_are_those_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all("3" in text for text in texts())
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 7)
    assert all("7" in text and "3" not in text for text in texts())


def test_a_helper_keeps_arguments_that_it_does_not_read() -> None:
    assert texts()[1].startswith("def times_scale(value, unread):")


def test_what_is_known_is_gone_from_the_arguments() -> None:
    function = Function("builtin", (), scaled)
    assert specialise(function.program, {"unread": None}, function.call).arguments == ("i", "x")


def test_the_same_question_has_the_same_answer() -> None:
    function = Function("builtin", (), scaled)
    first = specialise(function.program, {"unread": True}, function.call)
    assert specialise(function.program, {"unread": True}, function.call) is first
    assert specialise(function.program, {"unread": False}, function.call) is not first


@pytest.mark.parametrize(
    ("one", "settings"),
    [("concat", lambda _: ""), ("addto", lambda _: ""), ("slice", lambda count: f"slice {{ parts: {count} }}")],
)
def test_any_number_of_items_has_the_same_kernels(one: str, settings: Callable[[int], str]) -> None:
    assert kernels(one, 3, settings(3)) == kernels(one, 5, settings(5))


def kernels(layer: str, count: int, settings: str) -> set[Kernel | TunedCall]:
    """What is compiled for a layer of `count` inputs, or outputs, forward and backward."""
    names = [f"x{number}" for number in range(1 if layer == "slice" else count)]
    data = "".join(f'layer {{ name: "{name}" type: "data" data {{ shape: 30 }} }}' for name in names)
    inputs = " ".join(f'input: "{name}" propagate_down: true' for name in names)
    network = pl.loads(f'{data} layer {{ name: "y" type: "{layer}" {inputs} {settings} }}')
    schedule = LaunchSchedule(
        build_graph(network, ParameterSet("float32"), {}),
        "float32",
        training=True,
        output_gradients=dict.fromkeys(network.outputs),
        keep=network.outputs,
    )
    return {launch.code for launch in (*schedule.forward, *schedule.backward)}
