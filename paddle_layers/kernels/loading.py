"""Lazy import of kernel modules when a layer first runs: those of this library, and the module `kernels` of a plugin.

The tuned kernels of a layer are in the file of this package with the same name as the layer's file.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import warnings

from paddle_layers.define import DefinitionError, Plugin, PluginWarning, plugin_of, registries
from paddle_layers.define.plugins.loading import described

from .tuned import forget, registered

LAYERS = "paddle_layers.layers."
KERNELS = "paddle_layers.kernels."


def load_kernels(layer: str, device: str) -> None:
    """Imports the kernels of a layer for a device; faulty ones of a plugin cause a warning and are all ignored."""
    definition = registries["layer"].get(layer)
    if definition is not None and definition.module.startswith(LAYERS):
        _load(kernels_module(definition.module, device))
    elif (plugin := plugin_of(layer)) is not None:
        _load_plugin(plugin)


def load_all_kernels() -> None:
    """Imports everything in this package, for every device."""
    package = importlib.import_module(KERNELS.rstrip("."))
    for info in pkgutil.walk_packages(package.__path__, KERNELS):
        importlib.import_module(info.name)


def kernels_module(module: str, device: str) -> str:
    """The module of the tuned kernels of the layers in a module of `paddle_layers.layers`, if it exists."""
    return KERNELS + ("" if device == "cpu" else f"{device}.") + module.removeprefix(LAYERS)


@functools.cache
def _load(module: str) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        # Not every layer has kernels, so that their module may be missing; a missing module that they import is an
        # error.
        if not f"{module}.".startswith(f"{error.name}."):
            raise


@functools.cache
def _load_plugin(plugin: Plugin) -> None:
    package = importlib.import_module(plugin.module).__package__
    module = f"{package}.kernels"
    try:
        if not package or importlib.util.find_spec(module) is None:
            return
        importlib.import_module(module)
        _check(plugin, module)
    except (Exception, SystemExit) as error:  # kernels may fail in any way; the point functions remain
        forget(module)
        message = f"the kernels of plugin `{plugin.prefix}` ({plugin.origin}) failed: {described(error, plugin)}; "
        warnings.warn(message + "its layers run their point functions, with the same results", PluginWarning, 2)


def _check(plugin: Plugin, module: str) -> None:
    for layer, function in registered(module):
        if layer not in plugin.names.get("layer", ()):
            raise DefinitionError(f"tuned kernel of `{layer}`, which is not a layer of this plugin")
        if function not in {own.name for own in registries["layer"][layer].complete().functions}:
            raise DefinitionError(f"tuned kernel of `{function}`, which is not a function of layer `{layer}`")
