"""What the kernels of recurrent layers are made of: panels, vector functions, blocks; and layers of real sizes."""

import contextlib

import numba
import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.primitives.packed_panels import TILES, panel_numbers, tail_numbers
from paddle_layers.kernels.primitives.vector_functions import sigmoid_all, tanh_all
from paddle_layers.kernels.recurrences.packed_gemm import pack, step_product
from paddle_layers.kernels.recurrences.sequence_batching import active_sequences, block, blocks_of, most_of
from paddle_layers.kernels.tuned import point_functions_only
from paddle_layers.runtime import Sequences
from tests.kernels.helpers import from_python
from tests.selection import COMPILER, files_of, later_unless_changed, marks_of

LAYERS = ("recurrent", "lstmemory", "grumemory")
pytestmark = later_unless_changed(__file__, *COMPILER, *(file for layer in LAYERS for file in files_of(layer)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize(("depth", "wide", "rest"), [(1, 1, 0), (5, 31, 3), (40, 32, 16), (7, 33, 33), (64, 100, 50)])
def test_products_of_a_step_are_those_with_both_parts_of_the_weight(dtype, transposed, depth, wide, rest):
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((depth, wide + rest)).astype(dtype)
    parts = [part.T if transposed else part for part in np.split(weight, [wide], axis=1)]
    panels = np.full(sum(map(panel_numbers, *zip(*(part.shape for part in parts), strict=True))), np.nan, dtype)
    from_python(pack)(0, TILES // 2, panels, weight, wide, transposed)
    from_python(pack)(TILES // 2, TILES, panels, weight, wide, transposed)
    product, place, at = from_python(step_product), np.full(tail_numbers(), np.nan, dtype), panels.ctypes.data
    for part in parts if rest else parts[:1]:
        values, sums = rng.standard_normal((16, len(part))).astype(dtype), np.empty((16, part.shape[1]), dtype)
        for rows in range(1, 17):
            sums[:] = np.nan
            after = product(sums, rows, values, at, place.ctypes.data)
            np.testing.assert_allclose(sums[:rows], values[:rows] @ part, rtol=0, atol=len(part) * 1e-6)
            assert np.isnan(sums[rows:]).all()
        at = after


@pytest.mark.parametrize(("function", "exact"), [(tanh_all, np.tanh), (sigmoid_all, lambda v: 1 / (1 + np.exp(-v)))])
@pytest.mark.parametrize(("dtype", "units"), [(np.float32, 3), (np.float64, 2)])
def test_vector_functions_are_right_to_the_last_places(function, exact, dtype, units):
    positive = np.concatenate([np.linspace(0, 80, 50001), np.logspace(-30, 2, 1000)])
    values = np.concatenate([positive[positive <= 80], -positive[positive <= 80]]).astype(dtype)
    found, expected = values.copy(), exact(values.astype(np.longdouble))
    from_python(function)(found)
    assert (np.abs(found - expected) <= units * np.spacing(np.abs(expected).astype(dtype))).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vector_functions_at_infinity(dtype):
    values = np.array([np.nan, np.inf, -np.inf], dtype)
    tanh, sigmoid = values.copy(), values.copy()
    from_python(tanh_all)(tanh)
    from_python(sigmoid_all)(sigmoid)
    np.testing.assert_array_equal(tanh, np.array([np.nan, 1, -1], dtype))
    np.testing.assert_allclose(sigmoid, np.array([np.nan, 1, 0], dtype), atol=1e-38)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("count", [1, 3, 9, 31, 64, 100, 300])
def test_blocks_hold_every_row_once(count, reverse):
    lengths = np.random.default_rng(count).integers(0, 6, count)
    starts, seen = np.cumsum([0, *lengths]), []
    rows_of, there = from_python(block), from_python(active_sequences)
    for item in range(blocks_of(count)):
        chosen, begins, found, step = rows_of(item, starts, reverse)
        assert 1 <= len(begins) <= most_of(count)
        assert (np.diff(found) <= 0).all()
        np.testing.assert_array_equal(found, np.diff(starts)[chosen])
        for q in range(found[0]):
            seen += [begins[r] + q * step for r in range(there(found, q))]
    assert sorted(seen) == list(range(starts[-1]))


@pytest.mark.parametrize("number", [blocks_of, most_of])
def test_scratch_memory_for_a_batch_is_enough_for_smaller_ones(number):
    counts = [number(count) for count in range(400)]
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    ("kind", "settings", "sequences", "before"),
    [
        pytest.param("lstmemory", "", 37, [], marks=marks_of("lstmemory")),
        pytest.param("lstmemory", "return_state: true", 37, ["h", "c"], marks=marks_of("lstmemory")),
        pytest.param("grumemory", "", 150, ["h"], marks=marks_of("grumemory")),
        pytest.param("grumemory", "reset_after: true", 60, ["h"], marks=marks_of("grumemory")),
        pytest.param("recurrent", "", 70, ["h"], marks=marks_of("recurrent")),
    ],
)
def test_layers_of_real_sizes_are_the_point_functions_with_the_same_bits_at_any_number_of_threads(
    kind, settings, sequences, before
):
    gates = {"lstmemory": 4, "grumemory": 3, "recurrent": 1}[kind]
    data = "".join(f'layer {{ name: "{one}" type: "data" data {{ shape: 40 seq_nested_level: 1 }} }}' for one in before)
    inputs = "".join(f'input: "{one}" propagate_down: true ' for one in ("x", *before))
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {gates * 40} seq_nested_level: 2 }} }}
    {data}
    layer {{ name: "y" type: "{kind}" {inputs} {kind} {{ reverse: true {settings} }} }}
    """
    rng = np.random.default_rng(0)
    inner = np.cumsum([0, *rng.integers(0, 30, sequences)])
    x = Sequences(rng.standard_normal((inner[-1], gates * 40)), np.array([0, 5, 5, sequences]), inner)
    slope = rng.standard_normal((inner[-1], 40))
    feeds = {"x": x} | {one: Sequences(rng.standard_normal((sequences, 40)), x.starts) for one in before}
    results = []
    for threads, how in ((1, contextlib.nullcontext()), (2, contextlib.nullcontext()), (1, point_functions_only())):
        with contextlib.ExitStack() as stack:
            stack.callback(numba.set_num_threads, numba.get_num_threads())
            numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
            stack.enter_context(how)
            net = stack.enter_context(pl.Net(pl.loads(text), seed=3))
            outputs = net.forward(feeds)
            y = outputs.pop("y")
            net.backward(gradients={"y": slope, **{name: last.data for name, last in outputs.items()}})
            tuned = {launch.name for launch in net.plan("train").launches if launch.items is not None}
            assert tuned == set() or {f"{kind}_y", f"{kind}_dweight"} <= tuned
            gradients = [net.gradient(one).copy() for one in feeds]
            results.append([y.data.copy(), *gradients, net.arena.gradients.read().copy()])
    for one, two, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, plain, rtol=0, atol=2e-5 * np.abs(plain).max())
