"""Text and JSON to a checked network: reader with spans, binder, wiring, inference, diagnostics, formatter."""

from .diagnostics import ConfigError, Diagnostic, Fix, Note, Source
from .files import load, loads
from .network import Network, Node
from .rendering import render_github, render_json, render_text
from .settings import Component, ParamSettings, State, StateRule
from .training import Training
from .trainingfiles import load_training

__all__ = [
    "Component",
    "ConfigError",
    "Diagnostic",
    "Fix",
    "Network",
    "Node",
    "Note",
    "ParamSettings",
    "Source",
    "State",
    "StateRule",
    "Training",
    "load",
    "load_training",
    "loads",
    "render_github",
    "render_json",
    "render_text",
]
