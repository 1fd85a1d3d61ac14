"""Texts with a marked cursor, and what the editor's parts make of them."""

from paddle_layers.editor.completion import CURSOR, Completion, completions
from paddle_layers.editor.document import Document
from paddle_layers.editor.hover import definitions, hover

DATA = 'layer { name: "x" type: "data" data { shape: [4, 8, 8] } }\n'
DATA_JSON = '{"name": "x", "type": "data", "data": {"shape": [4, 8, 8]}}'


def opened(marked: str, path: str = "<text>") -> tuple[Document, int]:
    """The text without its mark `|`, and where the mark was."""
    offset = marked.index("|")
    return Document(marked[:offset] + marked[offset + 1 :], path), offset


def marked(text: str, word: str, inside: int = 1) -> str:
    """The text with the mark so many letters into a word."""
    at = text.index(word) + inside
    return text[:at] + "|" + text[at:]


def emptied(text: str, word: str) -> str:
    """The text with the mark in the quotes behind a word, which are empty."""
    at = text.index(word) + len(word)
    return text[:at] + "|" + text[text.index('"', at) :]


def shown(text: str) -> str:
    """What hovers at the mark."""
    found = hover(*opened(text))
    return found.text if found is not None else ""


def target(text: str) -> list[int]:
    """The lines, from 0, of what is defined at the mark."""
    document, offset = opened(text)
    return [document.text[: found.start].count("\n") for found in definitions(document, offset)]


def offered(marked: str, path: str = "<text>") -> list[Completion]:
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
