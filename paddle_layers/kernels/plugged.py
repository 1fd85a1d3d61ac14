"""Kernels of plugins: the module `kernels` of a plugin's package, imported when one of its layers first runs."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import warnings

from paddle_layers.define import DefinitionError, Plugin, PluginWarning, plugin_of, registries
from paddle_layers.define.plugins import described

from .tuned import forget, registered


def load_kernels_for(layer: str) -> None:
    """Import the kernels of the plugin that brings this layer. Faulty ones warn and are forgotten as a whole."""
    plugin = plugin_of(layer)
    if plugin is not None:
        _load(plugin)


@functools.cache
def _load(plugin: Plugin) -> None:
    package = importlib.import_module(plugin.module).__package__
    module = f"{package}.kernels"
    try:
        if not package or importlib.util.find_spec(module) is None:
            return
        importlib.import_module(module)
        _check(plugin, module)
    except (Exception, SystemExit) as error:  # kernels may fail in any way; the point functions are there
        forget(module)
        message = f"the kernels of plugin `{plugin.prefix}` ({plugin.origin}) failed: {described(error, plugin)}; "
        warnings.warn(message + "its layers run their point functions, with the same results", PluginWarning, 2)


def _check(plugin: Plugin, module: str) -> None:
    for layer, function in registered(module):
        if layer not in plugin.names.get("layer", ()):
            raise DefinitionError(f"a tuned kernel of `{layer}`, which is no layer of this plugin")
        if function not in {own.name for own in registries["layer"][layer].complete().functions}:
            raise DefinitionError(f"a tuned kernel of `{function}`, which is no function of layer `{layer}`")
