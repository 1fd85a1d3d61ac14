"""New projects and plugin packages: `new`, `new-plugin`."""

from __future__ import annotations

import re
import shlex
from keyword import iskeyword
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import click

from ..files import empty_folder
from ..terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define.output_folders import Folder

STARTER = Path(__file__).parents[1] / "starter"
CLASSES, TRAIN_ROWS, TEST_ROWS = 3, 360, 120


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
def new(directory: Path) -> None:
    """Create a project in DIRECTORY.

    It contains a network, a training file, CSV and NPZ data and a README. Never overwrites files.
    """
    with empty_folder(directory) as folder:
        for file in sorted(STARTER.iterdir()):
            folder.create(file.name, file.read_bytes())
        _write_points(folder, "train", TRAIN_ROWS, seed=1)
        _write_points(folder, "test", TEST_ROWS, seed=2)
    echo(f"created {directory} with {', '.join(sorted(path.name for path in directory.iterdir()))}")
    echo(f"next: cd {shlex.quote(str(directory))} && paddle-layers train train.textproto")


def _write_points(folder: Folder, name: str, rows: int, *, seed: int) -> None:
    """Points on three noisy spiral arms, with alternating classes."""
    import io

    import numpy as np

    # A named bit generator: that of `default_rng` may change with the version of NumPy.
    random = np.random.Generator(np.random.Philox(key=seed))
    label = np.arange(rows) % CLASSES
    radius = np.sqrt(random.random(rows))
    angle = 2 * np.pi * label / CLASSES + 4 * radius + random.normal(0, 0.1, rows)
    features = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).round(4).astype(np.float32)
    lines = [f"{x:.4f},{y:.4f},{c}" for (x, y), c in zip(features, label, strict=True)]
    folder.create(f"{name}.csv", "\n".join(["x,y,label", *lines, ""]).encode())
    arrays = io.BytesIO()
    np.savez(arrays, features=features, label=label)
    folder.create(f"{name}.npz", arrays.getvalue())


TEMPLATES = Path(__file__).parents[1] / "plugin_template"
FILES = {
    "pyproject.toml": "pyproject.toml.in",
    "README.md": "README.md.in",
    "network.textproto": "network.textproto.in",
    "src/{package}/__init__.py": "layers.py.in",
    "tests/test_layers.py": "test_layers.py.in",
    "docs/README.md": "docs.md.in",
    ".github/workflows/test.yml": "test.yml.in",
    ".gitignore": "gitignore.in",
}
"""Files of a new package and their templates."""


@click.command()
@click.argument("name")
@click.argument("directory", type=click.Path(path_type=Path), required=False)
def new_plugin(name: str, directory: Path | None) -> None:
    """Create a plugin package with one layer.

    It contains a test, docs and a CI workflow. Never overwrites files. NAME is the prefix of its layer types. DIRECTORY
    defaults to paddle-layers-NAME.
    """
    _check_prefix(name)
    distribution = f"paddle-layers-{name.replace('_', '-')}"
    directory = directory or Path(distribution)
    package = f"paddle_layers_{name}"
    words = {"prefix": name, "package": package, "distribution": distribution, "versions": versions()}
    # Templates end in `.in`, so that no tool takes them for files of this project.
    texts = {target: (TEMPLATES / template).read_text(encoding="utf-8") for target, template in FILES.items()}
    with empty_folder(directory) as folder:
        for target, text in texts.items():
            folder.create_below(target.format(package=package), Template(text).substitute(words).encode())
    echo(f"created {directory} with the layer `{name}_gate` in src/{package}/__init__.py")
    echo(f"next: cd {directory} && pip install -e '.[test]' && python -m pytest")


def _check_prefix(name: str) -> None:
    """Reject invalid prefixes and prefixes in use."""
    from paddle_layers.define import installed_plugins, registries
    from paddle_layers.define.plugins.installed import PREFIX

    wanted = re.sub(r"[^a-z0-9]+", "_", name.lower()).lstrip("_0123456789").rstrip("_")
    if not PREFIX.fullmatch(name) or iskeyword(name):
        hint = f", such as `{wanted}`" if PREFIX.fullmatch(wanted) and not iskeyword(wanted) else ""
        raise click.BadParameter(
            f"invalid prefix `{name}`: expected lowercase words joined by `_`{hint}", param_hint="NAME"
        )
    taken = next((d for d in registries["layer"].built_in() if f"{d.name}_".startswith(f"{name}_")), None)
    if taken is not None:
        raise click.BadParameter(
            f"the built-in layer `{taken.name}` uses the prefix `{name}`; choose another", param_hint="NAME"
        )
    other = next((plugin for plugin in installed_plugins() if plugin.prefix == name), None)
    if other is not None:
        message = f"the installed plugin {other.origin} uses the prefix `{name}`; choose another"
        raise click.BadParameter(message, param_hint="NAME")


def versions() -> str:
    """The version specifier of the library for a new plugin, up to the next breaking release."""
    from paddle_layers._version import __version__

    major, minor = map(int, __version__.split(".")[:2])
    # Before 1.0, a minor release may break plugins.
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"
