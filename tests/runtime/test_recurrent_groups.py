"""Recurrent groups against loops in NumPy, against finite differences, and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import paddle_layers as pl
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.runtime.devices.cuda import simulated_device

pytestmark = pytest.mark.usefixtures("as_python")

LENGTHS = ([3, 0, 5, 1, 2, 5], [2, 2], [7, 1, 0, 4, 4, 9], [1], [0, 0], [])

SIMPLE = """
layer {{ name: "x" type: "data" data {{ shape: 4 seq_nested_level: 1 }} }}
layer {{ name: "start" type: "data" data {{ shape: 3 }} }}
layer {{
  name: "g" type: "recurrent_group" input: "x" input: "start"
  recurrent_group {{ static: "start" reverse: {reverse} }}
  step {{
    layer {{ name: "before" type: "memory" input: "start" memory {{ of: "h" }} }}
    layer {{ name: "older" type: "memory" memory {{ of: "before" size: 3 value: 0.5 }} }}
    layer {{ name: "h" type: "fc" input: "x" input: "before" input: "older" fc {{ size: 3 act: "tanh" }} }}
    layer {{ name: "o" type: "fc" input: "h" fc {{ size: 2 }} }}
    output: "o"
  }}
}}
"""


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.append(0, np.cumsum(np.array(lengths, np.int64))).astype(np.int64)


def simple_reference(x: Any, starts: Any, first: Any, values: Any, *, reverse: bool) -> np.ndarray:
    y = np.zeros((len(x), 2))
    for s in range(len(starts) - 1):
        h, older = first[s], np.full(3, 0.5)
        steps = range(starts[s], starts[s + 1])
        for t in reversed(steps) if reverse else steps:
            given = (x[t], h, older)
            older = h
            total = sum(v @ values[f"g.h.weight_{i}"] for i, v in enumerate(given))
            h = np.tanh(total + values["g.h.bias"])
            y[t] = h @ values["g.o.weight"] + values["g.o.bias"]
    return y


@pytest.mark.parametrize("reverse", [False, True])
def test_a_group_is_a_loop_over_the_rows_of_each_sequence(reverse: bool) -> None:
    rng = np.random.default_rng(0)
    network = pl.loads(SIMPLE.format(reverse=str(reverse).lower()))
    with pl.Net(network, dtype="float64") as net:
        values = {name: parameter.value for name, parameter in net.parameters.items()}
        for lengths in LENGTHS:
            starts = starts_of(lengths)
            x, first = rng.normal(size=(starts[-1], 4)), rng.normal(size=(len(lengths), 3))
            found = net.forward({"x": pl.Sequences(x, starts), "start": first})["g"]
            expected = simple_reference(x, starts, first, values, reverse=reverse)
            np.testing.assert_allclose(found.data, expected, rtol=0, atol=1e-12)
            assert found.starts.tolist() == starts.tolist()


def check_gradients(net: pl.Net, feeds: dict[str, Any], rng: np.random.Generator, most: int = 20) -> None:
    """Finite differences in all parameters, from random gradients of all outputs."""
    outputs = net.forward(feeds)
    wanted = {name: rng.normal(size=value.data.shape) for name, value in outputs.items()}
    net.backward(wanted)
    found = {name: parameter.gradient.copy() for name, parameter in net.parameters.items()}

    def loss() -> float:
        results = net.forward(feeds)
        return float(sum((results[name].data * wanted[name]).sum() for name in wanted))

    for name, parameter in net.parameters.items():
        flat, gradient = parameter.value.reshape(-1), found[name].reshape(-1)
        for i in range(min(flat.size, most)):
            before = flat[i]
            flat[i] = before + 1e-5
            above = loss()
            flat[i] = before - 1e-5
            below = loss()
            flat[i] = before
            assert (above - below) / 2e-5 == pytest.approx(gradient[i], abs=1e-6, rel=1e-6), f"{name}[{i}]"


def test_gradients_of_parameters_in_the_loop_and_behind_it() -> None:
    rng = np.random.default_rng(1)
    starts = starts_of([3, 0, 5, 1])
    with pl.Net(pl.loads(SIMPLE.format(reverse="false")), dtype="float64") as net:
        feeds = {"x": pl.Sequences(rng.normal(size=(9, 4)), starts), "start": rng.normal(size=(4, 3))}
        check_gradients(net, feeds, rng)


BOOTED = """
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "first" type: "data" data { shape: 3 } }
layer { name: "start" type: "fc" input: "first" fc { size: 2 } }
layer { name: "all" type: "fc" input: "first" fc { size: 2 } }
layer {
  name: "g" type: "recurrent_group" input: "x" input: "start" input: "all"
  recurrent_group { static: "start" static: "all" }
  step {
    layer { name: "before" type: "memory" input: "start" memory { of: "h" } }
    layer { name: "h" type: "fc" input: "x" input: "before" input: "all" fc { size: 2 act: "sigmoid" } }
    output: "h"
  }
}
"""


def test_gradients_reach_the_boot_layer_and_what_all_steps_see() -> None:
    rng = np.random.default_rng(2)
    with pl.Net(pl.loads(BOOTED), dtype="float64") as net:
        feeds = {"x": pl.Sequences(rng.normal(size=(7, 2)), starts_of([2, 4, 0, 1])), "first": rng.normal(size=(4, 3))}
        check_gradients(net, feeds, rng)


ATTENTION = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "source" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "keys" type: "fc" input: "source" fc { size: 3 } }
layer { name: "summary" type: "seq_last" input: "keys" }
layer {
  name: "decoder" type: "recurrent_group" input: "x" input: "keys" input: "summary"
  recurrent_group { static: ["keys", "summary"] }
  step {
    layer { name: "before" type: "memory" input: "summary" memory { of: "state" } }
    layer { name: "spread" type: "expand" input: "before" input: "keys" }
    layer { name: "both" type: "concat" input: "keys" input: "spread" }
    layer { name: "scores" type: "fc" input: "both" fc { size: 1 bias: false } }
    layer { name: "shares" type: "sequence_softmax" input: "scores" }
    layer { name: "scaled" type: "scaling" input: "shares" input: "keys" }
    layer { name: "context" type: "seq_avg_pool" input: "scaled" seq_avg_pool { strategy: SUM } }
    layer { name: "state" type: "fc" input: "x" input: "context" input: "before" fc { size: 3 act: "tanh" } }
    output: "state"
    output: "context"
  }
}
"""


def attention_reference(x: Any, starts: Any, source: Any, places: Any, values: Any) -> np.ndarray:
    y = np.zeros((len(x), 3))
    keys = source @ values["keys.weight"] + values["keys.bias"]
    for s in range(len(starts) - 1):
        own = keys[places[s] : places[s + 1]]
        h = own[-1]
        for t in range(starts[s], starts[s + 1]):
            scores = np.concatenate([own, np.tile(h, (len(own), 1))], axis=1) @ values["decoder.scores.weight"]
            shares = np.exp(scores - scores.max())
            context = (shares / shares.sum() * own).sum(axis=0)
            total = sum(v @ values[f"decoder.state.weight_{i}"] for i, v in enumerate((x[t], context, h)))
            y[t] = h = np.tanh(total + values["decoder.state.bias"])
    return y


def test_every_step_may_attend_to_a_whole_sequence() -> None:
    rng = np.random.default_rng(3)
    with pl.Net(pl.loads(ATTENTION), dtype="float64") as net:
        values = {name: parameter.value for name, parameter in net.parameters.items()}
        for lengths, others in (([3, 1, 4, 2], [2, 5, 1, 3]), ([1, 6], [4, 4])):
            starts, places = starts_of(lengths), starts_of(others)
            x, source = rng.normal(size=(starts[-1], 4)), rng.normal(size=(places[-1], 3))
            feeds = {"x": pl.Sequences(x, starts), "source": pl.Sequences(source, places)}
            expected = attention_reference(x, starts, source, places, values)
            np.testing.assert_allclose(net.forward(feeds)["decoder"].data, expected, rtol=0, atol=1e-12)
            check_gradients(net, feeds, rng)


NESTED = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 2 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "last" type: "memory" memory { of: "state" size: 3 } }
    layer {
      name: "words" type: "recurrent_group" input: "x" input: "last"
      recurrent_group { static: "last" }
      step {
        layer { name: "before" type: "memory" input: "last" memory { of: "h" } }
        layer { name: "h" type: "fc" input: "x" input: "before" fc { size: 3 act: "tanh" } }
        output: "h"
      }
    }
    layer { name: "state" type: "seq_last" input: "words" }
    output: "words"
    output: "state"
  }
}
"""
FLAT = """
layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "h" size: 3 } }
    layer { name: "h" type: "fc" input: "x" input: "before" fc { size: 3 act: "tanh" } }
    output: "h"
  }
}
"""


@pytest.mark.parametrize("device", ["cpu", "simulated"])
def test_a_group_in_a_group_that_hands_its_state_on_is_one_group_over_all_rows(device: str) -> None:
    rng = np.random.default_rng(4)
    cpu = device == "cpu"
    dtype, tolerance = ("float64", 1e-12) if cpu else ("float32", 2e-5)
    devices = [device if cpu else simulated_device() for _ in range(2)]
    nested, flat = (
        pl.Net(pl.loads(text), dtype=dtype, device=target) for text, target in zip((NESTED, FLAT), devices, strict=True)
    )
    with nested, flat:
        for one, other in zip(nested.parameters.values(), flat.parameters.values(), strict=True):
            other.value = one.value.copy()
        for _ in range(5 if cpu else 1):
            lengths = [rng.integers(1, 5, size=rng.integers(1, 4)).tolist() for _ in range(rng.integers(1, 5))]
            inner, outer = (
                starts_of([length for own in lengths for length in own]),
                starts_of([len(own) for own in lengths]),
            )
            x = rng.normal(size=(inner[-1], 4))
            found = nested.forward({"x": pl.Sequences(x, outer, inner)})["g"]
            expected = flat.forward({"x": pl.Sequences(x, inner[outer])})["g"]
            np.testing.assert_allclose(found.data, expected.data, rtol=0, atol=tolerance)
            assert found.sub_starts.tolist() == inner.tolist()
            gradient = rng.normal(size=found.data.shape)
            nested.backward({"g": gradient})
            flat.backward({"g": gradient})
            for one, other in zip(nested.parameters.values(), flat.parameters.values(), strict=True):
                np.testing.assert_allclose(one.gradient, other.gradient, rtol=0, atol=tolerance)


IDS = """
layer { name: "x" type: "data" data { shape: 9 seq_nested_level: 1 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "best" size: 9 id: 7 } }
    layer { name: "best" type: "maxid" input: "x" }
    output: "before"
  }
}
"""


def test_a_memory_of_ids_shifts_a_sequence_by_one() -> None:
    scores = np.eye(9)[[1, 2, 3, 4, 5]]
    with pl.Net(pl.loads(IDS)) as net:
        found = net.forward({"x": pl.Sequences(scores, starts_of([3, 0, 2]))})["g"]
    assert found.data.tolist() == [7, 1, 2, 7, 4]


IMAGES = """
layer { name: "x" type: "data" data { shape: [1, 2, 2] seq_nested_level: 1 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "sum" shape: [1, 2, 2] value: -0.25 } }
    layer { name: "sum" type: "addto" input: "x" input: "before" }
    output: "sum"
  }
}
"""


def test_a_memory_of_images_starts_with_its_value() -> None:
    x = np.random.default_rng(6).normal(size=(5, 1, 2, 2))
    with pl.Net(pl.loads(IMAGES), dtype="float64") as net:
        found = net.forward({"x": pl.Sequences(x, starts_of([3, 0, 2]))})["g"]
    expected = [sums for piece in (x[:3], x[3:]) for sums in piece.cumsum(axis=0) - 0.25]
    np.testing.assert_allclose(found.data, expected, rtol=0, atol=1e-12)


DROPOUT = """
layer { name: "x" type: "data" data { shape: 50 seq_nested_level: 1 } }
layer {
  name: "g" type: "recurrent_group" input: "x"
  step {
    layer { name: "before" type: "memory" memory { of: "h" shape: 50 value: 1 } }
    layer { name: "kept" type: "dropout" input: "before" dropout { drop_rate: 0.5 } }
    layer { name: "h" type: "addto" input: "kept" input: "x" }
    output: "kept"
  }
}
"""


def test_every_step_draws_random_numbers_of_its_own_and_finds_them_again_on_the_way_back() -> None:
    with pl.Net(pl.loads(DROPOUT), dtype="float64", keep=["g"]) as net:
        x = pl.Sequences(np.ones((3, 50)), starts_of([3]))
        kept = net.forward({"x": x})["g"].data
        masks = kept > 0
        assert (masks[0] != masks[1]).any()
        assert (masks[1] != masks[2]).any()
        np.testing.assert_array_equal(kept[1], np.where(masks[1], 2 * (kept[0] + 1), 0))


def test_results_do_not_depend_on_how_launches_are_cut() -> None:
    rng = np.random.default_rng(5)
    feeds = {"x": pl.Sequences(rng.normal(size=(30, 4)), starts_of([12, 9, 9])), "start": rng.normal(size=(3, 3))}
    results = []
    for how in (None, "pieces", "backwards"):
        with pl.Net(pl.loads(SIMPLE.format(reverse="false"))) as net:
            if how is None:
                found = net.forward(feeds)["g"].data
                net.backward({"g": found})
            else:
                with always_cut(how):
                    found = net.forward(feeds)["g"].data
                    net.backward({"g": found})
            results.append([found, *(parameter.gradient.copy() for parameter in net.parameters.values())])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_only_what_depends_on_the_step_before_runs_step_by_step() -> None:
    with pl.Net(pl.loads(SIMPLE.format(reverse="false"))) as net:
        looped = {launch.op for launch in net.plan("train").launches if launch.loop is not None}
    assert looped == {"g.before", "g.older", "g.h", "g.h.act"}


def test_sequences_of_two_inputs_must_be_equally_long() -> None:
    text = FLAT.replace('group" input: "x"', 'group" input: "x" input: "z"')
    text += 'layer { name: "z" type: "data" data { shape: 1 seq_nested_level: 1 } }'
    x, z = pl.Sequences(np.ones((3, 4)), starts_of([1, 2])), pl.Sequences(np.ones((3, 1)), starts_of([2, 1]))
    with (
        pl.Net(pl.loads(text)) as net,
        pytest.raises(pl.FeedError, match="equal sequence lengths: rows of z"),
    ):
        net.forward({"x": x, "z": z})


SPARSE = """
layer {{ name: "x" type: "data" data {{ data_type: {kind} size: 9 seq_nested_level: 1 }} }}
layer {{ name: "who" type: "data" data {{ data_type: SPARSE_INT size: 5 }} }}
layer {{
  name: "g" type: "recurrent_group" input: "x" input: "who"
  recurrent_group {{ static: "who" reverse: true }}
  step {{
    layer {{ name: "before" type: "memory" memory {{ of: "h" size: 3 }} }}
    layer {{ name: "h" type: "fc" input: "x" input: "before" input: "who" fc {{ size: 3 act: "tanh" }} }}
    output: "h"
  }}
}}
"""


@pytest.mark.parametrize("kind", ["SPARSE", "SPARSE_INT"])
def test_sparse_rows_are_the_same_as_dense_ones(kind: str) -> None:
    rng = np.random.default_rng(6)
    text = SPARSE.format(kind=kind)
    dense_text = text.replace(f"data_type: {kind} size: 9", "shape: 9").replace(
        "data_type: SPARSE_INT size: 5", "shape: 5"
    )
    with pl.Net(pl.loads(text), dtype="float64") as sparse, pl.Net(pl.loads(dense_text), dtype="float64") as dense:
        for one, other in zip(sparse.parameters.values(), dense.parameters.values(), strict=True):
            other.value = one.value.copy()
        for lengths in ([3, 0, 5, 1], [2, 7]):
            starts = starts_of(lengths)
            x = rng.normal(size=(starts[-1], 9)) * (rng.random((starts[-1], 9)) < 0.3)
            x = x if kind == "SPARSE" else (x != 0).astype(float)
            who = (rng.random((len(lengths), 5)) < 0.4).astype(float)
            rows, who_rows = (scipy.sparse.csr_matrix(matrix) for matrix in (x, who))
            found = sparse.forward({"x": pl.Sequences(rows, starts), "who": who_rows})["g"]
            expected = dense.forward({"x": pl.Sequences(x, starts), "who": who})["g"]
            np.testing.assert_allclose(found.data, expected.data, rtol=0, atol=1e-12)
            gradient = rng.normal(size=found.data.shape)
            sparse.backward({"g": gradient})
            dense.backward({"g": gradient})
            for one, other in zip(sparse.parameters.values(), dense.parameters.values(), strict=True):
                np.testing.assert_allclose(one.gradient, other.gradient, rtol=0, atol=1e-12, err_msg=one.name)


def test_sparse_rows_beside_what_the_step_before_gave_are_refused_in_words() -> None:
    text = """
    layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
    layer { name: "chosen" type: "data" data { data_type: SPARSE_INT size: 4 seq_nested_level: 1 } }
    layer {
      name: "g" type: "recurrent_group" input: "x" input: "chosen"
      step {
        layer { name: "before" type: "memory" memory { of: "h" size: 4 } }
        layer { name: "sum" type: "addto" input: "x" input: "before" }
        layer { name: "h" type: "selective_fc" input: "sum" input: "chosen" }
        output: "h"
      }
    }
    """
    with pytest.raises(ValueError, match="apply an `fc` to the sparse rows first"):
        pl.Net(pl.loads(text))
