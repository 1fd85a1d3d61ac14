"""Point functions rewritten for vectors: the same numbers, and only what may be rewritten."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define.functions.program import Program
from paddle_layers.runtime.devices.cpu.arrays import LANES
from paddle_layers.runtime.devices.cpu.column_form import column_form
from paddle_layers.runtime.devices.cpu.vector_form import vector_form


def text_of(source: str, dtype: str = "float32", indices=("i",), arrays=("x", "y")) -> str:
    return vector_form(Program.parse(source), dtype, indices, arrays).text


@pytest.mark.parametrize(
    ("line", "unsigned"),
    [
        ("return x[i]", "x[numba.uint64(i)]"),
        ("return x[i + 1]", "x[numba.uint64(i + 1)]"),
        ("return x[i // 2]", "x[numba.uint64(i // 2)]"),
        ("return x[i - 1]", "x[i - 1]"),
        ("return x[i * size]", "x[i * size]"),
        ("return x[i // size]", "x[i // size]"),
        ("return x[max(0, i - 1)]", "x[numba.uint64(max(0, i - 1))]"),
        ("return x[min(3, i - 1)]", "x[min(3, i - 1)]"),
        ("return pair[i]", "pair[i]"),
        ("return x.shape[i]", "x.shape[i]"),
        ("for k in range(size):\n        return x[k]", "x[numba.uint64(k)]"),
        ("for k in range(max(0, size), 5):\n        return x[k]", "x[numba.uint64(k)]"),
        ("for k in range(size, 5):\n        return x[k]", "x[k]"),
        ("for k in range(5, 0, -1):\n        return x[k]", "x[k]"),
        ("k = i\n    k -= 2\n    return x[k]", "x[k]"),
        ("k = i\n    k = k + 2\n    return x[k]", "x[numba.uint64(k)]"),
        ("k, m = i, -1\n    return x[k]", "x[numba.uint64(k)]"),
        ("k, m = i, -1\n    return x[m]", "x[m]"),
        ("i = size\n    return x[i]", "x[i]"),
    ],
)
def test_an_index_that_cannot_be_negative_is_unsigned(line: str, unsigned: str) -> None:
    assert f"return {unsigned}" in text_of(f"def f(i, x, pair, size):\n    {line}")


def test_sums_in_loops_may_be_reordered_and_others_not() -> None:
    text = text_of("def f(i, x):\n    a = 0.0\n    a += 1.0\n    for k in range(3):\n        a += x[k]\n    return a")
    assert "a += 1.0" in text
    assert "a = add_(a, x[numba.uint64(k)])" in text


@pytest.mark.parametrize(("dtype", "function"), [("float32", "elementary.exp"), ("float64", "math.exp")])
def test_functions_of_float32_are_polynomials(dtype: str, function: str) -> None:
    assert text_of("def f(i, x):\n    return math.exp(x[i]) + math.sqrt(x[i])", dtype).count(function) == 1


COLUMNS = {
    "a sum": "total = 0.0\n    for n in range(x.shape[0]):\n        total += x[n, i] * y[n, i]\n    return total",
    "two results": """a = 0.0
    b = 1.0
    for n in range(x.shape[0]):
        a += x[n, i]
        b = max(b, y[n, i])
    return a, b / size""",
    "a condition": """total = 0.0
    after = size // 2
    for n in range(after, x.shape[0]):
        if x[n, i] > 0.0:
            total += x[n, i]
        else:
            total += 0.5
    total = total / size
    return total * x[0, i]""",
    "loops in loops": """total = 0.0
    for n in range(x.shape[0]):
        row = 0.0
        for m in range(size):
            row += y[m, i]
        total += row * x[n, i]
    return total""",
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("width", [1, 5])
def test_columns_side_by_side_are_the_columns(name: str, width: int) -> None:
    program = Program.parse(f"def f(i, x, y, size):\n    {COLUMNS[name]}")
    columns = column_form(vector_form(program, "float64", ("i",), ("x", "y")), "i")
    assert columns is not None
    scope = {
        "numba": SimpleNamespace(uint64=int),
        "stack_": lambda dtype: np.full(LANES, math.nan, dtype),
        "add_": lambda total, value: total + value,
        "LANES": LANES,
        "real": np.float64,
    }
    exec(program.text + "\n" + columns.text, scope)
    rng = np.random.default_rng(0)
    x, y, first = rng.standard_normal((4, 9)), rng.standard_normal((4, 9)), 3
    results = [np.full(LANES, math.nan) for _ in range(2 if name == "two results" else 1)]
    arguments = {"x": x, "y": y, "size": 3, "first_": first, "width_": width}
    arguments |= {f"result{at}_": result for at, result in enumerate(results)}
    scope["columns_"](*(arguments[name] for name in columns.arguments))
    expected = np.array([np.atleast_1d(scope["f"](i, x, y, 3)) for i in range(first, first + width)])
    np.testing.assert_allclose(np.stack(results, 1)[:width], expected, rtol=1e-13)
    assert np.isnan(results[0][width:]).all()


def test_a_loop_over_an_axis_of_one_element_is_none() -> None:
    body = """total = 0.0
    for n in range(3):
        for j in range(x.shape[2]):
            total += x[n, i, j] * y[n, j]
    return total"""
    form = vector_form(Program.parse(f"def f(i, x, y):\n    {body}"), "float64", ("i",), ("x", "y"))
    assert column_form(form, "i") is None
    columns = column_form(form, "i", {"x.shape[2]"})
    assert columns is not None
    assert "range(x.shape[2])" not in columns.text
    assert "numba.uint64(0)]" in columns.text


@pytest.mark.parametrize(
    "body",
    [
        "return x[0, i]",  # no loop
        "total = 0.0\n    for n in range(3):\n        total += x[i, n]\n    return total",  # along the row
        "total = 0.0\n    for n in range(i):\n        total += x[n, i]\n    return total",  # another loop for each lane
        "for n in range(3):\n        if x[n, i] > 0.0:\n            return x[n, i]\n    return 0.0",
        "best = 0\n    for n in range(3):\n        if x[n, i] > 0.0:\n            best = n\n    return x[best, i]",
        "total = double(0)\n    for n in range(3):\n        total += x[n, i]\n    return total",
        "total = 0.0\n    if size > 2:\n        for n in range(3):\n            total += x[n, i]\n    return total",
    ],
)
def test_other_functions_stay_as_they_are(body: str) -> None:
    assert column_form(vector_form(Program.parse(f"def f(i, x, y, size):\n    {body}"), "float64"), "i") is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_axis_of_one_leaves_the_numbers_alone(dtype: str) -> None:
    """Rows are images of one pixel: the loop goes over the channels."""
    text = """layer { name: "x" type: "data" data { shape: SHAPE } }
              layer { name: "y" type: "prelu" input: "x" propagate_down: true }"""
    x = np.random.default_rng(0).standard_normal((3, 5))
    results = []
    for shape in ("[5]", "[5, 1, 1]"):
        with pl.Net(pl.loads(text.replace("SHAPE", shape)), dtype=dtype) as net:
            y = net.forward({"x": x.reshape(3, *([5] if shape == "[5]" else [5, 1, 1]))})["y"]
            net.backward(gradients={"y": np.cos(y)})
            results.append((y.reshape(3, 5), net.gradient("x").reshape(3, 5)))
    expected = np.where(x > 0, x, 0.25 * x).astype(dtype)
    slope = np.cos(expected) * np.where(x > 0, 1, 0.25)
    for y, dx in results:
        np.testing.assert_allclose(y, expected, rtol=1e-6)
        np.testing.assert_allclose(dx, slope, rtol=1e-5)
