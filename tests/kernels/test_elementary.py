"""Exponentials and logarithms in vector code: their errors over all numbers of float32, against float64."""

import math
import re
from types import ModuleType

import numba
import numpy as np
import pytest
import scipy.special

import paddle_layers as pl
from paddle_layers.kernels.primitives import elementary, float32_helpers

LIMITS = {"exp": 1.1, "expm1": 1.7, "tanh": 2.8, "log": 1.0, "log1p": 1.7, "erfc": 4.1}
"""Units of the last place."""
HELPER_LIMITS = {"sigmoid": 2.9, "gelu": 5.7}


def gelu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) - np.where(np.isinf(x), 0, np.abs(x) * scipy.special.ndtr(-np.abs(x)))


EXACT = {name: getattr(np, name, None) or getattr(scipy.special, name) for name in LIMITS}
EXACT |= {"sigmoid": scipy.special.expit, "gelu": gelu}
SINGLE = elementary.SINGLE | float32_helpers.SINGLE
SMALLEST = 2.0**-149
ODD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, SMALLEST, -SMALLEST, 2.0**-126, 3.4028235e38, -3.4028235e38]
ODD += [88.722839, 88.72284, -87.33655, -103.97208, -103.97209, -104.0, 9.999999, 10.0, 10.1, -17.4, 0.5, -0.5]


def every(step: int, start: int) -> np.ndarray:
    """Every `step`-th number of float32, negative ones, infinities and NaN included, and some odd ones."""
    bits = np.arange(start, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([np.array(ODD, np.float32), bits.view(np.float32)])


def over_all(function):
    @numba.njit(error_model="numpy")
    def run(result, values):
        for i in range(values.size):
            result[i] = function(values[i])

    return run


def units_off(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place; infinite where one side alone is NaN or infinite."""
    with np.errstate(all="ignore"):
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite], equal_nan=True)
    unit = np.maximum(np.spacing(np.abs(expected[finite])).astype(np.float64), SMALLEST)
    return float((np.abs(found[finite].astype(np.float64) - exact[finite]) / unit).max())


def error_of(name: str, step: int, start: int = 0) -> float:
    values = every(step, start)
    found = np.empty_like(values)
    over_all(SINGLE[name])(found, values)
    with np.errstate(all="ignore"):
        return units_off(found, EXACT[name](values.astype(np.float64)))


@pytest.mark.parametrize(("name", "limit"), [*LIMITS.items(), *HELPER_LIMITS.items()])
def test_the_error_is_within_its_bound(name: str, limit: float) -> None:
    assert error_of(name, 4099) <= limit


@pytest.mark.slow
@pytest.mark.later  # the usual run takes fewer numbers
@pytest.mark.parametrize(("name", "limit"), [*LIMITS.items(), *HELPER_LIMITS.items()])
def test_the_error_is_within_its_bound_on_more_numbers(name: str, limit: float) -> None:
    for start in range(8):
        assert error_of(name, 257, start * 31) <= limit


def test_the_derivative_of_gelu_is_exact_to_four_units_of_1() -> None:
    values = np.concatenate([np.linspace(-16, 16, 1 << 16, dtype=np.float32), np.float32([np.inf, -np.inf])])
    found, x = np.empty_like(values), values.astype(np.float64)
    over_all(SINGLE["gelu_derivative"])(found, values)
    finite = np.where(np.isinf(x), 0, x)
    exact = scipy.special.ndtr(x) + finite * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    assert np.abs(found - exact).max() <= 4 * 2.0**-24


def test_an_error_is_seen() -> None:
    exact = np.exp(np.float64([0.5, 1.0]))
    found = exact.astype(np.float32)
    assert units_off(found, exact) <= 0.5
    assert 4.5 < units_off(found + 5 * np.spacing(found), exact) < 5.5


def test_all_are_measured() -> None:
    assert set(elementary.SINGLE) == set(LIMITS)
    assert set(float32_helpers.SINGLE) == {*HELPER_LIMITS, "gelu_derivative"}


@pytest.mark.parametrize("name", LIMITS)
def test_float64_is_computed_by_the_library(name: str) -> None:
    function = getattr(elementary, name)
    values = np.array([0.3, 0.7])
    found = np.empty_like(values)

    @numba.njit
    def call(v):
        return function(v)  # chosen by the type

    over_all(call)(found, values)
    assert found.tolist() == [getattr(math, name)(v) for v in values]


ACTIVATIONS = {
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -104.0),
    "tanh": (np.tanh, -math.inf),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), -math.inf),
    "gelu": (gelu, -math.inf),
}
"""What they compute in float64, and from where on it is so exact."""


@pytest.mark.parametrize("layer", ACTIVATIONS)
def test_activations_are_exact_to_some_units(layer: str) -> None:
    exact, least = ACTIVATIONS[layer]
    values = every(65537, 7)
    values = values[(values >= least) & np.isfinite(values)]
    text = f"""layer {{ name: "x" type: "data" data {{ shape: [1] }} }}
               layer {{ name: "y" type: "{layer}" input: "x" }}"""
    with pl.Net(pl.loads(text)) as net, np.errstate(over="ignore"):
        found = net.forward({"x": values[:, None]}, phase="test")["y"][:, 0]
        assert units_off(found, exact(values.astype(np.float64))) <= HELPER_LIMITS.get(layer, 4)


@pytest.mark.parametrize(("module", "limits"), [(elementary, LIMITS), (float32_helpers, HELPER_LIMITS)])
def test_the_documented_errors_are_those_of_the_tests(module: ModuleType, limits: dict[str, float]) -> None:
    told = re.findall(r"(\w+) (\d)[,;.]", module.__doc__ or "")
    assert {name: int(units) for name, units in told} == {
        name: math.ceil(limit - 0.2) for name, limit in limits.items()
    }
