"""`new-plugin`: a starter plugin package."""

from __future__ import annotations

import re
from keyword import iskeyword
from pathlib import Path
from string import Template

import click

from ..output.files import empty_folder
from ..output.terminal import echo

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
def command(name: str, directory: Path | None) -> None:
    """Create a plugin package with one layer.

    It contains a test, docs and a CI workflow. Never overwrites files. NAME is the prefix of its layer types. DIRECTORY
    defaults to paddle-layers-NAME.
    """
    _check(name)
    distribution = f"paddle-layers-{name.replace('_', '-')}"
    directory = directory or Path(distribution)
    package = f"paddle_layers_{name}"
    words = {"prefix": name, "package": package, "distribution": distribution, "versions": versions()}
    texts = {target: (TEMPLATES / template).read_text(encoding="utf-8") for target, template in FILES.items()}
    with empty_folder(directory) as folder:
        for target, text in texts.items():
            folder.create_below(target.format(package=package), Template(text).substitute(words).encode())
    echo(f"created {directory} with the layer `{name}_gate` in src/{package}/__init__.py")
    echo(f"next: cd {directory} && pip install -e '.[test]' && python -m pytest")


def _check(name: str) -> None:
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
    from paddle_layers import __version__

    major, minor = map(int, __version__.split(".")[:2])
    return f">={major}.{minor},<{major + 1}" if major else f">=0.{minor},<0.{minor + 1}"
