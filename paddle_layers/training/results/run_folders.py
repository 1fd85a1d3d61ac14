"""Choice of the output folder of a training: the one it resumes, or a new one with a number after its name.

A training that computes the same as an existing one, and has steps left, resumes that one. Any other gets
`output/digits-2`, then `output/digits-3`: nothing is overwritten.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..checkpoints.files import checkpoints
from ..problems import TrainingError
from .folders import CHECKPOINTS, Running, claimed_folder, is_taken, trained_weights
from .run_files import FOLDER, RUN, RunFacts, has_more, read_run, same_run

_WAIT = 2.0
"""Seconds in which a training that has just claimed its folder says what it is."""


class OutputFolder(NamedTuple):
    """The output folder of a training, and whether it resumes there."""

    folder: Path
    resume: bool = False
    clear: bool = False
    """Whether what is there is to be removed first."""
    note: str = ""


@contextlib.contextmanager
def claimed_output_folder(folder: Path, facts: RunFacts, *, resume: bool, overwrite: bool) -> Iterator[OutputFolder]:
    """A folder that is kept for this training as long as the context is open. Raises `TrainingError`.

    With `resume` or `overwrite` it is the one that is named.
    """
    with contextlib.ExitStack() as stack:
        if resume or overwrite:
            stack.enter_context(claimed_folder(folder, overwrite=overwrite))
            yield OutputFolder(folder, resume, overwrite)
            return
        # Claimed before it is looked at: otherwise two trainings that start together would choose the same folder.
        for candidate in _candidates(folder):
            claim = contextlib.ExitStack()
            try:
                claim.enter_context(claimed_folder(candidate))
            except Running:
                if _differs(candidate, facts):
                    continue
                raise
            output = _output_folder(candidate, folder, facts)
            if output is not None:
                stack.push(claim)
                yield output
                return
            claim.close()


def numbered(folder: Path) -> list[Path]:
    """The existing folders with numbers after the name, in order, starting with the folder itself."""
    pattern = re.compile(re.escape(folder.name) + r"-([1-9][0-9]{0,8})")
    found: dict[int, Path] = {}
    if folder.is_dir():
        found[1] = folder
    with contextlib.suppress(OSError):
        for path in folder.parent.iterdir():
            match = pattern.fullmatch(path.name)
            if match and int(match[1]) > 1 and path.is_dir():
                found[int(match[1])] = path
    return [found[number] for number in sorted(found)]


def last_trained(folder: Path) -> Path:
    """The folder whose weights were written last, of those with numbers."""
    runs = [path for path in numbered(folder) if trained_weights(path).is_file()]
    return max(runs, key=lambda path: trained_weights(path).stat().st_mtime_ns, default=folder)


def _candidates(folder: Path) -> Iterator[Path]:
    there = numbered(folder)
    yield from ([] if there[:1] == [folder] else [folder])
    yield from there
    last = int(there[-1].name.rpartition("-")[2]) if there and there[-1] != folder else 1
    if folder.name in ("", ".."):  # the working directory, and those above it
        raise TrainingError(
            f"{folder} is not empty; choose another --output, resume its training with --resume, or replace it with "
            "--overwrite"
        )
    for number in itertools.count(last + 1):
        yield folder.with_name(f"{folder.name}-{number}")


def _output_folder(candidate: Path, folder: Path, facts: RunFacts) -> OutputFolder | None:
    """The action in a folder that no other process uses; None if it contains another training."""
    note = f"{folder} contains {_what(folder, facts)}; writing to {candidate}" if candidate != folder else ""
    if not is_taken(candidate):
        return OutputFolder(candidate, note=note)
    before = read_run(candidate)
    if before is None or not same_run(facts, before) or not has_more(facts, before):
        return None
    if checkpoints(candidate / CHECKPOINTS):
        return OutputFolder(candidate, resume=True, note=f"resuming the unfinished run in {candidate}")
    return OutputFolder(candidate, clear=True, note=note)  # killed before its first checkpoint: nothing is lost


def _what(folder: Path, facts: RunFacts) -> str:
    before = read_run(folder)
    return "a finished run of this training" if before is not None and same_run(facts, before) else "another training"


def _differs(candidate: Path, facts: RunFacts) -> bool:
    """Whether the training that runs in a folder is known to be another one."""
    end = time.monotonic() + _WAIT
    # It may have claimed the folder a moment ago and not yet written its record.
    while not (candidate / FOLDER / RUN).is_file() and time.monotonic() < end:
        time.sleep(0.05)
    before = read_run(candidate)
    return before is not None and not same_run(facts, before)
