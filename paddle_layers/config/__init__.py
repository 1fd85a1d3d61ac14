"""Text and JSON to a checked network: reader with spans, binder, wiring, inference, diagnostics, formatter."""

from .diagnostics import ConfigError, Diagnostic, Fix, Note, Source
from .files import load, loads
from .network import Network, Node
from .rendering import render_github, render_json, render_text
from .settings import Component, ParamSettings, State, StateRule
from .training import Training

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
    "loads",
    "render_github",
    "render_json",
    "render_text",
]
