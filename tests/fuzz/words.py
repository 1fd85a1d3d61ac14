"""Data files of text: tables, and lines of words."""

from __future__ import annotations

import csv
import gzip
import json
from random import Random
from typing import Any
from unittest.mock import patch

from paddle_layers.data import DataError
from paddle_layers.data.formats import text_lines, tokenizers
from paddle_layers.data.formats.converted_files import ENCODINGS
from paddle_layers.data.formats.csv_records import Dialect
from paddle_layers.data.formats.files import PositionedFile
from paddle_layers.data.formats.text_lines import IndexedLines, decoded
from paddle_layers.data.formats.tokenizers import Pieces, read_words

from .data_files import DataTarget, check_message
from .mutators import HOSTILE, ODD_NUMBERS, ODD_TEXTS, changed_bytes, changed_text
from .target import Target, demand


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
            "quote": ("none", "single"),
            "missing": (["1"], ["", "a"], [HOSTILE]),
            "spaces": ("ignore",),
            "comment": ("#", "1", " ", "\n", HOSTILE),
            "skip_lines": (1, 2, 99),
            "encoding": tuple(ENCODINGS),
            "lowercase": (True,),
            "punctuation": ("remove", "separate"),
            "min_count": (2,),
            "max_words": (1, 3),
        }
        chosen = {name: rng.choice(values) for name, values in settings.items() if rng.random() < 0.3}
        if rng.random() < 0.3:
            chosen["columns"] = rng.sample(COLUMNS, rng.choice((1, 1, 2)))
        content = _encoded(text, rng)
        if rng.random() < 0.1:
            content = gzip.compress(content, mtime=0)
            content = rng.choice((content, changed_bytes(content, rng)))
        return _with(chosen, content)


class LargeCsv(Csv):
    """Tables whose rows are read when they are wanted."""

    name = "csv-large"

    def check(self, case: bytes) -> None:
        """As a file above the limit is."""
        with patch.object(text_lines, "IN_MEMORY", 0):
            super().check(case)


class Records(Target):
    """Records of tables of any size, against Python's `csv` module with its strict rules."""

    name = "csv-records"

    def make(self, rng: Random) -> bytes:
        """A line of settings and the size of pieces; then quotes, delimiters and line ends."""
        delimiter, quote = rng.choice((*",,;\t a|", "é")), rng.choice(('"', '"', "'", ""))
        parts = ('"', '"', '""', "'", delimiter, delimiter, *"\n\n\r a1é\0\x0b\x1c", "\r\n")
        text = rng.choice(("", "", "\ufeff")) + "".join(rng.choices(parts, k=rng.randrange(1, 40)))
        # A space as the delimiter that is also ignored at the end of a record is an extension of the csv module.
        spaces = delimiter != " " and rng.random() < 0.3
        settings = [delimiter, quote, rng.choice((1, 2, 3, 7, 2**20)), spaces]
        return json.dumps(settings).encode() + b"\n" + text.encode()

    def check(self, case: bytes) -> None:
        """The same rows and line numbers, or both refuse the file."""
        head, _, content = case.partition(b"\n")
        delimiter, quote, piece, spaces = json.loads(head)
        path = self.folder / "f"
        path.write_bytes(content)
        with path.open(encoding="utf-8-sig", newline="") as lines:
            options: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
            reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=spaces, **options)
            try:
                wanted = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
            except csv.Error:
                wanted = None
        with patch.object(text_lines, "_PIECE", piece):
            file, dialect = PositionedFile(path), Dialect(delimiter, quote, spaces=spaces)
            try:
                found = [(row[0], dialect.cells(decoded(file, row))) for row in dialect.records(file)]
                index = IndexedLines(file, dialect.records(file))
            except DataError as error:
                check_message(error, str(path))
                demand(wanted is None, f"refused: {error}")
                return
        late = [(int(index.numbers[row]), dialect.cells(index.text(row))) for row in range(len(index))]
        demand(late == found, f"small {found}, large {late}")
        filled = [(line, row) for line, row in found if any(cell.strip() for cell in row)]
        demand(filled == wanted, f"found {filled}, the csv module {wanted}")


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
        settings = {
            "classes": CLASSES,
            "unknown": ("a", "c", "zzz", HOSTILE),
            "words": DICTIONARIES,
            "lowercase": (True,),
            "punctuation": ("remove", "separate"),
            "min_count": (2,),
            "max_words": (1, 3),
            "encoding": tuple(ENCODINGS),
        }
        chosen = {name: rng.choice(values) for name, values in settings.items() if rng.random() < 0.4}
        return _with({"dictionary": rng.choice(("words", "words", "")), **chosen}, _encoded(text, rng))


class LargeText(Text):
    """Lines of words that are read when they are wanted."""

    name = "words-large"

    def check(self, case: bytes) -> None:
        """As a file above the limit is."""
        with patch.object(text_lines, "IN_MEMORY", 0):
            super().check(case)


class Dictionary(Target):
    """Dictionaries, with limits that small files reach."""

    name = "dictionary"

    def make(self, rng: Random) -> bytes:
        """Words, few or many, and long runs of one character."""
        words = [
            rng.choice((*WORDS, *DICTIONARIES, *ODD_TEXTS, f"w{k}\n", f"w{k}\n")) for k in range(rng.randrange(60))
        ]
        if rng.random() < 0.3:
            words.insert(
                rng.randrange(len(words) + 1), rng.choice("\0a \n\r\u00e9") * rng.choice((200, 399, 400, 9000))
            )
        return _encoded("".join(words), rng)

    def check(self, case: bytes) -> None:
        """The words are those of the lines, and the file has no more than the limits allow."""
        (self.folder / "words").write_bytes(case)
        with patch.object(tokenizers, "LARGEST_DICTIONARY", 2000), patch.object(text_lines, "LONGEST", 400):
            try:
                ids = tokenizers.read_dictionary(self.folder / "words")
            except DataError as error:
                check_message(error, str(self.folder))
                return
        demand(list(ids.values()) == list(range(len(ids))), "ids are not the numbers of the lines")
        demand(sum(map(len, ids)) <= 2000, "a limit is passed")


CHARSMAPS = (
    *("AAAAAAA=", "////////////", "AAAA", "", "BAAAAAAAAAA=", "CAAAAAAAAAAAAAAAYQA=", "BAAAAP////9hAA=="),
    *([], [0], [255] * 12, [4, 0, 0, 0, 1, 2, 3, 4, 97, 0], 2**40, None, {}, [256]),
)
STEPS: tuple[dict[str, Any], ...] = (
    *({"type": kind} for kind in ("NFD", "NFKC", "Lowercase", "StripAccents", "Nmt", "ByteLevel", "Whitespace")),
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 3000},
    {"type": "Replace", "pattern": {"Regex": "(a|a)*b?"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": ""}, "content": "zz"},
    {"type": "Prepend", "prepend": "\u2581"},
    *({"type": "Precompiled", "precompiled_charsmap": charsmap} for charsmap in CHARSMAPS),
    {"precompiled_charsmap": "////////////"},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    {"type": "Split", "pattern": {"Regex": "[^a]+|a"}, "behavior": "Isolated", "invert": False},
    {"type": "ByteFallback"},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "none"},
)
MODELS: tuple[dict[str, Any], ...] = (
    {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "dropout": 0.5},
    {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a c"], "unk_token": "b"},
    {"type": "WordPiece", "vocab": {"a": 0, "##b": 1, "[UNK]": 2}, "unk_token": "[UNK]"},
    {"type": "WordPiece", "vocab": {"a": 2**31}, "unk_token": "?", "max_input_chars_per_word": 0},
    {"type": "WordLevel", "vocab": {"a": 0, "b": 7}, "unk_token": "a"},
    {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0], ["ab", -1.5], ["", 1e300]], "byte_fallback": True},
    {"type": "Unigram", "unk_id": 9, "vocab": [["a", 0.0]]},
)


class Tokenizer(DataTarget):
    """Tokenizer files of the source `text`, and what their ids are as texts."""

    name, source = "tokenizer", "text"

    def make(self, rng: Random) -> bytes:
        """Steps and models that fit or do not, in any order and number; then changes of the text."""

        def steps(inside: str) -> Any:
            found = rng.choices(STEPS, k=rng.choice((0, 1, 1, 2, 2, 3, 30)))
            if not found:
                return None
            return found[0] if len(found) == 1 else {"type": "Sequence", inside: found}

        mark = {"id": rng.choice((0, 2, 3, 10**9)), "content": rng.choice(("<s>", "a", "")), "special": True}
        facts: dict[str, Any] = {
            "version": "1.0",
            "truncation": rng.choice((None, {"max_length": 0}, 1)),
            "padding": rng.choice((None, {"strategy": {"Fixed": 10**12}}, "x")),
            "added_tokens": rng.choice(
                ([], [mark | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), rng.random() < 0.5)])
            ),
            "normalizer": steps("normalizers"),
            "pre_tokenizer": steps("pretokenizers"),
            "post_processor": rng.choice((None, {"type": "BertProcessing", "sep": ["<s>", 9], "cls": ["b", 2]})),
            "decoder": steps("decoders"),
            "model": rng.choice(MODELS),
        }
        text = json.dumps(facts, ensure_ascii=rng.random() < 0.5)
        return changed_text(text, rng).encode("utf-8", "replace") if rng.random() < 0.3 else text.encode()

    def check(self, case: bytes) -> None:
        """A few lines, split; some ids as a text."""
        (self.folder / "t.json").write_bytes(case)
        self.opened(b"a b ab\n\xc3\xa9 \xef\xb7\xba zz\n" + b"ab" * 100, file="f", tokenizer="t.json")
        try:
            words = read_words(self.folder / "t.json")
            assert isinstance(words, Pieces)
            words.decode([0, 2, 1, 2])
        except DataError as error:
            check_message(error, str(self.folder))


def _encoded(text: str, rng: Random) -> bytes:
    if rng.random() < 0.2:
        text = changed_text(text, rng)
    data = text.encode("utf-8" if rng.random() < 0.97 else "utf-16", "surrogatepass")
    return changed_bytes(data, rng) if rng.random() < 0.2 else data


def _with(attributes: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(attributes).encode() + b"\n" + content
