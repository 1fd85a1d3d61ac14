"""Definitions of layers: fields, axes, decorators, registries, from which everything else is derived."""

from .bodies import Wire, body
from .decorators import each, fill, gradient, joined, python, update
from .definitions.components import callback, initializer, schedule, source, transform
from .definitions.definition import Definition
from .definitions.elementwise import direction, optimizer, penalty, regularizer, step
from .definitions.layers import Body, LayerDefinition, Part
from .definitions.lazy_updates import AdaptiveStep, lazy_update, linear_penalty
from .definitions.registry import Registry, registries
from .definitions.search import meant_elsewhere, no_layer_here, search, terms_of
from .derived import layer
from .errors import (
    CountError,
    DefinitionError,
    InvalidAttributes,
    KindError,
    LevelError,
    RankError,
    ShapeError,
    UnknownName,
    require,
)
from .fields.attribute_values import Attributes
from .fields.attributes import Attribute, Bool, Choice, Float, Floats, Int, Ints, String, Strings
from .fields.tensors import Bias, Entries, Input, Numbers, Output, Param, Stat, State, Temp
from .fields.types import Example, Type
from .functions.point_functions import double, helper, real
from .functions.program import with_names
from .host_functions import entries, infer, onnx, output_types, prepare, result, starts
from .plugins.installed import ENTRY_POINTS, Plugin, PluginWarning, installed_plugins
from .plugins.loading import broken_plugin, load_entry_points, load_plugin, plugin_of

__all__ = [
    "ENTRY_POINTS",
    "AdaptiveStep",
    "Attribute",
    "Attributes",
    "Bias",
    "Body",
    "Bool",
    "Choice",
    "CountError",
    "Definition",
    "DefinitionError",
    "Entries",
    "Example",
    "Float",
    "Floats",
    "Input",
    "Int",
    "Ints",
    "InvalidAttributes",
    "KindError",
    "LayerDefinition",
    "LevelError",
    "Numbers",
    "Output",
    "Param",
    "Part",
    "Plugin",
    "PluginWarning",
    "RankError",
    "Registry",
    "ShapeError",
    "Stat",
    "State",
    "String",
    "Strings",
    "Temp",
    "Type",
    "UnknownName",
    "Wire",
    "body",
    "broken_plugin",
    "callback",
    "direction",
    "double",
    "each",
    "entries",
    "fill",
    "gradient",
    "helper",
    "infer",
    "initializer",
    "installed_plugins",
    "joined",
    "layer",
    "lazy_update",
    "linear_penalty",
    "load_entry_points",
    "load_plugin",
    "meant_elsewhere",
    "no_layer_here",
    "onnx",
    "optimizer",
    "output_types",
    "penalty",
    "plugin_of",
    "prepare",
    "python",
    "real",
    "registries",
    "regularizer",
    "require",
    "result",
    "schedule",
    "search",
    "source",
    "starts",
    "step",
    "terms_of",
    "transform",
    "update",
    "with_names",
]
