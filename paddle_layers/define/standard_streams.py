"""Robust standard streams: messages to closed or full streams and broken pipes are dropped."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, TextIO, cast


class _Dropping:
    """A stream whose write errors are ignored; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._errors_ignored():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._errors_ignored():
            self._stream.flush()

    def isatty(self) -> bool:
        return not self._stream.closed and self._stream.isatty()

    @contextlib.contextmanager
    def _errors_ignored(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            pass
        except ValueError:  # that of a closed stream; a string that cannot be encoded is an error
            if not self._stream.closed:
                raise


def dropping(stream: TextIO | None) -> TextIO | None:
    """A stream for messages that may be lost; None stays None, the value of `sys.stderr` without a console."""
    return cast("TextIO", _Dropping(stream)) if stream is not None else None


@contextlib.contextmanager
def writing_to_stdout() -> Iterator[None]:
    """A context in which errors of stdout get its name, as a full disk; a broken pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stdout") from None


def open_closed_descriptors() -> None:
    """Give the descriptors 0 to 2 to the null device where they are closed.

    Otherwise the next file that is opened gets one of them, and what C libraries write to stderr lands in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # `os.open` returns the lowest free descriptor, which is `number`.
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDWR)
