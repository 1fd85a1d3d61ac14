"""Which devices a layer's functions compile for is read off their text, and the compiler says the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest

import paddle_layers as pl
from paddle_layers.define import Example, Input, Ints, LayerDefinition, Output, body, each, helper, layer, real
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.testing.properties.cuda import compile_layer
from tests.selection import ARCHITECTURE

Function = Callable[..., float]


@helper
def first(values):
    return values[0]


@helper
def row_sum(one, other, c):
    return (one + other)[c]


@helper
def listed(v):
    values = [v, v]
    return values[0]


@helper
def repeated(v, times):
    return v if times <= 0 else repeated(v + v, times - 1)


def loops(n, c, x, C):
    best = x[n, 0]
    for k in range(1, C):
        if x[n, k] == best:
            continue
        best = max(best, x[n, k])
    while best > real(9.0):
        best -= math.sqrt(best)
    return best * real(x.shape[1]) + real(len(x)) ** 2


def pairs(n, c, x, offsets):
    low, high = (x[n, c], x[n, 0]) if c > 0 else (x[n, 0], x[n, c])
    for k in [0, 0]:
        low += x[n, k]
    for k in range(2):
        low += real(offsets[k])
    return (low, high)[1] if c in (0, 1) else low


def views(n, c, x):
    row = x[n]
    others = x[n, 1:]
    return row[c] + first(others) + x.T[c, n] - first(x[n]) * real(x.ndim)


def rows_of_a_condition(n, c, x):
    row = x[n] if c > 0 else x[0]
    return row[c]


def makes_a_list(n, c, x):
    both = [0.0, x[n, c]]
    return both[1]


def makes_a_list_in_a_loop(n, c, x, C):
    return [x[n, k] for k in range(C)][c]


def looks_up_a_list(n, c, x):
    return x[n, c] * real([1, 2, 3, 4][c])


def looks_up_a_set(n, c, x):
    return x[n, c] if c in {0, 1} else 0.0


def makes_a_text(n, c, x):
    return x[n, c] * real(len(f"{c}"))


def chooses_a_text(n, c, x):
    word = "low" if c > 0 else "high"
    return x[n, c] if word == "low" else 0.0


def subtracts_rows(n, c, x, C):
    row = x[n]
    apart = row - x[0]
    total = real(0.0)
    for k in range(C):
        total += apart[k] * apart[k]
    return total


def negates_a_row(n, c, x):
    return (-x[n])[c]


def compares_rows(n, c, x):
    return x[n, c] if (x[n] == x[0])[c] else 0.0


def chooses_by_a_row(n, c, x):
    return x[n, x[n] > 0][0]


def multiplies_rows(n, c, x):
    return x[n] @ x[n]


def mean_of_a_row(n, c, x):
    return x[n].mean()


def copies_a_row(n, c, x):
    return x[n].copy()[c]


def divides(n, c, x):
    return x[n, c] * real(math.gcd(n + 6, 4))


def list_of_a_helper(n, c, x):
    return listed(x[n, c])


def rows_to_a_helper(n, c, x):
    return row_sum(x[n], x[0], c)


def calls_itself(n, c, x):
    return repeated(x[n, c], 3)


FOR_CARDS = (loops, pairs, views, rows_of_a_condition)
FOR_THE_CPU = (
    *(makes_a_list, makes_a_list_in_a_loop, looks_up_a_list, looks_up_a_set, makes_a_text, chooses_a_text),
    *(subtracts_rows, negates_a_row, compares_rows, chooses_by_a_row, multiplies_rows, mean_of_a_row, copies_a_row),
    *(divides, list_of_a_helper, rows_to_a_helper, calls_itself),
)
DEFAULT = (views, makes_a_list, subtracts_rows, rows_to_a_helper)
"""Functions that the usual run compiles."""


@pytest.fixture
def layer_of() -> Iterator[Callable[[Function], LayerDefinition]]:
    """A layer with this function."""

    def of(function: Function) -> LayerDefinition:
        owner = type("Probe", (), {"__doc__": "A probe."})
        for name, field in {
            "x": Input("N C", "rows", derivative=False),
            "offsets": Ints("numbers", default=(1, 2)),
            "y": Output("N C", "rows"),
        }.items():
            setattr(owner, name, field)
            field.__set_name__(owner, name)
        owner.examples = [Example(x="4")]
        each(layer("probe")(owner).y)(function)
        found: LayerDefinition = pl.registry["probe"]
        return found

    yield of
    for name in ("probe", "probe_of_probes"):
        pl.registries["layer"].remove(name)


def compiles(definition: LayerDefinition) -> bool:
    """Whether the compiler makes machine code for a card of all functions; it fails in many ways."""
    try:
        with point_functions_only():
            for kernel in compile_layer(definition, (ARCHITECTURE,)):
                kernel.link()
    except Exception:
        return False
    return True


@pytest.mark.parametrize("function", FOR_CARDS, ids=lambda function: function.__name__)
def test_what_compiles_for_cards(function: Function, layer_of: Callable[[Function], LayerDefinition]) -> None:
    assert list(layer_of(function).definition.facts.devices) == ["cpu", "cuda"]


@pytest.mark.parametrize("function", FOR_THE_CPU, ids=lambda function: function.__name__)
def test_what_compiles_for_the_cpu_only(function: Function, layer_of: Callable[[Function], LayerDefinition]) -> None:
    assert list(layer_of(function).definition.facts.devices) == ["cpu"]


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(one, id=one.__name__, marks=() if one in DEFAULT else pytest.mark.slow)
        for one in (*FOR_CARDS, *FOR_THE_CPU)
    ],
)
def test_the_compiler_agrees(function: Function, layer_of: Callable[[Function], LayerDefinition]) -> None:
    assert compiles(layer_of(function)) == (function in FOR_CARDS)


def test_the_compiler_agrees_on_layers_for_the_cpu_only() -> None:
    """That the others compile is a property of the conformance kit."""
    for definition in map(pl.registry.__getitem__, pl.registry):
        assert "cuda" in definition.definition.facts.devices or not compiles(definition)


def test_a_layer_of_layers_has_the_devices_of_all_its_parts(layer_of: Callable[[Function], LayerDefinition]) -> None:
    layer_of(makes_a_list)

    @layer("probe_of_probes")
    class ProbeOfProbes:
        """A part for both devices, and one for the CPU."""

        x = Input("N C", "rows")
        y = Output("N C", "rows")
        examples = (Example(x="4"),)

    @body(ProbeOfProbes)
    def probes_body(net, x):
        return net.probe(net.tanh(x))

    assert list(pl.registry["probe_of_probes"].definition.facts.devices) == ["cpu"]
    assert list(pl.registry["transformer_block"].definition.facts.devices) == ["cpu", "cuda"]
