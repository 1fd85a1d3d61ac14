"""Pages of the Python API by Sphinx autodoc, from the docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = "python"
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "Networks": {"paddle_layers": ("load", "loads", "dumps", "Network", "ConfigError", "ConfigWarning")},
    "Running": {
        "paddle_layers": ("Net", "Sequences"),
        "paddle_layers.runtime": ("Parameter", "Csr", "LoadReport", "FeedError", "DeviceError", "WeightsError"),
    },
    "Training, evaluation and inference": {
        "paddle_layers": ("train", "evaluate", "predict", "generate", "make_training", "load_training"),
        "paddle_layers.training": ("TrainingReport", "Run", "Evaluation", "Prediction", "Generation", "TrainingError"),
    },
    "Custom training loops": {"paddle_layers": ("Optimizer", "Schedule")},
    "Data": {
        "paddle_layers": ("Dataset",),
        "paddle_layers.data": ("SequenceColumn", "SparseColumn", "StoredColumn", "DataError"),
    },
    "ONNX": {"paddle_layers": ("export_onnx", "import_onnx")},
    "Definitions": {
        "paddle_layers": (
            *("layer", "optimizer", "schedule", "initializer", "regularizer", "source", "transform", "callback"),
            *("register_layer", "load_plugin"),
        ),
    },
    "Fields of definitions": {
        "paddle_layers": (
            *("Input", "Output", "Param", "Bias", "State", "Stat", "Temp"),
            *("Int", "Float", "Bool", "String", "Choice", "Ints", "Floats", "Strings"),
            *("Numbers", "Example", "Type", "Entries"),
        ),
    },
    "Functions of layers": {
        "paddle_layers": (
            *("each", "gradient", "direction", "update", "fill", "prepare", "entries", "starts", "python", "helper"),
            *("infer", "output_types", "require", "body", "result", "onnx", "tuned", "real", "double"),
        ),
    },
    "Functions of optimizers and other definitions": {
        "paddle_layers": ("step", "AdaptiveStep", "lazy_update", "penalty", "linear_penalty"),
    },
    "Errors of definitions": {"paddle_layers": ("DefinitionError", "ShapeError")},
    "Tests of layers": {
        "paddle_layers.testing": (
            *("check_layer", "check_plugin", "check_lazy_update", "check_linear_penalty", "compile_layer"),
            *("has_cuda", "has_hypothesis", "Finding", "Property", "Ptx"),
        ),
    },
}
"""Names by group and module; each has a page."""
SETTINGS: dict[str, object] = {
    "default_role": "code",  # docstrings mark code with single backticks
    "autodoc_member_order": "bysource",
    "autodoc_typehints": "signature",
    "autodoc_typehints_format": "short",
    "autodoc_class_signature": "mixed",
    "nitpick_ignore_regex": [("py:.*", ".*")],  # types of signatures that have no page
    "python_use_unqualified_type_names": True,
    "add_module_names": False,
}
MEMBERS = "   :members:\n   :inherited-members: tuple\n"
"""Also the methods that a class such as `Net` has from its private bases."""
INDEX = """# Python

[Use the library from Python](../how-to/use-from-python.md) shows how to use these together.
For the helper of a layer in `nn`, see the page of the layer; see also the attributes of
[optimizers](../reference/optimizers/index.md), [schedules](../reference/schedules/index.md),
[regularizers](../reference/regularizers/index.md) and [callbacks](../reference/callbacks/index.md).
"""


def write_python_pages(folder: Path) -> list[str]:
    """Write the sources of the pages to `folder`, which is made; returns their names, the index first."""
    folder.mkdir(parents=True)
    names, index = [], [INDEX]
    for group, modules in GROUPS.items():
        index += [f"\n## {group}\n\n| name | description |\n|---|---|"]
        for module, members in modules.items():
            for name in members:
                found = getattr(import_module(module), name)
                (folder / f"{name}.md").write_text(_page(module, name, found), encoding="utf-8")
                index.append(f"| [`{name}`]({name}.md) | {_summary(found)} |")
                names.append(name)
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")
    return ["index", *names]


def _page(module: str, name: str, found: Any) -> str:
    kind = "autoclass" if inspect.isclass(found) else "autofunction"
    options = MEMBERS if kind == "autoclass" and not issubclass(found, Exception) else ""
    return f"# `{name}`\n\n```{{eval-rst}}\n.. {kind}:: {module}.{name}\n{options}```\n"


def _summary(found: Any) -> str:
    """The first sentence of the docstring, or its first line."""
    first = " ".join(inspect.cleandoc(found.__doc__ or "").partition("\n\n")[0].split())
    return (first.partition(". ")[0].rstrip(".") if ". " in first else first.rstrip(".")).replace("|", "\\|")
