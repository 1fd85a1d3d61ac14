"""conv_trans beside conv, whose transpose it is, and as what enlarges an image by bilinear interpolation."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_layers as pl

pytestmark = pytest.mark.usefixtures("as_python")

SETTINGS = "stride: 2 padding: 1 bias: false"
BACK = """
layer { name: "y" type: "data" data { shape: [3, 4, 5] } }
layer { name: "back" type: "conv_trans" input: "y" conv_trans { num_filters: 2 filter_size: 3 %s output_padding_y: 1 } }
"""
THERE = """
layer { name: "x" type: "data" data { shape: [2, 8, 9] } }
layer { name: "there" type: "conv" input: "x" conv { num_filters: 3 filter_size: 3 %s } }
"""


def test_it_is_the_transpose_of_conv() -> None:
    there, back = pl.Net(pl.loads(THERE % SETTINGS)), pl.Net(pl.loads(BACK % SETTINGS))
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((3, 2, 3, 3), np.float32)
    for net, layer in ((there, "there"), (back, "back")):
        net.parameters[f"{layer}.weight"].value[:] = weight
    x, y = rng.standard_normal((2, 2, 8, 9), np.float32), rng.standard_normal((2, 3, 4, 5), np.float32)
    there.forward({"x": x})
    back.forward({"y": y})
    assert np.vdot(there.value("there"), y) == pytest.approx(np.vdot(x, back.value("back")), rel=1e-5)


@pytest.mark.parametrize("times", [2, 3])
def test_the_initializer_bilinear_enlarges(times: int) -> None:
    """A ramp stays one, away from the border, where there are zeros outside."""
    size, padding = 2 * times - times % 2, times // 2
    net = pl.Net(
        pl.loads(f"""
        layer {{ name: "x" type: "data" data {{ shape: [2, 5, 6] }} }}
        layer {{
          name: "y" type: "conv_trans" input: "x"
          param {{ of: "weight" init {{ type: "bilinear" }} }}
          conv_trans {{ num_filters: 2 groups: 2 filter_size: {size} stride: {times} padding: {padding} bias: false }}
        }}""")
    )
    ramp = np.add.outer(np.arange(5.0), 10 * np.arange(6.0))
    net.forward({"x": np.stack([ramp, -ramp])[None].astype(np.float32)})
    y = net.value("y")[0]
    rows, columns = ((np.arange(extent * times) + 0.5) / times - 0.5 for extent in (5, 6))
    inside = slice(times, -times)
    wanted = np.add.outer(rows, 10 * columns)[inside, inside]
    assert y.shape == (2, 5 * times, 6 * times)
    np.testing.assert_allclose(y[:, inside, inside], [wanted, -wanted], rtol=1e-5)
