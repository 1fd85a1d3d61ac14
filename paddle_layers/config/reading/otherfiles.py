"""Recognition of files of other formats that are passed instead of a config, by name and first bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..diagnostics.suggestions import nearest


class OtherFile(NamedTuple):
    """The kind of a file and how to use it; `{file}` is replaced by its name."""

    what: str
    help: str


_TABLE = (
    'a training file reads it, `source {{ type: "{type}" {type} {{ file: "{file}" }} }}`, and so does '
    "`paddle-layers predict TRAINING {file}`"
)
_WEIGHTS = "write the network anew, and store the weights by the names of its parameters in a safetensors file"
_PICTURE = 'a training file reads pictures: `source {{ type: "image_folder" }}` those of a folder for each class'
_LANGUAGE = "write the same fields in the text format or as JSON; `paddle-layers new` makes an example"
_ENDINGS = {
    ".py": OtherFile(
        "a Python program", "run it, `python {file}`; definitions of layers in it are loaded by `--plugins {file}`"
    ),
    ".ipynb": OtherFile("a notebook", "open it in Jupyter; a config is a file of its own"),
    ".safetensors": OtherFile(
        "a file of weights", "name the training file, and the weights beside it: `--weights {file}`"
    ),
    ".onnx": OtherFile("an ONNX model", "`paddle-layers import {file} -o DIR` makes a network of it, with its weights"),
    **{f".{type_}": OtherFile("a file of data", _TABLE.replace("{type}", type_)) for type_ in ("csv", "npz", "npy")},
    **dict.fromkeys((".jsonl", ".tsv"), OtherFile("a file of data", "store it as csv, npz or npy to train with it")),
    ".binaryproto": OtherFile("a mean of Caffe", "`paddle-layers import {file} -o DIR` makes an npy file of it"),
    ".caffemodel": OtherFile(
        "weights of Caffe", "`paddle-layers import NET.prototxt --weights {file} -o DIR` makes a network with them"
    ),
    **dict.fromkeys(
        (".pt", ".pth"),
        OtherFile(
            "weights of PyTorch", "`paddle-layers weights NETWORK {file} -o OURS.safetensors --from torch` reads them"
        ),
    ),
    **dict.fromkeys((".h5", ".hdf5"), OtherFile("a file of data", _TABLE.replace("{type}", "hdf5"))),
    **dict.fromkeys(
        (".ckpt", ".keras", ".pdparams", ".pkl", ".pickle"), OtherFile("a file of another system", _WEIGHTS)
    ),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp"), OtherFile("a picture", _PICTURE)),
    **dict.fromkeys(
        (".svg", ".html", ".pdf", ".md", ".rst"), OtherFile("made to be looked at", "open it in a browser")
    ),
    **dict.fromkeys((".yaml", ".yml", ".toml"), OtherFile("in another language for settings", _LANGUAGE)),
}
_FIRST_BYTES = {
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"\x89HDF": ".h5",
    b"\x89PNG": ".png",
    b"\xff\xd8\xff": ".jpg",
    b"%PDF": ".pdf",
}
_NAMES = re.compile(r"""\b([A-Za-z_]\w*)["']?\s*[:{\[]""")
_FEW, _SHORT = 2, 20
"""So many errors, and characters without the name of a field, may be a config's."""
_OURS = (
    *("layer", "network", "net", "source", "optimizer", "block", "epochs", "steps", "batch_size"),
    *("schedule", "regularizer", "callback", "checkpoint", "transform", "weights", "clip"),
)
"""Fields that no other text is likely to have."""


def other_file(path: Path, content: bytes) -> OtherFile | None:
    """The kind of a file that is not a config; None if it may be a config."""
    first = next((ending for start, ending in _FIRST_BYTES.items() if content.startswith(start)), "")
    found = _ENDINGS.get(path.suffix.lower()) or _ENDINGS.get(first)
    if found is None and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        found = OtherFile("text in UTF-16", "save it as UTF-8")
    if found is None and content[8:9] == b"{" and content[3:8] == bytes(5):
        found = _ENDINGS[".safetensors"]
    return found._replace(help=found.help.format(file=path)) if found is not None else None


def other_text(text: str, errors: int) -> OtherFile | None:
    """The kind of an input that has errors and is not a config; None if it seems to be meant as a config."""
    if not errors:
        return None
    names = dict.fromkeys(_NAMES.findall(text[:100_000]))
    if (errors <= _FEW if names else len(text) <= _SHORT) or any(
        name in _OURS or nearest(name, _OURS, 0.75) for name in list(names)[:1000]
    ):
        return None
    return OtherFile("a text of another kind", "`paddle-layers new` makes an example of both")
