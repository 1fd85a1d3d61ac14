"""Graceful interruption: Ctrl-C and SIGTERM end a training after its step and save the state; the second one aborts."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS: dict[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
"""Signals that end a training; a machine that shuts down sends SIGTERM."""


class Interrupts:
    """While this context is open, the first signal only sets `asked`. Outside the main thread it does nothing."""

    def __init__(self) -> None:
        self.asked = ""
        """Which of `SIGNALS` came; empty while none did."""
        self._before: dict[int, Any] = {}
        # Python allows signal handlers in the main thread only.
        self._active = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Interrupts:
        if self._active:
            self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        # The first signal waits for the end of a step, so that weights, optimizer and data position of a checkpoint
        # belong together; a second one shows that the user does not want to wait.
        if self.asked:
            raise KeyboardInterrupt
        self.asked = SIGNALS[number]
