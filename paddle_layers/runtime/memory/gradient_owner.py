"""Thread ownership of the parameter gradients: all threads of a net share their memory."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class GradientOwner:
    """The thread that ran the last backward pass, and whether it completed."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._complete = True

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Context manager: a backward pass of this thread overwrites the gradients."""
        # Not in a `finally`: after an exception the gradients are neither those of this pass nor of the one before.
        self._complete = False
        self._thread = threading.current_thread()
        yield
        self._complete = True

    def check(self) -> None:
        """Raises `RuntimeError` if the gradients are not those of this thread's last backward pass."""
        if self._thread is not None and self._thread is not threading.current_thread():
            raise RuntimeError("the last backward pass ran in another thread; use one Net per training thread")
        if not self._complete:
            raise RuntimeError("no gradients: the last backward pass was interrupted; call backward again")
