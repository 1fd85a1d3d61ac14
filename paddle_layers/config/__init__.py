"""Text and JSON to a checked network: parser with source positions, binder, wiring, diagnostics, formatter."""

from .binding.assignments import Component, ParamSettings, PhaseState, StateRule
from .checking import examine, load_either, network_of, validate
from .diagnostics.diagnostic import Diagnostic, Fix, Note, Source
from .diagnostics.rendering import render_github, render_json, render_text
from .diagnostics.report import ConfigError, ConfigWarning
from .files import Examined, dumps, load, load_plugins, loads
from .network import Network
from .training import Training
from .training_builder import make_training
from .trainingfiles import load_training, loads_training
from .wiring.nodes import Node
from .writing.formatter import format_text

__all__ = [
    "Component",
    "ConfigError",
    "ConfigWarning",
    "Diagnostic",
    "Examined",
    "Fix",
    "Network",
    "Node",
    "Note",
    "ParamSettings",
    "PhaseState",
    "Source",
    "StateRule",
    "Training",
    "dumps",
    "examine",
    "format_text",
    "load",
    "load_either",
    "load_plugins",
    "load_training",
    "loads",
    "loads_training",
    "make_training",
    "network_of",
    "render_github",
    "render_json",
    "render_text",
    "validate",
]
