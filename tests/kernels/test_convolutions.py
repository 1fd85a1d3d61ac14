"""Convolutions by tiles of registers and by Winograd's transforms: code for every machine, rounding, batches."""

import re
from collections import Counter

import numpy as np
import pytest
from llvmlite import binding, ir

import paddle_layers as pl
from paddle_layers.kernels import tuned
from paddle_layers.kernels.images.patchify_conv import windows_suit
from paddle_layers.kernels.images.winograd_tiling import pays
from paddle_layers.kernels.primitives.microkernels import (
    DOTS,
    Machine,
    dots_function,
    machine_of,
    shapes,
    tile_function,
)
from paddle_layers.kernels.primitives.plane_kernels import KINDS, window_function
from paddle_layers.kernels.primitives.resampling import resampling_function
from paddle_layers.kernels.primitives.winograd_transforms import KINDS as TRANSFORMS
from paddle_layers.kernels.primitives.winograd_transforms import transform_function
from paddle_layers.runtime.passes import without
from tests.kernels.helpers import conv_problem
from tests.selection import COMPILER, files_of, later_unless_changed, marks_of

binding.initialize_all_targets()
binding.initialize_all_asmprinters()
LAYERS = ("conv", "conv3d", "conv_trans", "conv3d_trans")
RARE = later_unless_changed(__file__, *COMPILER, *(file for layer in LAYERS for file in files_of(layer)))
SLOW = [pytest.mark.slow, *RARE]
TARGETS = {
    "x86-64-v2": ("x86_64-unknown-linux-gnu", "x86-64-v2", "", Machine(16, 4, 2)),
    "AVX2": ("x86_64-unknown-linux-gnu", "x86-64-v3", "", Machine(32, 4, 3)),
    "AVX-512": ("x86_64-unknown-linux-gnu", "x86-64-v4", "", Machine(64, 8, 3)),
    "aarch64": ("aarch64-unknown-linux-gnu", "generic", "+neon", Machine(16, 8, 3)),
}
FUSED = {"x86-64-v2": r"\bmulp[sd]\b", "AVX2": r"\bvfmadd", "AVX-512": r"\bvfmadd", "aarch64": r"\bfmla\b"}
SPILLED = {"AVX2": r"\bv?mov\w+\s+.*\(%rsp\)", "AVX-512": r"\bv?mov\w+\s+.*\(%rsp\)", "aarch64": r"\[sp"}


def assembly(name, build):
    """What LLVM makes of the functions of a module for a target, optimised as numba does."""
    triple, cpu, features, _ = TARGETS[name]
    module = ir.Module()
    module.triple = triple
    build(module)
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=3)
    module.data_layout = str(machine.target_data)
    compiled = binding.parse_assembly(str(module).replace("define linkonce_odr", "define"))
    compiled.verify()
    options = binding.create_pipeline_tuning_options(speed_level=3)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(compiled, builder)
    return machine.emit_assembly(compiled)


def main_loop(text):
    """The instructions of the loop with the most products."""
    loops = re.findall(r"^(\.L\w+):\n((?:(?!^\.L\w+:).*\n)*?.*\b(?:j\w+|b\.\w+|cbnz)\s.*\1\b)", text, re.MULTILINE)
    return max((body for _, body in loops), key=lambda body: len(re.findall(r"mul|fmadd|fmla", body)))


@pytest.mark.parametrize("real", [ir.FloatType(), ir.DoubleType()], ids=str)
@pytest.mark.parametrize("name", TARGETS)
def test_the_largest_tile_stays_in_registers(name, real):
    machine = TARGETS[name][3]
    text = assembly(name, lambda module: tile_function(module, machine, machine.rows, machine.vectors, real))
    loop = main_loop(text)
    assert len(re.findall(FUSED[name], loop)) == machine.rows * machine.vectors
    assert name not in SPILLED or not re.search(SPILLED[name], loop), loop


@pytest.mark.parametrize("name", [pytest.param(name, marks=RARE) for name in TARGETS])
def test_every_tile_and_transform_compiles(name):
    machine = TARGETS[name][3]

    def build(module):
        for real, size in ((ir.FloatType(), 4), (ir.DoubleType(), 8)):
            for rows, vectors in shapes(machine):
                tile_function(module, machine, rows, vectors, real)
            for count in DOTS:
                dots_function(module, machine, count, real)
            for kind in TRANSFORMS:
                transform_function(module, machine.bytes // size, kind, real)
            for kind in KINDS:
                window_function(module, machine, kind, real)
            for picks in (False, *([True] if machine.bytes == 64 else [])):
                resampling_function(module, machine, real, picks)

    text = assembly(name, build)
    assert len(re.findall(r"^\s+ret", text, re.MULTILINE)) >= 2 * (len(shapes(machine)) + len(DOTS) + 6 + len(KINDS))


@pytest.mark.parametrize("name", ["AVX2", "AVX-512"])
@pytest.mark.parametrize("kind", ["correlate", "correlate_2", "spread_2"])
def test_windows_stay_in_registers(kind, name):
    machine = TARGETS[name][3]
    text = assembly(name, lambda module: window_function(module, machine, kind, ir.FloatType()))
    products = 9 * machine.rows // (4 if kind == "spread_2" else 2)
    assert len(re.findall(FUSED[name], text)) + len(re.findall(r"\bvmulps", text)) >= products
    assert len(re.findall(r"vmov\w+\s.*\(%rsp\), %[yz]mm", text)) < products, text


def test_the_machine_is_chosen_by_its_features():
    assert machine_of({"avx512f": True, "avx2": True, "fma": True}, "x86_64-linux") == TARGETS["AVX-512"][3]
    assert machine_of({"avx2": True, "fma": True}, "x86_64-linux") == TARGETS["AVX2"][3]
    assert machine_of({"avx2": True}, "x86_64-linux") == TARGETS["x86-64-v2"][3]
    assert machine_of({"neon": True}, "aarch64-linux") == TARGETS["aarch64"][3]


def conv(*shape_and_attributes, kind="conv"):
    *shape, attributes = shape_and_attributes
    return pl.loads(f"""
    layer {{ name: "x" type: "data" data {{ shape: {shape} }} }}
    layer {{ name: "y" type: "{kind}" input: "x" propagate_down: true {kind} {{ {attributes} }} }}
    layer {{ name: "z" type: "{kind}" input: "x" propagate_down: true
             {kind} {{ {attributes} }} param {{ of: "weight" share: "y.weight" }} }}
    """)


def results(network, x, capacity=None, dtype="float32"):
    """Outputs and gradients of two convolutions that add to the same gradients, and the kernels that ran."""
    with pl.Net(network, dtype=dtype, seed=3) as net:
        if capacity is not None:
            net.forward({"x": np.ones((capacity, *x.shape[1:]))})
        y = net.forward({"x": x})
        rng = np.random.default_rng(5)
        net.backward(gradients={name: rng.standard_normal(value.shape) for name, value in y.items()})
        found = {name: np.array(value) for name, value in y.items()} | {"dx": net.gradient("x").copy()}
        found |= {f"d{p.name}": p.gradient.copy() for p in net.parameters.values()}
        return found, Counter(launch.name for launch in net.plan("train").launches)


def largest_error(expected, actual):
    """Of all tensors, as a share of the largest number of each."""
    return max(float(np.abs(actual[name] - value).max() / np.abs(value).max()) for name, value in expected.items())


@pytest.mark.parametrize(
    ("kind", "rows", "capacity", "shape", "attributes"),
    [
        pytest.param(  # tiles of four images in a vector
            *("conv", 64, None, (16, 7, 6), "num_filters: 17 filter_size: 3 padding: 1"), marks=marks_of("conv")
        ),
        pytest.param("conv", 9, 12, (16, 14, 13), "num_filters: 36 filter_size: 3 padding: 1 padding_y: 2", marks=SLOW),
        pytest.param("conv", 3, 4, (64, 21, 22), "num_filters: 64 filter_size: 3", marks=SLOW),  # runs of filters
        pytest.param("conv", 2, None, (35, 9, 70), "num_filters: 32 filter_size: 3 padding: 2", marks=SLOW),
        pytest.param(  # blocks of several planes, which share what taps see
            *("conv3d", 3, 4, (16, 5, 8, 7), "num_filters: 17 filter_size: 3 padding: 1"), marks=marks_of("conv3d")
        ),
        pytest.param(  # planes of two blocks, and an even number of taps
            "conv3d", 2, 3, (17, 4, 22, 30), "num_filters: 20 filter_size: [2,3,3] padding: [1,2,0]", marks=SLOW
        ),
        pytest.param("conv3d", 1, None, (16, 9, 12, 13), "num_filters: 33 filter_size: [4,3,3] padding: 3", marks=SLOW),
        pytest.param(
            "conv_trans", 5, 6, (20, 16, 15), "num_filters: 18 filter_size: 3 padding: 1 padding_y: 2",
            marks=marks_of("conv_trans"),
        ),
        pytest.param(
            "conv3d_trans", 3, 4, (16, 5, 8, 7), "num_filters: 17 filter_size: 3 padding: 1", marks=SLOW
        ),
    ],
)  # fmt: skip
def test_winograd_equals_the_sums(kind, rows, capacity, shape, attributes):
    network = conv(*shape, attributes, kind=kind)
    x = np.random.default_rng(1).standard_normal((rows, *shape))
    with tuned.tuned_at_every_size():
        actual, used = results(network, x, capacity)
        exact, _ = results(network, x, capacity, "float64")
        with without("winograd"):
            expected, others = results(network, x, capacity, "float64")
    assert used["winograd_conv"] == 4, "outputs and gradients of two layers"
    assert "winograd_conv" not in others
    assert largest_error(expected, exact) < 1e-13
    assert largest_error(expected, actual) < 1e-5


@pytest.mark.parametrize(
    ("N", "filters", "channels", "side", "worth"),
    [
        (1, 192, 48, 13, False),  # 16 tiles, a vector: to read the transformed filters takes longer than the sums
        (1, 256, 64, 13, True),
        (1, 192, 48, 17, True),
        (8, 192, 48, 13, True),
        (8, 192, 15, 13, False),  # less than a vector of channels
        (1, 320, 160, 7, False),  # four tiles, a quarter of a vector
    ],
)
def test_winograd_pays_where_products_are_many(N, filters, channels, side, worth):
    assert pays(N, filters, channels, side, side, training=False) == worth


@pytest.mark.parametrize(
    ("rows", "capacity", "shape", "attributes"),
    [
        pytest.param(3, 4, (32, 31, 32), "num_filters: 128 filter_size: 3 padding: 1", marks=RARE),  # runs of filters
        pytest.param(2, None, (128, 18, 22), "num_filters: 64 filter_size: 3 padding: 2 padding_y: 0", marks=SLOW),
    ],
)
def test_winograds_gradients_of_filters_equal_the_sums(rows, capacity, shape, attributes):
    network = conv(*shape, attributes)
    x = np.random.default_rng(1).standard_normal((rows, *shape))
    actual, _ = results(network, x, capacity)
    exact, _ = results(network, x, capacity, "float64")
    with without("winograd"):
        expected, _ = results(network, x, capacity, "float64")
    assert (exact["dy.weight"] != expected["dy.weight"]).any(), "the sums themselves"
    assert largest_error(expected, exact) < 1e-13
    assert largest_error(expected, actual) < 5e-6


@pytest.mark.parametrize(
    ("kind", "shape", "attributes"),
    [
        pytest.param("conv3d", (16, 3, 4, 6), "num_filters: 32 filter_size: 3 padding: 1", marks=marks_of("conv3d")),
        pytest.param(
            "conv3d", (16, 6, 7, 20),
            "num_filters: 48 filter_size: [2,3,4] padding: [1,2,1] stride: [2,1,2] dilation: [2,1,1]", marks=SLOW,
        ),
        pytest.param("conv3d_trans", (48, 3, 4, 4), "num_filters: 80 filter_size: 4 stride: 2 padding: 1", marks=SLOW),
        pytest.param("conv", (128, 8, 8), "num_filters: 128 filter_size: 3 stride: 2 padding: 1", marks=SLOW),
        pytest.param("conv_trans", (96, 4, 4), "num_filters: 96 filter_size: 4 stride: 2 padding: 1", marks=SLOW),
    ],
)  # fmt: skip
def test_vectors_of_filters_equal_the_sums(kind, shape, attributes):
    """The last three have so many filters that images go together, and fewer of them than the capacity."""
    network = conv(*shape, attributes, kind=kind)
    x = np.random.default_rng(1).standard_normal((6, *shape))
    with tuned.tuned_at_every_size():
        actual, used = results(network, x, 8)
        exact, _ = results(network, x, 8, "float64")
    with tuned.point_functions_only():
        expected, _ = results(network, x, dtype="float64")
    assert {name for name in used if "vectors" in name} == {"vectors_of_volumes", "vectors_of_volumes_back"}
    assert largest_error(expected, exact) < 1e-13
    assert largest_error(expected, actual) < 1e-5


@pytest.mark.parametrize(
    ("kind", "rows", "shape", "attributes"),
    [
        pytest.param(
            "conv_trans", 3, (40, 7, 9), "num_filters: 3 filter_size: 2 stride: 2", marks=marks_of("conv_trans")
        ),
        pytest.param(
            "conv_trans", 1, (20, 6, 30), "num_filters: 5 filter_size: 3 filter_size_y: 1 stride: 3 stride_y: 1",
            marks=SLOW,
        ),
        pytest.param("conv_trans", 2, (30, 40, 41), "num_filters: 18 filter_size: 2 stride: 2", marks=SLOW),
        pytest.param(
            "conv", 5, (2, 48, 40), "num_filters: 31 filter_size: 5 filter_size_y: 4 stride: 5 stride_y: 4",
            marks=marks_of("conv"),
        ),
        pytest.param("conv", 1, (18, 34, 62), "num_filters: 80 filter_size: 2 stride: 2", marks=SLOW),
        pytest.param("conv3d", 2, (3, 4, 6, 18), "num_filters: 32 filter_size: 2 stride: 2", marks=SLOW),
        pytest.param(
            "conv3d_trans", 2, (32, 3, 5, 9), "num_filters: 5 filter_size: [2,1,2] stride: [2,1,2]", marks=SLOW
        ),
    ],
)  # fmt: skip
def test_windows_side_by_side_equal_the_sums(kind, rows, shape, attributes):
    """Of fewer images than there is memory for; broken vectors, some runs of filters and of windows."""
    network = conv(*shape, attributes, kind=kind)
    x = np.random.default_rng(6).standard_normal((rows, *shape))
    with tuned.tuned_at_every_size():
        actual, _ = results(network, x, rows + 3)
        exact, _ = results(network, x, rows + 3, "float64")
    with tuned.point_functions_only():
        expected, _ = results(network, x, dtype="float64")
    assert largest_error(expected, exact) < 1e-13
    assert largest_error(expected, actual) < 1e-5


def test_which_windows_lie_side_by_side():
    def suit(x, filter_, y, step=None, ahead=(0, 0, 0), groups=1):
        sizes = dict(zip("ZHWEABRPQ", (*x, *filter_, *y), strict=True))
        return windows_suit(conv_problem(**sizes, groups=groups, step=step or filter_, ahead=ahead))

    assert suit((1, 16, 32), (1, 2, 2), (1, 8, 16))
    assert suit((4, 2, 48), (2, 2, 3), (2, 1, 16), step=(2, 5, 3))  # one row of windows: any stride
    assert not suit((1, 17, 32), (1, 2, 2), (1, 8, 16))  # a row that no window sees
    assert not suit((1, 16, 32), (1, 2, 2), (1, 8, 16), ahead=(0, 0, 1))
    assert not suit((1, 16, 32), (1, 2, 2), (1, 8, 16), step=(1, 2, 3))
    assert not suit((1, 16, 32), (1, 2, 2), (1, 8, 16), groups=2)
    assert not suit((1, 8, 16), (1, 1, 1), (1, 8, 16))  # single elements, which others take
    assert not suit((1, 14, 14), (1, 2, 2), (1, 7, 7))  # short rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "attributes",
    [
        "num_filters: 32 filter_size: 3 padding: 1",
        "num_filters: 40 filter_size: 1",
        "num_filters: 300 filter_size: 5",  # images of an item: as many as go together and divide the batch
    ],
)
@pytest.mark.parametrize("rows", [1, 3, 6])
def test_fewer_rows_than_the_capacity(rows, attributes):
    network = conv(20, 9, 8, attributes)
    x = np.random.default_rng(rows).standard_normal((rows, 20, 9, 8))
    with tuned.tuned_at_every_size(), without("winograd"):
        actual, used = results(network, x, 11)
    with tuned.point_functions_only():
        expected, _ = results(network, x)
    assert {"conv_y", "conv_dx", "conv_dweight"} <= {*used}
    assert largest_error(expected, actual) < 1e-5


@pytest.mark.parametrize(
    ("rows", "capacity", "shape", "attributes"),
    [
        pytest.param(2, 3, (6, 9, 7), "num_filters: 54 filter_size: 3 stride: 2 padding: 1 groups: 2", marks=RARE),
        pytest.param(1, None, (5, 12, 11), "num_filters: 48 filter_size: 5 filter_size_y: 4 dilation: 2", marks=SLOW),
        pytest.param(1, None, (33, 7, 7), "num_filters: 64 filter_size: 1 stride: 2", marks=SLOW),
        pytest.param(1, None, (300, 28, 28), "num_filters: 64 filter_size: 3 stride: 2", marks=SLOW),  # bands of rows
    ],
)
def test_planes_that_are_laid_out_once_give_the_same(rows, capacity, shape, attributes):
    network = conv(*shape, attributes)
    x = np.random.default_rng(3).standard_normal((rows, *shape))
    with tuned.tuned_at_every_size(), without("winograd"):
        actual, used = results(network, x, capacity)
    with tuned.point_functions_only():
        expected, _ = results(network, x)
    assert "correlate_packed" in used
    assert largest_error({"y": expected["y"]}, actual) < 1e-5


@pytest.mark.parametrize(
    ("rows", "capacity", "shape", "filters"),
    [  # whole and broken vectors
        pytest.param(3, 4, (36, 5, 7), 33, marks=RARE),
        pytest.param(1, None, (70, 7, 7), 300, marks=SLOW),
    ],
)
def test_vectors_of_filters_give_the_same_in_small_images(rows, capacity, shape, filters):
    x = np.random.default_rng(4).standard_normal((rows, *shape))
    with pl.Net(conv(*shape, f"num_filters: {filters} filter_size: 1"), seed=3) as net:
        expected = net.forward({"x": x})["y"]
        for count in (capacity or rows, rows):
            actual = net.forward({"x": np.resize(x, (count, *shape))}, phase="test")["y"]
        assert "pointwise_conv_small" in {launch.name.partition(" + ")[0] for launch in net.plan("test").launches}
        assert largest_error({"y": expected}, {"y": actual}) < 1e-5
        net.parameters["y.weight"].value[:] = 1
        ones = net.forward({"x": x}, phase="test")["y"]
        np.testing.assert_allclose(ones[:, 0], x.sum(1) + net.parameters["y.bias"].value[0], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_the_rounding_of_winograd():
    """The bound in the docstring, for as many channels as networks have."""
    network = conv(256, 16, 16, "num_filters: 64 filter_size: 3 padding: 1 bias: false")
    x = np.random.default_rng(2).standard_normal((4, 256, 16, 16))
    with tuned.tuned_at_every_size():
        exact, _ = results(network, x, dtype="float64")
        actual, used = results(network, x)
        with without("winograd"):
            sums, _ = results(network, x)
    assert "winograd_conv" in used
    assert largest_error({"y": exact["y"], "dx": exact["dx"]}, actual) < 5e-6
    assert largest_error({"y": exact["y"], "dx": exact["dx"]}, sums) < 5e-6
