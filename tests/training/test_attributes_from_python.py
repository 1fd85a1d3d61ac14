"""Every attribute of schedules, optimizers, regularizers and callbacks, set from Python and in a training file."""

from __future__ import annotations

from typing import Any

import pytest

import paddle_layers as pl
from paddle_layers.config.writing.text import Word, fields_text
from paddle_layers.define import Attribute, Definition, registries
from paddle_layers.training.schedules import Staged

pytestmark = pytest.mark.usefixtures("as_python")

STEPS = 9
NET = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "y" type: "data" data { shape: 1 } }
layer { name: "s" type: "fc" input: "x" fc { size: 1 } }
layer { name: "cost" type: "square_error" input: "s" input: "y" }
"""


def other(attribute: Attribute[Any]) -> Any:
    """A legal value that is not the default."""
    if attribute.type == "BOOL":
        return not attribute.default
    if attribute.type == "CHOICE":
        return next(option for option in attribute.options if option != attribute.default)
    if attribute.type == "STRING":
        return "other" if not attribute.repeated else ["other"]
    numbers = (2, 3, 0, 1) if attribute.type.startswith("INT") else (0.25, 0.75, 1.5, 3.0)
    low = [limit for limit in (attribute.min, attribute.above) if limit is not None]
    high = [limit for limit in (attribute.max, attribute.below) if limit is not None]
    found = next(n for n in numbers if n != attribute.default and all(n > k for k in low) and all(n < k for k in high))
    return [found] if attribute.repeated else found


def cases(kind: str) -> list[Any]:
    """Each attribute by itself, beside those that are required; and all of them together."""
    found = []
    for definition in registries[kind].values():
        values = {name: other(attribute) for name, attribute in definition.attributes.items()}
        required = {name for name, attribute in definition.attributes.items() if attribute.required}
        chosen = {name: {one: values[one] for one in sorted({name, *required})} for name in values}
        for name, attribute in definition.attributes.items():
            for alias in attribute.aliases:
                chosen[alias] = {alias if one == name else one: value for one, value in chosen[name].items()}
        chosen["all"] = values
        found += [pytest.param(definition, given, id=f"{definition.name}-{name}") for name, given in chosen.items()]
    return found


def in_file(kind: str, definition: Definition, given: dict[str, Any]) -> Any:
    """The settings of a block of a training file."""
    words = {
        name: Word(value) if definition.attribute_by_name[name].type == "CHOICE" else value
        for name, value in given.items()
    }
    rate = " learning_rate: 0.1" if kind == "optimizer" else ""
    block = f'{kind} {{ type: "{definition.name}"{rate} {definition.name} {{ {fields_text(words)} }} }}'
    sgd = "" if kind == "optimizer" else 'optimizer { type: "sgd" learning_rate: 0.1 }'
    source = 'source { type: "npz" npz { file: "t.npz" } } source { type: "npz" phase: "test" npz { file: "t.npz" } }'
    more = f"test {{ every: 3 }} steps: {STEPS} batch_size: 2"
    return pl.config.loads_training(f"net {{ {NET} }} {source} {sgd} {block} {more}", "t")


@pytest.mark.parametrize(("definition", "given"), cases("schedule"))
def test_schedules(definition, given):
    settings = in_file("schedule", definition, given)
    expected = [Staged(settings.schedule).rate(0.1, step, STEPS) for step in range(STEPS)]
    schedule = pl.Schedule(definition.name, learning_rate=0.1, training_steps=STEPS, **given)
    assert [schedule.rate(step) for step in range(STEPS)] == expected


@pytest.mark.parametrize(("definition", "given"), cases("optimizer"))
def test_optimizers(definition, given):
    settings = in_file("optimizer", definition, given).optimizer
    with pl.Net(pl.loads(NET)) as net:
        optimizer = pl.Optimizer(net, definition.name, **given)
        assert dict(optimizer._updater._rules.attributes) == dict(settings.attributes)


@pytest.mark.parametrize(("definition", "given"), cases("regularizer"))
def test_regularizers(definition, given):
    settings = in_file("regularizer", definition, given).regularizer
    with pl.Net(pl.loads(NET)) as net:
        optimizer = pl.Optimizer(net, "sgd", regularizer=(definition.name, given))
        assert dict(optimizer._updater._rules.regularizer.attributes) == dict(settings.attributes)


@pytest.mark.parametrize(("definition", "given"), cases("callback"))
def test_callbacks(definition, given):
    (settings,) = in_file("callback", definition, given).callback
    block = {"type": definition.name, definition.name: given}
    made = pl.make_training(
        pl.loads(NET), optimizer={"type": "sgd", "learning_rate": 1}, callback=[block], test={"every": 3}, steps=9
    )
    assert dict(made.callback[0].attributes) == dict(settings.attributes)
