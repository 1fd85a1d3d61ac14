"""Checks of network and training files, and their conversion between text, JSON and binary, by extension."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.message import Message

from paddle_layers.define.machine import gc_paused

from .binding.headers import is_training
from .diagnostics.diagnostic import Diagnostic, Source
from .diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from .files import BINARY, Examined, examine_network, loads, read_file
from .network import Network
from .reading.syntax import read
from .training import Training
from .trainingfiles import load_training, read_training
from .writing.binary import message_of_fields, plain, read_binary, text_of_message


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
    """The valid part of the text of a network or training file; `path` is its future path. Raises nothing."""
    return _examined(text, path).found


class _Either(NamedTuple):
    """The kind of a config, the training if it is valid, and the contents."""

    names_training: bool
    training: Training | None
    found: Examined


def _examined(text: str, path: str | Path, settings: Sequence[str] = ()) -> _Either:
    if _names_training(text):
        return _Either(True, *read_training(text, path, settings=settings))
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


def validated(path: str | Path, settings: Sequence[str] = ()) -> tuple[str, list[Diagnostic], Training | None]:
    """As `validate`, with the training if it is one; `settings` override fields of the file.

    A file with errors has no description, but an incomplete training where its data can be checked. Raises
    `ConfigError` if it cannot be read.
    """
    either = _examined(read_file(path), path, settings)
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


FORMATS = {
    ".textproto": "text",
    ".pbtxt": "text",
    ".prototxt": "text",
    ".txt": "text",
    ".json": "JSON",
} | dict.fromkeys(sorted(BINARY), "binary")
"""Formats by file extension."""

# A `#` in a string is no comment, and the header that names the message is written anew, so it is not lost.
_COMMENT = re.compile(
    r"""("[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')|#(?!\s*proto-(?:file|message):)"""
)


def converted(path: Path, wanted: str) -> tuple[bytes, bool]:
    """The content of a config file in the format `wanted`, and whether comments were lost. Raises `ConfigError`."""
    # First, because the conversion itself reports no errors: an unknown field would end in a traceback.
    validate(path)
    message, text = read_message(path)
    lost = not text.lstrip().startswith("{") and any(not match[1] for match in _COMMENT.finditer(text))
    return written(message, wanted), lost


def read_message(path: Path) -> tuple[Message, str]:
    """The message that a checked config file holds, and its text; a binary one has none. Raises `ConfigError`."""
    if path.suffix in BINARY:
        return read_binary(path), ""
    text = read_file(path)
    return message_of_fields(read(DiagnosticReport(Source(str(path), text)))), text


def written(message: Message, wanted: str) -> bytes:
    """A message as "text", "JSON" or "binary"."""
    if wanted == "binary":
        # The same network gives the same bytes, as reproducible builds and checksums expect.
        return message.SerializeToString(deterministic=True)
    text = text_of_message(message) if wanted == "text" else _json(plain(message), 0) + "\n"
    return text.encode()


def _json(value: Any, depth: int) -> str:
    """JSON for our reader: infinity is a number that overflows, since JSON has no literal for it."""
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        members = ",\n".join(f"{inner}{json.dumps(key)}: {_json(item, depth + 1)}" for key, item in value.items())
        return f"{{\n{members}\n{outer}}}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(inner + _json(item, depth + 1) for item in value) + f"\n{outer}]"
    if isinstance(value, list):
        return "[" + ", ".join(_json(item, depth) for item in value) + "]"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return json.dumps(value, ensure_ascii=False)
