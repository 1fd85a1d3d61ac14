"""Built-in definitions: their modules are found by name, so nothing here imports them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LIBRARY = "paddle_layers."

HOMES = {
    "layer": "paddle_layers.layers",
    "initializer": "paddle_layers.layers.initializers",
    "optimizer": "paddle_layers.training.optimizers",
    "regularizer": "paddle_layers.training.regularizers",
    "schedule": "paddle_layers.training.schedules",
    "callback": "paddle_layers.training.callbacks",
    "source": "paddle_layers.data.sources",
    "transform": "paddle_layers.data.transforms",
}
"""The module, or the package, that the definitions of a kind are written in."""

_DECORATOR = r'^@{kind}\(\s*"(\w+)"'
_SITE = Path(__file__).parents[3]


@cache
def module_by_name(kind: str) -> dict[str, str]:
    """The module of each definition of a kind, found by parsing the decorators in the source files.

    Parsing takes a hundredth of the time of importing the modules. A test ensures completeness; without source files
    the result is empty.
    """
    # Sources are searched instead of imported, so that a network that names ten layers does not import all of them.
    decorator = re.compile(_DECORATOR.format(kind=kind), re.MULTILINE)
    return {
        name: ".".join(path.relative_to(_SITE).with_suffix("").parts)
        for path in sorted(_SITE.joinpath(*HOMES[kind].split(".")).rglob("*.py"))
        for name in decorator.findall(path.read_text(encoding="utf-8"))
    }


def import_all(kind: str) -> None:
    """Import every module of a kind."""
    for name in _modules(HOMES[kind]):
        importlib.import_module(name)


def _modules(home: str) -> Iterator[str]:
    yield home
    module = importlib.import_module(home)
    yield from (info.name for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{home}."))
