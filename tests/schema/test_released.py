"""Old configs keep meaning what they meant: the registry of today against the frozen export of every release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from paddle_layers.codegen.compatibility import (
    differences,
    differences_text,
    read_registry,
    registry_content,
    registry_def,
)
from paddle_layers.codegen.examples import worked_example

import paddle_layers as pl
from paddle_layers.define import Example, Type
from paddle_layers.define.messages.layer_def import read_value

RELEASED = sorted((Path(__file__).parents[2] / "schema" / "released").glob("*.textproto"))


@pytest.fixture(params=[*RELEASED, None], ids=lambda path: path.stem if path else "today")
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The export of a release, or one of today: what a release would freeze has to pass, too."""
    if request.param is not None:
        return Path(request.param)
    today = tmp_path / f"{pl.__version__}.textproto"
    today.write_bytes(registry_content(registry_def("paddle_layers"), "textproto"))
    return today


def test_nothing_breaks_without_a_step_of_the_version(path: Path) -> None:
    found = differences(read_registry(path), registry_def("paddle_layers"))
    refused = [difference for difference in found if difference.refused]
    assert not refused, "step the version of the definition, or keep what it did:\n" + differences_text(refused)


def test_frozen_examples_validate_and_infer_what_they_did(path: Path) -> None:
    checked = 0
    for old in read_registry(path).layers:
        layer = pl.registry[old.type]
        if layer.version > old.version:
            continue
        for example in old.examples:
            values = {setting.name: _plain(setting.value) for setting in example.attributes}
            types = layer.infer([Type.parse(i.type) for i in example.inputs], layer.bind(values))
            names = layer.output_names(len(types))
            assert [f"{n} {t}" for n, t in zip(names, types, strict=True)] == list(example.outputs), old.type
            worked = worked_example(layer, Example(**_inputs(example), **values))
            assert [f"{name} {shape}" for name, shape, _ in worked.parameters] == list(example.parameters), old.type
            checked += 1
    assert checked > 100


def _inputs(example: Any) -> dict[str, list[str]]:
    """Types by the name of the input."""
    types: dict[str, list[str]] = {}
    for given in example.inputs:
        types.setdefault(given.name, []).append(given.type)
    return types


def _plain(message: Any) -> Any:
    value = read_value(message)
    return list(value) if isinstance(value, tuple) else value


def test_a_release_is_frozen() -> None:
    assert RELEASED or pl.__version__ == "0.1.0", "export the released registry to schema/released"


def test_an_export_names_its_version(path: Path) -> None:
    assert read_registry(path).version == path.stem
