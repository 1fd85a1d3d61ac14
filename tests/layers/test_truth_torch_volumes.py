"""Lines and volumes against torch: convolutions, transposed ones and pools, values and all gradients."""

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")
functional = torch.nn.functional

LINE, VOLUME = (4, 9), (4, 5, 6, 4)
CASES = {
    "conv1d": (
        LINE, "num_filters: 6 filter_size: 3 stride: 2 padding: 2 dilation: 2 groups: 2", (6, 2, 3),
        lambda x, w, b: functional.conv1d(x, w, b, stride=2, padding=2, dilation=2, groups=2),
    ),
    "conv1d_trans": (
        LINE, "num_filters: 6 filter_size: 3 stride: 2 padding: 1 output_padding: 1 groups: 2", (4, 3, 3),
        lambda x, w, b: functional.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1, groups=2),
    ),
    "conv3d": (
        VOLUME,
        "num_filters: 6 filter_size: [2, 3, 2] stride: [1, 2, 1] padding: [1, 0, 2] dilation: [2, 1, 3] groups: 2",
        (6, 2, 2, 3, 2),
        lambda x, w, b: functional.conv3d(
            x, w, b, stride=(1, 2, 1), padding=(1, 0, 2), dilation=(2, 1, 3), groups=2
        ),
    ),
    "conv3d_trans": (
        VOLUME, "num_filters: 6 filter_size: [2, 3, 2] stride: [2, 1, 3] padding: [1, 0, 1] output_padding: [1, 0, 2] "
        "groups: 2", (4, 3, 2, 3, 2),
        lambda x, w, b: functional.conv_transpose3d(
            x, w, b, stride=(2, 1, 3), padding=(1, 0, 1), output_padding=(1, 0, 2), groups=2
        ),
    ),
    "pool1d": (
        LINE, "pool_size: 3 stride: 2 padding: 1", None,
        lambda x: functional.max_pool1d(x, 3, 2, 1, ceil_mode=True),
    ),
    "pool3d": (
        VOLUME, "pool_size: [2, 3, 2] stride: 2 padding: [1, 1, 0]", None,
        lambda x: functional.max_pool3d(x, (2, 3, 2), 2, (1, 1, 0), ceil_mode=True),
    ),
    "pool3d mean": (
        VOLUME,
        "pool_type: AVERAGE pool_size: [2, 3, 2] stride: 2 padding: [1, 1, 0] rounding: FLOOR divisor: KERNEL", None,
        lambda x: functional.avg_pool3d(x, (2, 3, 2), 2, (1, 1, 0)),
    ),
    "adaptive_pool1d": (LINE, "size: 4", None, lambda x: functional.adaptive_max_pool1d(x, 4)),
    "adaptive_pool mean": (
        VOLUME[1:], "size: 3 size_y: 4 pool_type: AVERAGE", None,
        lambda x: functional.adaptive_avg_pool2d(x, (4, 3)),
    ),
    "adaptive_pool3d": (VOLUME, "size: [2, 4, 3]", None, lambda x: functional.adaptive_max_pool3d(x, (2, 4, 3))),
    "adaptive_pool3d mean": (
        VOLUME, "size: [2, 4, 6] pool_type: AVERAGE", None,
        lambda x: functional.adaptive_avg_pool3d(x, (2, 4, 6)),
    ),
}  # fmt: skip
PART = {"conv1d": "conv.", "conv1d_trans": "conv_trans."}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    layer = name.split()[0]
    shape, settings, filters, function = CASES[name]
    network = pl.loads(
        f'layer {{ name: "x" type: "data" data {{ shape: {list(shape)} }} }}\n'
        f'layer {{ name: "y" type: "{layer}" input: "x" propagate_down: true {layer} {{ {settings} }} }}\n'
    )
    rng = np.random.default_rng(1)
    x, of = rng.standard_normal((3, *shape)), f"y.{PART.get(layer, '')}"
    given = [x]
    with pl.Net(network, dtype="float64") as net:
        if filters:
            given += [rng.standard_normal(filters), rng.standard_normal(6)]
            for own, value in zip(("weight", "bias"), given[1:], strict=True):
                held = net.parameters[of + own]
                held.value = value.reshape(held.shape)
        found = net.forward({"x": x}, phase="train")["y"]
        delta = rng.standard_normal(found.shape)
        net.backward(gradients={"y": delta})
        gradients = [net.gradient("x"), *(net.parameters[of + own].gradient for own in ("weight", "bias") if filters)]
    tensors = [torch.tensor(value, requires_grad=True) for value in given]
    expected = function(*tensors)
    expected.backward(torch.tensor(delta))
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-12, atol=1e-12)
    for gradient, tensor in zip(gradients, tensors, strict=True):
        np.testing.assert_allclose(gradient.reshape(tensor.shape), tensor.grad.numpy(), rtol=1e-11, atol=1e-11)
