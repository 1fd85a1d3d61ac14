"""Built-in definitions: found by the texts of files, imported when they are named."""

from __future__ import annotations

import subprocess
import sys

import pytest

import paddle_layers as pl
from paddle_layers.define.definitions.registry import module_by_name, registries


def test_the_texts_of_files_name_every_built_in_layer() -> None:
    assert module_by_name("layer") == {layer.name: layer.module for layer in pl.registry.built_in()}


@pytest.mark.parametrize("kind", registries)
def test_names_are_found_without_an_index(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle_layers.define.definitions.registry.module_by_name", lambda _: {})
    registry = registries[kind]
    assert registry.built_in()
    assert [registry.get(definition.name) for definition in registry.built_in()] == registry.built_in()


def output_of(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.strip()


def test_a_layer_brings_its_own_module_only() -> None:
    code = "import paddle_layers as pl; pl.registry['relu']; print({d.family for d in pl.registry.present()})"
    assert output_of(code) == "{'elementwise'}"


def test_a_near_name_is_found_in_modules_that_nobody_named() -> None:
    code = "import paddle_layers as pl\ntry: pl.registry['batch_norn']\nexcept Exception as error: print(error)"
    assert "did you mean `batch_norm`" in output_of(code)


def test_a_name_of_a_module_that_nobody_named_is_taken() -> None:
    code = (
        "import paddle_layers as pl\n"
        "class Mine:\n    'Mine.'\n    x = pl.Input('N C', 'rows')\n"
        "try: pl.layer('crf')(Mine)\n"
        "except pl.DefinitionError as error: print(error)\n"
    )
    assert "the name is already registered at" in output_of(code)
    assert "crf.py" in output_of(code)


def test_all_layers_are_there_after_one_was_named() -> None:
    code = "import paddle_layers as pl; pl.registry['relu']; print(len(pl.registry.built_in()))"
    assert int(output_of(code)) == len(pl.registry.built_in())
