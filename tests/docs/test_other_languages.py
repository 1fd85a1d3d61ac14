"""The program of the guide "Other languages" answers as the library does; it runs where Node and npm are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paddle_layers.codegen.compatibility import registry_content, registry_def
from paddle_layers.codegen.proto import write_protos

import paddle_layers as pl
from paddle_layers.define import InvalidAttributes, LayerDefinition

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = DOCS / "examples" / "javascript" / "check_config.js"
VALUES: tuple[Any, ...] = (-1, 0, 1, 2, 1.5, 1000000, "x", "relu", True, False, [], [1], [1, 2], [0.5, 0.5, 0.5], ["a"])
FAULT = re.compile(r"layer (\d+): \w+ (?:needs )?(\w+)")


def test_the_guide_shows_the_program() -> None:
    shown = (DOCS / "how-to" / "other-languages.md").read_text(encoding="utf-8")
    assert f"```javascript\n// file: {SCRIPT.name}\n{SCRIPT.read_text(encoding='utf-8')}```" in shown


def cases() -> Iterator[tuple[LayerDefinition, dict[str, Any]]]:
    """Every layer with each of its attributes at odd values, an unknown one, and nothing at all."""
    for layer in pl.registry.values():
        yield layer, {}
        yield layer, {"atribute": 1}
        for name, attribute in layer.attribute_by_name.items():
            for value in (*VALUES, *attribute.options):
                yield layer, {name: value}


def faults(layer: LayerDefinition, block: dict[str, Any]) -> set[str]:
    """The attributes that are at fault; a single value stands for a list of one, as in a config."""
    known = layer.attribute_by_name
    listed = {k: [v] if k in known and known[k].repeated and not isinstance(v, list) else v for k, v in block.items()}
    try:
        layer.bind(listed)
    except InvalidAttributes as error:
        return {known[name].name if name in known else name for name in error.problems}
    return set()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm: the JavaScript of the guide was not run")
def test_it_finds_what_the_library_finds(tmp_path: Path) -> None:
    write_protos(tmp_path / "protos")
    (tmp_path / "registry.binpb").write_bytes(registry_content(registry_def(), ".binpb"))
    asked = list(cases())
    layers = [{"name": str(n), "type": layer.name, layer.name: block} for n, (layer, block) in enumerate(asked)]
    (tmp_path / "network.json").write_text(json.dumps({"layer": layers}))
    shutil.copy(SCRIPT, tmp_path)
    subprocess.run(["npm", "install", "--silent", "protobufjs@8"], cwd=tmp_path, check=True, timeout=600)
    command = ["node", SCRIPT.name, "protos/paddle_layers/layer_def.proto", "registry.binpb", "network.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (1, "")
    found: dict[int, set[str]] = {number: set() for number in range(len(asked))}
    for line in done.stdout.splitlines()[:-1]:
        match = FAULT.match(line)
        assert match is not None, line
        layer = asked[int(match[1])][0]
        attribute = layer.attribute_by_name.get(match[2])
        found[int(match[1])].add(attribute.name if attribute else match[2])
    differing = [(layer.name, block) for n, (layer, block) in enumerate(asked) if found[n] != faults(layer, block)]
    assert not differing
    assert sum(map(bool, found.values())) > 1000
