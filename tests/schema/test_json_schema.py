"""JSON Schema of the config files: valid by its meta-schema, and of one mind with the validator on mutated configs."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from paddle_layers.codegen.json_schema import ROOTS, json_schema

import paddle_layers as pl
from paddle_layers.config import ConfigError, load_training, loads
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import BLOCK, LIST, WORD, Fields
from paddle_layers.config.reading.syntax import read
from paddle_layers.define import registries
from tests.config.test_mutations import EXAMPLES, sources

Json = Any
EXPRESSIBLE = {"E101", "E102", "E103", "E104", "E105", "E107", "E108", "E109", "E110", "E111", "E114", "E205"}
"""Codes of faults that JSON Schema can see: names, types, ranges, choices, counts. The others are about the wiring."""


@pytest.fixture(scope="module")
def network_schema() -> Any:
    return jsonschema.Draft202012Validator(json_schema("network"))


@pytest.fixture(scope="module")
def training_schema() -> Any:
    return jsonschema.Draft202012Validator(json_schema("training"))


def plain(fields: Fields) -> Json:
    """The fields of a text as JSON holds them."""
    found: dict[str, Json] = {}
    for name, kind, value, *_ in fields:
        item = _plain_value(kind, value)
        if name in found:
            before = found[name] if isinstance(found[name], list) else [found[name]]
            found[name] = [*before, item]
        else:
            found[name] = item
    return found


def _plain_value(kind: int, value: Any) -> Json:
    if kind == BLOCK:
        return plain(value)
    if kind == LIST:
        return [_plain_value(item[1], item[2]) for item in value]
    return {"true": True, "false": False}.get(value, value) if kind == WORD else value


def as_json(text: str) -> Json:
    return plain(read(DiagnosticReport(Source("", text))))


def codes(config: Json) -> set[str]:
    """Codes that the validator gives for a network."""
    try:
        loads(json.dumps(config))
    except ConfigError as error:
        return {diagnostic.code for diagnostic in error.diagnostics if diagnostic.severity == "error"}
    return set()


def places(config: Json) -> Iterator[tuple[dict[str, Json], str]]:
    """Every member of every object."""
    for name, value in config.items():
        yield config, name
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield from places(item)


WRONG_VALUES = (-1, 0, 3, 0.5, 2.5, "", "MAX", "relu", "data", [], [1, 2], [[1]], {}, {"a": 1}, True, "train")


def mutate(config: Json, rng: random.Random) -> str:
    """Break, or at least change, one member; gives what was done."""
    owner, name = rng.choice(list(places(config)))
    kind = rng.choice(("remove", "rename", "replace", "add", "nest"))
    if kind == "remove":
        del owner[name]
    elif kind == "rename":
        owner[name + rng.choice(("s", "_", "x"))] = owner.pop(name)
    elif kind == "replace":
        owner[name] = rng.choice(WRONG_VALUES)
    elif kind == "nest":
        owner[name] = [owner[name]]
    else:
        owner[rng.choice(("size", "input", "name", "act", "pool", "momentum", "param", "stride", "axis"))] = rng.choice(
            WRONG_VALUES
        )
    return kind


def stricter(config: Json) -> bool:
    """Whether it has 0 or 1 for a truth value, which the validator reads and the schema does not suggest."""
    truths = {a.name for d in pl.registry.values() for a in d.attributes.values() if a.type == "BOOL"}
    truths |= {"propagate_down", "frozen"}
    for owner, name in places(config):
        if name in truths:
            values = owner[name] if isinstance(owner[name], list) else [owner[name]]
            if any(type(value) is int and value in (0, 1) for value in values):
                return True
    return False


@pytest.mark.parametrize("kind", ROOTS)
def test_schema_is_valid_and_says_what_everything_is(kind: str) -> None:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    for definition in schema["$defs"].values():
        assert definition["description"]
        assert all(field["description"] for field in definition["properties"].values())


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=(pytest.mark.slow, pytest.mark.later))])
def test_valid_networks_are_accepted(network_schema: Any, share: int) -> None:
    for text in list(sources())[::share]:
        config = as_json(text)
        assert codes(config) == set()
        assert not list(network_schema.iter_errors(config)), text


@pytest.mark.parametrize("path", [path for path in EXAMPLES if "optimizer" in path.read_text()], ids=lambda p: p.stem)
def test_training_files_are_accepted(path: Path, training_schema: Any) -> None:
    load_training(path)
    assert not list(training_schema.iter_errors(as_json(path.read_text())))


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=(pytest.mark.slow, pytest.mark.later))])
def test_verdicts_agree_on_mutants(network_schema: Any, count: int) -> None:
    rng = random.Random(count)
    corpus = list(sources())
    seen: Counter[str] = Counter()
    for _ in range(count):
        config = as_json(rng.choice(corpus))
        done = mutate(config, rng)
        found = codes(config)
        refused = next(network_schema.iter_errors(config), None)
        if found & EXPRESSIBLE:
            assert refused is not None, (done, found, json.dumps(config))
            seen["both refuse"] += 1
        elif not found:
            assert refused is None or stricter(config), (done, refused, json.dumps(config))
            seen["both accept"] += 1
        else:
            seen["wiring"] += 1
    assert seen["both refuse"] > count / 3
    assert seen["both accept"] > count / 30


def test_every_definition_is_there() -> None:
    names = {key for kind in ROOTS for key in json_schema(kind)["$defs"]}
    assert names >= {f"{d.kind}.{d.name}" for registry in registries.values() for d in registry.values()}


def test_types_are_registered_or_blocks_of_the_file(network_schema: Any) -> None:
    data = {"name": "x", "type": "data", "data": {"shape": 4}}
    use = {"name": "y", "type": "unit", "input": "x", "set": "size = 3"}
    inner = {"name": "map", "type": "fc", "input": "x", "set": "size"}
    block = {"name": "unit", "input": "x", "settings": "size", "layer": inner, "output": "map"}
    assert network_schema.is_valid({"layer": [data, use], "block": block})
    assert not network_schema.is_valid({"layer": [data, use]})
    assert not network_schema.is_valid({"layer": [data, use | {"sets": "size = 3"}], "block": block})
    assert not network_schema.is_valid({"layer": [data, {"name": "y", "type": "fc", "input": "x"}], "block": block})
