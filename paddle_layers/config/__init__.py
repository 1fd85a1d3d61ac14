"""Text and JSON to a checked network: reader with spans, binder, wiring, inference, diagnostics, formatter."""

from .checking import examine, load_either, network_of, validate
from .diagnostics import Diagnostic, Fix, Note, Source
from .files import Examined, dumps, load, loads
from .formatter import format_text
from .network import Network
from .nodes import Node
from .rendering import render_github, render_json, render_text
from .report import ConfigError
from .settings import Component, ParamSettings, State, StateRule
from .training import Training
from .trainingfiles import load_training

__all__ = [
    "Component",
    "ConfigError",
    "Diagnostic",
    "Examined",
    "Fix",
    "Network",
    "Node",
    "Note",
    "ParamSettings",
    "Source",
    "State",
    "StateRule",
    "Training",
    "dumps",
    "examine",
    "format_text",
    "load",
    "load_either",
    "load_training",
    "loads",
    "network_of",
    "render_github",
    "render_json",
    "render_text",
    "validate",
]
