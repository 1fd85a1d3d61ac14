"""Tuned CUDA kernels: equal to the point functions in numba's simulator, and lean in PTX and machine code."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from paddle_layers.config import loads
from paddle_layers.define import DefinitionError
from paddle_layers.kernels import tuned as kernels_tuned
from paddle_layers.kernels.cuda import gemm
from paddle_layers.kernels.cuda.images import convolutions
from paddle_layers.kernels.selection import load_kernels
from paddle_layers.kernels.tuned import call_by_name, point_functions_only, tuned_at_every_size, tuned_kernels
from paddle_layers.runtime import Net
from paddle_layers.runtime.devices.cuda import cubin_of, cuda_driver, ptx_of, simulated_device
from paddle_layers.testing.properties.cuda import launches_of
from tests.gpu.kernel_table import FRAME, REGISTERS, attributes
from tests.selection import RUNTIME, every_architecture, files_of, later_unless_changed, with_marks

DATA = 'layer {{ name: "x" type: "data" data {{ shape: [{}] }} }}\n'
LAYER = 'layer {{ name: "{}" type: "{}" input: "x" propagate_down: true {} {} {{ {} bias: false }} }}\n'
SHARED = 'param { of: "weight" share: "w" }'
TOLERANCE = {"float64": 1e-13, "float32": 1e-6}
SLOW = [pytest.mark.slow, *later_unless_changed(__file__, *files_of("fc"), *files_of("conv"))]
COMPILER = (str(path) for folder in ("devices/cuda", "generate") for path in (RUNTIME / folder).glob("*.py"))
RARE = later_unless_changed(
    __file__, *COMPILER, *(file for layer in ("fc", "conv", "matmul") for file in files_of(layer))
)


def network(kind, shape, settings, names):
    """Layers that share input and weights: for the second, gradients are added to what is there."""
    shared = SHARED if len(names) > 1 else ""
    return loads(
        DATA.format(", ".join(map(str, shape)))
        + "".join(LAYER.format(name, kind, shared, kind, settings) for name in names)
    )


def step(net, x):
    """Outputs and gradients of one step, and the tuned kernels that ran."""
    rng = np.random.default_rng(1)
    for parameter in net.parameters.values():
        parameter.value = rng.standard_normal(parameter.shape)
    found = dict(net.forward({"x": x}, phase="train", step=0))
    net.backward(gradients={name: rng.standard_normal(value.shape) for name, value in found.items()})
    found |= {f"d{name}": parameter.gradient for name, parameter in net.parameters.items()}
    found["dx"] = net.gradient("x")
    used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
    return {name: np.array(value) for name, value in found.items()}, used


def compare(kind, rows, shape, settings, names=("first",), dtype="float64"):
    """Tuned kernels on the simulated card against point functions on the CPU; gives the names of those that ran."""
    chosen = network(kind, shape, settings, names)
    x = np.random.default_rng(0).standard_normal((rows, *shape))
    with point_functions_only():
        expected, _ = step(Net(chosen, dtype=dtype), x)
    with tuned_at_every_size():
        found, used = step(Net(chosen, dtype=dtype, device=simulated_device()), x)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=TOLERANCE[dtype] * np.abs(values).max())
    return used


@pytest.mark.parametrize(
    ("rows", "columns", "size", "enough"),
    [
        pytest.param(3, 5, 7, gemm.ENOUGH, id="tiles of 16"),
        pytest.param(1, 140, 18, gemm.ENOUGH, id="one row", marks=SLOW),
        pytest.param(18, 70, 20, 1, id="tiles of 32", marks=SLOW),
        pytest.param(35, 66, 34, 1, id="tiles of 64", marks=SLOW),
        pytest.param(35, 66, 34, gemm.ENOUGH, id="many tiles of 16", marks=SLOW),
        pytest.param(66, 66, 66, 1, id="many tiles of 64", marks=SLOW),
        pytest.param(130, 67, 66, 0, id="tiles of 128", marks=SLOW),
    ],
)
def test_fc(rows, columns, size, enough, monkeypatch):
    monkeypatch.setattr(gemm, "ENOUGH", enough)
    monkeypatch.setattr(gemm, "ENOUGH_LARGEST", 1 if enough == 0 else sys.maxsize)
    assert compare("fc", rows, (columns,), f"size: {size}") == {"fc_y", "fc_dx", "fc_dweight"}


CONV = {"conv_y", "conv_dx", "conv_dweight", "conv_dweight_sum"}
CONVOLUTIONS = {
    "odd": ((3, 6, 7), "num_filters: 4 filter_size: 3"),
    "stride, padding": ((2, 7, 5), "num_filters: 3 filter_size: 2 filter_size_y: 3 stride: 2 stride_y: 3 padding: 1"),
    "dilation, groups": ((4, 6, 6), "num_filters: 6 filter_size: 3 padding: 2 dilation: 2 stride_y: 2 groups: 2"),
    "many filters": ((1, 3, 3), "num_filters: 66 filter_size: 2"),
    "many channels": ((67, 2, 2), "num_filters: 1 filter_size: 1"),
}


PRODUCTS = loads(
    'layer { name: "x" type: "data" data { shape: [2, 5, 7] } }'
    'layer { name: "other" type: "data" data { shape: [2, 7, 3] } }'
    'layer { name: "first" type: "matmul" input: "x" propagate_down: true input: "other" propagate_down: true }'
    'layer { name: "second" type: "matmul" input: "x" propagate_down: true input: "other" propagate_down: true }'
)
"""Two layers with the same inputs: gradients are added to what is there."""


@with_marks(RARE)
def test_products_of_the_matrices_of_a_batch():
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((3, 2, 5, 7)), "other": rng.standard_normal((3, 2, 7, 3))}
    slopes = {name: rng.standard_normal((3, 2, 5, 3)) for name in ("first", "second")}
    with tuned_at_every_size(), Net(PRODUCTS, dtype="float64", device=simulated_device()) as net:
        found = dict(net.forward(feeds, phase="train", step=0))
        net.backward(gradients=slopes)
        used = {launch.name for launch in net.plan("train").launches if launch.items is not None}
        gradients = [np.array(net.gradient(name)) for name in feeds]
    assert used == {"matmul_y", "matmul_dx", "matmul_dother"}
    total = slopes["first"] + slopes["second"]
    for values, expected in zip(
        [*found.values(), *gradients],
        [
            *[feeds["x"] @ feeds["other"]] * 2,
            total @ np.swapaxes(feeds["other"], 2, 3),
            np.swapaxes(feeds["x"], 2, 3) @ total,
        ],
        strict=True,
    ):
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", [pytest.param(name, marks=RARE if name == "odd" else SLOW) for name in CONVOLUTIONS])
def test_conv(name):
    assert compare("conv", 2, *CONVOLUTIONS[name]) == CONV


@pytest.mark.parametrize(
    ("sizes", "settings", "blocks"),
    [
        pytest.param((4, 2, 9, 9, 4, 1, 7), "num_filters: 4 filter_size: 3 groups: 2", 2 * 2, marks=SLOW),
        pytest.param((3, 34, 5, 5, 35, 34, 5), "num_filters: 35 filter_size: 3 padding: 1", 5 * 3, marks=SLOW),
    ],
)
def test_blocks_share_the_depth_of_a_gradient_of_filters(sizes, settings, blocks, monkeypatch):
    monkeypatch.setattr(gemm, "PART", 1)
    rows, *shape, K, D, P = sizes
    (kernel,) = tuned_kernels("conv", "conv_dweight", "cuda")
    named = {"N": rows, "K": K, "D": D, "A": 3, "B": 3, "P": P, "Q": P, "groups": shape[0] // D}
    assert call_by_name(kernel.items, named) == blocks
    assert compare("conv", rows, tuple(shape), settings) == CONV


@pytest.mark.parametrize(
    ("limit", "shape", "settings"),
    [
        pytest.param("ENOUGH", (34, 3, 4), "num_filters: 35 filter_size: 2 padding: 1", id="large", marks=SLOW),
        pytest.param("ENOUGH_LARGEST", (66, 4, 5), "num_filters: 67 filter_size: 1", id="the largest", marks=SLOW),
    ],
)
def test_conv_by_large_tiles(limit, shape, settings, monkeypatch):
    monkeypatch.setattr(gemm, limit, 1)
    compare("conv", 3, shape, settings)


@pytest.mark.parametrize(
    ("kind", "shape", "settings"),
    [
        ("fc", (5,), "size: 3"),
        pytest.param("conv", (2, 3, 3), "num_filters: 3 filter_size: 2 padding: 1", marks=SLOW),
    ],
)
def test_adds_to_gradients_that_are_there(kind, shape, settings):
    compare(kind, 4, shape, settings, ("first", "second"), "float32")


@pytest.mark.parametrize(
    ("function", "sizes", "faster"),
    [
        ("fc_y", {"N": 64, "C_i": 4096, "K": 1000}, True),
        ("fc_dweight", {"N": 64, "C_i": 800, "K": 500}, True),
        ("fc_y", {"N": 64, "C_i": 500, "K": 10}, False),
        ("conv_y", {"N": 64, "K": 50, "D": 20, "A": 5, "B": 5, "P": 8, "Q": 8, "groups": 1}, True),
        ("conv_dweight", {"N": 64, "K": 64, "D": 64, "A": 3, "B": 3, "P": 56, "Q": 56, "groups": 1}, True),
        ("conv_dx", {"N": 64, "K": 128, "D": 1, "A": 3, "B": 3, "H": 56, "W": 56, "groups": 128}, False),
    ],
)
def test_point_functions_stay_where_they_are_faster(function, sizes, faster):
    layer = function.partition("_")[0]
    load_kernels(layer, "cuda")
    (kernel,) = tuned_kernels(layer, function, "cuda")
    assert (call_by_name(kernel.work, sizes) >= gemm.MIN_WORK) is faster


@pytest.mark.parametrize("function", ["fc_y", "fc_dx", "fc_dweight", "conv_y", "conv_dx", "matmul_y"])
def test_the_width_of_tiles_is_that_of_the_kernel_for_batches_of_all_sizes(function):
    layer = function.partition("_")[0]
    load_kernels(layer, "cuda")
    (kernel,) = tuned_kernels(layer, function, "cuda")
    sizes = dict.fromkeys(["N", "C_i", "K", "D", "B", "M", "P", "Q", "H", "W"], 64) | {"A": 1, "groups": 1}
    for sizes["N"] in (1, 64):
        # Four times as many tiles of half the width, even where another width would be selected for the batch.
        counts = [call_by_name(kernel.items, sizes | {"bits": bits}) for bits in (4, 5, 6)]
        assert counts[0] >= 2 * counts[1] >= 4 * counts[2] > 0


def test_images_too_large_for_the_tables_stay_with_the_point_functions():
    sizes = {"C": 3, "H": 512, "W": 512, "K": 4, "D": 3, "A": 1, "B": 1, "P": 512, "Q": 512}
    assert convolutions.fits(N=1000, **sizes)
    assert not convolutions.fits(N=1100, **sizes)


KERNELS = {
    "fc": (network("fc", (5,), "size: 3", ("first",)), ("fc_y", "fc_dx", "fc_dweight")),
    "conv": (network("conv", *CONVOLUTIONS["odd"], ("first",)), ("conv_y", "conv_dx", "conv_dweight")),
    "matmul": (PRODUCTS, ("matmul_y", "matmul_dx", "matmul_dother")),
}


@pytest.mark.parametrize("architecture", every_architecture())
@pytest.mark.parametrize("bits", [pytest.param(bits, marks=() if bits == 6 else SLOW) for bits in (4, 5, 6, 7)])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=() if name == "fc_y" else RARE)
        for kind, (_, names) in KERNELS.items()
        for name in names
    ],
)
def test_registers_hold_the_sums(kind, name, bits, architecture):
    with tuned_at_every_size():
        found = {launch.name: launch for launch in launches_of(KERNELS[kind][0], training=True)}
    code = found[name].code
    driver = cuda_driver(replace(code, constants={**code.constants, "bits": bits}), "float32")
    text = ptx_of(driver)
    assert ".local" not in text
    assert ".f64" not in text
    assert text.count("fma.rn.f32") == 2 * gemm.SUMS**2  # of two steps
    assert text.count("ld.shared.v4.f32") >= gemm.SUMS - 1  # one by one they would take longer than the products
    cubin = cubin_of(driver, architecture)
    assert max(attributes(cubin, REGISTERS)) <= 128  # then two blocks share a multiprocessor
    # What is spilled is read after the loops, as the kernel table shows.
    assert max(attributes(cubin, FRAME)) <= (32 if kind == "conv" and bits in {4, 7} else 0)


def test_a_kernel_after_another_one_is_checked(monkeypatch):
    monkeypatch.setattr(kernels_tuned, "_TUNED", {})

    def first(y, scratch): ...

    def second(y, scratch): ...

    first.__module__ = second.__module__ = "some.kernels"
    with pytest.raises(DefinitionError, match="second: `after` must be a kernel of `fc_y` of `fc`, registered earlier"):
        kernels_tuned.tuned("fc", "fc_y", device="cuda", items=lambda: 1, after=first)(second)
    kernels_tuned.tuned("fc", "fc_y", device="cuda", items=lambda: 1, scratch=lambda: 4)(first)
    with pytest.raises(DefinitionError, match="takes only `items`, `threads`, `runs` and `folded`"):
        kernels_tuned.tuned("fc", "fc_y", device="cuda", items=lambda: 1, least=5, after=first)(second)
    kernels_tuned.tuned("fc", "fc_y", device="cuda", items=lambda: 1, after=first)(second)
    (entry,) = kernels_tuned.tuned_kernels("fc", "fc_y", "cuda")
    assert (entry.call, entry.then.call) == (first, second)
