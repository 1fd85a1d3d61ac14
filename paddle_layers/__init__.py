"""Neural-network layers from one definition each: config checks, shapes, kernels, pages and tests are derived from it.

Everything below is loaded when it is first used, so that `import paddle_layers` costs next to nothing:
neither numba nor scipy nor jinja2 is imported before a network runs or a page is written.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import nn as nn
    from . import testing as testing
    from .config import ConfigError as ConfigError
    from .config import ConfigWarning as ConfigWarning
    from .config import Network as Network
    from .config import dumps as dumps
    from .config import load as load
    from .config import load_training as load_training
    from .config import loads as loads
    from .config import make_training as make_training
    from .data import Dataset as Dataset
    from .define import AdaptiveStep as AdaptiveStep
    from .define import Bias as Bias
    from .define import Bool as Bool
    from .define import Choice as Choice
    from .define import DefinitionError as DefinitionError
    from .define import Entries as Entries
    from .define import Example as Example
    from .define import Float as Float
    from .define import Floats as Floats
    from .define import Input as Input
    from .define import Int as Int
    from .define import Ints as Ints
    from .define import Numbers as Numbers
    from .define import Output as Output
    from .define import Param as Param
    from .define import Registry
    from .define import ShapeError as ShapeError
    from .define import Stat as Stat
    from .define import State as State
    from .define import String as String
    from .define import Strings as Strings
    from .define import Temp as Temp
    from .define import Type as Type
    from .define import body as body
    from .define import callback as callback
    from .define import direction as direction
    from .define import double as double
    from .define import each as each
    from .define import entries as entries
    from .define import fill as fill
    from .define import gradient as gradient
    from .define import helper as helper
    from .define import infer as infer
    from .define import initializer as initializer
    from .define import layer as layer
    from .define import lazy_update as lazy_update
    from .define import linear_penalty as linear_penalty
    from .define import load_plugin as load_plugin
    from .define import onnx as onnx
    from .define import optimizer as optimizer
    from .define import output_types as output_types
    from .define import penalty as penalty
    from .define import prepare as prepare
    from .define import python as python
    from .define import real as real
    from .define import registries as registries
    from .define import regularizer as regularizer
    from .define import require as require
    from .define import result as result
    from .define import schedule as schedule
    from .define import source as source
    from .define import starts as starts
    from .define import step as step
    from .define import transform as transform
    from .define import update as update
    from .define.from_message import register_layer as register_layer
    from .exchange.onnx_in.importing import import_onnx as import_onnx
    from .exchange.onnx_out.exporting import export_onnx as export_onnx
    from .kernels.tuned import tuned as tuned
    from .runtime import DeviceError as DeviceError
    from .runtime import FeedError as FeedError
    from .runtime import Net as Net
    from .runtime import Sequences as Sequences
    from .training import Optimizer as Optimizer
    from .training import Schedule as Schedule
    from .training import evaluate as evaluate
    from .training import generate as generate
    from .training import predict as predict
    from .training import train as train

    registry: Registry

_MODULES = ("nn", "testing")
_HOMES = {
    "config": ("ConfigError", "ConfigWarning", "Network", "dumps", "load", "load_training", "loads", "make_training"),
    "data": ("Dataset",),
    "define": (
        *(
            "AdaptiveStep",
            "Bias",
            "Bool",
            "Choice",
            "DefinitionError",
            "Entries",
            "Example",
            "Float",
            "Floats",
            "Input",
            "Int",
            "Ints",
            "Numbers",
            "Output",
        ),
        *(
            "Param",
            "ShapeError",
            "Stat",
            "State",
            "String",
            "Strings",
            "Temp",
            "Type",
            "body",
            "callback",
            "direction",
            "double",
        ),
        *(
            "each",
            "entries",
            "fill",
            "gradient",
            "helper",
            "infer",
            "initializer",
            "layer",
            "lazy_update",
            "linear_penalty",
            "load_plugin",
            "onnx",
            "optimizer",
            "output_types",
            "penalty",
            "prepare",
        ),
        *("python", "real", "registries", "regularizer", "require", "result", "schedule", "source", "starts", "step"),
        *("transform", "update"),
    ),
    "define.from_message": ("register_layer",),
    "exchange.onnx_in.importing": ("import_onnx",),
    "exchange.onnx_out.exporting": ("export_onnx",),
    "kernels.tuned": ("tuned",),
    "runtime": ("DeviceError", "FeedError", "Net", "Sequences"),
    "training": ("Optimizer", "Schedule", "evaluate", "generate", "predict", "train"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

_ELSEWHERE = {
    "fit": "`train` trains the network of a training file",
    "compile": "`make_training` combines a network with an optimizer and data",
    **dict.fromkeys(("Model", "Module", "Sequential"), "build a `Network` with the functions of `nn`"),
    "DataLoader": "pass arrays, DataFrames or iterables of batches to `train` as `datasets`",
}
"""Names of PyTorch and Keras, and what to use instead."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name == "registry":
        value = import_module(".define", __name__).registries["layer"]
    elif name in _MODULE_OF:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    else:
        if name in _ELSEWHERE:
            raise AttributeError(f"module `{__name__}` has no attribute `{name}`; {_ELSEWHERE[name]}")
        # Tools such as pytest look up underscored names a thousand times; these are no misspellings.
        near = "" if name.startswith("_") else _near(name)
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`{near}")
    globals()[name] = value
    return value


def _near(name: str) -> str:
    """The fix for an unknown name: that of a definition, here or in another framework, or a similar name."""
    found = next(iter(import_module(".define.definitions.search", __name__).search(name)), None)
    if found is None or not found.is_exact or not name[:1].isupper():
        return str(import_module(".define.errors", __name__).suggestion(name, __dir__()))
    own, kind = found.definition.name, found.definition.kind
    places = {
        "layer": f"write `nn.{own}(...)`",
        "optimizer": f'write `Optimizer(net, "{own}")`, or `optimizer={{"type": "{own}", ...}}` in `make_training`',
        "schedule": f'write `Schedule("{own}", ...)`',
    }
    return f"; {places.get(kind, f'the {kind} `{own}` is a block of a training')}"


def __dir__() -> list[str]:
    # For completion: without what this module imports for itself.
    return sorted({*_MODULES, *_MODULE_OF, "registry", *(name for name in globals() if name.startswith("__"))})
