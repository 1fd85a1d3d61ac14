"""Conversion of a value from the file to an attribute, by the rules of the attribute."""

from __future__ import annotations

import math
from typing import Any

from paddle_layers.define.fields.attributes import Attribute

from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from ..reading.fields import BLOCK, BROKEN, FLOAT, INT, LIST, STRING, WORD, Field, items, shown

# Those that protobuf's text format accepts; `yes` and `on`, which YAML accepts, get a fix instead.
_TRUTH = {"true": True, "True": True, "t": True, "false": False, "False": False, "f": False}
_SPOKEN = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_INFINITE = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_WANTED = {
    "INT": "an integer",
    "FLOAT": "a number",
    "BOOL": "true or false",
    "STRING": "a quoted string",
    "CHOICE": "an identifier",
}
_CHOICES = {
    **dict.fromkeys(("validation", "valid", "val", "dev", "eval", "evaluation"), ("validation", "test")),
    **dict.fromkeys(("inference", "predict"), ("test",)),
    **dict.fromkeys(("int64", "int32", "integer", "long"), ("INT",)),
    **dict.fromkeys(("float32", "float64", "float"), ("DENSE",)),
}
"""Choices by their names in other frameworks, the most similar one first: layers have no phase `validation`."""

MISSING: Any = object()
"""Result for an invalid value; the error was reported."""


def bind_value(attribute: Attribute[Any], field: Field, report: DiagnosticReport) -> Any:
    """The value of an attribute that is not repeated, or `MISSING` after a report."""
    if field[0] == BROKEN:
        return MISSING
    value = convert(attribute.type, field[1], field[2])
    if value is MISSING:
        _wrong_kind(attribute, field, report)
        return MISSING
    reason = attribute.check_item(value)
    if reason is None:
        return attribute.convert_item(value)
    if attribute.type == "CHOICE":
        _wrong_choice(attribute, field, str(value), report)
    else:
        report.add("E103", reason, field[4], help=_meaning(attribute))
    return MISSING


def _meaning(attribute: Attribute[Any]) -> str:
    """The description of an attribute; fields of the schema have no description."""
    return "" if attribute.doc.startswith("field `") else f"`{attribute.name}`: {attribute.doc}"


def bind_values(attribute: Attribute[Any], fields: list[Field], report: DiagnosticReport) -> Any:
    """The tuple of a repeated attribute, from one list or several fields, or `MISSING` after a report."""
    found = [bind_value(attribute, item, report) for field in fields for item in items(field)]
    if any(value is MISSING for value in found):
        return MISSING
    if reason := attribute.check(found):
        report.add("E107", reason, fields[0][3])
        return MISSING
    return tuple(found)


def convert(wanted: str, kind: int, value: Any) -> Any:
    """A value of a file as the type `wanted`, or `MISSING`."""
    if kind == INT:
        if wanted == "FLOAT":
            return _real(value)
        if wanted == "BOOL":
            # As in protobuf's text format, with which the readers must agree.
            return bool(value) if value in (0, 1) else MISSING
        return value if wanted == "INT" else MISSING
    if kind == STRING:
        # Choices may be quoted, since JSON has no identifiers.
        return value if wanted in ("STRING", "CHOICE") else MISSING
    if kind == WORD:
        return _word(wanted, value)
    return value if kind == FLOAT and wanted == "FLOAT" else MISSING


def _word(wanted: str, value: str) -> Any:
    if wanted == "CHOICE":
        return value
    if wanted == "BOOL":
        return _TRUTH.get(value, MISSING)
    if wanted == "FLOAT" and value.lstrip("-").lower() in _INFINITE:
        number = _INFINITE[value.lstrip("-").lower()]
        return -number if value[0] == "-" else number
    return MISSING


def _real(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        # A hexadecimal number of up to 300 digits is legal; like `1e999`, one that overflows is infinite, and the range
        # check decides.
        return math.inf if value > 0 else -math.inf


def _wrong_kind(attribute: Attribute[Any], field: Field, report: DiagnosticReport) -> None:
    wanted = _WANTED[attribute.type]
    kind, value = field[1], field[2]
    help_, fix = "", None
    # An edit is offered only where the intended value is certain; for a list or a block there is only a help text.
    if kind == LIST:
        help_ = "write one value, without brackets"
    elif _in_expression(field):
        help_ = f"write it in single quotes: '{value}'" if attribute.type in ("STRING", "CHOICE") else ""
    elif attribute.type in ("STRING", "CHOICE") and kind in (WORD, INT, FLOAT):
        end = report.source.token_end(field[4])
        help_ = f'write it in quotes: "{value}"'
        fix = Fix(field[4], end, f'"{report.source.text[field[4] : end]}"')
    elif kind == STRING and convert(attribute.type, *_unquoted(value)) is not MISSING:
        help_ = f"write it without quotes: {value}"
        fix = Fix(field[4], report.source.token_end(field[4]), value)
    elif attribute.type == "BOOL" and kind == WORD and value.lower() in _SPOKEN:
        help_ = f"write {_SPOKEN[value.lower()]}"
        fix = Fix(field[4], report.source.token_end(field[4]), _SPOKEN[value.lower()])
    elif attribute.type == "INT" and kind == FLOAT and float(value).is_integer():
        help_ = f"write {int(value)}"
        fix = Fix(field[4], report.source.token_end(field[4]), str(int(value)))
    elif kind == BLOCK and attribute.name == "act":
        help_ = 'for an activation with attributes, write `activation { type: "relu" relu { ... } }` in the layer'
    elif kind == BLOCK:
        help_ = f"write `{attribute.name}: ...`"
    elif kind == WORD and value == "auto" and attribute.name == "size":
        help_ = "remove it: without `size`, `train` takes it from the words of the data"
    elif kind == WORD and value.lower() in ("none", "null", "nil"):
        help_ = f"remove it; {_meaning(attribute) or f'`{attribute.name}` needs a value'}"
    report.add("E102", f"{attribute.subject} must be {wanted}, found {shown(field)}", field[4], help=help_, fix=fix)


def _in_expression(field: Field) -> bool:
    """Whether a value comes from a `set`, where it follows the position of its field."""
    # In a file, the colon separates the offsets. In the string of a `set`, the value alone cannot be edited.
    return bool(field[0]) and field[3] == field[4]


def _unquoted(text: str) -> tuple[int, Any]:
    try:
        return INT, int(text)
    except ValueError:
        pass
    try:
        return FLOAT, float(text)
    except ValueError:
        return WORD, text


def _wrong_choice(attribute: Attribute[Any], field: Field, value: str, report: DiagnosticReport) -> None:
    equivalent = next((name for name in _CHOICES.get(value.lower(), ()) if name in attribute.options), "")
    near = equivalent or nearest(value, attribute.options, 0.5)
    meant = f"`{value}` is called `{near}` here; " if equivalent else f"did you mean `{near}`? " if near else ""
    quotes = '"' if field[1] == STRING else ""
    end = report.source.token_end(field[4])
    report.add(
        "E104",
        f"invalid value `{value}` of `{attribute.name}`",
        field[4],
        end,
        help=meant + "allowed: " + ", ".join(attribute.options),
        fix=Fix(field[4], end, quotes + near + quotes) if near and not _in_expression(field) else None,
    )
