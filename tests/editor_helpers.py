"""Texts with a marked cursor, and what the editor's parts make of them."""

from paddle_layers.editor.completion import CURSOR, Item, completions
from paddle_layers.editor.document import Document

DATA = 'layer { name: "x" type: "data" data { shape: [4, 8, 8] } }\n'
DATA_JSON = '{"name": "x", "type": "data", "data": {"shape": [4, 8, 8]}}'


def opened(marked: str, path: str = "<text>") -> tuple[Document, int]:
    """The text without its mark `|`, and where the mark was."""
    offset = marked.index("|")
    return Document(marked[:offset] + marked[offset + 1 :], path), offset


def offered(marked: str, path: str = "<text>") -> list[Item]:
    """The completions at the mark."""
    return completions(*opened(marked, path))


def labels(marked: str, path: str = "<text>") -> list[str]:
    """The names of the completions at the mark."""
    return [item.label for item in offered(marked, path)]


def taken(marked: str, label: str, value: str = "") -> str:
    """The text after the completion `label` was taken at the mark and `value` was written where writing goes on."""
    document, offset = opened(marked)
    item = next(item for item in completions(document, offset) if item.label == label)
    written = item.text.replace(CURSOR, value)
    return document.text[: item.start] + written + document.text[item.end :]
