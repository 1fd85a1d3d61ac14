"""The one error of this room."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from paddle_layers.define.errors import first_line
from paddle_layers.define.escaping import message_line


class DataError(ValueError):
    """Data that cannot be used: one line names file, field, row and value, and what to write instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


@contextlib.contextmanager
def as_data_error(what: str) -> Iterator[None]:
    """Whatever a reader of other people's making raises becomes a `DataError` of one line that begins with `what`.

    A damaged file leads NumPy, zlib and zipfile to some fifteen kinds of errors, from `TokenError` to `MemoryError`.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # see above: no list of what a damaged file leads to would be complete
        raise DataError(f"{what}: {first_line(error)[:200]}") from error
