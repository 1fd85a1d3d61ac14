"""Errors and interrupts: a training cannot continue, or the user ends it."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from paddle_layers.define.escaping import message_line

SIGNALS: dict[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
"""Signals that end a training; a machine that shuts down sends SIGTERM."""


class TrainingError(Exception):
    """A training cannot start or go on; one line says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))


class Interrupts:
    """Graceful interruption: Ctrl-C and SIGTERM end a training after its step and save its state.

    While this context is open, the first signal only sets `asked`, the second one aborts. Outside the main thread it
    does nothing.
    """

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
