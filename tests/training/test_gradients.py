"""Whole networks over sequences and sparse rows: every gradient against central differences, in float64."""

from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.batch.values import Csr

COMPILED = True

TEXT = Path(__file__).parents[2] / "docs" / "examples" / "text"
WORDS, SUBJECTS, H = 92, 4, 1e-5
LENGTHS = {"varying": [3, 1, 5, 2], "some empty": [0, 4, 0, 2, 0], "one": [1], "all empty": [0, 0, 0]}


def example(name):
    """The example's network with first values that keep every unit away from the kink of relu."""
    net = pl.Net(pl.load_training(TEXT / f"{name}.textproto").network, dtype="float64", seed=1)
    rng = np.random.default_rng(7)
    for parameter in net.parameters.values():
        parameter.value[...] = rng.normal(0, 0.5, parameter.shape)
    return net


def batch(name, lengths, seed=0):
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths])
    label = rng.integers(0, SUBJECTS, len(lengths))
    if name == "sequence":
        return {"words": pl.Sequences(rng.integers(0, WORDS, starts[-1]), starts), "label": label}
    ids = [np.sort(rng.choice(WORDS, count, replace=False)) for count in lengths]
    return {"bag": Csr(starts, np.concatenate(ids).astype(np.int64)), "label": label}


def loss(net, feeds):
    net.forward(feeds, phase="train", step=0)
    return net.loss


def numeric(net, feeds, value):
    """Central differences of the loss for every number of a parameter."""
    slopes, flat = np.zeros(value.size), value.reshape(-1)
    for at, before in enumerate(flat.copy()):
        flat[at] = before + H
        above = loss(net, feeds)
        flat[at] = before - H
        slopes[at] = (above - loss(net, feeds)) / (2 * H)
        flat[at] = before
    return slopes.reshape(value.shape)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", ["sequence", "sparse"])
def test_every_parameter(name, lengths):
    feeds = batch(name, LENGTHS[lengths])
    with example(name) as net:
        loss(net, feeds)
        net.backward()
        computed = {parameter: p.gradient.copy() for parameter, p in net.parameters.items()}
        for parameter, found in computed.items():
            expected = numeric(net, feeds, net.parameters[parameter].value)
            allowed = 1e-6 * np.abs(expected).max() + 1e-10
            np.testing.assert_allclose(found, expected, rtol=0, atol=allowed, err_msg=parameter)


@pytest.mark.parametrize("name", ["sequence", "sparse"])
def test_a_batch_does_not_remember_the_one_before(name):
    """Batches of other sizes, and of more items than any before, give what a fresh net gives for them.

    To the last bit but one: a net with more room may run another kernel.
    """
    sizes = [[3, 1], [0, 0, 0], [9] * 40, [1], [0, 2, 7]]
    with example(name) as used:
        for seed, lengths in enumerate(sizes):
            feeds = batch(name, lengths, seed)
            with example(name) as fresh:
                assert loss(used, feeds) == pytest.approx(loss(fresh, feeds), rel=1e-13)
                used.backward()
                fresh.backward()
                np.testing.assert_allclose(
                    used.arena.gradients.read(), fresh.arena.gradients.read(), rtol=1e-11, atol=1e-14
                )


def test_a_word_that_does_not_occur_gets_no_gradient():
    feeds = batch("sequence", [2, 0, 3])
    with example("sequence") as net:
        loss(net, feeds)
        net.backward()
        rows = np.abs(net.parameters["vectors.table"].gradient).sum(axis=1)
        assert set(np.flatnonzero(rows)) == set(feeds["words"].data)
