"""Checking of network and training files, with detection of the kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.define.machine import gc_paused

from .binding.headers import is_training
from .diagnostics.diagnostic import Diagnostic, Source
from .diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from .files import Examined, examine_network, loads, read_file
from .network import Network
from .reading.syntax import read
from .training import Training
from .trainingfiles import UNKNOWN_SIZE, Sizes, load_training, read_training


def load_either(path: str | Path) -> Network | Training:
    """A checked network or training file. Raises `ConfigError` with all errors."""
    text = read_file(path)
    # By content, not by extension, which is the same for both kinds.
    if _names_training(text):
        return load_training(path)
    return loads(text, str(path))


def is_training_file(path: str | Path) -> bool:
    """Whether a file is a training file, according to its first fields. Raises `ConfigError` if it can't be read."""
    return _names_training(read_file(path))


def examine(text: str, path: str | Path) -> Examined:
    """The valid part of the text of a network or training file; `path` is its future path. Raises nothing.

    Sizes that come from data have the value `UNKNOWN_SIZE`.
    """
    return _examined(text, path, sizes=lambda _, layers: dict.fromkeys(layers, UNKNOWN_SIZE)).found


class _Either(NamedTuple):
    """The kind of a config, the training if it is valid, and the contents."""

    names_training: bool
    training: Training | None
    found: Examined


def _examined(text: str, path: str | Path, settings: Sequence[str] = (), sizes: Sizes | None = None) -> _Either:
    if _names_training(text):
        return _Either(True, *read_training(text, path, settings=settings, sizes=sizes))
    return _Either(False, None, examine_network(text, str(path), settings))


def network_of(path: str | Path) -> Network:
    """The network of a network file, or of the training file that names it. Raises `ConfigError`."""
    found = load_either(path)
    return found.network if isinstance(found, Training) else found


def validate(path: str | Path) -> tuple[str, list[Diagnostic]]:
    """Check a file of either kind; returns a description and warnings. Raises `ConfigError` with all errors."""
    words, faults, _ = validated(path)
    # Warnings are part of the result here: a command prints them, so there is no `warnings.warn`.
    if not words:
        raise ConfigError(faults)
    return words, faults


def validated(
    path: str | Path, settings: Sequence[str] = (), sizes: Sizes | None = None
) -> tuple[str, list[Diagnostic], Training | None]:
    """As `validate`, with the training if it is one; `settings` override fields, `sizes` are as in `read_training`.

    A file with errors has no description, but an incomplete training where its data can be checked. Raises
    `ConfigError` if it cannot be read.
    """
    either = _examined(read_file(path), path, settings, sizes)
    network, faults = either.found
    if network is None or either.found.failed:
        return "", faults, either.training
    layers = f"a network of {len(network)} layer{'s' * (len(network) != 1)}"
    return f"a training file for {layers}" if either.names_training else layers, faults, either.training


def _names_training(text: str) -> bool:
    """Whether the first fields are those of a training file; errors are left to the next reader."""
    try:
        return is_training(
            gc_paused(lambda: read(DiagnosticReport(Source("", text)), recall=bool))
        )  # whole layers are skipped
    except TooManyFaults:
        # A file with so many errors is reported by the reader of either kind.
        return False
