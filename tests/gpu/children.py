"""Items in child processes: one that fails, crashes or hangs takes no other with it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

from .parts import Outcome, Part, Setup

ROOT = Path(__file__).resolve().parent.parent.parent


def run_part(module: str, part: Part, setup: Setup, end: float, log: TextIO) -> Outcome:
    """Run a part in its share of the time up to `end`."""
    begin = time.monotonic()
    outcome = Outcome(title=part.title, absent=part.absent())
    if outcome.absent:
        return outcome
    items = part.items(setup)
    worker = _Worker(module, setup, begin + (end - begin) * part.share, outcome, log)
    hands = [items[first :: part.children] for first in range(min(part.children, len(items)))]
    with ThreadPoolExecutor(len(hands)) as pool:
        list(pool.map(worker.work_through, hands))
    outcome.facts = {item: outcome.facts[item] for item in items if item in outcome.facts}
    outcome.seconds = time.monotonic() - begin
    if outcome.facts:
        outcome.page = part.page(outcome.facts)
        outcome.measurements = part.measurements(outcome.facts)
    return outcome


class _Worker:
    """Runs children until all items are done, or the time is over."""

    def __init__(self, module: str, setup: Setup, end: float, outcome: Outcome, log: TextIO) -> None:
        self.command = [sys.executable, "-m", "tests.gpu.child", module, setup.to_json()]
        self.module, self.end, self.outcome, self.log = module, end, outcome, log
        self.lock = threading.Lock()

    def work_through(self, items: list[str]) -> None:
        """A child stops at the first item that fails; the next child starts with the following item."""
        while items:
            lines, status, errors = self.child(items)
            with self.lock:
                items = items[self.take(lines) :]
                if errors.strip():
                    self.log.write(f"==== {self.module}\n{errors.rstrip()}\n")
                if status is None:
                    self.log.write(f"==== {self.module}: the time was over with {', '.join(items)}\n")
                    self.outcome.left += items
                    return
                if items and not any("error" in line for line in lines):
                    self.outcome.failures[items[0]] = f"the process ended with the status {status}; see the log"
                    items = items[1:]

    def child(self, items: list[str]) -> tuple[list[dict[str, str]], int | None, str]:
        """Lines and errors of one child, and its status: None when its time was over."""
        left = self.end - time.monotonic()
        if left <= 0:
            return [], None, ""
        pipe = subprocess.PIPE
        child = subprocess.Popen([*self.command, *items], cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
        status: int | None
        try:
            output, errors = child.communicate(timeout=left)
            status = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            (output, errors), status = child.communicate(), None
        return [json.loads(line) for line in output.splitlines() if line.endswith("}")], status, errors

    def take(self, lines: list[dict[str, str]]) -> int:
        """Record the results of a child; returns the number of finished items."""
        for line in lines:
            if "error" in line:
                self.outcome.failures[line["item"]] = line["error"]
            else:
                self.outcome.facts[line["item"]] = line["facts"]
        return len(lines)
