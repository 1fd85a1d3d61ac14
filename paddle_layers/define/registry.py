"""Registries: one for each kind of definition, filled when something is first looked up."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .definitions import Definition
from .errors import DefinitionError, UnknownName

ENTRY_POINTS = "paddle_layers.plugins"

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


class PluginWarning(UserWarning):
    """A plugin could not be loaded; everything else goes on working."""


class Registry:
    """Definitions of one kind by name. Built-in ones are imported at the first look-up, plugins when needed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Definition] = {}
        self._built_in = False

    def add(self, definition: Definition) -> None:
        """Register; refuses a name that is taken, naming both places."""
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
        if found is None and load_entry_points():
            found = self._entries.get(name)
        return found

    def __getitem__(self, name: str) -> Any:
        found = self.get(name)
        if found is None:
            raise UnknownName(self.kind, name, self._entries)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._load_built_in()
        load_entry_points()
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def values(self) -> list[Any]:
        """All definitions, sorted by name."""
        return [self._entries[name] for name in self]

    def _load_built_in(self) -> None:
        if self._built_in:
            return
        self._built_in = True
        module = importlib.import_module(BUILT_IN[self.kind])
        for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
            importlib.import_module(f"{module.__name__}.{info.name}")


registries: dict[str, Registry] = {kind: Registry(kind) for kind in BUILT_IN}
"""The registry of each kind."""

_LOADED: set[str] = set()


def load_entry_points() -> bool:
    """Import the installed plugins once; a failing one is reported by name and does no harm. True if any loaded."""
    if "entry points" in _LOADED:
        return False
    _LOADED.add("entry points")
    found: dict[str, importlib.metadata.EntryPoint] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        if point.name in found and found[point.name].value != point.value:
            first, second = (p.dist.name if p.dist else "?" for p in (found[point.name], point))
            warnings.warn(f"plugin prefix `{point.name}` is claimed by {first} and by {second}", PluginWarning, 2)
            continue
        found[point.name] = point
    for point in found.values():
        try:
            with _all_or_nothing():
                point.load()
        except Exception as error:  # a plugin's module may fail in any way; it must harm nothing but itself
            warnings.warn(f"plugin `{point.name}` ({point.value}) failed: {error!r}", PluginWarning, 2)
    return bool(found)


@contextlib.contextmanager
def _all_or_nothing() -> Iterator[None]:
    """Check what a plugin registers as a whole; when anything is wrong, all of it is forgotten."""
    before = {kind: dict(registry._entries) for kind, registry in registries.items()}
    try:
        yield
        for name, definition in registries["layer"]._entries.items():
            if name not in before["layer"]:
                definition.complete()  # type: ignore[attr-defined]  # a layer's definition
    except BaseException:
        for kind, registry in registries.items():
            for name in set(registry._entries) - set(before[kind]):
                registry.remove(name)
        raise


def load_plugin(path: str | Path) -> None:
    """Import a file that registers definitions. Raises `DefinitionError` that names the file when it can't."""
    file = Path(path).resolve()
    if str(file) in _LOADED:
        return
    if not file.is_file():
        raise DefinitionError(f"there is no file {path}")
    name = f"paddle_layers_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DefinitionError(f"{path} is no Python file: a plugin's name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    registries["layer"]._load_built_in()  # so that a name that is taken is known
    try:
        with _all_or_nothing():
            spec.loader.exec_module(module)
    except DefinitionError:
        raise
    except Exception as error:  # whatever the author's file does wrong is reported at its line
        trace, line = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(file):
                line = trace.tb_lineno
            trace = trace.tb_next
        raise DefinitionError(f"the plugin fails: {type(error).__name__}: {error}", str(file), line) from error
    _LOADED.add(str(file))
