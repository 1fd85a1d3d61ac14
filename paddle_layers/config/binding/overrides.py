"""Overrides of config fields, such as `--set optimizer.learning_rate=0.01`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from paddle_layers.define import registries
from paddle_layers.define.decimals import MANTISSA

from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from ..reading.fields import BLOCK, FLOAT, INT, LIST, STRING, WORD, Field, Fields
from .headers import MessageSpec, spec

_STEP = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]=]*)\])?(\.|=)")
# 18 digits always fit into 64 bits; a longer integer becomes a float, which the check of an integer field rejects.
_INT, _FLOAT = re.compile(r"[-+]?[0-9]{1,18}"), re.compile(MANTISSA + r"(?:[eE][-+]?[0-9]{1,3})?")
_PLAIN = re.compile(r"[^\]=0-9][^\]=]*")
"""A name in brackets that does not start with a digit."""
_KEYS = ("name", "of", "phase", "type", "input")
"""Fields that identify a block: the first of these in its schema."""


def apply_overrides(
    fields: Fields, report: DiagnosticReport, root: str, prefix: str = "", *, without: str = ""
) -> None:
    """Apply overrides from outside the file of a report to its fields, those of a message `root`.

    `prefix` is the beginning of the paths, such as "net."; other paths are skipped, as are those that begin with
    `without`. Errors go to the report.
    """
    # Overrides follow the text of the file in the source, so an error in one has a position as any other.
    start = report.source.own_end + 1
    for text in report.source.overrides:
        if text.startswith(prefix) and not (without and text.startswith(without)):
            _Override(text, start, report).apply(fields, spec(root), len(prefix))
        start += len(text) + 1


class _Override:
    """One field, whose text begins at `start` in the source."""

    def __init__(self, text: str, start: int, report: DiagnosticReport) -> None:
        self.text, self.start, self.report = text, start, report

    def apply(self, fields: Fields, header: MessageSpec | None, at: int) -> None:
        registry = ""
        while True:
            step = _STEP.match(self.text, at)
            if step is None:
                help_ = "join the names of the fields by dots: `--set optimizer.learning_rate=0.01`"
                self._fault("expected a field, `=` and a value", at, help_)
                return
            name, key, sign = step.groups()
            if sign == "=":
                self._assign(fields, header, registry, name, at, step.end())
                return
            inner = self._enter(fields, name, key, at, header)
            if inner is None:
                return
            field = header.fields.get(name) if header is not None else None
            fields, header, at = inner, spec(field.message) if field is not None and field.message else None, step.end()
            registry = field.registry if field is not None else ""

    def _enter(self, fields: Fields, name: str, key: str | None, at: int, header: MessageSpec | None) -> Fields | None:
        """The fields of the addressed block, which is created if it does not exist; None after a report."""
        field = header.fields.get(name) if header is not None else None
        blocks: list[Fields] = []
        for one in fields:
            if one[0] == name:
                blocks += [item[2] for item in (one[2] if one[1] == LIST else [one]) if item[1] == BLOCK]
        if key is not None:
            inner = spec(field.message) if field is not None and field.message else None
            found = [block for number, block in enumerate(blocks) if _is_called(block, number, key, inner)]
            if len(found) != 1:
                how = f"{len(found)} of the {len(blocks)}" if found else f"none of the {len(blocks)}"
                near = nearest(key, [_name_of(block, inner) or "" for block in blocks]) if not found else None
                help_ = f"did you mean `{name}[{near}]`?" if near else f"`{name}[0]` selects the first one"
                self._fault(f"`{key}` matches {how} `{name}` blocks", at, help_)
                return None
            return found[0]
        if len(blocks) > 1:
            help_ = f"select one by its index, such as `{name}[0]`, or by its name"
            self._fault(f"there are {len(blocks)} `{name}` blocks", at, help_)
            return None
        if not blocks:
            blocks.append([])
            fields.append((name, BLOCK, blocks[0], self.start + at, self.start + at))
        return blocks[0]

    def _assign(
        self, fields: Fields, header: MessageSpec | None, registry: str, name: str, at: int, value_at: int
    ) -> None:
        """Replace the values of the field."""
        type_ = next((one[2] for one in fields if one[0] == "type" and one[1] == STRING), None)
        where = fields
        # Otherwise, the block of the old type would be an error that takes a second `--set` to remove.
        if name == "type" and type_ is not None:
            _remove(fields, type_)  # the settings of another type
        elif header is not None and name not in header.names and type_ is not None:
            # Paths omit the block that is named like the type: `optimizer.momentum=0.9` works for `sgd` and for
            # `nesterov`.
            where = next((one[2] for one in fields if one[0] == type_ and one[1] == BLOCK), fields)
            definition = registries[registry].get(type_) if registry and where is fields else None
            if definition is not None and name in definition.attribute_by_name:
                where = []
                fields.append((type_, BLOCK, where, self.start + at, self.start + at))
        _remove(where, name)
        if self.text[value_at:]:
            where.append(_value(name, self.text[value_at:], self.start + at, self.start + value_at))

    def _fault(self, message: str, at: int, help_: str = "") -> None:
        start = self.start + at
        self.report.add("E316", message, start, max(start + 1, self.start + len(self.text)), help=help_)


def block_keys(blocks: Sequence[Fields], header: MessageSpec | None) -> list[str]:
    """Keys of several blocks of a name: the block's name if it is unique."""
    names = [_name_of(block, header) for block in blocks]
    counts = Counter(names)
    plain = [name is not None and counts[name] == 1 and _PLAIN.fullmatch(name) for name in names]
    return [str(name) if good else str(number) for number, (name, good) in enumerate(zip(names, plain, strict=True))]


def _is_called(block: Fields, number: int, key: str, header: MessageSpec | None) -> bool:
    return key == str(number) or key == _name_of(block, header)


def _name_of(block: Fields, header: MessageSpec | None) -> str | None:
    """The name of a block: the first of the fields that name blocks."""
    for field in (header.fields[name] for name in _KEYS if header is not None and name in header.fields):
        name = next((one[2] for one in block if one[0] == field.name), field.default)
        if isinstance(name, str):
            return name
    return None


def _remove(fields: Fields, name: str) -> None:
    fields[:] = [one for one in fields if one[0] != name]


def _value(name: str, text: str, start: int, at: int) -> Field:
    """A value in the syntax of a file; strings need no quotes."""
    if text.startswith("[") and text.endswith("]"):
        items: list[Field] = []
        place = at + 1
        for part in text[1:-1].split(","):
            items.append(_value("", part.strip(), place, place))
            place += len(part) + 1
        return (name, LIST, items, start, at)
    if _INT.fullmatch(text):
        return (name, INT, int(text), start, at)
    if _FLOAT.fullmatch(text):
        return (name, FLOAT, float(text), start, at)
    if text in ("true", "false", "inf", "-inf"):
        return (name, WORD, text, start, at)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return (name, STRING, text[1:-1] if quoted else text, start, at)
