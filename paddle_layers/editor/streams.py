"""Streams of the protocol, isolated from other output, and message framing."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO

LARGEST = 2**26
"""Maximum size of a message in bytes."""

LONGEST = 1000
"""Maximum size of a header line in bytes."""

log = logging.getLogger(__name__)


class Messages:
    """The editor's messages for pygls, each with one valid header.

    pygls hangs if a header is in lower case or unterminated, and fails if the length is not a number. Here a message
    without a valid header is ignored, and the next one is read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self._rest = stream, b""

    def readline(self) -> bytes:
        """A line of a header; empty at the end."""
        if self._rest:
            line, self._rest = self._rest, b""
            return line
        length = self._length()
        if not length:
            return b""
        self._rest = b"\r\n"
        return b"Content-Length: %d\r\n" % length

    def read(self, size: int) -> bytes:
        """The message; empty if it is truncated."""
        data = self.stream.read(size)
        return data if len(data) == size else b""

    def _length(self) -> int:
        """Size of the next message in bytes; 0 at the end."""
        length = 0
        while line := self.stream.readline(LONGEST):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = _checked(value.strip())
            elif not line.strip() and length:
                return length
        return 0


def _checked(value: bytes) -> int:
    """A valid length, or 0."""
    if value.isdigit() and len(value) < 12 and int(value) <= LARGEST:
        return int(value)
    log.warning("ignored a message of %.40r bytes; the maximum is %d", value.decode("latin1"), LARGEST)
    return 0


def protocol_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout, reserved for the protocol.

    Other output, such as that of a plugin or a C library, goes to stderr, and other reads get the end of file.
    """
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reader, writer
