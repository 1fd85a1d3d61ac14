"""Whether samples are independent, read off the text of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import paddle_layers as pl
from paddle_layers.define import Example, Input, Output, Temp, each, layer

Function = Callable[..., float]


def own_row(n, c, x, C):
    total = 0.0
    for d in range(C):
        total += x[n, d] * x[n, c]
    return total


def width(n, c, x):
    return x[n, c] * x.shape[1]


def local_name(n, c, x):
    total = x[n, c]  # a tensor of this name exists, too, which is not asked for
    total += 1.0
    return total


def next_row(n, c, x):
    return x[n + 1, c]


def first_row(n, c, x):
    return x[0, c]


def count(n, c, x, N):
    return x[n, c] / N


def rows_of_shape(n, c, x):
    return x[n, c] / x.shape[0]


def every_row(n, c, x, N):
    return max(x[m, c] for m in range(N))


def other_index(n, c, x):
    n = n // 2
    return x[n, c]


def whole_tensor(n, c, x):
    other = x
    return other[n, c]


def from_the_start(t, c, s, x, S_start):
    first = S_start[s]
    total = 0.0
    for u in range(first, t + 1):
        total += x[u, c]
    return total


def next_of_sequence(t, c, s, x, S_start):
    return x[t + 1, c] if t + 1 < S_start[s + 1] else 0.0


def absolute(t, c, s, x):
    return x[5, c]


ROWS = {
    own_row: True,
    width: True,
    local_name: True,
    next_row: False,
    first_row: False,
    count: False,
    rows_of_shape: False,
    every_row: False,
    other_index: False,
    whole_tensor: False,
}
SEQUENCES = {from_the_start: True, next_of_sequence: True, absolute: False}


@pytest.fixture
def independent() -> Iterator[Callable[[Function, str, int], bool]]:
    """Whether a layer with this function has independent samples."""

    def of(function: Function, rows: str, level: int) -> bool:
        owner = type(
            "Probe", (), {"__doc__": "A probe.", "x": Input(f"{rows} C", "rows", seq=(level,), derivative=False)}
        )
        owner.y = Output(f"{rows} C", "rows")
        owner.total = Temp("C", "a name that functions may have for a local number")
        for name in ("y", "total"):
            getattr(owner, name).__set_name__(owner, name)
        owner.examples = (Example(x="sequence of 3" if level else "3"),)
        layer("probe")(owner)
        each(owner.y)(function)
        each(owner.total)(zero)
        return pl.registry["probe"].facts.rows_independent

    yield of
    pl.registry.remove("probe")


def zero(c):
    return 0.0


@pytest.mark.parametrize("function", ROWS)
def test_rows(function: Function, independent: Callable[[Function, str, int], bool]) -> None:
    assert independent(function, "N", 0) == ROWS[function]


@pytest.mark.parametrize("function", SEQUENCES)
def test_rows_of_sequences(function: Function, independent: Callable[[Function, str, int], bool]) -> None:
    assert independent(function, "T:S", 1) == SEQUENCES[function]


def test_the_statistics_of_a_batch_make_its_samples_dependent() -> None:
    assert not pl.registry["batch_norm"].facts.rows_independent
    assert all(pl.registry[name].facts.rows_independent for name in ("relu", "conv", "fc", "softmax_with_loss"))
    assert not pl.registry["batch_norm"].message.facts.rows_independent
    assert pl.registry["fc"].message.facts.rows_independent
