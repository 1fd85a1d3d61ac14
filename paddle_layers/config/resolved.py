"""Resolved training files: the original text with the overrides of the command line applied."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .binding.blocks import data_sizes
from .binding.headers import MessageSpec, spec
from .binding.overrides import apply_overrides, block_keys
from .diagnostics.diagnostic import Source
from .diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from .files import read_file
from .reading.fields import BLOCK, FLOAT, LIST, STRING, Field, Fields, items
from .reading.syntax import read
from .writing.canonical import network_text
from .writing.formatter import format_text
from .writing.text import HEADER, HEADERS, value_text

if TYPE_CHECKING:
    from .training import Training

NETWORK = "network.textproto"
"""Name of the network file beside the training file."""


def resolved_texts(training: Training, folder: Path, overrides: Iterable[str] = ()) -> tuple[str, str]:
    """The text of the training and that of its network, which is empty if the training contains it.

    The field `base` makes paths of data relative to the folder of the new file. `overrides` are as in `--set`.
    """
    source = Source(training.file.name, training.file.own, (*training.file.overrides, *overrides))
    # Overrides that begin with `net.` belong to the file that has the network.
    apart = training.network_path is not None
    fields = _fields(source, "Training", without="net." if apart else "")
    inside = any(name == "net" for name, *_ in fields)
    network = ""
    if apart:
        own = training.network.source
        network = HEADER + _text(_fields(Source(own.name, own.own, source.overrides), "Network", "net."))
    elif not inside:  # it was made in Python
        network = network_text(training.network.name, training.network.nodes)
    # Both are paths from the old folder; they are written anew for the new one.
    fields = [field for field in fields if field[0] not in ("base", "network")]
    head = f"base: {value_text(_relative(training.base, folder))}\n"
    head += f"network: {value_text(NETWORK)}\n" if network else ""
    text = format_text(HEADERS["Training"] + head + _text(fields))
    return text, format_text(network) if network else ""


def unsized_layers(text: str, path: str | Path, settings: Iterable[str]) -> dict[str, str]:
    """The data layers of ids for which a training file has no size: their names, by their keys in `--set`."""
    try:
        network = _network_fields(Source(str(path), text, tuple(settings)), Path(path).parent)
    except ConfigError:
        return {}
    layers = [one[2] for field in network if field[0] == "layer" for one in items(field) if one[1] == BLOCK]
    sizes = data_sizes(network)
    found: dict[str, str] = {}
    for key, layer in zip(block_keys(layers, spec("Layer")), layers, strict=True):
        name = next((value for field, _, value, *_ in layer if field == "name"), None)
        if isinstance(name, str) and sizes.get(name, 1) is None:
            found[key] = name
    return found


def _network_fields(source: Source, folder: Path) -> Fields:
    """The fields of the network of a training file, with overrides. Raises `ConfigError`."""
    fields = _fields(source, "Training", without="net.")
    file = next((value for name, kind, value, *_ in fields if name == "network" and kind == STRING), None)
    if file is not None:
        return _fields(Source(file, read_file(folder / file), source.overrides), "Network", "net.")
    return next((value for name, kind, value, *_ in _fields(source, "Training") if name == "net" and kind == BLOCK), [])


def flat_fields(text: str, message: str) -> dict[str, str]:
    """The fields of a config file by the names of `--set`, such as `optimizer.learning_rate`, with their values.

    Values are in the syntax of `--set`. `message` is "Training" or "Network", whose names begin with "net.". Raises
    `ConfigError` for a config that cannot be parsed.
    """
    found: dict[str, str] = {}
    _flatten(_fields(Source("<text>", text), message), spec(message), "net." if message == "Network" else "", found)
    return found


def _fields(source: Source, message: str, prefix: str = "", *, without: str = "") -> Fields:
    report = DiagnosticReport(source)
    fields: Fields = []
    with contextlib.suppress(TooManyFaults):
        fields = read(report)
        # Overrides apply to fields that are known to be complete; in a broken block one would hide the error.
        if not report.failed:
            apply_overrides(fields, report, message, prefix, without=without)
    if report.failed:
        raise ConfigError(report.sorted())
    return fields


def _relative(base: Path, folder: Path) -> str:
    """Relative path from one folder to another, so that both may be moved together."""
    try:
        # Resolved first: `..` after a symbolic link would otherwise lead to another folder.
        return Path(os.path.relpath(base.resolve(), folder.resolve())).as_posix()
    except ValueError:  # other drives of Windows
        return base.resolve().as_posix()


def _text(fields: Fields) -> str:
    return "".join(f"{_field_text(field)}\n" for field in fields)


def _field_text(field: Field) -> str:
    name, kind, value, *_ = field
    if kind == BLOCK or (kind == LIST and any(item[1] == BLOCK for item in value)):
        blocks = items(field)
        return "\n".join(f"{name} {{ {' '.join(map(_field_text, block[2]))} }}" for block in blocks)
    return f"{name}: {_value_text(field)}"


def _value_text(field: Field) -> str:
    kind, value = field[1], field[2]
    if kind == LIST:
        return f"[{', '.join(map(_value_text, value))}]"
    if kind == STRING or (kind == FLOAT and math.isinf(value)):
        return value_text(value)
    return repr(value) if kind == FLOAT else str(value)


def _flatten(fields: Fields, header: MessageSpec | None, prefix: str, found: dict[str, str]) -> None:
    """Blocks of the same name get keys; several values of a name become a list."""
    by_name: dict[str, list[Field]] = {}
    for field in fields:
        by_name.setdefault(field[0], []).extend(items(field))
    for name, values in by_name.items():
        blocks = [value[2] for value in values if value[1] == BLOCK]
        if not blocks:
            texts = [_plain(value) for value in values]
            listed = len(texts) > 1 or any(field[1] == LIST for field in fields if field[0] == name)
            found[prefix + name] = f"[{', '.join(texts)}]" if listed else texts[0] if texts else "[]"
            continue
        known = header.fields.get(name) if header is not None else None
        inner = spec(known.message) if known is not None and known.message else None
        keys = block_keys(blocks, inner) if len(blocks) > 1 or (known is not None and known.repeated) else [""]
        for key, block in zip(keys, blocks, strict=True):
            _flatten(block, inner, f"{prefix}{name}{f'[{key}]' if key else ''}.", found)


def _plain(field: Field) -> str:
    return str(field[2]) if field[1] == STRING else _value_text(field)
