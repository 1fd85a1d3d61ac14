"""Registries: one for each kind of definition, filled when something is first looked up."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from .definitions import LOADING, Definition
from .errors import UnknownName

LIBRARY = "paddle_layers."

BUILT_IN = {
    "layer": "paddle_layers.layers",
    "initializer": "paddle_layers.layers.initializers",
    "optimizer": "paddle_layers.training.optimizers",
    "regularizer": "paddle_layers.training.regularizers",
    "schedule": "paddle_layers.training.schedules",
    "callback": "paddle_layers.training.callbacks",
    "source": "paddle_layers.data.sources",
    "transform": "paddle_layers.data.transforms",
}
"""Where the built-in definitions of a kind are written; the modules are found by name, so nothing here imports them."""


class Registry:
    """Definitions of one kind by name. Built-in ones are imported at the first look-up, plugins when needed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Definition] = {}
        self._loading = self._built_in = False

    def add(self, definition: Definition) -> None:
        """Register; refuses a name that is taken, naming both places."""
        if not is_built_in(definition):
            self._load_built_in()  # so that a name that is taken is known
        taken = self._entries.get(definition.name)
        if taken is not None and taken.location != definition.location:
            raise definition.error(f"the name is taken by {taken.file}:{taken.line}")
        self._entries[definition.name] = definition

    def remove(self, name: str) -> None:
        """Forget a definition, as the tests of plugins do."""
        self._entries.pop(name, None)

    def get(self, name: str) -> Any:
        """The definition of this name, or None."""
        self._load_built_in()
        found = self._entries.get(name)
        if found is None:
            from .plugins import load_for

            load_for(name)
            found = self._entries.get(name)
        return found

    def __getitem__(self, name: str) -> Any:
        found = self.get(name)
        if found is None:
            from .elsewhere import meant_elsewhere

            meant = meant_elsewhere(self.kind, name)
            raise UnknownName(self.kind, name, self._entries, meant.hint(self.kind) if meant else "")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        from .plugins import load_entry_points

        self._load_built_in()
        load_entry_points()
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

    def _load_built_in(self) -> None:
        if self._built_in:
            return
        with LOADING:
            if self._loading or self._built_in:  # one of the modules looks something up, or another thread was first
                return
            self._loading = True
            try:
                module = importlib.import_module(BUILT_IN[self.kind])
                for info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
                    importlib.import_module(info.name)
                self._built_in = True
            finally:
                self._loading = False


registries: dict[str, Registry] = {kind: Registry(kind) for kind in BUILT_IN}
"""The registry of each kind."""


def is_built_in(definition: Definition) -> bool:
    """Whether a definition is the library's own."""
    return definition.module.startswith(LIBRARY)
