"""State of a training in a checkpoint: validation of `state.json`, states and files of callbacks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from paddle_layers.define.output_folders import Folder, open_folder

from ..problems import TrainingError

COUNTS = ("step", "epoch", "batch", "loss_count")
NUMBERS = ("loss_sum", "seconds")
NEEDED = (*COUNTS, *NUMBERS)
MOST, LARGEST = 2**53, 1e300
"""Bounds of counts and of numbers; a count below the first is exact in every program that reads JSON."""
STATE_FILES = "callbacks"
"""The folder of these files in a checkpoint."""


def is_count(value: Any) -> bool:
    """Whether a JSON value is a nonnegative integer in the supported range."""
    # Not `isinstance`: JSON's `true` would be the integer 1.
    return type(value) is int and 0 <= value < MOST


def is_number(value: Any) -> bool:
    """Whether a value of a JSON file is a finite number."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def fault(facts: Mapping[str, Any], *, batches: int) -> str:
    """The error in the state of a training with this many batches per epoch; empty if it is valid."""
    for name in COUNTS:
        if not is_count(facts[name]):
            return f"`{name}` is {_shown(facts[name])}, expected an integer >= 0"
    for name in NUMBERS:
        if not is_number(facts[name]):
            return f"`{name}` is {_shown(facts[name])}, expected a number"
    if facts["batch"] >= batches:
        return f"`batch` is {facts['batch']}, but an epoch has {batches} batches"
    costs = facts.get("cost_sums", {})
    if not isinstance(costs, dict) or not all(map(is_number, costs.values())):
        return f"`cost_sums` is {_shown(costs)}, expected an object of numbers"
    if not is_count(facts.get("skipped", 0)):
        return f"`skipped` is {_shown(facts['skipped'])}, expected an integer >= 0"
    trained = facts.get("trained", [])
    if not isinstance(trained, list) or not all(isinstance(name, str) for name in trained):
        return f"`trained` is {_shown(trained)}, expected a list of names"
    if not isinstance(facts.get("callbacks", {}), dict):
        return f"`callbacks` is {_shown(facts['callbacks'])}, expected an object"
    return ""


def states_of(callbacks: Sequence[object]) -> dict[str, Any]:
    """The states of the callbacks, by position and class."""
    return {
        # By position and class: a list of callbacks that was changed between two sittings does not restore states of
        # others.
        f"{place} {type(listener).__name__}": listener.state()
        for place, listener in enumerate(callbacks)
        if hasattr(listener, "state")
    }


def restore_states(callbacks: Sequence[object], states: Mapping[str, Any], origin: str) -> None:
    """Give every callback what it wanted to keep; those that were not there before start afresh.

    Raises `TrainingError` that begins with `origin` where a callback can do nothing with it.
    """
    for place, listener in enumerate(callbacks):
        key = f"{place} {type(listener).__name__}"
        if key in states and hasattr(listener, "restore"):
            try:
                listener.restore(states[key])
            except (KeyError, TypeError, ValueError) as error:
                raise TrainingError(f"{origin}: cannot restore the state of callback `{key}`: {error}") from error


def names_of(callbacks: Iterable[object]) -> list[str]:
    """Paths of the callbacks' files in the output folder. Raises `TrainingError` for those that lead out of it."""
    names = [str(name) for listener in callbacks if hasattr(listener, "files") for name in listener.files()]
    for name in names:
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in name:
            raise TrainingError(f"`files` of a callback returns {name!r}, expected a path in the output folder")
    return list(dict.fromkeys(names))


def copy_state_files(source: Path, target: Path, names: Iterable[str]) -> list[str]:
    """Copy the state files of one folder to another. Returns the names of missing files.

    Raises `OSError`.
    """
    missing = []
    with open_folder(source) as old, open_folder(target) as new:
        for name in names:
            *folders, last = PurePosixPath(name).parts
            try:
                with _inside(old, folders) as here, _inside(new, folders, create=True) as there:
                    # A hard link instead of a copy: best weights may be gigabytes, and both are replaced by renaming,
                    # never changed in place.
                    there.link(last, here, last)
            except FileNotFoundError:
                missing.append(name)
    return missing


def save_state_files(folder: Path, checkpoint: Path, names: Iterable[str]) -> None:
    """Put the callbacks' files of an output folder into a new checkpoint. Raises `OSError`."""
    listed = list(names)
    if listed:
        with open_folder(checkpoint) as own:
            own.make(STATE_FILES)
        copy_state_files(folder, checkpoint / STATE_FILES, listed)


def restore_state_files(folder: Path, checkpoint: Path, names: Sequence[str]) -> None:
    """Put the callbacks' files of a checkpoint into the output folder. Raises `TrainingError` for one that it lacks."""
    if not names:
        return
    try:
        missing = copy_state_files(checkpoint / STATE_FILES, folder, names)
    except FileNotFoundError:
        missing = list(names)
    if missing:
        raise TrainingError(
            f"{checkpoint / STATE_FILES / missing[0]} is missing; delete {checkpoint} to resume from the previous one"
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


@contextlib.contextmanager
def _inside(folder: Folder, names: Sequence[str], *, create: bool = False) -> Iterator[Folder]:
    with contextlib.ExitStack() as stack:
        for name in names:
            folder = stack.enter_context(folder.folder(name, create=create))
        yield folder
