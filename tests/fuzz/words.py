"""Data files of text: tables, and lines of words."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from unittest.mock import patch

from paddle_layers.data import indexed_lines

from .data_files import DataTarget
from .mutators import HOSTILE, ODD_NUMBERS, ODD_TEXTS, changed_bytes, changed_text


class WithSettings(DataTarget):
    """A case is a line of JSON, the settings of the source, and then the file."""

    def check(self, case: bytes) -> None:
        """Opened with the settings."""
        settings, _, content = case.partition(b"\n")
        attributes = json.loads(settings)
        (self.folder / "words").write_text(
            attributes.pop("words", "a\nb\nc\n"), encoding="utf-8", errors="replace", newline=""
        )
        self.opened(content, **attributes | {"file": "f"})


CELLS = (*ODD_NUMBERS, *ODD_TEXTS, '"', '"a', '"1"', "1_0", "\u0663", "0x1", "inf", "nan", "1" * 140000)
DELIMITERS = (*',,,;\t a1"\n\0', ",,")
LABELS = ("kind", "3", "1", "0", "99", "-1", "\u0663", "9" * 5000, "", HOSTILE)
CLASSES = (["1", "2"], ["a", "b"], ["a"], ["a", "a"], [""], ["\n"], [HOSTILE], [str(n) for n in range(40)])
COLUMNS = (
    "size = width, height",
    "x = 1-2",
    "x = 2-1",
    "x = 1-99",
    "x =",
    "= 1",
    "x = 1, 1",
    "x = -",
    "x=1-" + "9" * 30,
)

WORDS_OF = tuple([name] for name in ("kind", "label = kind", "2", "x = 3", "=", "kind =", "", HOSTILE))


class Csv(WithSettings):
    """Tables of numbers."""

    name = source = "csv"

    def make(self, rng: Random) -> bytes:
        """Odd cells, rows of other lengths, quotes; settings that fit or do not."""
        width, delimiter = rng.choice((1, 2, 3, 3, 3, 8)), rng.choice(DELIMITERS)
        rows = [[str(rng.randrange(40)) for _ in range(width)] for _ in range(rng.choice((1, 3, 4)))]
        if rng.random() < 0.6:
            rows.insert(0, ["height", "width", "kind", *"abcde"][:width])
        for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
            row = rng.choice(rows)
            at = rng.randrange(len(row) + 1)
            row[at : at + rng.choice((0, 1, 1, 1))] = [rng.choice(CELLS)]
        end = rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
        text = end.join(delimiter.join(row) for row in rows)
        settings = {
            "delimiter": [delimiter],
            "label": LABELS,
            "classes": CLASSES,
            "header": ("yes", "no", "auto"),
            "ids": WORDS_OF,
            "text": WORDS_OF,
            "leave_out": ("width", "width, kind", "2-3", "3-2", ",", " ", "no", HOSTILE),
            "empty": ("mean", "mark"),
        }
        chosen = {name: rng.choice(values) for name, values in settings.items() if rng.random() < 0.3}
        if rng.random() < 0.3:
            chosen["columns"] = rng.sample(COLUMNS, rng.choice((1, 1, 2)))
        return _with(chosen, _encoded(text, rng))


class LargeCsv(Csv):
    """Tables whose rows are read when they are wanted."""

    name = "csv-large"

    def check(self, case: bytes) -> None:
        """As a file above the limit is."""
        with patch.object(indexed_lines, "IN_MEMORY", 0):
            super().check(case)


WORDS = (*"abcc\t \n\n\x0b\x1c\x85\u2028\xa0\r", "zzz")
DICTIONARIES = ("", "a", "a\na\n", "a b\n", "\n", "\ufeffa\nb\nc", "a\r\nb\rc", f"{HOSTILE}\n", "a\x85b\n", "c\x0bd\n")


class Text(WithSettings):
    """Lines of words, and their dictionary."""

    name = "words"
    source = "text"

    def make(self, rng: Random) -> bytes:
        """Words that the dictionary has or lacks, labels, odd spaces; odd dictionaries."""
        words = (*WORDS, rng.choice(ODD_TEXTS))
        text = "".join(rng.choice(words) + rng.choice((" ", " ", "\t", "")) for _ in range(rng.randrange(30)))
        if rng.random() < 0.3:
            text = "a\t" + text.replace("\n", "\nb\t")
        settings = {"classes": CLASSES, "unknown": ("a", "c", "zzz", HOSTILE), "words": DICTIONARIES}
        chosen = {name: rng.choice(values) for name, values in settings.items() if rng.random() < 0.4}
        return _with({"dictionary": rng.choice(("words", "words", "")), **chosen}, _encoded(text, rng))


class LargeText(Text):
    """Lines of words that are read when they are wanted."""

    name = "words-large"

    def check(self, case: bytes) -> None:
        """As a file above the limit is."""
        with patch.object(indexed_lines, "IN_MEMORY", 0):
            super().check(case)


def _encoded(text: str, rng: Random) -> bytes:
    if rng.random() < 0.2:
        text = changed_text(text, rng)
    data = text.encode("utf-8" if rng.random() < 0.97 else "utf-16", "surrogatepass")
    return changed_bytes(data, rng) if rng.random() < 0.2 else data


def _with(attributes: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(attributes).encode() + b"\n" + content
