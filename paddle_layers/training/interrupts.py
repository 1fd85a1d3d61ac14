"""Ctrl-C ends a training after its step, so that the state can be saved; the second one ends it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While this context is open, the first Ctrl-C only sets `asked`. Outside the main thread it does nothing."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._active = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interrupts:
        if self._active:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._active:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  Python calls handlers with both
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
