"""Parser of the protobuf text format into fields with offsets, with error recovery."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..diagnostics.diagnostic import Fix, Note
from ..diagnostics.report import DiagnosticReport
from .fields import BLOCK, DEEPEST, FLOAT, INT, KNOWN, LIST, STRING, WORD, Field, Fields, Recall, broken
from .lexer import (
    AFTER_ITEM,
    EVENT,
    ITEM,
    LAYER,
    RESUME,
    SEPARATOR,
    SPACE,
    STRING_PART,
    EventGroup,
    line_bounds,
    parse_number,
    unescape,
)
from .recovery import SyntaxMistake, lacks_brace, mistake_at_name, mistake_at_value, unclosed_layer

_CLOSES = {"{": "}", "<": ">", "[": "]"}

_DECIMALS = re.compile(r",(\d+)(?![\w.])")
# Up to the end of the line, the end of the block, or what looks like the next field.
_UNQUOTED = re.compile(r"[^}\s]*+(?:(?!\s\w++\s*+[:{])[^\S\n][^}\s]*+)*+")


class _Open:
    """A block or list that is being read: the container around it, and how it was opened."""

    __slots__ = ("bracket", "name", "outer", "start")

    def __init__(self, outer: Fields, name: str, start: int, bracket: str) -> None:
        self.outer, self.name, self.start, self.bracket = outer, name, start, bracket


class TextReader:
    """One pass over a config. Errors go to the report; the fields that could be read are returned."""

    def __init__(self, text: str, report: DiagnosticReport, recall: Recall | None = None) -> None:
        self.text, self.report, self.recall = text, report, recall
        self.fields: Fields = []
        self.stack: list[_Open] = []

    def read(self) -> Fields:
        """The fields of the file. Raises `TooManyFaults`."""
        root = self.fields
        position = 0
        while position >= 0:
            # Only at the top level, where a match is known to be a layer of the network.
            if self.recall is not None and not self.stack:
                position = self._known_layers(position, self.recall)
            position = self._next(position)
        return root

    def block(self, position: int) -> Field:
        """The block that starts at a position of the text."""
        root = self.fields
        position = self._next(position)
        while self.stack:
            position = self._next(position)
        return root[0]

    def _known_layers(self, position: int, recall: Recall) -> int:
        """Add memoized layers as one field; returns the position after them."""
        match_layer, text, start = LAYER.match, self.text, position
        found: list[Any] = []
        # Layers are recalled one by one: an unusual one costs its own parse and not that of the file (400 to 40 ms with
        # 10,000 layers).
        while match := match_layer(text, position):
            known = recall(match)
            if known is None:
                break
            found.append(known)
            position = match.end()
        if not found:
            return position
        self.fields.append(("layer", KNOWN, found, start, start))
        return _skip(SEPARATOR, text, position)

    def _next(self, position: int) -> int:
        return self._item(position) if self._in_list else self._events(position)

    @property
    def _in_list(self) -> bool:
        return bool(self.stack) and self.stack[-1].bracket == "["

    def _events(self, position: int) -> int:
        """Fields, until a list starts or a top-level block or the text ends; the next position, or -1."""
        match_event, conversion = EVENT.match, _SIMPLE.get
        text, fields, stack = self.text, self.fields, self.stack
        while True:
            match = match_event(text, position)
            assert match is not None, "the last alternative is empty"
            kind = match.lastindex or EventGroup.NO_FIELD
            # A file that is not in the layout of `fmt` spends its time in these two branches.
            if (convert := conversion(kind)) is not None:
                fields.append((match[1], kind, convert(match[kind]), match.start(1), match.start(kind)))
                position = match.end()
                continue
            if kind in _BLOCKS:
                self._open(match[1], match.start(1), match.start(kind), match[kind])
                position = match.end()
            else:
                position = self._event(match, kind)
                if not stack or stack[-1].bracket == "[":
                    return position
            fields = self.fields

    def _event(self, match: re.Match[str], kind: int) -> int:
        """A value that is not simple, the end of a block or of the text, or an error."""
        if kind == EventGroup.CLOSING:
            self._close(match[kind], match.start(kind))
            return match.end(kind) if self._in_list else match.end()  # the comma belongs to the list
        if kind == EventGroup.END:
            if self.stack:
                self._never_closed(self.stack[-1])
            self._close_broken(0, len(self.text))
            return -1
        if kind in (EventGroup.NO_VALUE, EventGroup.NO_COLON, EventGroup.NO_FIELD):
            return self._fault(kind, match[1], match.start(1), match.end())
        return self._value(match, kind)

    def _value(self, match: re.Match[str], kind: int) -> int:
        """The value of a field or of an item, which has no name."""
        name, start, value_start = match[1], match.start(1), match.start(kind)
        if kind in _SIMPLE:
            self.fields.append((name, kind, _SIMPLE[kind](match[kind]), start, value_start))
        elif kind == FLOAT:
            self._number(name, start, value_start, match[kind])
        elif kind == EventGroup.OTHER_STRING:
            fields = self.fields
            value, end = self._string(value_start)
            # A missing quote ends the list of its line, and the text after the quote is no item.
            if name or fields is self.fields:
                fields.append((name, STRING, value, start, value_start))
            return _skip(SEPARATOR, self.text, end) if name else end
        else:
            self._open(name, start, value_start, match[kind])
        return match.end()

    def _open(self, name: str, start: int, bracket_start: int, bracket: str) -> None:
        # Found where the next layer starts rather than at the end of the file, where the missing brace would be
        # noticed.
        if name == "layer" and bracket != "[":
            self._layer_in_layer(start)
        if len(self.stack) >= DEEPEST:
            self.report.add("E005", f"blocks are nested more than {DEEPEST} deep", start)
            # Parsing stops, since every further bracket of such a file would be an error.
            self.stack, self.fields = [], []
            raise Abandoned
        inner: Fields = []
        self.fields.append((name, LIST if bracket == "[" else BLOCK, inner, start, bracket_start))
        self.stack.append(_Open(self.fields, name, start, bracket))
        self.fields = inner

    def _layer_in_layer(self, start: int) -> None:
        depth = unclosed_layer([block.name for block in self.stack])
        if depth is None or self.stack[depth].bracket == "[":
            return
        self._never_closed(self.stack[-1], (self.report.note("the next layer starts here", start),))
        self._close_broken(depth, start)

    def _close_broken(self, depth: int, position: int) -> None:
        """Close the blocks after the first `depth`, which lack their ends."""
        while len(self.stack) > depth:
            self.fields.append(broken(position))
            self.fields = self.stack.pop().outer

    def _never_closed(self, block: _Open, notes: tuple[Note, ...] = ()) -> None:
        what = f"`{block.name}`" if block.name else "this block"
        help_ = f"add `{_CLOSES[block.bracket]}`"
        self.report.add("E002", f"{what} is never closed", block.start, help=help_, notes=notes)

    def _close(self, bracket: str, start: int) -> None:
        if not self.stack:
            self.report.add("E002", f"unmatched `{bracket}`", start, start + 1, help="remove it")
            return
        block = self.stack.pop()
        if _CLOSES[block.bracket] != bracket:
            self.report.add(
                "E002",
                f"`{bracket}` does not match `{block.bracket}`",
                start,
                start + 1,
                notes=(self.report.note(f"`{block.bracket}` is opened here", block.start),),
            )
            self.fields.append(broken(start))
        self.fields = block.outer

    def _number(self, name: str, start: int, value_start: int, raw: str) -> None:
        try:
            value = parse_number(raw)
        except ValueError as error:
            self.report.add("E004", f"malformed number: {error}", value_start, value_start + min(len(raw), 40))
            self.fields.append(broken(value_start))
            return
        self.fields.append((name, INT if isinstance(value, int) else FLOAT, value, start, value_start))

    def _string(self, position: int) -> tuple[str, int]:
        """Adjacent strings are concatenated; the string and its end."""
        parts = []
        while match := STRING_PART.match(self.text, position):
            try:
                parts.append(unescape(match[1][1:-1]))
            except ValueError as error:
                self.report.add("E003", str(error), match.start(1), match.end(1))
                parts.append(match[1][1:-1])
            position = match.end()
        start = _skip(SPACE, self.text, position)
        # A missing quote shifts the meaning of all later ones: strings and text swap roles. Only this line is given up.
        if self.text[start : start + 1] == '"' and (end := self._quote_missing(start)) >= 0:
            return re.split(r"[\s:{}]", self.text[start + 1 : end], maxsplit=1)[0], end
        if self.text[start : start + 1] in ('"', "'"):
            position = line_bounds(self.text, start)[1]
            self.report.add("E003", "unterminated string", start, position, help=f"add `{self.text[start]}` at its end")
            self.fields.append(broken(start))
        return "".join(parts), position

    def _item(self, position: int) -> int:
        """One value of a list with the comma before it; returns the next position."""
        if self.fields:
            after_item = AFTER_ITEM.match(self.text, position)
            if after_item is None:
                return self._list_fault(position, "expected `,` or `]`")
            position = after_item.end()
            if after_item[1] == "]":
                return self._end_list(position)
        match, at = ITEM.match(self.text, position), position - 1
        assert match is not None, "the last alternative is empty"
        kind = match.lastindex or EventGroup.NO_VALUE
        if match[1] and self.fields:
            fix = Fix(at, at + 1, "")
            self.report.add("E001", "trailing comma", at, at + 1, help="remove it", fix=fix)
        if match[1]:
            return self._end_list(match.end(1))
        if kind in (LIST, EventGroup.NO_VALUE):
            return self._list_fault(match.start(kind), "expected a value")
        return self._value(match, kind)

    def _end_list(self, position: int) -> int:
        self.fields = self.stack.pop().outer
        return _skip(SEPARATOR, self.text, position)

    def _list_fault(self, position: int, message: str) -> int:
        self.report.add("E001", message, position, position + 1)
        self.fields = self.stack.pop().outer
        self.fields.append(broken(position))
        return self._resume(position)

    def _fault(self, kind: int, name: str, start: int, position: int) -> int:
        # Specific mistakes before general ones: each of these explains what the next branches could only call
        # unexpected.
        if kind == EventGroup.NO_VALUE and (mistake := mistake_at_value(self.text, position)):
            return self._recover(mistake, name, start, position)
        if kind == EventGroup.NO_FIELD and (mistake := mistake_at_name(self.text, position)):
            return self._recover(mistake, name, start, position)
        if (end := self._quote_missing(position)) >= 0:
            return end
        if kind == EventGroup.NO_COLON and lacks_brace(self.text, start, start + len(name)):
            fix = Fix(start + len(name), start + len(name), " {")
            message, help_ = f"expected `{{` after `{name}`", f"write `{name} {{`"
            self.report.add("E001", message, start, start + len(name), help=help_, fix=fix)
            self._open(name, start, start, "{")
            return position
        found = self.text[position : position + 1]
        before = self.fields[-1][1] if self.fields else 0
        if before == WORD and (found == "=" or (found in ("/", ".", "-", "\\") and self.text[position - 1].isalnum())):
            return self._quotes_missing(position)
        if before in (INT, FLOAT) and (decimals := _DECIMALS.match(self.text, position - 1)):
            return self._decimal_comma(decimals)
        if kind == EventGroup.NO_VALUE:
            help_ = f'strings must be quoted: `{name}: "..."`' if found in tuple("./~\\$") else ""
            self.report.add("E001", f"expected a value after `{name}:`", start, start + len(name), help=help_)
        elif kind == EventGroup.NO_COLON and found == "=":
            fix = Fix(position, position + 1, ":")
            self.report.add(
                "E001", f"expected `:` after `{name}`", position, position + 1, help=f"write `{name}: ...`", fix=fix
            )
        elif kind == EventGroup.NO_COLON:
            self.report.add("E001", f"expected `:` or `{{` after `{name}`", start, start + len(name))
        else:
            self.report.add("E001", f"expected a field name, found `{found}`", position, position + 1)
        self.fields.append(broken(position))
        # The position stays: the unfinished field must not take the next one with it.
        if kind == EventGroup.NO_VALUE and (found == "}" or found.isalpha()):
            return position  # the next field, or the end of the block
        # Without a colon, the next line may begin a field.
        resume = self._resume(start + len(name) if kind == EventGroup.NO_COLON else position)
        # Without progress the loop would not end.
        if kind == EventGroup.NO_FIELD and resume == position:
            resume += 1
        return resume

    def _quotes_missing(self, position: int) -> int:
        """Join the last value and the following words into the intended string; returns its end."""
        name, _, _, start, value_start = self.fields[-1]
        match = _UNQUOTED.match(self.text, position)
        assert match is not None, "it may be empty"
        text, end = self.text[value_start : match.end()].rstrip(), match.end()
        fix = Fix(value_start, value_start + len(text), f'"{text}"')
        help_ = f'write `{name}: "{text}"`'
        self.report.add("E001", "strings must be quoted", value_start, value_start + len(text), help=help_, fix=fix)
        self.fields[-1] = (name, STRING, text, start, value_start)
        return end

    def _decimal_comma(self, decimals: re.Match[str]) -> int:
        """Join the last number and the digits after its comma; returns the end."""
        start, end = self.fields.pop()[4], decimals.end()
        number = f"{self.text[start : decimals.start()]}.{decimals[1]}"
        fix = Fix(start, end, number)
        self.report.add("E004", "unexpected decimal comma", start, end, help=f"write {number}", fix=fix)
        self.fields.append(broken(start))
        return end

    def _recover(self, mistake: SyntaxMistake, name: str, start: int, position: int) -> int:
        self.report.add(mistake.code, mistake.message, position, mistake.end, help=mistake.help, fix=mistake.fix)
        if mistake.value is not None:
            self.fields.append((name, STRING, mistake.value, start, position))
        elif name:
            self.fields.append(broken(position))
        return _skip(SEPARATOR, self.text, mistake.end)

    def _quote_missing(self, position: int) -> int:
        """Skip a line with an odd number of quotes after one report; returns its end, or -1 for other lines.

        An unterminated string has swallowed the rest: it is cut at its first space, and the blocks that were opened on
        the line are closed.
        """
        first, end = line_bounds(self.text, position)
        if self.text.count('"', first, end) % 2 == 0:
            return -1
        opened = self.text.rindex('"', first, max(position, self.text.index('"', first) + 1))
        help_ = 'strings must be quoted: "text"'
        self.report.add("E003", "missing quote on this line", opened, opened + 1, help=help_)
        fields = self.fields
        for at, field in enumerate(fields):
            if field[1] == STRING and field[3] >= first and " " in field[2]:
                fields[at] = (field[0], STRING, field[2].split(" ")[0], field[3], field[4])
        opened_before = sum(block.start < first for block in self.stack)
        self._close_broken(opened_before, position)
        self.fields.append(broken(position))
        return end

    def _resume(self, position: int) -> int:
        match = RESUME.search(self.text, position)
        return match.end() if match else len(self.text)


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    """The end of the match of a pattern that may be empty."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _word(raw: str) -> str:
    """A word; spaces and comments are allowed between a minus sign and the rest of it."""
    return "-" + SPACE.sub("", raw[1:], 1) if raw[0] == "-" else raw


# The simple values, by their group in `EVENT` and `ITEM`, which is their kind.
_SIMPLE: dict[int, Callable[[str], Any]] = {INT: int, WORD: _word, STRING: itemgetter(slice(1, -1))}
_BLOCKS = (BLOCK, EventGroup.BRACE)


class Abandoned(Exception):
    """Parsing stops; the error was reported."""


def read_text(text: str, report: DiagnosticReport, recall: Recall | None = None) -> Fields:
    """The fields of a file in text format. Errors go to `report`; raises `TooManyFaults` at the thousandth.

    `recall` is called for each layer in the layout of `fmt` before it is parsed.
    """
    reader = TextReader(text, report, recall)
    root = reader.fields
    try:
        return reader.read()
    except Abandoned:
        root.append(broken(0))
        return root
