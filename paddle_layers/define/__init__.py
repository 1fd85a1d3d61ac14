"""How a thing describes itself: fields, axes, decorators, registries; all the rest is derived from it."""

from .attributes import Attribute, Attributes, Bool, Choice, Float, Floats, Int, Ints, String, Strings
from .bodies import Wire, body
from .components import callback, initializer, schedule, source, transform
from .decorators import (
    each,
    entries,
    fill,
    gradient,
    infer,
    joined,
    onnx,
    output_types,
    prepare,
    python,
    result,
    starts,
    update,
)
from .definitions import Definition
from .derived import layer
from .elementwise import direction, optimizer, penalty, regularizer, step
from .elsewhere import meant_elsewhere, no_layer_here
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
from .examples import Example
from .fields import Bias, Entries, Input, Numbers, Output, Param, Stat, State, Temp
from .functions import double, helper, real
from .installed import ENTRY_POINTS, Plugin, PluginWarning, installed_plugins
from .layers import Body, LayerDefinition, Part
from .lazy_updates import AdaptiveStep, lazy_update, linear_penalty
from .plugins import broken_plugin, load_entry_points, load_plugin, plugin_of
from .registry import Registry, registries
from .types import Type

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
    "source",
    "starts",
    "step",
    "transform",
    "update",
]
