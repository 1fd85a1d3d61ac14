"""Matrix products by BLAS, of few large and many small matrices, against NumPy; two layers add to each gradient."""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.kernels.selection import load_all_kernels

load_all_kernels()
SHAPES = [([70, 5], [5, 9]), ([3, 33, 4], [3, 4, 35]), ([2, 5, 1, 3], [2, 5, 3, 1]), ([1, 7], [7, 1])]
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: {} }} }}
layer {{ name: "o" type: "data" data {{ shape: {} }} }}
layer {{ name: "a" type: "matmul" input: "x" input: "o" propagate_down: [true, true] }}
layer {{ name: "b" type: "matmul" input: "x" input: "o" propagate_down: [true, true] }}
"""


@pytest.fixture(autouse=True)
def for_every_size(monkeypatch):
    """Let tuned kernels run on small shapes too."""
    everywhere = {key: [entry._replace(least=0) for entry in found] for key, found in tuned._TUNED.items()}
    monkeypatch.setattr(tuned, "_TUNED", everywhere)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_equals_numpy(left, right, dtype):
    with pl.Net(pl.loads(TEXT.format(left, right)), dtype=dtype) as net:
        for rows in (1, 9, 2):
            rng = np.random.default_rng(rows)
            x, other = rng.standard_normal((rows, *left)), rng.standard_normal((rows, *right))
            first, second = rng.standard_normal((2, rows, *left[:-1], right[-1]))
            found = net.forward({"x": x, "o": other}, phase="train")
            net.backward(gradients={"a": first, "b": second})
            slope = first + second
            wanted = {
                "a": (found["a"], x @ other),
                "dx": (net.gradient("x"), slope @ np.swapaxes(other, -1, -2)),
                "dother": (net.gradient("o"), np.swapaxes(x, -1, -2) @ slope),
            }
            for name, (value, expected) in wanted.items():
                scale = np.abs(expected).max()
                np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE[dtype] * scale, err_msg=name)
        used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
    assert used == {"matmul_y", "matmul_dx", "matmul_dother"}
