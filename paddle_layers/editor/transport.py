"""Transport of the protocol: message framing, reserved stdin and stdout, a filter of invalid messages, and the log."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, BinaryIO

from pygls.protocol import LanguageServerProtocol

from paddle_layers.define.errors import first_line
from paddle_layers.define.escaping import message_line

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


class Protocol(LanguageServerProtocol):
    """Filters messages that would cause errors in pygls."""

    def handle_message(self, message: Any) -> None:
        """Dispatch a message."""
        if not hasattr(message, "jsonrpc"):
            log.warning("ignored a message that is not JSON-RPC")
        elif isinstance(getattr(message, "id", None), (list, dict)):
            log.warning("ignored a message whose id is neither a number nor a string")
        else:
            super().handle_message(message)


class OneLine(logging.Formatter):
    """The event and its error on one line; pygls logs a traceback for an invalid message."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record."""
        text, error = record.getMessage().partition("\n")[0], record.exc_info[1] if record.exc_info else None
        reason = f": {type(error).__name__}: {first_line(error)}" if error is not None else ""
        return message_line(f"{record.name}: {text}{reason}")


def log_in_lines() -> None:
    """Show warnings and errors of all modules on stderr, one per line."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    logging.getLogger().addHandler(handler)
