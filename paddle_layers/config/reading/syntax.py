"""Syntax detection: text format, JSON, or a file of another program, by name and first bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from .fields import Fields, Recall, broken
from .jsonreader import read_json
from .lexer import HALF
from .reader import read_text


def read(report: DiagnosticReport, recall: Recall | None = None) -> Fields:
    """The fields of a config in either syntax. Raises `TooManyFaults`."""
    text = report.source.own
    # A Python string may hold half of a surrogate pair. It is rejected first, because a message that quotes it could
    # not be printed. `isascii` is a flag of the string, so the usual case costs nothing.
    if not text.isascii() and (half := HALF.search(text)):
        report.add("E003", f"unpaired surrogate `\\u{ord(half[0]):04x}`", half.start(), half.end())
        return [broken(half.start())]
    return read_json(text, report) if is_json(text) else read_text(text, report, recall)


def is_json(text: str) -> bool:
    """Whether a config is JSON: the text format never starts with a brace."""
    # A list is no valid config, but its author meant JSON, and the JSON parser says how to write it.
    return text.lstrip()[:1] in ("{", "[")


class OtherFile(NamedTuple):
    """The kind of a file and how to use it; `{file}` is replaced by its name."""

    what: str
    help: str


_TABLE = (
    'use it as a source, `source {{ type: "{type}" {type} {{ file: "{file}" }} }}`, in a training file, or run '
    "`paddle-layers predict TRAINING {file}`"
)
_WEIGHTS = "rewrite the network as a config and save the weights by parameter name in a safetensors file"
_IMAGE = 'use images in a training file: `source {{ type: "image_folder" }}` reads one folder per class'
_LANGUAGE = "write the same fields in the text format or as JSON; `paddle-layers new` creates an example"
_ENDINGS = {
    ".py": OtherFile(
        "a Python program", "run it with `python {file}`, or load its layer definitions with `--plugins {file}`"
    ),
    ".ipynb": OtherFile("a notebook", "open it in Jupyter; a config is a separate file"),
    ".safetensors": OtherFile("a weights file", "pass the training file, and the weights with `--weights {file}`"),
    ".onnx": OtherFile("an ONNX model", "`paddle-layers import {file} -o DIR` converts it to a network with weights"),
    **{f".{type_}": OtherFile("a data file", _TABLE.replace("{type}", type_)) for type_ in ("csv", "npz", "npy")},
    **dict.fromkeys((".jsonl", ".tsv"), OtherFile("a data file", "convert it to csv, npz or npy to train with it")),
    ".binaryproto": OtherFile("a Caffe mean file", "`paddle-layers import {file} -o DIR` converts it to an npy file"),
    ".caffemodel": OtherFile(
        "a Caffe weights file",
        "`paddle-layers import NET.prototxt --weights {file} -o DIR` converts it with the network",
    ),
    **dict.fromkeys(
        (".pt", ".pth"),
        OtherFile(
            "a PyTorch weights file",
            "`paddle-layers weights NETWORK {file} -o OURS.safetensors --from torch` converts it",
        ),
    ),
    **dict.fromkeys((".h5", ".hdf5"), OtherFile("a data file", _TABLE.replace("{type}", "hdf5"))),
    **dict.fromkeys(
        (".ckpt", ".keras", ".pdparams", ".pkl", ".pickle"), OtherFile("a file of another framework", _WEIGHTS)
    ),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp"), OtherFile("an image", _IMAGE)),
    **dict.fromkeys((".svg", ".html", ".pdf", ".md", ".rst"), OtherFile("a document", "open it in a browser")),
    **dict.fromkeys((".yaml", ".yml"), OtherFile("a YAML file", _LANGUAGE)),
    ".toml": OtherFile("a TOML file", _LANGUAGE),
}
_FIRST_BYTES = {
    b"\x93NUMPY": ".npy",
    # All zip files start like this; the others, such as `.pt`, are recognized by their extension before.
    b"PK\x03\x04": ".npz",
    b"\x89HDF": ".h5",
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"%PDF": ".pdf",
}
_NAMES = re.compile(r"""\b([A-Za-z_]\w*)["']?\s*[:{\[]""")
# With few errors, or with no name yet in a file that was just begun, the errors themselves help more than a guess.
_FEW, _SHORT = 2, 20
"""Maximum number of errors, and of characters without a field name, of text that may be a config."""
_OURS = (
    *("layer", "network", "net", "source", "optimizer", "block", "epochs", "steps", "batch_size"),
    *("schedule", "regularizer", "callback", "checkpoint", "transform", "weights", "clip"),
)
"""Fields that other files are unlikely to have."""


def other_file(path: Path, content: bytes) -> OtherFile | None:
    """The kind of a file that is not a config; None if it may be a config."""
    first = next((ending for start, ending in _FIRST_BYTES.items() if content.startswith(start)), "")
    # The extension decides before the content: `.pt` files are zip files, too.
    kind = _ENDINGS.get(path.suffix.lower()) or _ENDINGS.get(first)
    # Notepad's "Unicode": as UTF-8 its first byte is invalid, which says nothing about the remedy.
    if kind is None and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        kind = OtherFile("UTF-16 text", "save it as UTF-8")
    # The header length of safetensors, 64 bits in little-endian order, and the JSON header: its upper bytes are zero
    # below 16 MiB.
    if kind is None and content[8:9] == b"{" and content[3:8] == bytes(5):
        kind = _ENDINGS[".safetensors"]
    return kind._replace(help=kind.help.format(file=path)) if kind is not None else None


def other_text(text: str, errors: int) -> OtherFile | None:
    """The kind of an input that has errors and is not a config; None if it is probably a config."""
    if not errors:
        return None
    # The beginning of a large file suffices, and similar names are searched for 1,000 of them at most: difflib is slow.
    names = dict.fromkeys(_NAMES.findall(text[:100_000]))
    # Misspelled names count as well: a config with many errors must not be called something else.
    if (errors <= _FEW if names else len(text) <= _SHORT) or any(
        name in _OURS or nearest(name, _OURS, 0.75) for name in list(names)[:1000]
    ):
        return None
    return OtherFile("text in another format", "`paddle-layers new` creates an example network and training file")
