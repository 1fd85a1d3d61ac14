"""Binary configs: changed bytes, and changed fields of the wire format at any depth."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from paddle_layers.config import ConfigError, examine
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.files import read_file
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.writing.binary import message_of_binary, message_of_fields

from .configs import check_faults, check_layout, check_message, networks, trainings
from .mutators import HOSTILE, changed_bytes, several
from .target import Target, demand
from .trees import as_text

VARINT, FIXED64, BYTES, OPENS, CLOSES, FIXED32 = range(6)
DEEPEST = 4
"""Levels of messages that are taken apart."""

Wire = list[tuple[int, int, Any]]
"""Fields of a message: number, wire type, and value; that of a message in it is a list again."""


@cache
def sources() -> list[bytes]:
    """Sound binary configs."""
    rng = Random(0)
    texts = [as_text(tree, rng) for tree in (*networks(), *trainings())]
    messages = [message_of_fields(read(DiagnosticReport(Source("", text)))) for text in texts]
    return [message.SerializeToString(deterministic=True) for message in messages]


class Binary(Target):
    """Binary network and training files."""

    name = "binary"
    second_per_byte = 1e-4  # a byte may become six of the text

    def make(self, rng: Random) -> bytes:
        """Mostly changed fields: of changed bytes most are refused at once."""
        data = rng.choice(sources())
        if rng.random() < 0.75:
            fields = taken_apart(data, DEEPEST)
            for _ in range(several(rng)):
                _change(fields, rng)
            data = put_together(fields)
            if rng.random() < 0.8:
                return data
        return changed_bytes(data, rng, sources())

    def check(self, case: bytes) -> None:
        """It becomes a text with the same message, or is refused; the text is examined as any other."""
        path = self.folder / "x.binpb"
        path.write_bytes(case)
        try:
            text = read_file(path)
        except ConfigError as error:
            check_faults(error.diagnostics)
            return
        check_layout(text, str(path))
        found = examine(text, path)
        check_faults(found.faults)
        if not found.failed:
            demand(found.network is not None, "no network and no fault")
            check_message(message_of_binary(case, "x"))


# ---- the wire format


def taken_apart(data: bytes, depth: int) -> Wire:
    """The fields of a sound message. Raises `ValueError` for what is none."""
    found: Wire = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            found.append((number, kind, value))
        elif kind == BYTES:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise ValueError("cut short")
            found.append((number, kind, _inner(data[at : at + size], depth)))
            at += size
        elif kind in (FIXED32, FIXED64) and number:
            size = 4 if kind == FIXED32 else 8
            found.append((number, kind, data[at : at + size]))
            at += size
        else:
            raise ValueError("no message")
    return found


def _inner(data: bytes, depth: int) -> Any:
    if depth and data and not data.isalnum():
        try:
            return taken_apart(data, depth - 1)
        except ValueError:
            pass
    return data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("cut short")


def put_together(fields: Wire) -> bytes:
    """The bytes of fields, lengths and all."""
    out = bytearray()
    for number, kind, value in fields:
        out += _as_varint(number << 3 | kind)
        if isinstance(value, list):
            value = put_together(value)  # noqa: PLW2901
        if isinstance(value, int):
            out += _as_varint(value)
        else:
            out += (_as_varint(len(value)) if kind == BYTES else b"") + value
    return bytes(out)


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _lists(fields: Wire) -> list[Wire]:
    return [fields, *(inner for _, _, value in fields if isinstance(value, list) for inner in _lists(value))]


def _change(fields: Wire, rng: Random) -> None:
    """One field somewhere: another number, kind or value, left out, doubled, exchanged, or nested."""
    chosen = rng.choice([one for one in _lists(fields) if one] or [fields])
    if not chosen:
        chosen.append((rng.randrange(1, 30), VARINT, 1))
    at = rng.randrange(len(chosen))
    number, kind, value = chosen[at]
    way = rng.randrange(9)
    if way == 0:
        del chosen[at]
    elif way == 1:
        chosen[at:at] = [chosen[at]] * rng.choice((1, 1, 2, 100))
    elif way == 2:
        chosen[at] = (
            rng.choice((1, 2, 3, 8, 15, 1000, 4095, 2**29 - 1, number + 1, rng.randrange(1, 30))),
            kind,
            value,
        )
    elif way == 3:
        kind = rng.choice((VARINT, FIXED64, BYTES, FIXED32, OPENS, CLOSES))
        chosen[at] = (number, kind, _odd(kind, rng))
    elif way < 7:
        chosen[at] = (number, kind, _odd(kind, rng))
    elif way == 7:
        other = rng.randrange(len(chosen))
        chosen[at], chosen[other] = chosen[other], chosen[at]
    else:
        for _ in range(rng.choice((1, 5, 30))):
            value = [(number, kind, value)]
            kind = BYTES
        chosen[at] = (number, kind, value)


def _odd(kind: int, rng: Random) -> Any:
    if kind == VARINT:
        return rng.choice((0, 1, 2, 3, 5, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, rng.randrange(20)))
    if kind in (FIXED64, FIXED32):
        size = 8 if kind == FIXED64 else 4
        return rng.choice((bytes(size), b"\xff" * size, b"\x00" * (size - 2) + b"\xf0\x7f", rng.randbytes(size)))
    if kind == BYTES:
        texts = (b"", b"\xff", b"x" * 300, HOSTILE.encode(), b"\xed\xa0\x80", b"relu", b"x", rng.randbytes(9))
        return rng.choice(texts)
    return b""
