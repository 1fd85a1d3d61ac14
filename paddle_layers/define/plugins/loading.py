"""Plugin loading: installed packages, when an unknown name is needed, and files given explicitly.

Errors of a plugin are kept in its record and reported once; everything else continues to work.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ..definitions.definition import LOADING, Definition
from ..definitions.layers import LayerDefinition
from ..definitions.registry import LOADERS, is_built_in, registries
from ..errors import DefinitionError
from .installed import Plugin, PluginWarning, installed_plugins, plain, refusal


def load_entry_points() -> bool:
    """Load the installed plugins that are not loaded yet.

    A plugin that fails or is rejected leaves only a `PluginWarning` and its record.

    Returns:
        Whether there were any.
    """
    return _load_all(installed_plugins())


def load_for(name: str) -> bool:
    """Load the plugins whose prefix the name bears, if they are not loaded yet. True if there were any."""
    return "_" in name and _load_all([plugin for plugin in installed_plugins() if plugin.fits(name)])


LOADERS.append(lambda name: load_entry_points() if name is None else load_for(name))


def plugin_of(layer: str) -> Plugin | None:
    """The installed plugin that registered this layer; None for other layers."""
    found = registries["layer"].get(layer)
    if found is None or is_built_in(found):
        return None
    load_for(layer)
    return next((plugin for plugin in installed_plugins() if layer in plugin.names.get("layer", ())), None)


def broken_plugin(name: str) -> Plugin | None:
    """The plugin that would have registered this name, had it not failed or been refused."""
    broken = [plugin for plugin in installed_plugins() if plugin.broken and plugin.fits(name)]
    return max(broken, key=lambda plugin: len(plugin.prefix), default=None)


def _load_all(plugins: list[Plugin]) -> bool:
    with LOADING.current:
        pending = [plugin for plugin in plugins if not plugin.started]
        for plugin in pending:
            # Before any of them is imported: a plugin that looks up a name while it is imported comes here again.
            plugin.started = True
        for plugin in pending:
            _load(plugin)
    for plugin in pending:
        # Outside of the lock, since a warning may raise an exception, or be printed by code of the user.
        if plugin.broken:
            warnings.warn(plugin.report, PluginWarning, 4)
    return bool(pending)


def _load(plugin: Plugin) -> None:
    reason = refusal(plugin)
    if reason:
        plugin.state, plugin.reason = "refused", plain(reason)
        return
    remedy = f"; repair or uninstall `{plugin.distribution}`"
    try:
        own = _register(lambda: importlib.import_module(plugin.module), lambda new: _share(plugin, new), plugin)
    except DefinitionError as error:
        plugin.state, plugin.reason = "refused", plain(error) + remedy
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:  # a plugin's module may fail in any way; it must harm nothing but itself
        plugin.state, plugin.reason = "failed", described(error, plugin) + remedy
    else:
        plugin.state = "loaded"
        for definition in own:
            plugin.names[definition.kind] = (*plugin.names.get(definition.kind, ()), definition.name)


def _register(
    run: Callable[[], object],
    share: Callable[[list[Definition]], list[Definition]],
    plugin: Plugin | None = None,
) -> list[Definition]:
    """Run what registers, and check its share of the definitions as a whole: all or nothing. Returns its share."""
    before = set(map(id, _definitions()))

    def own() -> list[Definition]:
        return share([definition for definition in _definitions() if id(definition) not in before])

    try:
        with _kept():
            run()
        for definition in own():
            if plugin is not None and not plugin.fits(definition.name):
                wanted = f"{plugin.prefix}_{definition.name}"
                raise definition.error(
                    f"names of plugin `{plugin.prefix}` must start with its prefix; rename it to `{wanted}`"
                )
            if isinstance(definition, LayerDefinition):
                definition.complete()
        return own()
    except BaseException:
        # All or nothing: half of a plugin would behave differently from what its author has tested.
        for definition in own():
            registries[definition.kind].remove(definition.name)
        raise


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Run a plugin's import with its output redirected to stderr, and restore the recursion limit."""
    limit = sys.getrecursionlimit()
    try:
        # Results on stdout may be parsed by programs.
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.setrecursionlimit(limit)


def _definitions() -> list[Definition]:
    """The definitions that plugins and files have registered so far, by name."""
    found = [d for registry in registries.values() for d in registry.present() if not is_built_in(d)]
    return sorted(found, key=lambda definition: definition.name)


def _share(plugin: Plugin, new: list[Definition]) -> list[Definition]:
    """Select the definitions of a plugin, which may import another plugin.

    A module outside of all plugins' packages belongs to the plugin that imports it first; plugins in one package share
    its definitions by prefix.

    Returns:
        The definitions of the plugin.
    """
    packages = {other.package for other in installed_plugins()}
    siblings = [other for other in installed_plugins() if other.package == plugin.package and other is not plugin]
    own = [d for d in _definitions() if d.package == plugin.package]
    own = [d for d in own if plugin.fits(d.name) or not any(other.fits(d.name) for other in siblings)]
    return own + [d for d in new if d.package not in packages]


def described(error: BaseException, plugin: Plugin) -> str:
    """The error, with the line of the plugin."""
    if isinstance(error, DefinitionError):
        return plain(error)
    file, line = _place(error, _folder(plugin.package))
    where = f"{file}:{line}: " if file else ""
    return plain(f"{where}{type(error).__name__}: {error}")


def _folder(package: str) -> str:
    """The folder of a package, or the file of a module; empty if it has neither."""
    with contextlib.suppress(Exception):  # a finder that the plugin brings may fail in any way
        spec = importlib.util.find_spec(package)
        if spec is not None:
            return next(iter(spec.submodule_search_locations or [spec.origin or ""]))
    return ""


def _place(error: BaseException, inside: str) -> tuple[str, int]:
    """The last file and line of the traceback in the folder or file `inside`; empty and 0 if there is no such frame."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    found, trace = ("", 0), error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if inside and Path(file).is_relative_to(inside):
            found = file, trace.tb_lineno
        trace = trace.tb_next
    return found


# ---- files

_FILES: set[str] = set()


def load_plugin(path: str | Path) -> None:
    """Import a Python file that registers definitions.

    Args:
        path: The file.

    Raises:
        DefinitionError: The file does not exist, or its import fails; with file and line.

    Example::

        pl.load_plugin("my_layers.py")
    """
    if "\0" in str(path):
        raise DefinitionError(f"file not found: {str(path)!r}")
    file = Path(path).resolve()
    if str(file) in _FILES:
        return
    if not os.path.isfile(file):
        raise DefinitionError(f"file not found: {path}")
    name = f"paddle_layers_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DefinitionError(f"{path} is not a Python file (.py)")
    module = importlib.util.module_from_spec(spec)
    # As the import system does, before the module runs: dataclasses and pickling look it up.
    sys.modules[name] = module
    run = spec.loader.exec_module
    try:
        _register(lambda: run(module), lambda new: [d for d in new if d.package == name])
    except (DefinitionError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever the author's file does wrong is reported at its line
        where, line = _place(error, str(file))
        raise DefinitionError(
            f"the plugin failed: {type(error).__name__}: {error}", where or str(file), line
        ) from error
    _FILES.add(str(file))
