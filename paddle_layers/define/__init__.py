"""How a thing describes itself: fields, axes, decorators, registries; all the rest is derived from it."""

from .attributes import Attribute, Attributes, Bool, Choice, Float, Floats, Int, Ints, String, Strings
from .definitions import Definition, callback, initializer, schedule, source, transform
from .elementwise import optimizer, penalty, regularizer, step
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
from .fields import Bias, Input, Output, Param, Stat, State, Temp
from .functions import each, fill, gradient, helper, infer, output_types, real, result, update
from .layers import LayerDefinition, layer
from .registry import Registry, load_plugin, registries
from .types import Type

__all__ = [
    "Attribute",
    "Attributes",
    "Bias",
    "Bool",
    "Choice",
    "CountError",
    "Definition",
    "DefinitionError",
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
    "Output",
    "Param",
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
    "callback",
    "each",
    "fill",
    "gradient",
    "helper",
    "infer",
    "initializer",
    "layer",
    "load_plugin",
    "optimizer",
    "output_types",
    "penalty",
    "real",
    "registries",
    "regularizer",
    "require",
    "result",
    "schedule",
    "source",
    "step",
    "transform",
    "update",
]
