"""JSON parser with the same fields and offsets as the text parser."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from ..diagnostics.report import DiagnosticReport
from .fields import BLOCK, DEEPEST, FLOAT, INT, LIST, STRING, WORD, Fields, broken
from .lexer import HALF, LONGEST
from .recovery import mistake_in_json

# Not `json.loads`: it keeps no offsets, so errors in attributes would have no position.
_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
    (")                                                          # 1 string
  | (-?(?:0|[1-9][0-9]*+)(?![\w.]))                              # 2 integer
  | (-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?!\w)   # 3 number
  | (true|false)\b                                               # 4 Boolean
  | (null)\b                                                     # 5 no value
  | ([{\[])                                                      # 6 open
  | ([}\]])                                                      # 7 close
  | ()                                                           # 8 anything else
)""",
    re.X | re.A,
)
_SPACE = re.compile(r"[ \t\r\n]*+")
_DECODER = JSONDecoder()


class _Stop(Exception):
    """A syntax error: JSON has no line structure for recovery."""


class _JsonReader:
    def __init__(self, text: str, report: DiagnosticReport) -> None:
        self.text, self.report = text, report
        self.root: Fields = []
        self.fields = self.root
        self.stack: list[tuple[Fields, bool, dict[str, int]]] = []

    def read(self) -> None:
        position = self._space(0)
        if not self.text.startswith("{", position):
            raise self._fault("expected `{`: a JSON config is an object", position)
        self._enter("{", position)
        position, fresh = position + 1, True
        # A loop with a stack, no recursion: `[[[[...` of a hostile file would exceed Python's recursion limit.
        while self.stack:
            position, fresh = self._step(position, fresh)
        rest = self._space(position)
        if rest < len(self.text):
            self.report.add("E006", "expected the end of the file after the object", rest, rest + 1)
            raise _Stop

    def _step(self, position: int, fresh: bool) -> tuple[int, bool]:
        """One member or item, or the closing bracket; the next position, and whether a bracket was just opened."""
        outer, is_object, _ = self.stack[-1]
        closing = "}" if is_object else "]"
        position = self._space(position)
        if self.text.startswith(closing, position):
            self.fields = outer
            self.stack.pop()
            return position + 1, False
        if not fresh:
            if not self.text.startswith(",", position):
                raise self._fault(f"expected `,` or `{closing}`", position)
            position = self._space(position + 1)
        if not is_object:
            return self._value("", position, position)
        name, end, again = self._key(position)
        fields, count = self.fields, len(self.fields)
        there = self._value(name, position, end)
        # The value is parsed, since its own errors count, and dropped; `json` would silently take the last of the two.
        if again:  # that is reported once
            del fields[count:]
        return there

    def _key(self, position: int) -> tuple[str, int, bool]:
        """The name of a member, where it ends, and whether the object has one of that name."""
        if not self.text.startswith('"', position):
            raise self._fault("expected a name in double quotes", position)
        name, end = self._string(position)
        keys = self.stack[-1][2]
        again = name in keys
        if again:
            note = self.report.note("first set here", keys[name])
            self.report.add("E106", f"duplicate field `{name}`", position, end, notes=(note,))
        keys[name] = position
        end = self._space(end)
        if not self.text.startswith(":", end):
            raise self._fault(f'expected `:` after "{name}"', end)
        return name, end + 1, again

    def _value(self, name: str, start: int, position: int) -> tuple[int, bool]:
        match = _TOKEN.match(self.text, position)
        assert match is not None, "the last alternative is empty"
        kind = match.lastindex or 8
        at, end = match.start(kind), match.end()
        if kind == 6:
            self._enter(match[6], at, name, start)
            return end, True
        if kind == 1:
            value, end = self._string(at)
            self.fields.append((name, STRING, value, start, at))
        elif kind in (2, 3) and end - at > LONGEST:
            # `int` raises a ValueError for more than 4,300 digits.
            self.report.add("E004", f"malformed number: more than {LONGEST} characters", at, at + 40)
            self.fields.append(broken(at))
        elif kind == 2:
            self.fields.append((name, INT, int(match[2]), start, at))
        elif kind == 3:
            self.fields.append((name, FLOAT, float(match[3]), start, at))
        elif kind == 4:
            self.fields.append((name, WORD, match[4], start, at))
        elif kind != 5:
            # `null` (5) adds no field: programs write it for what is not set.
            raise self._fault("expected a value", at)
        return end, False

    def _string(self, position: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, position)
        except JSONDecodeError as error:
            place = max(position, min(error.pos, len(self.text) - 1))
            raise self._fault(f"malformed string: {error.msg}", place) from None
        # `\ud800` is legal JSON, but can neither be printed nor written to a file.
        if not text.isascii() and (half := HALF.search(text)):
            raise self._fault(f"malformed string: unpaired surrogate `\\u{ord(half[0]):04x}`", position)
        return text, end

    def abandon(self) -> None:
        """Mark every open block as broken: fields that seem to be missing may follow the error."""
        self.fields.append(broken(len(self.text)))
        for outer, _, _ in self.stack:
            outer.append(broken(len(self.text)))

    def _space(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def _fault(self, message: str, start: int) -> _Stop:
        help_, fix = mistake_in_json(self.text, start)
        self.report.add("E006", message, start, min(start + 1, len(self.text)), help=help_, fix=fix)
        return _Stop()

    def _enter(self, bracket: str, start: int, name: str = "", name_start: int = 0) -> None:
        if len(self.stack) >= DEEPEST:
            self.report.add("E005", f"values are nested more than {DEEPEST} deep", start, start + 1)
            raise _Stop
        inner: Fields = []
        self.fields.append((name, BLOCK if bracket == "{" else LIST, inner, name_start, start))
        # An explicit stack: the depth of recursion must not depend on the file.
        self.stack.append((self.fields, bracket == "{", {}))
        self.fields = inner


def read_json(text: str, report: DiagnosticReport) -> Fields:
    """The members of a JSON object as fields. A member `null` counts as absent, `$schema` is for editors.

    Errors go to `report`; parsing stops at the first syntax error.
    """
    reader = _JsonReader(text, report)
    try:
        reader.read()
    except _Stop:
        reader.abandon()
    for field in reader.root:
        if field[1] == BLOCK:
            # Editors find the JSON Schema by this member, so it must not be an unknown field.
            return [member for member in field[2] if member[0] != "$schema"]
    return [broken(0)]
