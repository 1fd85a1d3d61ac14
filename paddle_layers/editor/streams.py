"""Streams of the protocol, isolated from other output, and message framing."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO

LARGEST = 2**26
"""Bytes of a message: a config of so many is no config."""

LONGEST = 1000
"""Bytes of a line of a header."""

log = logging.getLogger(__name__)


class Messages:
    """The editor's side of the protocol, for pygls: one header for every message, with a length that can be read.

    pygls waits for ever where a header is spelt in lower case or is not ended, and ends with an error where a length
    is no number of bytes. Here a message without a sound header is left out, and the next one is read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self._rest = stream, b""

    def readline(self) -> bytes:
        """A line of a header; nothing at the end."""
        if self._rest:
            line, self._rest = self._rest, b""
            return line
        length = self._length()
        if not length:
            return b""
        self._rest = b"\r\n"
        return b"Content-Length: %d\r\n" % length

    def read(self, size: int) -> bytes:
        """The message; nothing where it is cut short."""
        data = self.stream.read(size)
        return data if len(data) == size else b""

    def _length(self) -> int:
        """Bytes of the next message; 0 at the end."""
        length = 0
        while line := self.stream.readline(LONGEST):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = _checked(value.strip())
            elif not line.strip() and length:
                return length
        return 0


def _checked(value: bytes) -> int:
    """A length, or 0 for one that cannot be read."""
    if value.isdigit() and len(value) < 12 and int(value) <= LARGEST:
        return int(value)
    log.warning("a message of %.40r bytes is left out; the most are %d", value.decode("latin1"), LARGEST)
    return 0


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
    return reader, writer
