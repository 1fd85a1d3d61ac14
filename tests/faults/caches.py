"""Kernel caches that are damaged, full, shared, or another's: they are code, and a run does without them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from .cases import Place
from .processes import end, start
from .trainings import FEW, begin, left, train, uninterrupted, write
from .volumes import volume

Damage = Callable[[Path, Random], None]


def _cache_of(place: Place) -> Path:
    """A cache that a training has filled; its results lie in `whole`."""
    cache = place.folder / "cache"
    train(place.folder, output="whole", PADDLE_LAYERS_CACHE=str(cache)).fine()
    return cache


def _survives(place: Place, damage: Damage) -> str:
    """A damaged cache is as good as an empty one: the same bits, not a word, and the next run finds it whole."""
    write(place.folder, FEW)
    cache = _cache_of(place)
    whole, files = left(place.folder / "whole"), sorted(path for path in cache.rglob("*") if path.is_file())
    for path in files:
        damage(path, place.random)
    for output in ("damaged", "mended"):
        done = train(place.folder, output=output, PADDLE_LAYERS_CACHE=str(cache)).fine()
        assert "warning" not in done.err, done.err
        assert left(place.folder / output) == whole
    return f"{len(files)} files"


def cache_truncated(place: Place) -> str:
    """files of the kernel cache are cut short: they are made anew"""

    def cut(path: Path, random: Random) -> None:
        path.write_bytes(path.read_bytes()[: random.choice((0, random.randrange(path.stat().st_size + 1)))])

    return _survives(place, cut)


def cache_corrupted(place: Place) -> str:
    """bits of the kernel cache flip: what does not have its check sum is made anew"""

    def flip(path: Path, random: Random) -> None:
        data = bytearray(path.read_bytes())
        for _ in range(20):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(data)

    return _survives(place, flip)


def cache_unwritable(place: Place) -> None:
    """a kernel cache that nobody may write: a temporary one, with a warning"""
    write(place.folder, FEW)
    whole = uninterrupted(place.folder)
    with volume(place.folder / "disk", "1m") as disk:
        disk.change("ro")
        cache = str(disk.folder / "cache")
        train(place.folder, PADDLE_LAYERS_CACHE=cache).warned("Read-only file system", "temporary", cache)
    assert left(place.folder / "out") == whole


def cache_full(place: Place) -> None:
    """a kernel cache on a full disk: a temporary one, with a warning"""
    write(place.folder, FEW)
    whole = uninterrupted(place.folder)
    with volume(place.folder / "disk", "64k") as disk:
        cache = str(disk.folder / "cache")
        train(place.folder, PADDLE_LAYERS_CACHE=cache).warned("No space left on device", "temporary")
    assert left(place.folder / "out") == whole


def cache_shared(place: Place) -> None:
    """four processes fill one kernel cache at once: all get the same bits"""
    write(place.folder, FEW)
    cache = str(place.folder / "cache")
    processes = [begin(place.folder, output=f"out{number}", PADDLE_LAYERS_CACHE=cache) for number in range(4)]
    found = []
    for number, process in enumerate(processes):
        assert "warning" not in end(process).fine().err
        found.append(left(place.folder / f"out{number}"))
    assert all(one == found[0] for one in found)


def cache_open_to_others(place: Place) -> None:
    """a kernel cache that others may write is not run: a temporary one, with a warning that says how to mend it"""
    write(place.folder, FEW)
    cache = _cache_of(place)
    stolen = place.folder / "stolen"
    for driver in cache.rglob("*.py"):
        driver.write_text(f"open({str(stolen)!r}, 'w')\n{driver.read_text()}")
    (cache / "cpu").chmod(0o777)
    train(place.folder, PADDLE_LAYERS_CACHE=str(cache)).warned("other users may write to it; run", "chmod go-w")
    assert not stolen.exists()
    assert left(place.folder / "out") == left(place.folder / "whole")


def cache_is_a_file(place: Place) -> None:
    """the folder `cpu` of the kernel cache is a file: a temporary cache, with a warning; the file stays"""
    write(place.folder, FEW)
    whole = uninterrupted(place.folder)
    (place.folder / "cache").mkdir()
    (place.folder / "cache" / "cpu").write_text("mine")
    train(place.folder, PADDLE_LAYERS_CACHE=str(place.folder / "cache")).warned("temporary")
    assert (place.folder / "cache" / "cpu").read_text() == "mine"
    assert left(place.folder / "out") == whole


NOBODY = """
import pwd, runpy, sys
def unknown(number): raise KeyError(number)
pwd.getpwuid = unknown
sys.argv[:] = ["paddle-layers", "train", "train.textproto", "--output", "out"]
runpy.run_module("paddle_layers", run_name="__main__")
"""


def home_unset(place: Place) -> None:
    """a user without a home folder: a temporary kernel cache, with a warning; nothing is made where it was started"""
    write(place.folder, FEW)
    whole = uninterrupted(place.folder)
    before = {path.name for path in place.folder.iterdir()}
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "PADDLE_LAYERS_CACHE"))
    done = end(start([sys.executable, "-c", NOBODY], place.folder, **nowhere))
    assert left(place.folder / "out") == whole
    assert {path.name for path in place.folder.iterdir()} - before == {"out"}
    done.warned("home folder", "temporary", "PADDLE_LAYERS_CACHE")


CASES = (
    *(cache_truncated, cache_corrupted, cache_unwritable, cache_full, cache_shared, cache_open_to_others),
    *(cache_is_a_file, home_unset),
)
