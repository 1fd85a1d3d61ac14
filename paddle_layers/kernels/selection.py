"""Selection of the tuned kernel that replaces a point function, and lazy import of kernel modules.

Kernels are imported when a layer first runs: those of this library, and the module `kernels` of a plugin. The tuned
kernels of a layer are in the file of this package with the same name as the layer's file.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import warnings
from collections.abc import Mapping
from typing import Any

from paddle_layers.define import DefinitionError, Plugin, PluginWarning, plugin_of, registries
from paddle_layers.define.plugins.loading import described

from .tuned import Tuned, forget, is_switched_off, registered, replaced_functions, tuned_kernels

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


def find_tuned(layer: str, function: str, device: str, sizes: Mapping[str, Any]) -> Tuned | None:
    """The first tuned kernel that accepts these sizes, or `None` for the point function."""
    if is_switched_off():
        return None
    load_kernels(layer, device)
    # In the order of registration: a file lists the fastest kernel of the narrowest range of sizes first.
    return next((kernel for kernel in tuned_kernels(layer, function, device) if kernel.accepts(sizes)), None)


def has_tuned(layer: str, function: str, device: str) -> bool:
    """Whether a function has a tuned kernel."""
    if is_switched_off():
        return False
    load_kernels(layer, device)
    return bool(tuned_kernels(layer, function, device))


def tuned_functions(layer: str, device: str = "cpu") -> list[str]:
    """Names of the point functions of a layer that have a tuned kernel on a device."""
    load_kernels(layer, device)
    return sorted(function for name, function, on in replaced_functions() if (name, on) == (layer, device))


def check_names(functions: Mapping[str, set[str]]) -> None:
    """Rejects tuned kernels of unknown functions; `functions` maps layer types to function names."""
    load_all_kernels()
    for layer, function, _ in replaced_functions():
        if function not in functions.get(layer, ()):
            raise DefinitionError(f"a tuned kernel replaces `{function}` of layer `{layer}`, which does not exist")
