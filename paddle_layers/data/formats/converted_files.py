"""Text files that are compressed or in another encoding than UTF-8, as an unnamed temporary file in UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import tempfile
import zlib
from pathlib import Path
from typing import IO

from ..problems import DataError
from .files import SPOOLED, PositionedFile

ENCODINGS = {
    "utf_8": "UTF-8",
    "utf_16": "UTF-16 with a byte order mark",
    "latin_1": "ISO 8859-1",
    "cp1252": "Windows, Western Europe",
    "cp1250": "Windows, Central Europe",
    "cp1251": "Windows, Cyrillic",
    "gb18030": "Chinese, simplified",
    "big5": "Chinese, traditional",
    "shift_jis": "Japanese",
    "euc_kr": "Korean",
}
"""Supported encodings with their descriptions."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b\x08"
_PIECE = 2**20
_SMALL, _MOST_COMPRESSION = 2**28, 100
"""Beyond so many bytes, a file that is so many times larger than its compressed size is a decompression bomb."""


class Utf8File(PositionedFile):
    """Text file whose bytes are read as UTF-8, whatever its encoding; one compressed by gzip is decompressed."""

    advice = "set `encoding`, such as `encoding: cp1252`, or save the file as UTF-8"

    def __init__(self, path: Path, base: str, encoding: str = "utf_8") -> None:
        super().__init__(path, base)
        if self.read(0, 2) in _UTF_16 and encoding == "utf_8":
            raise DataError(f"{path} is encoded in UTF-16; write `encoding: utf_16`")
        compressed = self.read(0, len(_GZIP)) == _GZIP
        if compressed or encoding != "utf_8":
            with self._file as stored:
                stored.seek(0)
                self._own(self._converted(stored, encoding, compressed=compressed))

    def _converted(self, stored: IO[bytes], encoding: str, *, compressed: bool) -> IO[bytes]:
        """A temporary file with all bytes, copied in pieces."""
        source = gzip.GzipFile(fileobj=stored) if compressed else stored
        most = min(max(_SMALL, _MOST_COMPRESSION * self.size), SPOOLED) if compressed else self.size
        decoder, read = codecs.getincrementaldecoder(encoding)(), 0
        with contextlib.ExitStack() as stack:
            copy = stack.enter_context(tempfile.TemporaryFile())
            try:
                while piece := source.read(_PIECE):
                    read += len(piece)
                    if read > most:
                        raise DataError(f"{self.path}: decompresses to more than {most} bytes; decompress it first")
                    # UTF-8 is decoded line by line later, where an error has the number of the line.
                    copy.write(piece if encoding == "utf_8" else decoder.decode(piece).encode())
                copy.write(decoder.decode(b"", final=True).encode())
                copy.flush()
            except UnicodeError as error:
                reason = getattr(error, "reason", error)
                raise DataError(f"{self.path} is not encoded in {encoding}: {reason}") from None
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise DataError(f"{self.path}: damaged gzip file: {error}") from None
            except OSError as error:
                raise DataError(f"cannot copy {self.path} to a temporary file: {error.strerror}") from None
            stack.pop_all()
            return copy
