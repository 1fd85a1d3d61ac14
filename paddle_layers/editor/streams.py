"""The streams of the protocol, out of reach of everything else that prints or reads."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO, cast

LARGEST_MESSAGE = 2**28
"""Bytes of a message: more than any text that an editor opens."""

LONGEST_HEADER = 1000
"""Bytes of a line before a message."""

log = logging.getLogger(__name__)


class Incoming:
    """What an editor sends, with the headers of each message as pygls knows them.

    pygls passes over a header that it cannot read and waits for the next one, for ever if need be. Here the names of
    headers are read in upper and lower case, as in HTTP, and where no message can begin the session ends with a line.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.lines: list[bytes] = []

    def readline(self) -> bytes:
        """The next line of the headers; nothing at the end."""
        if not self.lines:
            try:
                length = self._length()
            except ValueError as error:
                log.error("the session ends, the editor sent no message of the protocol: %s", error)
                length = None
            self.lines = [b""] if length is None else [b"Content-Length: %d\r\n" % length, b"\r\n"]
        return self.lines.pop(0)

    def read(self, size: int) -> bytes:
        """The text of a message."""
        return self.stream.read(size)

    def _length(self) -> int | None:
        """Bytes of the next message; None at the end. Raises `ValueError` where no message begins."""
        length = None
        while line := self.stream.readline(LONGEST_HEADER):
            if not line.strip():
                if length is None:
                    raise ValueError("its headers have no Content-Length")
                return length
            name, colon, value = line.partition(b":")
            if not colon or not line.endswith(b"\n"):
                raise ValueError(f"{line[:40]!r} is no header")
            if name.strip().lower() == b"content-length":
                length = _number(value.strip())
        return None


def _number(value: bytes) -> int:
    if not value.isdigit() or len(value) > 12 or int(value) > LARGEST_MESSAGE:
        raise ValueError(f"a length is a number of bytes up to {LARGEST_MESSAGE:,}, not {value[:40]!r}")
    return int(value)


def protocol_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for the protocol alone.

    From now on what anybody prints, a plugin or a C library, goes to stderr, and who reads finds the end of a file.
    """
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return cast(BinaryIO, Incoming(reader)), writer
