"""Watchdog thread of data-parallel training: it is notified when another process fails, and detects hanging ones."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle_layers.define.escaping import printable
from paddle_layers.define.standard_streams import dropping

PERIOD = 0.25
"""Seconds between two looks at what the others have sent."""
REPORTING = 5.0
"""Grace period in seconds for other processes to log why they end; a process that hangs logs nothing."""
REASON, WRITTEN = 1, 2
"""Tags of messages: why a process ends, and that this is written down."""
LONGEST = 2000
"""Characters of a reason that are sent."""


class RankWatch:
    """Of one process. The thread runs from `start` to `end`, which all processes call together."""

    def __init__(self, mpi: Any, patience: float) -> None:
        self._mpi, self._patience = mpi, patience
        self._comm = mpi.COMM_WORLD.Dup()  # so that no other thread receives the messages
        self._count = self._comm.Get_size()
        # Without thread support in MPI only the timeout of the own waiting is watched.
        self._listens = mpi.Query_thread() == mpi.THREAD_MULTIPLE
        self._since = float("inf")
        self._heard, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def end(self) -> None:
        """The training has ended well in all processes."""
        self._ended.set()
        self._thread.join()
        self._comm.Free()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """In it this process waits for the others, and has so much patience."""
        self._since = time.monotonic()
        yield
        self._since = float("inf")

    def heard(self, seconds: float) -> bool:
        """Whether another process has said why it ends, or says so within this time."""
        return self._heard.wait(seconds)

    def report(self, reason: str) -> None:
        """Give the others the reason why this process ends, which they print, before it ends all of them."""
        text, others = reason[:LONGEST].encode(), [one for one in range(self._count) if one != self._comm.Get_rank()]
        # An acknowledgment per process: a message may be lost if this process ended right after sending it.
        messages = [self._comm.Irecv(bytearray(), other, WRITTEN) for other in others]
        messages += [self._comm.Isend(text, other, REASON) for other in others]
        deadline = time.monotonic() + REPORTING
        while not self._mpi.Request.Testall(messages) and time.monotonic() < deadline:
            time.sleep(PERIOD / 10)

    def _run(self) -> None:
        while not self._ended.wait(min(PERIOD, self._patience / 4)):
            if self._listens:
                self._listen()
            if time.monotonic() - self._since > self._patience:
                self._end_all()

    def _listen(self) -> None:
        status = self._mpi.Status()
        if self._comm.Iprobe(tag=REASON, status=status):
            text, source = bytearray(status.Get_count(self._mpi.BYTE)), status.Get_source()
            self._comm.Recv(text, source, REASON)
            if not self._heard.is_set():  # of several that end it is the first
                self._say(f"process {source} of {self._count} failed: {text.decode(errors='replace')}")
            self._heard.set()
            self._comm.Isend(b"", source, WRITTEN)

    def _end_all(self) -> None:
        reason = (
            f"waited {self._patience:g} s for the other processes: one of them hangs, or its machine is down; "
            "earlier checkpoints are unchanged"
        )
        self._say(f"process {self._comm.Get_rank()} of {self._count} {reason}")
        if self._listens:
            self.report(f"it {reason}")
        self._comm.Abort(1)

    def _say(self, message: str) -> None:
        if (stream := dropping(sys.stderr)) is not None:
            print(printable(f"error: {message}"), file=stream, flush=True)
