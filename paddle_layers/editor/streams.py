"""The streams of the protocol, out of reach of everything else that prints or reads."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


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
