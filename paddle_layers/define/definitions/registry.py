"""Registries of definitions, one per kind, filled on first use.

The modules of built-in definitions are found by name, so nothing here imports them.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UnknownName, brief
from .definition import LOADING, Definition

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
ALL = "all modules"
LOADERS: list[Callable[[str | None], object]] = []
"""Load the plugins that a name may be of, or all of them; `plugins` adds itself, so that nothing here imports it."""
HINTS: list[Callable[[str, str], str]] = []
"""Suggests a registered name for an unknown name of this kind; `search` adds that of names in other systems."""


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


class Registry:
    """Definitions of one kind by name. A built-in one is imported when it is named, a plugin when nothing else fits."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Definition] = {}
        self._loading: set[str] = set()
        self._loaded: set[str] = set()
        self._complete: set[str] = set()
        """Built-in definitions whose module has been imported to its end: they need no look at what to load."""

    def add(self, definition: Definition) -> None:
        """Register; refuses a name that is taken, naming both places."""
        if not is_built_in(definition):
            self._load(definition.name)  # so that a name that is taken is known
        taken = self._entries.get(definition.name)
        if taken is not None and taken.location != definition.location:
            raise definition.error(f"the name is already registered at {taken.file}:{taken.line}")
        self._entries[definition.name] = definition

    def remove(self, name: str) -> None:
        """Forget a definition, as the tests of plugins do."""
        self._entries.pop(name, None)

    def get(self, name: str) -> Any:
        """The definition of this name, or None."""
        found = self._entries.get(name) if name in self._complete else None
        return found or self._find(name)

    def _find(self, name: str) -> Definition | None:
        self._load(name)
        if name not in self._entries:
            # Plugins before all built-in modules: a name that no built-in module defines is most likely a plugin's, and
            # importing every layer is slow.
            self._load_plugins(name)
        if name not in self._entries:
            self._load_built_in()
        found = self._entries.get(name)
        # While a module is imported its functions are still missing.
        if found is not None and is_built_in(found) and not self._loading:
            self._complete.add(name)
        return found

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"the name of the {self.kind} must be a string, not {brief(name)}")
        found = self.get(name)
        if found is None:
            hints = filter(None, (hint(self.kind, name) for hint in HINTS))
            raise UnknownName(self.kind, name, self._entries, next(hints, ""))
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._load_built_in()
        self._load_plugins(None)
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def values(self) -> list[Any]:
        """All definitions, sorted by name."""
        return [self._entries[name] for name in self]

    def built_in(self) -> list[Definition]:
        """The library's own definitions; loads no plugin."""
        self._load_built_in()
        return [definition for definition in self._entries.values() if is_built_in(definition)]

    def present(self) -> list[Definition]:
        """Definitions that are registered so far; loads nothing."""
        return list(self._entries.values())

    def _load_plugins(self, name: str | None) -> None:
        for load in LOADERS:
            load(name)

    def _load(self, name: str) -> None:
        """Import the module in which the library defines a name, if it does."""
        modules = module_by_name(self.kind)
        if not modules:
            self._load_built_in()
        elif name in modules:
            self._once(modules[name], lambda: importlib.import_module(modules[name]))

    def _load_built_in(self) -> None:
        self._once(ALL, lambda: import_all(self.kind))

    def _once(self, what: str, load: Callable[[], object]) -> None:
        # Checked without the lock first: every lookup comes through here.
        if what in self._loaded:
            return
        with LOADING.current:
            if what in self._loading or what in self._loaded:  # it looks up itself, or another thread was first
                return
            self._loading.add(what)
            try:
                load()
                self._loaded.add(what)
            finally:
                self._loading.discard(what)


registries: dict[str, Registry] = {kind: Registry(kind) for kind in HOMES}
"""The registry of each kind."""


def is_built_in(definition: Definition) -> bool:
    """Whether a definition is the library's own."""
    return definition.module.startswith(LIBRARY)
