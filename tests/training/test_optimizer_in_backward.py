"""Parameters that are updated within the backward pass: the same bits as with all gradients first, in less memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config.training import ClipSettings, ComponentSettings
from paddle_layers.define import registries
from paddle_layers.runtime.launches.arguments import Held, refs_of
from paddle_layers.runtime.memory.parameters import Parameter
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.runtime.passes import optimizer_in_backward, without
from tests.training.helpers import write

COMPILED = True

TEXT = """
layer { name: "x" type: "data" data { shape: [1, 9, 9] } }
layer { name: "label" type: "data" data { data_type: INT size: 4 } }
layer { name: "conv" type: "conv" input: "x" conv { num_filters: 5 filter_size: 3 }
        param { of: "weight" lr_mult: 0.5 decay_mult: 2 max_norm: 1.1 } }
layer { name: "norm" type: "batch_norm" input: "conv" batch_norm { act: "relu" } }
layer { name: "a" type: "fc" input: "norm" fc { size: 33 act: "tanh" } param { of: "weight" clip_norm: 0.1 } }
layer { name: "b" type: "fc" input: "a" fc { size: 33 } param { of: "weight" share: "w" } }
layer { name: "c" type: "fc" input: "b" fc { size: 33 } param { of: "weight" share: "w" } }
layer { name: "aside" type: "fc" input: "a" fc { size: 7 } }
layer { name: "d" type: "fc" input: "c" fc { size: 4 } }
layer { name: "cost" type: "softmax_with_loss" input: "d" input: "label" }
"""

pytestmark = pytest.mark.filterwarnings("ignore:.*no loss depends on layer `aside`")


class Trained(NamedTuple):
    """What three steps come to."""

    net: pl.Net
    updater: Updater
    bits: dict[str, bytes]


def steps(
    optimizer: str = "sgd", attributes: dict[str, Any] | None = None, text: str = TEXT, *, early: bool, **settings: Any
) -> Trained:
    definition, network, rng = registries["optimizer"][optimizer], pl.loads(text), np.random.default_rng(2)
    net = pl.Net(network, seed=1)
    updater = Updater(definition, definition.bind(attributes or {}), net, **settings)
    if early:
        updater.update_in_backward(net)
    for step in range(1, 4):
        rows = 6 + step  # the plan is made anew
        updater.begin_step(0.05, step)
        net.forward({"x": rng.standard_normal((rows, 1, 9, 9)), "label": rng.integers(0, 4, rows)})
        net.backward()
        updater.step(0.05, step)
    numbers = {name: one.value for name, one in (net.parameters | net.states).items()}
    numbers |= {f"{name} of the optimizer": flat.read() for name, flat in updater.states.items()}
    return Trained(net, updater, {name: one.tobytes() for name, one in numbers.items()})


def penalty(name: str, **attributes: Any) -> ComponentSettings:
    definition = registries["regularizer"][name]
    return ComponentSettings(definition, definition.bind(attributes))


@pytest.mark.parametrize(
    ("optimizer", "attributes", "settings"),
    [
        ("sgd", {"momentum": 0.9}, {"regularizer": penalty("l2", rate=0.01)}),
        ("adam", {}, {"clip": ClipSettings(None, 0.002)}),
        ("lamb", {}, {"regularizer": penalty("l1", rate=0.01)}),
    ],
)
def test_same_bits_as_with_all_gradients_first(
    optimizer: str, attributes: dict[str, Any], settings: dict[str, Any]
) -> None:
    early, late = (steps(optimizer, attributes, early=early, **settings) for early in (True, False))
    assert early.bits == late.bits
    assert early.net.parameters["a.weight"].gradient is None
    assert late.net.parameters["a.weight"].gradient is not None


def test_a_parameter_is_updated_behind_its_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: one that is updated behind its first use, here that of the second of two layers that share it."""

    def first_uses(backward: Any) -> dict[Parameter, int]:
        refs = [(at, ref) for at, launch in enumerate(backward) for arg in launch.args for ref in refs_of(arg)]
        return {ref.owner.parameter: at for at, ref in reversed(refs) if isinstance(ref.owner, Held)}

    late = steps(early=False)
    monkeypatch.setattr(optimizer_in_backward, "last_uses", first_uses)
    assert steps(early=True).bits["b.weight"] != late.bits["b.weight"]


def test_a_penalty_is_not_added_up_where_no_loss_leads() -> None:
    """As a parameter whose gradient is zero: w * (1 - rate * penalty) a step."""
    first = pl.Net(pl.loads(TEXT), seed=1).parameters["aside.weight"].value
    last = (
        steps("sgd", {"momentum": 0.0}, regularizer=penalty("l2", rate=0.01), early=False)
        .net.parameters["aside.weight"]
        .value
    )
    np.testing.assert_allclose(last, first * (1 - 0.05 * 0.01) ** 3, rtol=1e-6)


def test_gradients_share_memory() -> None:
    """Eight layers of equal size: their gradients, of 4 MiB together, need the memory of two at most."""
    size, layers = 256 * 256 * 4, 8
    text = 'layer { name: "x" type: "data" data { shape: [1, 9, 9] } }' + "".join(
        f'layer {{ name: "l{at}" type: "fc" input: "{f"l{at - 1}" if at else "x"}" fc {{ size: 256 act: "tanh" }} }}'
        for at in range(layers)
    )
    text += 'layer { name: "label" type: "data" data { data_type: INT size: 4 } }'
    text += 'layer { name: "out" type: "fc" input: "l7" fc { size: 4 } }'
    text += 'layer { name: "cost" type: "softmax_with_loss" input: "out" input: "label" }'
    early, late = (steps(text=text, early=early) for early in (True, False))
    assert early.bits == late.bits
    assert late.net.arena.gradients.size * 4 > (layers - 1) * size
    assert not hasattr(early.net.arena, "gradients")
    assert early.net.memory("train") < late.net.memory("train") + 2 * size


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (TEXT, {"clip": ClipSettings(1.0, None)}),
        (TEXT.replace("max_norm: 1.1", "prune: 0.5"), {}),
    ],
)
def test_gradients_stay_where_a_step_needs_all(text: str, settings: dict[str, Any]) -> None:
    assert steps(text=text, early=True, **settings).net.parameters["a.weight"].gradient is not None
    with without("optimizer-in-backward"):
        assert steps(early=True).net.parameters["a.weight"].gradient is not None


def test_a_pass_outside_of_a_step_is_refused() -> None:
    net = steps(early=True).net
    with pytest.raises(RuntimeError, match="once per step"):
        net.backward()
    with pytest.raises(RuntimeError, match="only supports backward from its losses"):
        net.backward(gradients={"aside": np.ones((9, 7))})


class Gradients:
    """A callback that looks at gradients of parameters."""

    def on_step(self, run: Any) -> None:
        self.seen = run.net.parameters["fc1.weight"].gradient


class Other:
    """One that can see them behind a test only."""

    def on_test(self, run: Any) -> None:
        self.seen = run.net.parameters["fc1.weight"].gradient


def test_training_keeps_gradients_for_callbacks(tmp_path: Path) -> None:
    path = write(tmp_path)
    late, early = Gradients(), Other()
    reports = [pl.train(path, callbacks=[one], output=tmp_path / type(one).__name__) for one in (late, early)]
    assert late.seen is not None
    assert early.seen is None
    assert reports[0].results == reports[1].results
    assert reports[0].weights.read_bytes() == reports[1].weights.read_bytes()
