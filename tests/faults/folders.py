"""Output folders that fill up, vanish, refuse, or are wanted twice."""

from __future__ import annotations

import resource
import shutil
import signal

from .cases import Place
from .processes import end, wait_for
from .trainings import OUTPUT, begin, goes_on, left, train, uninterrupted, write_training
from .volumes import volume

UNCHANGED = "The previous file is unchanged."


def files_limited(place: Place) -> None:
    """a limit on the size of files (RLIMIT_FSIZE): one line; with the limit gone it goes on to the same bits"""
    write_training(place.folder)
    whole = uninterrupted(place.folder)
    for limit in (0, 300, 1200, 2200):  # bytes: the mark, the state, the weights, the log
        shutil.rmtree(place.folder / OUTPUT, ignore_errors=True)

        def lower(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        train(place.folder, before=lower).refused("File too large")
        saved = any((place.folder / OUTPUT).glob("checkpoints/step-*"))
        train(place.folder, "--resume" if saved else "--overwrite").fine()
        assert left(place.folder / OUTPUT) == whole


def disk_full(place: Place) -> None:
    """a disk that fills up: one line that says so; with more space it goes on to the same bits"""
    write_training(place.folder)
    whole = uninterrupted(place.folder)
    with volume(place.folder / "disk", "44k") as disk:
        output = disk.folder / OUTPUT
        train(place.folder, output=output).refused("No space left on device", UNCHANGED, "Free disk space")
        disk.change("size=1m")
        goes_on(place.folder, whole, output=output)


def folder_removed(place: Place) -> None:
    """the output folder is removed during the training: one line, and it is not made anew"""
    write_training(place.folder, steps=100_000)
    process = begin(place.folder)
    wait_for(process, "step 10/")
    (place.folder / OUTPUT).rename(place.folder / "away")
    end(process).refused("cannot save", "No such file or directory")
    assert not (place.folder / OUTPUT).exists()


def folder_read_only(place: Place) -> None:
    """an output folder that nobody may write: one line, before anything is computed"""
    write_training(place.folder)
    with volume(place.folder / "disk", "1m") as disk:
        disk.change("ro")
        done = train(place.folder, output=disk.folder / OUTPUT).refused("Read-only file system")
        assert done.err.count("\n") == 1, done.err


def folder_shared(place: Place) -> None:
    """a second training into the same folder is refused in one line; the first one goes on undisturbed"""
    write_training(place.folder, steps=400)
    whole = uninterrupted(place.folder)
    first = begin(place.folder)
    wait_for(first, "step 10/")
    first.send_signal(signal.SIGSTOP)  # so that it is not over before the others have begun
    try:
        for options in ((), ("--resume",), ("--overwrite",)):
            done = train(place.folder, *options).refused("another training is running in")
            assert done.err.count("\n") == 1, done.err
    finally:
        first.send_signal(signal.SIGCONT)
    end(first).fine()
    assert left(place.folder / OUTPUT) == whole


CASES = (files_limited, disk_full, folder_removed, folder_read_only, folder_shared)
