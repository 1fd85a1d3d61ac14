"""Tuned kernels: chosen on every example that they take, the same bits at any number of threads."""

import contextlib
import inspect
import re
import shutil

import numba
import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import DefinitionError
from paddle_layers.kernels import digests, tuned
from paddle_layers.kernels.selection import check_names, load_all_kernels
from paddle_layers.testing.cases.case import cases
from paddle_layers.testing.properties import execution
from paddle_layers.testing.properties.cuda import launches_of
from paddle_layers.testing.properties.execution import check_tuned
from tests.each import each

load_all_kernels()
LAYERS = sorted({layer for layer, _, _ in tuned._TUNED})


def training_cases():
    for layer in LAYERS:
        for case in cases(pl.registry[layer]):
            if case.phase == "train":
                yield case


def takes_every_shape(entry, attributes):
    """Whether a kernel says yes by the attributes alone."""
    if entry.when is None:
        return True
    asked = inspect.signature(entry.when).parameters
    return asked.keys() <= attributes.keys() and tuned.call_by_name(entry.when, attributes)


@each("case", training_cases(), ids=lambda case: f"{case.definition.name} {case.example!r}")
def test_what_takes_every_shape_is_chosen(case):
    """The kit compares what is chosen with the point functions: none may be left out there."""
    with tuned.tuned_at_every_size():
        launches = launches_of(case.network(), training=True, device="cpu")
    assert (
        any(launch.items is not None for launch in launches)
        or not any(
            takes_every_shape(entry, case.attributes)
            for (layer, _, _), found in tuned._TUNED.items()
            if layer == case.definition.name
            for entry in found
        )
        or all(type_.kind != "DENSE" for type_ in case.types)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_difference_is_found(dtype, monkeypatch):
    case = next(case for case in cases(pl.registry["fc"]) if case.types[0].kind == "DENSE")
    clean = execution.run

    def wrong(case, precision):
        found, used = clean(case, precision)
        if used and precision == dtype:
            found["out0"] = found["out0"] * 1.001
        return found, used

    monkeypatch.setattr(execution, "run", wrong)
    problems = [(place, problem) for place, problem in check_tuned(case) if problem is not None]
    assert {place for place, _ in problems} == {"out0"}
    assert re.match(rf"differs by \d\.\de-0\d in {dtype} with tuned .*fc_y, tolerance ", problems[0][1])


@pytest.mark.slow
def test_same_bits_at_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("paddle_layers.runtime.devices.cpu.table.SERIAL_WORK", 0)
    text = """
    layer { name: "x" type: "data" data { shape: [6, 14, 14] } }
    layer { name: "c" type: "conv" input: "x" propagate_down: true
            conv { num_filters: 12 filter_size: 3 padding: 1 groups: 2 act: "relu" } }
    layer { name: "p" type: "pool" input: "c" pool { pool_size: 2 stride: 2 } }
    layer { name: "n" type: "batch_norm" input: "p" }
    layer { name: "m" type: "pool" input: "n" pool { pool_type: AVERAGE pool_size: 3 stride: 2 padding: 1 } }
    layer { name: "f" type: "fc" input: "m" fc { size: 33 } }
    layer { name: "g" type: "batch_norm" input: "f" }
    """
    network = pl.loads(text)
    x = np.random.default_rng(0).standard_normal((37, 6, 14, 14))
    results = []
    for threads in (1, 2, 2):
        with contextlib.ExitStack() as stack:
            stack.callback(numba.set_num_threads, numba.get_num_threads())
            numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
            stack.enter_context(tuned.tuned_at_every_size())
            net = stack.enter_context(pl.Net(network, seed=3))
            y = net.forward({"x": x})["g"]
            net.backward(gradients={"g": np.cos(y)})
            assert {"conv_y", "conv_dx", "conv_dweight", "fc_y", "pool_y", "batch_norm_sums", "batch_norm_dx"} <= {
                launch.name for launch in net.plan("train").launches if launch.items is not None
            }
            results.append([y, net.gradient("x"), net.arena.gradients.read().copy()])
    for again in results[1:]:
        for one, two in zip(results[0], again, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_kernel_for_a_function_that_does_not_exist_is_refused(monkeypatch):
    entry = tuned._TUNED["fc", "fc_y", "cpu"]
    monkeypatch.setattr(tuned, "_TUNED", {("fc", "fc_yy", "cpu"): entry})
    with pytest.raises(DefinitionError, match="`fc_yy` of layer `fc`, which does not exist"):
        check_names({"fc": {"fc_y"}})


def unknown_argument(y, x, C_out):  # a kernel that asks for what `relu` does not have
    raise AssertionError("never called")


def unknown_size(y, x):
    raise AssertionError("never called")


@pytest.mark.parametrize(
    ("kernel", "work", "message"),
    [
        (unknown_argument, lambda: 1, "test_tuned.py:[0-9]+: unknown_argument: unknown argument `C_out`"),
        (unknown_size, lambda pitch: pitch, "test_tuned.py:[0-9]+: <lambda>: unknown argument `pitch`"),
    ],
)
def test_a_kernel_that_requests_an_unknown_name_is_the_authors_error(monkeypatch, kernel, work, message):
    names = tuple(inspect.signature(kernel).parameters)
    kernel.__module__ = "some.kernels"
    entry = tuned._TUNED["fc", "fc_y", "cpu"][0]._replace(
        call=kernel, names=names, when=None, least=0, items=lambda: 1, work=work, scratch=None, prepared=None,
        runs=None, then=None,
    )  # fmt: skip
    monkeypatch.setitem(tuned._TUNED, ("relu", "relu_y", "cpu"), [entry])
    text = 'layer { name: "x" type: "data" data { shape: 4 } } layer { name: "y" type: "relu" input: "x" }'
    with (
        tuned.tuned_at_every_size(),
        pl.Net(pl.loads(text)) as net,
        pytest.raises(DefinitionError, match=message),
    ):
        net.forward({"x": np.ones((2, 4))})


@pytest.mark.parametrize(
    ("edited", "anew"),
    [
        ("dense/fully_connected.py", True),
        ("primitives/blas.py", True),
        ("recurrences/lstm.py", False),
        ("tuned.py", False),
    ],
)
def test_a_kernel_is_compiled_anew_where_what_it_is_made_of_changed(edited, anew, tmp_path, monkeypatch):
    folder = shutil.copytree(digests.FOLDER, tmp_path / "kernels")
    monkeypatch.setattr(digests, "FOLDER", folder)
    monkeypatch.setattr(digests, "REGISTRY", folder / "tuned.py")
    digest = digests.tuned_digest.__wrapped__
    before = digest("paddle_layers.kernels.dense.fully_connected")
    with (folder / edited).open("a") as file:
        file.write("# another line")
    assert (digest("paddle_layers.kernels.dense.fully_connected") != before) == anew
