"""Every pass can be left out: the results are the same, and what it saves is there again."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import loads
from paddle_layers.kernels.primitives.plane_codegen import MASKS
from paddle_layers.kernels.tuned import tuned_at_every_size
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.runtime.passes import PASSES, runs, without
from paddle_layers.runtime.plan.dry_run import ExplainedPlan, explain_plan
from paddle_layers.testing.cases.case import Case, all_cases
from paddle_layers.testing.cases.trial import as_python, run
from tests.runtime.recomputing import everything_again
from tests.selection import compiled_layers

NAMES = list(PASSES)
TEXT = """
    layer { name: "word" type: "data" data { size: 50 data_type: INT } }
    layer { name: "label" type: "data" data { size: 3 data_type: INT } }
    layer { name: "row" type: "embedding" input: "word" embedding { size: 4 } }
    layer { name: "hidden" type: "fc" input: "row" fc { size: 64 act: "relu" } }
    layer { name: "image" type: "reshape" input: "hidden" reshape { dims: [1, 8, 8] } }
    layer { name: "pool" type: "pool" input: "image" pool { pool_size: 2 stride: 2 } }
    layer { name: "score" type: "fc" input: "pool" fc { size: 3 } }
    layer { name: "cost" type: "softmax_with_loss" input: "score" input: "label" }
"""
NETWORK = loads(TEXT)
NETWORK_ON_IMAGES = loads("""
    layer { name: "image" type: "data" data { shape: [1, 8, 8] } }
    layer { name: "label" type: "data" data { size: 3 data_type: INT } }
    layer { name: "pool" type: "pool" input: "image" pool { pool_type: AVERAGE pool_size: 2 stride: 2 } }
    layer { name: "score" type: "fc" input: "pool" fc { size: 3 } }
    layer { name: "cost" type: "softmax_with_loss" input: "score" input: "label" }
""")


def plan(phase: str = "train") -> ExplainedPlan:
    return explain_plan(NETWORK, phase, 512, "float32", "cpu")


@pytest.mark.parametrize("layer", compiled_layers(sorted(pl.registry)))
def test_results_stay_the_same_without_a_pass(layer: str) -> None:
    with everything_again():
        for case in all_cases(pl.registry[layer]):
            expected, _ = as_python(partial(run, case, "float64"))
            for name in NAMES:
                with without(name):
                    _same(case, name, expected)


def _same(case: Case, name: str, expected: dict[str, np.ndarray]) -> None:
    found, _ = as_python(partial(run, case, "float64"))
    for value, numbers in expected.items():
        np.testing.assert_allclose(found[value], numbers, rtol=1e-12, atol=1e-14, err_msg=f"{value} without {name}")


def test_every_launch_of_every_layer_is_explained() -> None:
    for name in pl.registry:
        for case in all_cases(pl.registry[name]):
            found = explain_plan(case.network(), case.phase, 3, "float32", "cuda")
            for launch in found.launches:
                first, _, last = launch.lifetime.partition(" to ")
                assert not first or first == "before" or int(first) <= launch.number
                assert not last or last == "the end" or launch.number <= int(last)
                assert launch.nbytes <= found.nbytes <= found.separate


def test_a_pass_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="unknown pass 'fusion'; available: sparse gradients, gradient pruning, "):
        without("fusion").__enter__()


def test_the_switch_goes_back() -> None:
    with without("in place"), without("buffer reuse"):
        assert [name for name in NAMES if not runs(name)] == ["in place", "buffer reuse"]
    assert all(map(runs, NAMES))


def kernels(found: ExplainedPlan) -> list[str]:
    return [launch.kernel for launch in found.launches]


def test_row_gradients_keep_a_table_out_of_the_backward_pass() -> None:
    place_of = {launch.result: launch.place for launch in plan().launches}
    assert place_of["gradient of row.table"].isdigit()
    with without("sparse gradients"):
        place_of = {launch.result: launch.place for launch in plan().launches}
    assert place_of["gradient of row.table"] == "with the parameters"


def test_gradient_pruning_omits_gradients_before_the_first_parameter() -> None:
    image = NETWORK_ON_IMAGES
    found = explain_plan(image, "train", 8, "float32", "cpu")
    assert "pool_dx" not in kernels(found)
    with without("gradient pruning", "dead-code elimination"):
        assert "pool_dx" in kernels(explain_plan(image, "train", 8, "float32", "cpu"))


def test_tuned_kernels_can_be_left_out() -> None:
    assert any(kernel.endswith("tuned") for kernel in kernels(plan()))
    with without("tuned kernels"):
        assert not any(kernel.endswith("tuned") for kernel in kernels(plan()))


def test_dead_code_is_eliminated() -> None:
    image = NETWORK_ON_IMAGES  # of means, whose places are no maxima's
    assert "pool_where" not in kernels(explain_plan(image, "train", 8, "float32", "cpu"))
    with without("dead-code elimination"):
        assert "pool_where" in kernels(explain_plan(image, "train", 8, "float32", "cpu"))


COPIES = loads("""
    layer { name: "x" type: "data" data { shape: [2, 3] } }
    layer { name: "half" type: "slope_intercept" input: "x" slope_intercept { slope: 0.5 } }
    layer { name: "flat" type: "flatten" input: "half" }
    layer { name: "left" type: "tanh" input: "flat" }
    layer { name: "right" type: "flatten" input: "half" }
    layer { name: "sum" type: "addto" input: "left" input: "right" }
""")


def test_what_would_only_be_copied_is_one_memory() -> None:
    found = explain_plan(COPIES, "test", 4, "float32", "cpu")
    assert kernels(found) == ["slope_intercept_y", "tanh_y", "addto_y, adds"]
    assert found.copies == (("flat", "half"), ("right", "half"), ("sum", "left"))
    with without("copy elision", "kernel fusion"):
        assert len(explain_plan(COPIES, "test", 4, "float32", "cpu").launches) == 6


def test_a_copy_that_is_changed_while_the_other_is_read_is_made() -> None:
    network = loads("""
        layer { name: "x" type: "data" data { shape: [6] } }
        layer { name: "half" type: "slope_intercept" input: "x" slope_intercept { slope: 0.5 } }
        layer { name: "sum" type: "addto" input: "half" input: "x" }
        layer { name: "last" type: "tanh" input: "half" }
    """)
    found = explain_plan(network, "test", 4, "float32", "cpu")
    assert "sum" not in dict(found.copies)
    x = np.random.default_rng(0).standard_normal((4, 6))
    with pl.Net(network, dtype="float64") as net:
        values = net.forward({"x": x}, phase="test")
    np.testing.assert_allclose(values["sum"], 1.5 * x)
    np.testing.assert_allclose(values["last"], np.tanh(0.5 * x))


def test_gradients_of_a_sum_are_one_memory() -> None:
    text = """
        layer { name: "x" type: "data" data { shape: [6] } }
        layer { name: "first" type: "fc" input: "x" fc { size: 6 } }
        layer { name: "second" type: "fc" input: "first" fc { size: 6 act: "tanh" } }
        layer { name: "sum" type: "addto" input: "second" input: "first" addto { act: "tanh" } }
    """
    x = np.random.default_rng(0).standard_normal((5, 6))
    gradients = []
    for left_out in ((), ("copy elision",)):
        with without(*left_out), pl.Net(loads(text), dtype="float64") as net:
            net.forward({"x": x})
            net.backward(gradients={"sum": np.cos(x)})
            gradients.append(net.arena.gradients.read().copy())
            made = [launch.name for launch in net.plan("train").launches].count("addto_dx")
            assert made == (2 if left_out else 0)
    np.testing.assert_array_equal(*gradients)


def test_in_place_says_whose_memory_or_why_not() -> None:
    with without("copy elision"):
        launches = plan().launches
    said = {launch.result: launch.in_place for launch in launches}
    assert said["hidden"] == "of hidden.y"
    reader = next(launch.number for launch in launches if launch.kernel == "relu_dx")
    assert said["image"] == f"no: hidden is read by launch {reader}"
    with without("in place"):
        assert {launch.in_place for launch in plan().launches} == {"", "no: the pass is disabled"}


NETWORK_WITH_A_SUM = loads("""
    layer { name: "image" type: "data" data { shape: [4, 6, 6] } }
    layer { name: "conv" type: "conv" input: "image" conv { num_filters: 4 filter_size: 3 padding: 1 bias: false } }
    layer { name: "norm" type: "batch_norm" input: "conv" }
    layer { name: "sum" type: "addto" input: "norm" input: "image" addto { act: "relu" } }
""")


def test_what_goes_on_element_by_element_runs_block_by_block() -> None:
    found = explain_plan(NETWORK_WITH_A_SUM, "test", 8, "float32", "cpu")
    fused = {launch.kernel: launch.fused for launch in found.launches}
    group = {"conv_y", "batch_norm_y + batch_norm_bias", "addto_y + relu_y"}
    assert {kernel for kernel, said in fused.items() if said == "1 to 3"} == group
    with without("cache-blocked fusion"):
        said = {launch.fused for launch in explain_plan(NETWORK_WITH_A_SUM, "test", 8, "float32", "cpu").launches}
    assert said == {"", "no: the pass is disabled"}


def test_the_update_of_a_state_does_not_stand_between() -> None:
    found = explain_plan(NETWORK_WITH_A_SUM, "train", 8, "float32", "cpu")
    order = kernels(found)
    first = order.index("batch_norm_y + batch_norm_bias")
    assert order[first + 1] == "addto_y + relu_y"
    assert {launch.fused for launch in found.launches[first : first + 2]} == {f"{first} to {first + 1}"}


def test_launches_that_read_other_elements_do_not_join() -> None:
    network = loads("""
        layer { name: "x" type: "data" data { shape: [6, 4, 4] } }
        layer { name: "half" type: "slope_intercept" input: "x" slope_intercept { slope: 0.5 } }
        layer { name: "among" type: "lrn" input: "half" lrn { size: 5 } }
        layer { name: "again" type: "tanh" input: "among" }
    """)
    said = {launch.result: launch.fused for launch in explain_plan(network, "test", 4, "float32", "cpu").launches}
    assert "no: half is not accessed elementwise" in said.values()
    assert said["half"] == ""
    assert said["again"] == said["among"] == "2 to 3"
    x = np.random.default_rng(0).standard_normal((4, 6, 4, 4))
    found = []
    for left_out in ((), ("cache-blocked fusion",)):
        with without(*left_out), always_cut("pieces"), pl.Net(network) as net:
            found.append(net.forward({"x": x}, phase="test")["again"])
    np.testing.assert_array_equal(*found)


@pytest.mark.skipif(not MASKS, reason="this machine's loads have no masks: other kernels run")
def test_maxima_and_their_places_are_found_block_by_block() -> None:
    network = loads("""
        layer { name: "x" type: "data" data { shape: [6, 9, 8] } }
        layer { name: "half" type: "slope_intercept" input: "x" propagate_down: true slope_intercept { slope: 0.5 } }
        layer { name: "pool" type: "pool" input: "half" pool { pool_size: 2 stride: 2 } }
        layer { name: "again" type: "tanh" input: "pool" }
    """)
    rng = np.random.default_rng(0)
    x, delta = rng.standard_normal((5, 6, 9, 8)), rng.standard_normal((5, 6, 5, 4))
    found = []
    for left_out in ((), ("cache-blocked fusion",)):
        with tuned_at_every_size(), without(*left_out), always_cut("pieces"), pl.Net(network) as net:
            y = net.forward({"x": x})["again"]
            net.backward(gradients={"again": delta})
            found.append((y.copy(), net.gradient("x").copy()))
            said = {launch.fused for launch in net.plan("train").launches if launch.name in ("pool_where", "pool_y")}
            assert (said == {"1 to 3"}) is not bool(left_out)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize(("rows", "phase"), [(1, "train"), (3, "test"), (8, "train"), (13, "test")])
def test_blocks_change_no_bit(rows: int, phase: str) -> None:
    image = np.random.default_rng(0).standard_normal((rows, 4, 6, 6))
    results = []
    for how in ("", "pieces", "backwards", "cache-blocked fusion", "kernel fusion", "in place"):
        with contextlib.ExitStack() as stack:
            stack.enter_context(tuned_at_every_size())
            if how in NAMES:
                stack.enter_context(without(how))
            elif how:
                stack.enter_context(always_cut(how))
            net = stack.enter_context(pl.Net(NETWORK_WITH_A_SUM, seed=1))
            results.append([net.forward({"image": image}, phase=phase)["sum"]])
            if phase == "train":
                net.backward(gradients={"sum": image})
                results[-1].append(net.arena.gradients.read().copy())
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


CHAINS = loads("""
    layer { name: "image" type: "data" data { shape: [3, 5, 7] } }
    layer { name: "other" type: "data" data { shape: [3, 5, 7] } }
    layer { name: "norm" type: "batch_norm" input: "image" batch_norm { act: "relu6" } }
    layer { name: "again" type: "batch_norm" input: "norm" batch_norm { act: "swish" } }
    layer { name: "sum" type: "addto" input: "again" input: "other" addto { act: "hard_swish" } }
    layer { name: "conv" type: "conv" input: "sum" conv { num_filters: 2 filter_size: 1 act: "elu" } }
    layer { name: "score" type: "fc" input: "conv" fc { size: 3 act: "tanh" } }
""")


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_kernel_fusion_changes_no_bit(dtype: str) -> None:
    rng = np.random.default_rng(0)
    feeds = {name: 4 * rng.standard_normal((5, 3, 5, 7)) for name in ("image", "other")}
    feeds["image"][0, 0, 0, :3] = [0, 1e30, -1e30]
    results = []
    for left_out in ((), ("kernel fusion",)):
        with without(*left_out), pl.Net(CHAINS, dtype=dtype, seed=1) as net:
            found = [net.forward(feeds, phase=phase)["score"] for phase in ("test", "train")]
            net.backward(gradients={"score": np.cos(found[0])})
            results.append([*found, net.arena.gradients.read().copy()])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


def test_kernel_fusion_stays_within_a_layer_and_keeps_what_others_read() -> None:
    names = kernels(explain_plan(CHAINS, "test", 5, "float32", "cpu"))
    assert names == [
        *["batch_norm_moments, once"] * 2,
        "batch_norm_y + batch_norm_bias + relu6_y",
        "batch_norm_y + batch_norm_bias + swish_y",
        "addto_y + hard_swish_y",
        "conv_y",
        "conv_bias + elu_y",
        "fc_y",
        "fc_bias + tanh_y",
    ]
    training = kernels(explain_plan(CHAINS, "train", 5, "float32", "cpu"))
    assert {"batch_norm_y + batch_norm_bias", "swish_y"} <= {*training}  # whose gradient reads what the norm gives
    assert not any(" + " in name for name in kernels(explain_plan(CHAINS, "test", 5, "float32", "cuda")))
    with without("kernel fusion"):
        assert not any(" + " in name for name in kernels(explain_plan(CHAINS, "test", 5, "float32", "cpu")))


PARTS = loads("""
    layer { name: "image" type: "data" data { shape: [3, 5, 7] } }
    layer { name: "one" type: "conv" input: "image" conv { num_filters: 2 filter_size: 1 act: "relu" } }
    layer { name: "two" type: "conv" input: "image" conv { num_filters: 2 filter_size: 3 padding: 1 act: "tanh" } }
    layer { name: "both" type: "concat" input: "one" input: "image" input: "two" }
    layer { name: "three" type: "batch_norm" input: "both" batch_norm { act: "relu" } }
    layer { name: "all" type: "concat" input: "both" input: "three" input: "three" }
    layer { name: "rows" type: "concat" input: "one" input: "two" concat { axis: 2 } }
    layer { name: "flat" type: "flatten" input: "all" }
    layer { name: "bent" type: "tanh" input: "flat" }
    layer { name: "sum" type: "addto" input: "one" input: "two" addto { act: "relu" } }
    layer { name: "score" type: "fc" input: "bent" input: "sum" input: "rows" fc { size: 3 } }
""")


def test_inputs_of_a_concat_are_made_in_their_place() -> None:
    found = explain_plan(PARTS, "test", 1, "float32", "cpu")
    assert found.parts == (("two", "all"), ("both", "all"), ("three", "all"))
    copied = [launch.layer for launch in found.launches if launch.kernel == "concat_y"]
    assert copied == ["both", "both", "all", "rows", "rows"]
    # The sum is made in the memory of `one`, the image is a feed, `three` has a place already, and rows of images
    # are no piece of memory.
    place = {launch.result: int(launch.place) for launch in found.launches if launch.kernel != "concat_y"}
    assert place["three"] - place["two"] == 2 * 5 * 7 * 4
    for rows, left_out, device in ((2, (), "cpu"), (1, ("concat elision",), "cpu"), (1, (), "cuda")):
        with without(*left_out):
            assert explain_plan(PARTS, "test", rows, "float32", device).parts == ()


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_parts_change_no_bit(rows: int) -> None:
    image = np.random.default_rng(0).standard_normal((rows, 3, 5, 7))
    results = []
    for how in ("", "concat elision", "kernel fusion", "in place", "buffer reuse", "pieces", "backwards"):
        context = without(how) if how in NAMES else always_cut(how or "pieces")  # type: ignore[arg-type]
        with context, pl.Net(PARTS, dtype="float64", seed=1, keep=["one", "both", "three"]) as net:
            found = [*net.forward({"image": image}, phase="test").values()]
            found += net.forward({"image": image}, step=0).values()
            net.backward(gradients={"score": np.ones((rows, 3))})
            results.append([*found, net.arena.gradients.read().copy()])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_one_launch_of_a_group_runs_alone() -> None:
    with pl.Net(NETWORK_WITH_A_SUM) as net:
        image = np.random.default_rng(0).standard_normal((2, 4, 6, 6))
        expected = net.forward({"image": image}, phase="test")["sum"]
        plan = net.plan("test")
        plan.poison(0)
        for at in range(len(plan.launches)):
            plan.run_one(at)
        np.testing.assert_array_equal(net.value("sum"), expected)


def test_without_shared_memory_every_buffer_has_its_own() -> None:
    with without("buffer reuse", "in place", "copy elision"):
        alone = plan()
    assert alone.nbytes == alone.separate
    with without("in place"):
        assert plan().nbytes < alone.nbytes
    assert plan().nbytes < 0.5 * alone.nbytes


def test_the_command_says_what_is_computed_again(tmp_path: Path) -> None:
    file = tmp_path / "network.textproto"
    file.write_text("""
        layer { name: "image" type: "data" data { shape: [4, 32, 32] } }
        layer { name: "label" type: "data" data { size: 3 data_type: INT } }
        layer { name: "one" type: "conv" input: "image" conv { num_filters: 16 filter_size: 3 padding: 1 } }
        layer { name: "norm" type: "batch_norm" input: "one" batch_norm { act: "relu" } }
        layer { name: "two" type: "conv" input: "norm" conv { num_filters: 16 filter_size: 3 padding: 1 } }
        layer { name: "score" type: "fc" input: "two" fc { size: 3 } }
        layer { name: "cost" type: "softmax_with_loss" input: "score" input: "label" }
    """)
    shown = CliRunner().invoke(commands, ["show", "--plan", str(file), "--batch-size", "32"]).stdout
    assert "recomputed in the backward pass: norm\n" in shown


def test_the_command_prints_what_was_decided(tmp_path: Path) -> None:
    file = tmp_path / "network.textproto"
    file.write_text(TEXT)
    shown = CliRunner().invoke(commands, ["show", "--plan", str(file), "--batch-size", "512"]).stdout
    assert shown.startswith("phase train, batch size 512, cpu: 22 launches, ")
    (row,) = (line.split() for line in shown.splitlines() if "relu_y" in line)
    assert " ".join(row[1:]) == "hidden fc_bias + relu_y hidden 512 x 64 131,072 0 of hidden.y 2 to 17 1 to 2"


def test_an_option_that_would_not_be_read_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "network.textproto"
    file.write_text(TEXT)
    done = CliRunner().invoke(commands, ["show", str(file), "--plan", "--svg", "drawing.svg"])
    assert done.exit_code == 2
    assert "--plan" in done.stderr


def test_a_bias_has_rows_of_whole_planes():
    text = """
    layer { name: "x" type: "data" data { shape: [2, 5, 6] } }
    layer { name: "y" type: "conv" input: "x" conv { num_filters: 3 filter_size: 2 } }
    """
    with pl.Net(pl.loads(text)) as net:
        net.parameters["y.weight"].value[:] = 0
        net.parameters["y.bias"].value[:] = [1, 2, 3]
        y = net.forward({"x": np.ones((2, 2, 5, 6))})["y"]
        assert [launch.columns for launch in net.plan("train").launches if launch.name == "conv_bias"] == [4 * 5]
    np.testing.assert_array_equal(y, np.broadcast_to(np.reshape([1, 2, 3], (3, 1, 1)), (2, 3, 4, 5)))
