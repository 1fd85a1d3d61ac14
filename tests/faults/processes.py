"""Real processes: `python -m paddle_layers ...` and programs of a few lines, and what is asked of their ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

LONG = 300
"""Seconds after which a process hangs."""
Preparation = Callable[[], None]


class Done(NamedTuple):
    """A process that has ended."""

    status: int
    out: str
    err: str

    def fine(self) -> Done:
        """It did what it was asked to."""
        assert self.status == 0, self
        return self

    def refused(self, *texts: str) -> Done:
        """It ended with one line, its last, that has the texts."""
        assert self.status == 1, self
        assert "Traceback" not in self.err, self.err
        last = self.err.splitlines()[-1]
        assert all(text in last for text in texts), self.err
        return self

    def warned(self, *texts: str) -> Done:
        """It went on with a single warning, that has the texts."""
        lines = [line for line in self.fine().err.splitlines() if line.startswith("warning:")]
        assert len(lines) == 1, self.err
        assert all(text in lines[0] for text in texts), self.err
        return self


def start(
    command: Sequence[str], folder: Path, *, before: Preparation | None = None, **settings: str | None
) -> subprocess.Popen[str]:
    """A process in a folder; `settings` are variables of its environment, None takes one away."""
    environment = {name: value for name, value in {**os.environ, **settings}.items() if value is not None}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        preexec_fn=before,  # noqa: PLW1509  no other thread runs here
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def end(process: subprocess.Popen[str]) -> Done:
    """Wait for it."""
    try:
        out, err = process.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it hangs\n{out}\n{err}") from None
    return Done(process.returncode, out, err)


def paddle_layers(*words: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "paddle_layers", *words]


def program(text: str) -> list[str]:
    """A Python program."""
    return [sys.executable, "-c", text]


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read what it says until a line begins like this."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(beginning):
            return
    raise AssertionError(f"it ended before it said {beginning!r}: {end(process)}")
