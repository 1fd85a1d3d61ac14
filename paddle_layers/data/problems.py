"""The one error of this room."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class DataError(ValueError):
    """Data that cannot be used: the text names file, field, row and value, and what to write instead."""


@contextlib.contextmanager
def as_data_error(what: str) -> Iterator[None]:
    """Whatever a reader of other people's making raises becomes a `DataError` of one line that begins with `what`.

    A damaged file leads NumPy, zlib and zipfile to some fifteen kinds of errors, from `TokenError` to `MemoryError`.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(f"{what}: {lines[0][:200]}") from None
