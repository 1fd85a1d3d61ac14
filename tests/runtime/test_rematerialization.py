"""Results that the backward pass computes again: the same bits in less memory, where that is worth it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.passes import without
from paddle_layers.runtime.passes.rematerialization import Recomputable, choose
from paddle_layers.runtime.plan.dry_run import explain_plan
from tests.runtime.recomputing import everything_again
from tests.training.test_optimizer_in_backward import steps

IMAGES = """
    layer { name: "image" type: "data" data { shape: [4, 6, 6] } }
    layer { name: "label" type: "data" data { data_type: INT size: 3 } }
    layer { name: "one" type: "conv" input: "image" conv { num_filters: 4 filter_size: 3 padding: 1 }
            param { of: "weight" share: "w" } }
    layer { name: "norm" type: "batch_norm" input: "one" batch_norm { act: "relu" } }
    layer { name: "two" type: "conv" input: "norm" conv { num_filters: 4 filter_size: 3 padding: 1 }
            param { of: "weight" share: "w" } }
    layer { name: "again" type: "batch_norm" input: "two" param { of: "gain" share: "g" } }
    layer { name: "sum" type: "addto" input: "again" input: "one" addto { act: "relu" drop_rate: 0.4 } }
    layer { name: "both" type: "concat" input: "sum" input: "norm" }
    layer { name: "deep" type: "conv" input: "both" conv { num_filters: 4 filter_size: 1 } }
    layer { name: "last" type: "batch_norm" input: "deep" batch_norm { act: "swish" } param { of: "gain" share: "g" } }
    layer { name: "left" type: "fc" input: "last" fc { size: 3 } }
    layer { name: "right" type: "fc" input: "last" fc { size: 3 } }
    layer { name: "cost" type: "softmax_with_loss" input: "left" input: "label" }
    layer { name: "mean" type: "softmax_with_loss" input: "right" input: "label" }
"""
SEQUENCES = """
    layer { name: "word" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
    layer { name: "label" type: "data" data { data_type: INT size: 3 } }
    layer { name: "row" type: "embedding" input: "word" embedding { size: 4 } }
    layer { name: "scaled" type: "slope_intercept" input: "row" slope_intercept { slope: 0.5 } }
    layer { name: "wide" type: "fc" input: "scaled" fc { size: 4 act: "tanh" drop_rate: 0.5 } }
    layer {
      name: "steps" type: "recurrent_group" input: "wide"
      step {
        layer { name: "before" type: "memory" memory { of: "h" size: 4 } }
        layer { name: "bent" type: "slope_intercept" input: "wide" slope_intercept { slope: 2 } }
        layer { name: "h" type: "fc" input: "bent" input: "before" fc { size: 4 act: "tanh" } }
        output: "h"
      }
    }
    layer { name: "after" type: "slope_intercept" input: "steps" slope_intercept { slope: 0.7 } }
    layer { name: "sums" type: "mul" input: "after" input: "wide" }
    layer { name: "whole" type: "fc" input: "sums" fc { size: 4 } }
    layer { name: "pooled" type: "seq_avg_pool" input: "whole" }
    layer { name: "score" type: "fc" input: "pooled" fc { size: 3 } }
    layer { name: "cost" type: "softmax_with_loss" input: "score" input: "label" }
"""


def images(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(rows)
    return {"image": rng.standard_normal((rows, 4, 6, 6)), "label": rng.integers(0, 3, rows)}


def sequences(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(rows)
    starts = np.cumsum([0, *rng.integers(1, 5, rows)])
    return {"word": pl.Sequences(rng.integers(0, 9, starts[-1]), starts), "label": rng.integers(0, 3, rows)}


def passes(text: str, feeds: Any, dtype: str) -> list[Any]:
    """Losses and gradients of batches of other sizes, and of one batch gone back through twice."""
    found: list[Any] = []
    with pl.Net(pl.loads(text), dtype=dtype, seed=1) as net:
        for rows in (3, 5, 2):
            net.forward(feeds(rows), step=rows)
            for _ in range(2):
                net.backward()
                found += [net.loss, net.arena.gradients.read().copy()]
        found += [state.value.copy() for state in net.states.values()]
    return found


def assert_same(one: list[Any], other: list[Any]) -> None:
    for expected, actual in zip(one, other, strict=True):
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.usefixtures("as_python")
@pytest.mark.parametrize(
    ("text", "feeds", "last_first", "results"),
    [
        (IMAGES, images, False, {"norm", "sum.act.y", "last.y"}),
        (IMAGES, images, True, {"last", "both", "sum.act.y"}),
        (SEQUENCES, sequences, False, {"steps/bent", "after", "pooled.factor"}),
        (SEQUENCES, sequences, True, {"steps/bent", "sums", "pooled.factor"}),
    ],
)
def test_same_bits(text: str, feeds: Any, last_first: bool, results: set[str]) -> None:
    """Dropout, shared parameters, several readers, parts that are put together, ids, sequences, steps of a group."""
    with without("rematerialization"):
        expected = passes(text, feeds, "float64")
    with everything_again(last_first=last_first) as again:
        actual = passes(text, feeds, "float64")
    assert {one.result.name for one in again} == results
    assert_same(expected, actual)


def test_same_bits_compiled() -> None:
    with without("rematerialization"):
        expected = passes(IMAGES, images, "float32")
    for left_out in ((), ("kernel fusion",), ("cache-blocked fusion", "in place"), ("buffer reuse", "copy elision")):
        with everything_again() as again, without(*left_out):
            assert_same(expected, passes(IMAGES, images, "float32"))
        assert again


@pytest.mark.filterwarnings("ignore:.*no loss depends on layer `aside`")
def test_parameters_are_updated_behind_what_is_computed_again() -> None:
    with without("rematerialization"):
        expected = steps("sgd", {"momentum": 0.9}, early=True).bits
    with everything_again() as again:
        assert steps("sgd", {"momentum": 0.9}, early=True).bits == expected
    assert again


@pytest.mark.usefixtures("as_python")
def test_what_memory_holds_when_it_is_computed_again() -> None:
    """All that nobody may need is full of NaN before each launch."""
    with everything_again(), without("buffer reuse"), pl.Net(pl.loads(IMAGES), dtype="float64", seed=1) as net:
        net.forward(images(3), step=3)
        net.backward()
        expected, loss = net.arena.gradients.read().copy(), net.loss
        plan = net.plan("train")
        for at in range(len(plan.launches)):
            plan.poison(at)
            plan.run_one(at)
        assert net.loss == loss
        np.testing.assert_array_equal(net.arena.gradients.read(), expected)


@pytest.mark.usefixtures("as_python")
def test_parameters_that_change_between_the_passes() -> None:
    found = []
    for how in (without("rematerialization"), everything_again()):
        with how, pl.Net(pl.loads(IMAGES), dtype="float64", seed=1) as net:
            net.forward(images(3), step=3)
            net.parameters["norm.bias"].value = np.full(4, 2.0)
            net.parameters["again.bias"].value = np.full(4, 3.0)
            net.backward()
            found.append(net.arena.gradients.read().copy())
    np.testing.assert_array_equal(*found)


DEEP = 'layer { name: "l0" type: "data" data { shape: [8, 32, 32] } }' + "".join(
    f"""layer {{ name: "c{at}" type: "conv" input: "l{at}" conv {{ num_filters: 8 filter_size: 3 padding: 1 }} }}
        layer {{ name: "l{at + 1}" type: "batch_norm" input: "c{at}" batch_norm {{ act: "relu" }} }}"""
    for at in range(8)
) + """
    layer { name: "label" type: "data" data { data_type: INT size: 3 } }
    layer { name: "score" type: "fc" input: "l8" fc { size: 3 } }
    layer { name: "cost" type: "softmax_with_loss" input: "score" input: "label" }
"""  # fmt: skip


def test_memory_falls_by_what_is_not_kept() -> None:
    size = 4 * 8 * 32 * 32 * 4
    found = explain_plan(pl.loads(DEEP), "train", 4, "float32", "cpu")
    with without("rematerialization"):
        before = explain_plan(pl.loads(DEEP), "train", 4, "float32", "cpu")
    assert before.recomputed == ()
    assert len(found.recomputed) >= 4
    assert before.nbytes - found.nbytes >= (len(found.recomputed) - 1) * size
    results = [launch.result for launch in found.launches if launch.backward]
    assert {f"{name}, again" for name in found.recomputed} <= {*results}
    for phase, rows in (("test", 4), ("train", 1)):  # nothing is kept, or it is small
        assert explain_plan(pl.loads(DEEP), phase, rows, "float32", "cpu").recomputed == ()


def candidate(name: str, size: int, free: range, moved: int, *sources: Buffer) -> Recomputable:
    return Recomputable(Buffer(name, Extent(size), "float32"), [0], {*sources}, free, moved)


def test_choices() -> None:
    """The peak is at launch 2, later at launch 4; sizes in numbers of 4 bytes."""
    cheap, dear = candidate("cheap", 25, range(1, 4), 200), candidate("dear", 25, range(1, 4), 300)
    aside, large = candidate("aside", 50, range(5, 6), 1), candidate("large", 100, range(1, 4), 10_000)
    needy = candidate("needy", 25, range(2, 3), 100, cheap.result)
    live = [100, 300, 800, 300, 650, 300]
    everything = [dear, aside, large, cheap]
    assert choose(everything, [*live], 1000) == [cheap, dear]
    assert choose(everything, [*live], 450) == [cheap]
    assert choose(everything, [*live], 100) == []
    assert choose([cheap, needy], [*live], 1000) == [needy]
    assert choose(everything, [100, 700, 800, 900, 950, 300], 1000) == []
