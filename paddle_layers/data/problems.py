"""The error and the warning class of this package."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle_layers.define.errors import first_line, suggestion
from paddle_layers.define.escaping import message_line


class DataError(ValueError):
    """Data that cannot be used: one line names file, field, row and value, and what to write instead."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


class DataErrors(DataError):
    """Several errors, such as one of each field; the message is that of the first."""

    def __init__(self, errors: Sequence[DataError]) -> None:
        super().__init__(str(errors[0]))
        self.errors = tuple(errors)


class NoFieldsError(DataError):
    """A file has no fields, or none of the requested ones; `parts` are what it calls them."""

    def __init__(self, origin: object, parts: str, available: Iterable[str]) -> None:
        listed = ", ".join(f"`{name}`" for name in available)
        required = f" of the required fields; available: {listed}" if listed else ""
        super().__init__(f"{origin} has no {parts}{required}")


class DataWarning(UserWarning):
    """Names of ids or columns are missing, so that data are matched by position."""


def warn_of_data(message: str) -> None:
    """Warn at the line of the program that asked for the data."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("paddle_layers.", "contextlib")):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(DataWarning(message_line(message)), stacklevel=depth)


@contextlib.contextmanager
def as_data_error(what: str) -> Iterator[None]:
    """Whatever a reader of other people's making raises becomes a `DataError` of one line that begins with `what`.

    A damaged file leads NumPy, zlib and zipfile to some fifteen kinds of errors, from `TokenError` to `MemoryError`.
    A library in Rust may panic, which is no `Exception`, and has no module that its class could be imported from.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # for damaged files readers raise some fifteen kinds, few of them documented
        raise DataError(f"{what}: {first_line(error)[:200]}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise DataError(f"{what}: {first_line(error)[:200]}") from error


_LOOKED_AT = 1000
"""Maximum number of files of a folder that are compared with a name."""
_FIRST_BYTES = {
    b"PK\x03\x04": "a zip archive or an Excel workbook; save the sheet as CSV",
    b"\x1f\x8b": "compressed with gzip; decompress it",
    b"\xff\xfe": "encoded in UTF-16; save it as UTF-8",
    b"\xfe\xff": "encoded in UTF-16; save it as UTF-8",
    b"\xd0\xcf\x11\xe0": "an Excel workbook; save the sheet as CSV",
    b"PAR1": "a Parquet file; use the source `parquet`",
}


def missing_file(path: Path, base: str = "paths are relative to the training file") -> DataError:
    """The error for a file that is not there, with the name of one that may be meant; `base` is where it was sought."""
    text = str(path)
    if "~" in path.parts[:1] or "/~/" in text:
        hint = "`~` is not expanded: write the full path"
    elif text.partition(":")[0].rpartition("/")[2] in ("http", "https", "ftp", "s3", "file"):
        hint = "URLs are not supported: download the file first"
    elif "*" in text or "?" in text:
        hint = "patterns are not supported: write the name of one file"
    elif not text.isprintable():
        hint = "a backslash starts an escape sequence: separate folders by `/`"
    else:
        hint = base
        with contextlib.suppress(OSError, ValueError), os.scandir(path.parent) as found:
            near = suggestion(path.name, [entry.name for entry in itertools.islice(found, _LOOKED_AT)])
            hint += near
    return DataError(f"file not found: {path}; {hint}".replace("; ;", ";").removesuffix("; "))


def no_text(path: Path, first: bytes, otherwise: str) -> DataError:
    """The error for a file that is not UTF-8 text: what its first bytes tell it is, `otherwise` where they do not."""
    what = next((what for start, what in _FIRST_BYTES.items() if first.startswith(start)), "")
    return DataError(f"{path} is {what}" if what else otherwise)


def optional_module(name: str, package: str, extra: str, user: str) -> Any:
    """A module. Raises `DataError` that says what to install where it is not there; `user` is what requires it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f", which cannot be imported ({error})"
        raise DataError(f"{user} requires {package}{why}: pip install 'paddle-layers[{extra}]'") from None
