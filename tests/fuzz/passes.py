"""Whole networks with every pass of the runtime and without them: the results have to be the same."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import paddle_layers as pl
from paddle_layers.config import ConfigError, ConfigWarning
from paddle_layers.runtime import Sequences
from paddle_layers.runtime.passes import PASSES, without
from tests.runtime.recomputing import everything_again

from .random_networks import network_on_maps, network_on_sequences
from .target import Target, as_python, demand

WAYS = {
    "with every pass": contextlib.nullcontext,
    "with all computed again that can be": everything_again,
    "with all computed again that can be, the last first": partial(everything_again, last_first=True),
}
LEFT_OUT = [name for name in PASSES if name not in ("sparse gradients", "gradient pruning")]
"""The others decide which gradients there are."""
BATCHES = (3, 1, 4)
KEPT = "# keep "
Feeds = Callable[[int, np.random.Generator], Any]


class Passes(Target):
    """Random networks: what runs at once, in place, again or not at all changes no value and no gradient."""

    name = "passes"
    second_per_byte = 0.1

    def make(self, rng: Random) -> bytes:
        """A network, and behind `# keep` the names of values that stay readable."""
        text, names = rng.choice((network_on_maps, network_on_sequences))(rng)
        kept = rng.sample(names, min(len(names), rng.choice((0, 0, 0, 1, 2))))
        _loads(text)  # a drawn network is right
        return f"{KEPT}{' '.join(kept)}\n{text}".encode()

    def check(self, case: bytes) -> None:
        """Values, losses, gradients and states of some batches, with the passes and without."""
        text = case.decode()
        kept = text.partition("\n")[0].removeprefix(KEPT).split()
        try:
            network = _loads(text)
        except ConfigError:  # of a case that was made smaller
            return
        feeds = _sequences if 'type: "embedding"' in text else _maps
        with as_python(), np.errstate(all="ignore"):
            with without(*LEFT_OUT):
                expected = _results(network, feeds, kept)
            for way, context in WAYS.items():
                with context():
                    _compare(_results(network, feeds, kept), expected, way)


def _loads(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfigWarning)  # parameters of which no loss depends
        return pl.loads(text)


def _results(network: Any, feeds_of: Feeds, kept: list[str]) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    rng = np.random.default_rng(3)
    with pl.Net(network, dtype="float64", seed=1, keep=kept) as net:
        for parameter in net.parameters.values():  # none is what it is at first
            shape = parameter.value.shape
            parameter.value = rng.uniform(0.5, 1.5, shape) if len(shape) == 1 else rng.standard_normal(shape) / 3
        for number, rows in enumerate(BATCHES):
            feeds = {"x": feeds_of(rows, rng), "label": rng.integers(0, 3, rows)}
            for phase in ("test", "train"):
                given = copy.deepcopy(feeds)
                values = net.forward(given, phase, step=number)
                for array in given.values():  # reused by the caller before the backward passes
                    _array(array)[:] = 0
                values |= {name: net.value(name) for name in kept}
                found |= {f"{name}, {phase}, batch {number}": _array(value).copy() for name, value in values.items()}
            for again in ("", ", again"):
                net.backward()
                at = f"batch {number}{again}"
                found |= {f"loss, {at}": np.array(net.loss), f"gradients, {at}": net.arena.gradients.read().copy()}
                for name in kept:
                    with contextlib.suppress(KeyError):  # nothing before it learns
                        found[f"gradient of {name}, {at}"] = net.gradient(name)
            found |= {f"{name}, batch {number}": state.value.copy() for name, state in net.states.items()}
            for parameter in net.parameters.values():  # what was computed from it once is so again
                parameter.value = 0.9 * parameter.value
    return found


def _maps(rows: int, rng: np.random.Generator) -> NDArray[Any]:
    return rng.standard_normal((rows, 4, 4, 4))


def _sequences(rows: int, rng: np.random.Generator) -> Sequences:
    starts = np.cumsum([0, *rng.integers(1, 5, rows)])
    return Sequences(rng.integers(0, 9, starts[-1]), starts)


def _array(value: Any) -> NDArray[Any]:
    return np.asarray(value.data if isinstance(value, Sequences) else value)


def _compare(found: dict[str, NDArray[Any]], expected: dict[str, NDArray[Any]], way: str) -> None:
    demand(found.keys() == expected.keys(), f"{sorted(found.keys() ^ expected.keys())[:3]} are there only once, {way}")
    for name, right in expected.items():
        largest = float(np.nanmax(np.abs(right), initial=1.0))
        same = np.allclose(found[name], right, rtol=1e-8, atol=1e-9 * largest, equal_nan=True)
        demand(same, f"other numbers {way}: {name}")
