"""State files of callbacks, such as the best weights: each checkpoint contains them, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from paddle_layers.define.output_folders import Folder, open_folder

from .problems import TrainingError

STATE_FILES = "callbacks"
"""The folder of these files in a checkpoint."""


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


@contextlib.contextmanager
def _inside(folder: Folder, names: Sequence[str], *, create: bool = False) -> Iterator[Folder]:
    with contextlib.ExitStack() as stack:
        for name in names:
            folder = stack.enter_context(folder.folder(name, create=create))
        yield folder
