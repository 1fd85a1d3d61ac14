"""User errors and their messages."""

from __future__ import annotations

import sys

# By name and not by class: importing the classes would import numba, also for an error such as a missing file.
USER_ERRORS = (
    ("paddle_layers.config", "ConfigError"),
    ("paddle_layers.define.errors", "DefinitionError"),
    ("paddle_layers.define.errors", "InvalidAttributes"),
    ("paddle_layers.define.errors", "ShapeError"),
    ("paddle_layers.define.errors", "UnknownName"),
    ("paddle_layers.data", "DataError"),
    ("paddle_layers.runtime", "DeviceError"),
    ("paddle_layers.runtime", "FeedError"),
    ("paddle_layers.runtime", "SaveError"),
    ("paddle_layers.runtime", "WeightsError"),
    ("paddle_layers.training", "TrainingError"),
    ("paddle_layers.exchange.onnx_in.model", "ImportFailure"),
    ("paddle_layers.exchange.onnx_out.model", "ExportError"),
    ("paddle_layers.exchange.caffe_in.binary", "CaffeError"),
)
"""Module and name; a module that was never imported has raised nothing."""


def user_message(error: Exception) -> str | None:
    """The message of a user error; None for an internal error of the library."""
    if isinstance(error, OSError):
        # Without the number of the error, which `str` would print.
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, UnicodeDecodeError):
        return f"not a UTF-8 text file: {error}"
    if isinstance(error, tuple(_loaded())):
        return str(error)
    return None


def _loaded() -> list[type[Exception]]:
    found = (getattr(sys.modules.get(module), name, None) for module, name in USER_ERRORS)
    return [kind for kind in found if kind is not None]
