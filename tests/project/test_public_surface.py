"""`import paddle_layers`: the names that documents and plugins rely on, and what their import costs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl

HEAVY = ("numba", "scipy", "llvmlite", "jinja2", "markdown_it", "onnx", "rich")
SURFACE = (
    *("layer", "optimizer", "schedule", "initializer", "regularizer", "source", "transform", "callback"),
    *("Input", "Output", "Param", "Bias", "State", "Temp", "Stat", "Int", "Float", "Bool", "String", "Choice"),
    *(
        "registry",
        "register_layer",
        "output_types",
        "load",
        "loads",
        "dumps",
        "ConfigError",
        "Network",
        "Net",
        "nn",
        "Dataset",
        "train",
        "testing",
    ),
)


@pytest.mark.parametrize("name", SURFACE)
def test_name_is_there(name: str) -> None:
    assert getattr(pl, name) is not None
    assert name in dir(pl)


def test_completion_offers_public_names_only() -> None:
    offered = {name for name in dir(pl) if not name.startswith("__")}
    assert not {name for name in offered if name.startswith("_")} | {"Any", "TYPE_CHECKING", "import_module"} & offered
    assert all(getattr(pl, name) is not None for name in offered)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute `lauer`"):
        _ = pl.lauer  # type: ignore[attr-defined]


def test_checkers_and_the_program_see_the_same_names() -> None:
    tree = ast.parse(Path(str(pl.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    lazy = {(room, name) for name, room in pl._MODULE_OF.items()} | {(None, name) for name in pl._MODULES}
    assert typed - {("define", "Registry")} == lazy


VALIDATE = """
import sys
from paddle_layers.cli.app import commands
commands(['validate', 'net.textproto'], standalone_mode=False)
"""


def output_of(code: str, tmp_path: Path) -> list[str]:
    """The lines that code prints in a process of its own."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=600)
    return done.stdout.splitlines()


def loaded_by(code: str, tmp_path: Path) -> list[str]:
    """Heavy modules that are imported once `code` has run in a process of its own."""
    show = f"import json\nprint(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    found: list[str] = json.loads(output_of(f"import sys\n{code}\n{show}", tmp_path)[-1])
    return found


def test_import_is_light(tmp_path: Path) -> None:
    assert loaded_by("import paddle_layers as pl; pl.load; pl.registry['fc'].definition", tmp_path) == []
    # Help and completion need no layer, and protobuf is 54 modules.
    code = "import sys\nimport paddle_layers as pl; pl.load\nprint('google.protobuf' in sys.modules)"
    assert output_of(code, tmp_path) == ["False"]


def test_validate_is_light(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(
        'layer { name: "x" type: "data" data { shape: 4 } }\n'
        'layer { name: "y" type: "fc" input: "x" fc { size: 2 act: "relu" } }\n'
    )
    assert loaded_by(VALIDATE, tmp_path) == []


def test_validate_loads_the_layers_that_are_named_and_nothing_for_numbers(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(
        'layer { name: "x" type: "data" data { shape: 4 } }\n'
        'layer { name: "y" type: "fc" input: "x" fc { size: 2 act: "tanh" } }\n'
    )
    show = "import paddle_layers as pl\nprint({d.module for d in pl.registry.present()}, 'numpy' in sys.modules)\n"
    named = {pl.registry[name].module for name in ("data", "fc", "tanh")}
    loaded, numpy = output_of(VALIDATE + show, tmp_path)[-1].rsplit(" ", 1)
    assert (ast.literal_eval(loaded), numpy) == (named, "False")


def test_validate_of_a_training_file_loads_no_compiler(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text(
        'net { layer { name: "x" type: "data" data { shape: 4 } }\n'
        '      layer { name: "y" type: "fc" input: "x" fc { size: 4 } }\n'
        '      layer { name: "cost" type: "square_error" input: "y" input: "x" } }\n'
        'source { type: "npz" npz { file: "rows.npz" } }\n'
        'optimizer { type: "sgd" learning_rate: 0.1 }\n'
        'callback { type: "print" print { values: "y" } }\n'
        "epochs: 1 batch_size: 2\n"
    )
    np.savez(tmp_path / "rows.npz", x=np.zeros((3, 4), np.float32))
    assert loaded_by(VALIDATE, tmp_path) == []
    show = "print('paddle_layers.runtime.net' in sys.modules)\n"
    assert output_of(VALIDATE + show, tmp_path)[-1] == "False"


def test_a_diagnostic_is_light(tmp_path: Path) -> None:
    (tmp_path / "net.textproto").write_text('layer { name: "x" type: "dota" }\n')
    code = (
        "from paddle_layers.cli.app import commands\n"
        "try: commands(['validate', 'net.textproto'])\n"
        "except SystemExit as stop: assert stop.code == 1\n"
    )
    assert loaded_by(code, tmp_path) == []
