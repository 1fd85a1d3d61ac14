"""Output folder of a training: ownership and contents."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.data.fitted_preprocessing import FILE as LEARNED
from paddle_layers.define.concurrency import HAS_FILE_LOCKS, lock_file
from paddle_layers.define.output_folders import Folder, LinkError, new_folder, open_folder, remove_matching

from ..callbacks.monitoring import BEST, BEST_FOLDER, RELOADED, clear_watched
from ..callbacks.write_values import FOLDER as VALUES
from ..callbacks.write_values import clear_values, remove_unfinished_values
from ..checkpoints.files import WEIGHTS, remove_checkpoints, remove_unfinished
from ..problems import TrainingError
from .logs import EVENTS, clear_logs
from .records import PHASES
from .run_files import FOLDER as OF_THE_RUN
from .run_files import RUN_FILES, clear_run

if TYPE_CHECKING:
    from paddle_layers.config.training import Training

CHECKPOINTS, LOG, CURVE = "checkpoints", "log.csv", "curve.svg"
RESULTS = (WEIGHTS, BEST, LOG, CURVE, LEARNED)
"""Files that a training leaves in its folder, beside the checkpoints."""
MARK = ".paddle_layers_training"
"""A file that says that a training made the folder; no other folder is ever cleared."""
FOLDERS = (
    *((name,) for name in (CHECKPOINTS, OF_THE_RUN, VALUES, BEST_FOLDER, RELOADED, EVENTS)),
    *((EVENTS, phase) for phase in PHASES),
)
"""Folders in which a training writes and deletes, in that of its results."""
LONGEST_NAME = 200
"""Bytes of a folder's name; file systems allow 255."""


def output_folder(training: Training, output: str | Path | None) -> Path:
    """The output folder: the argument, the training file's `output`, or a folder named like the network."""
    given = output or training.output
    if "\0" in str(given or ""):
        raise TrainingError(f"`output` is {str(given)!r}, not a valid folder name")
    return Path(given) if given else Path("output") / _plain_name(training.network.name or "network")


def trained_weights(folder: Path) -> Path:
    """The weights to use: those of the best test where `save_best` kept them, else those of the last step."""
    best = folder / BEST
    return best if best.is_file() else folder / WEIGHTS


def _plain_name(name: str) -> str:
    separators = any(character in "/\\:" or not character.isprintable() for character in name)
    if separators or name.startswith(".") or len(name.encode(errors="replace")) > LONGEST_NAME:
        raise TrainingError(
            f"the network is named {name!r}, not a valid folder name; rename it, or set `output` in the training "
            "file or --output"
        )
    return name


def check_output_folder(folder: Path) -> None:
    """Raises `TrainingError` for a file where the folder would be, and for a folder that cannot be created."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if there.is_file():
        raise TrainingError(f"{there} is a file, not a folder; choose another --output")
    if there.is_dir() and not os.access(there, os.W_OK | os.X_OK):
        reason = errno.EROFS if os.statvfs(there).f_flag & os.ST_RDONLY else errno.EACCES  # access() does not tell
        raise TrainingError(f"cannot write to the folder {there}: {os.strerror(reason)}; choose another --output")


class Running(TrainingError):
    """Another training runs in a folder."""


@contextlib.contextmanager
def claimed_folder(folder: Path, *, overwrite: bool = False) -> Iterator[None]:
    """Make the folder, and keep other trainings out of it as long as the context is open.

    Raises `Running` if one runs in it, `TrainingError` where it cannot be made, or is to be overwritten and belongs to
    somebody else.
    """
    check_output_folder(folder)
    absent = [path for path in (folder, *folder.parents) if not path.exists()]
    with contextlib.ExitStack() as stack:
        try:
            own = stack.enter_context(new_folder(folder))
            # A lock of the system and not a file with a process id: it disappears with the process, however that ends.
            stack.enter_context(_locked(own))
        except BlockingIOError:
            raise Running(
                f"another training is running in {folder}; wait for it to finish, or choose another --output"
            ) from None
        except LinkError as error:
            raise TrainingError(str(error)) from None
        except OSError as error:
            raise TrainingError(f"cannot create the folder {folder}: {error.strerror}") from None
        # A wrong --output must not delete somebody's folder.
        if overwrite and _has_results(own) and not own.is_file(MARK):
            raise TrainingError(
                f"{folder} was not created by a training, so --overwrite does not delete its contents; empty it "
                "yourself, or choose another --output"
            )
        _refuse_links(own)
        # Under the lock, so no other training is writing these.
        if own.is_file(MARK):
            _remove_scraps(folder)
        try:
            yield
        except BaseException:
            # A training that is rejected, also by its first batch, leaves nothing that looks like a run.
            if absent:
                with contextlib.suppress(OSError):  # it may have been moved; what is reported is the first error
                    _remove_rejected(own, absent)
            raise


def _remove_rejected(own: Folder, made: Sequence[Path]) -> None:
    """Remove the folders that a training has made, unless it left weights, a checkpoint, or a line of its log."""
    if any(own.has(name) for name in (WEIGHTS, BEST, CHECKPOINTS)):
        return
    if own.is_file(LOG) and len((made[0] / LOG).read_bytes().splitlines()) > 1:  # the first one has the names
        return
    clear_folder(made[0])
    own.remove(MARK)
    for folder in made:  # the innermost first, up to one that is not empty
        folder.rmdir()


def _refuse_links(folder: Folder) -> None:
    """Raises `TrainingError` for a link where a training has a folder: before anything is computed."""
    for names in FOLDERS:
        with contextlib.ExitStack() as stack, contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = folder
            try:
                for name in names:
                    found = stack.enter_context(found.folder(name))
            except LinkError as error:
                raise TrainingError(str(error)) from None


def _remove_scraps(folder: Path) -> None:
    """Remove what a training that was killed has left half written; none may be writing now."""
    remove_unfinished(folder / CHECKPOINTS)
    remove_unfinished_values(folder)
    for place, names in ((folder, RESULTS), (folder / OF_THE_RUN, RUN_FILES)):
        for name in names:
            remove_matching(place, f".{name}.*.tmp")


def is_running(folder: Path) -> bool:
    """Whether a training works in a folder now; False where that cannot be found out."""
    mark = folder / MARK
    try:
        if not mark.is_file():
            return False
        with mark.open("rb") as file:
            # A shared lock for the question: two processes that ask at once do not take each other for a training.
            lock_file(file.fileno(), shared=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextlib.contextmanager
def _locked(folder: Folder) -> Iterator[None]:
    """Mark an empty folder, and lock the mark until the context or the process ends, however it ends.

    A folder of an earlier version has no mark, and is locked itself. Raises `BlockingIOError` when it is locked.
    """
    if not _has_results(folder) and not folder.is_file(MARK):
        folder.append(MARK, b"A training of paddle_layers made this folder.\n")
    if not HAS_FILE_LOCKS:  # nor descriptors of folders
        yield
        return
    handle = _lock_file(folder)
    try:
        try:
            lock_file(handle)
        except OSError as error:
            if isinstance(error, BlockingIOError):
                raise  # any other: a file system without locks
        yield
    finally:
        os.close(handle)


def _lock_file(folder: Folder) -> int:
    """A descriptor of the mark, to write where that is allowed: network file systems lock no other files."""
    if not folder.is_file(MARK):
        return os.open(folder.path_of("."), os.O_RDONLY)
    try:
        return folder.open(MARK, os.O_RDWR)
    except PermissionError:
        return folder.open(MARK, os.O_RDONLY)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return folder.open(MARK, os.O_RDONLY)


def is_taken(folder: Path) -> bool:
    """Whether there is anything in a folder but what a training writes before it does something."""
    with open_folder(folder) as own:
        return _has_results(own)


def _has_results(folder: Folder) -> bool:
    """As `is_taken`."""
    first = {MARK, OF_THE_RUN} if folder.is_file(MARK) else {MARK}
    return not first.issuperset(folder.names())


def clear_folder(folder: Path) -> None:
    """Remove what an earlier training left, so that nothing of it is taken for the new one's; other files stay."""
    remove_checkpoints(folder / CHECKPOINTS)
    clear_run(folder)
    with open_folder(folder) as own:
        for name in RESULTS:
            own.remove(name)
    clear_logs(folder)
    clear_values(folder)
    clear_watched(folder)
