"""Kernel cache on disk: drivers, and the package's numba functions.

Drivers are named by the hash of their source, so a result can be neither stale nor missed. They are code: a folder or
file that another user may have written is not used. An unusable cache is replaced by a temporary one, with a warning.

A numba function of the package is recompiled when a file in its folder changes: its callees are defined there. numba's
default location is next to the module, where the cache survives uninstallation: Python then finds a folder
`paddle_layers` without modules, and imports it instead of an editable install.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

from paddle_layers.define.concurrency import ForkSafeLock
from paddle_layers.define.machine import gc_paused

ROOT = 0
OTHERS = stat.S_IWGRP | stat.S_IWOTH
ENDING = ".sums"


def make_private_folder(folder: Path) -> None:
    """Creates the folder and missing parents, private to the user whatever the umask."""
    if folder.is_dir():
        return
    # One by one, because the mode of `mkdir(parents=True)` does not apply to parents.
    for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def why_distrusted(path: Path) -> str:
    """Why another user may write the file here, or the target of a link; empty if trusted. Raises `OSError`."""
    facts = path.stat()
    if not hasattr(os, "getuid"):  # Windows separates the folders of users by other means
        return ""
    # Drivers are executed and numba's results unpickled: whoever can write them can run code as this user.
    if facts.st_uid not in (ROOT, os.getuid()):
        return "it belongs to another user"
    if facts.st_mode & OTHERS:
        command = f"find {shlex.quote(str(path))} -type d -exec chmod go-w {{}} +"  # files stay as they are, distrusted
        return f"other users may write to it; run `{command}`"
    return ""


def is_trusted(path: Path) -> bool:
    """Whether the file exists and only the user may have written it."""
    try:
        return not why_distrusted(path)
    except OSError:
        return False


def remove_damaged(files: Iterable[Path], listed: Path) -> None:
    """Removes files that do not match the list, or that another user may have written."""
    sums = _read(listed) if is_trusted(listed) else {}
    for file in files:
        # Removed instead of reported: the driver is compiled again, which is always correct.
        if not is_trusted(file) or sums.get(file.name) != sum_of(file.read_bytes()):
            file.unlink(missing_ok=True)


def sums_text(files: Iterable[Path]) -> bytes:
    """The list of these files; one that another process has just removed is skipped."""
    lines = []
    for file in sorted(files):
        with contextlib.suppress(FileNotFoundError):
            lines.append(f"{sum_of(file.read_bytes())}  {file.name}\n")
    return "".join(lines).encode()


def sum_of(data: bytes) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(data).hexdigest()


def _read(listed: Path) -> Mapping[str, str]:
    lines = (line.split("  ", 1) for line in listed.read_text(encoding="utf-8", errors="replace").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2}


VARIABLE = "PADDLE_LAYERS_CACHE"
FORMAT = "2"
"""Format version, increased when the meaning of a driver's source changes."""
HOME = "~"
COMPILED = "__pycache__"
"""Folder in which Python and numba cache compiled drivers, next to them."""
F = TypeVar("F")
LIBRARY = "library"
"""The subfolder of the package's own functions."""

_REPLACED: dict[Path, Path] = {}
"""Temporary caches by the unusable ones."""
_IMPORTING = ForkSafeLock()


def cache_folder() -> Path:
    """The user's cache folder (`$PADDLE_LAYERS_CACHE` overrides it); a temporary one if that is unusable."""
    return _REPLACED.get(wanted := _wanted_folder(), wanted)


@functools.cache
def _wanted_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser(HOME), ".cache")
    return Path(os.environ.get(VARIABLE) or os.path.join(home, "paddle_layers"))


def driver_path(kind: str, name: str, text: str) -> Path:
    """Path of the driver with this source."""
    # The version of numba is part of the name, since results of another version must not be loaded. 64 bits: a cache
    # has some thousands of files.
    digest = hashlib.sha256(f"{FORMAT} {numba.__version__}\n{text}".encode()).hexdigest()[:16]
    return try_folder(kind) / f"{name}_{digest}.py"


def try_folder(kind: str) -> Path:
    """The folder for a kind of drivers; in a temporary cache if the regular one is unusable."""
    _try(kind)
    return cache_folder() / kind


@functools.cache
def _try(kind: str) -> None:
    """Creates the folders for a kind of drivers; gives up the cache if others may write to it, or the user may not."""
    with _IMPORTING.current:
        root = cache_folder()
        try:
            if root.parts[0] == HOME:
                raise FileNotFoundError(errno.ENOENT, "the user has no home folder", str(root))
            for folder in (root, root / kind, root / kind / COMPILED):
                make_private_folder(folder)
                if why := why_distrusted(folder):
                    raise PermissionError(errno.EPERM, why, str(folder))
                # Writing is tried: permission bits say nothing about a full or read-only file system.
                with tempfile.TemporaryFile(dir=folder):
                    pass
        except OSError as error:
            give_up(root, error)


def give_up(root: Path, error: OSError) -> None:
    """Switches to a temporary cache instead of the one in `root`."""
    if root in _REPLACED or root in _REPLACED.values():
        return
    temporary = _REPLACED[root] = Path(tempfile.mkdtemp(prefix="paddle_layers_"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    at = error.filename or root
    warnings.warn(
        f"cannot use the kernel cache {at}: {error.strerror}; using the temporary folder {temporary} (set {VARIABLE} "
        "to choose another folder)",
        RuntimeWarning,
        stacklevel=2,
    )


def is_compiled(path: Path) -> bool:
    """Whether numba has a cached result for the driver at `path`; that of another machine is recompiled when loaded."""
    return any(file.endswith(".nbi") for file in _made_of(path))


def _made_of(path: Path) -> list[str]:
    """Cache files of Python and numba for a driver."""
    folder = path.parent / COMPILED
    try:
        return _by_driver(str(folder), folder.stat().st_mtime_ns).get(path.stem, [])
    except OSError:
        return []


@functools.lru_cache(maxsize=4)
def _by_driver(folder: str, _changed: int) -> Mapping[str, list[str]]:
    """Cache files by driver: a folder of thousands of files is listed once, and again when it has `_changed`."""
    found: dict[str, list[str]] = {}
    for name in os.listdir(folder):
        if ".tmp" not in name and not name.endswith(ENDING):  # being written by another process
            found.setdefault(name.partition(".")[0], []).append(os.path.join(folder, name))
    return found


def kept_result(path: Path) -> bytes | None:
    """The file written by `keep_result`; `None` if it is missing, untrusted or damaged."""
    data = path.read_bytes() if is_trusted(path) else b""
    begin = data.find(b"\n") + 1
    return data[begin:] if begin and data[: begin - 1].decode(errors="replace") == sum_of(data[begin:]) else None


def keep_file(path: Path, data: bytes) -> None:
    """Writes a file of the cache atomically; several processes may race."""
    make_private_folder(path.parent)
    # In the same folder, since a rename across file systems is not atomic. No fsync: after a power failure the checksum
    # does not match, and the driver is compiled again.
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def keep_result(path: Path, data: bytes) -> None:
    """Writes an optional file: on failure, the cache is given up."""
    with _IMPORTING.current:
        try:
            keep_file(_place(path), f"{sum_of(data)}\n".encode() + data)
        except OSError as error:
            give_up(path.parents[1], error)


def load_driver(path: Path, text: str) -> ModuleType:
    """Writes the driver atomically if it is missing, and imports it; several processes may race."""
    name = f"paddle_layers_driver_{path.parent.name}_{path.stem}"
    with _IMPORTING.current:  # a module is in `sys.modules` before it has run: another thread would get a partial one
        if name in sys.modules:
            return sys.modules[name]
        try:
            return _import(name, _place(path), text)
        except OSError as error:
            if error.errno is None:  # not a file error: a library that cannot be loaded
                raise
            give_up(path.parents[1], error)
        # A second failure, now in the temporary folder, is final.
        with _named(_place(path)):
            return _import(name, _place(path), text)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """A file error without a file name is about this file: code that cannot be written anywhere cannot run."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _place(path: Path) -> Path:
    """The same file in the temporary cache, after the regular one is given up."""
    root = path.parents[1]
    return _REPLACED[root] / path.parent.name / path.name if root in _REPLACED else path


def _import(name: str, path: Path, text: str) -> ModuleType:
    make_private_folder(path.parent / COMPILED)
    if not is_trusted(path) or path.read_bytes() != text.encode():
        keep_file(path, text.encode())
    # numba unpickles its index and maps machine code without any check: a truncated file would be a traceback or a
    # crash.
    remove_damaged(map(Path, _made_of(path)), _sums_of(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Registered before it runs, as the import system does, and removed if it fails.
    sys.modules[name] = module
    try:
        run = functools.partial(spec.loader.exec_module, module)
        with _kept_private(path):
            gc_paused(run)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _kept_private(path: Path) -> Iterator[None]:
    """Results of numba are cached next to the driver, wherever other functions are cached, and private to the user."""
    folder = path.parent / COMPILED
    before = folder.stat().st_mtime_ns
    with numba_keeps_in(""):
        yield
    if folder.stat().st_mtime_ns != before:
        keep_private(map(Path, _made_of(path)), _sums_of(path))


def _sums_of(path: Path) -> Path:
    return path.parent / COMPILED / f"{path.stem}{ENDING}"


def keep_private(files: Iterable[Path], listed: Path) -> None:
    """Makes files that numba has just written private to the user, and lists their checksums."""
    written = list(files)
    for file in written:
        with contextlib.suppress(FileNotFoundError):
            os.chmod(file, 0o600)  # numba applies the umask
    text = sums_text(written)
    if not is_trusted(listed) or listed.read_bytes() != text:  # another process may have changed other files
        keep_file(listed, text)


def list_again(drivers: Iterable[Path]) -> None:
    """Lists the results of a process that may have been killed before it could: its files are complete or missing.

    Unlisted files would be considered damaged, and compiled again by the next run.
    """
    _by_driver.cache_clear()  # a folder that changes twice within a tick of the clock has the same time
    for path in drivers:
        with contextlib.suppress(OSError):  # then they are compiled again
            if made := _made_of(path):
                keep_private(map(Path, made), _sums_of(path))


@contextlib.contextmanager
def numba_keeps_in(folder: str) -> Iterator[None]:
    """Context manager: numba uses this cache folder for functions; empty: next to their modules."""
    settings: Any = config  # a module that fills itself
    # numba reads the setting when a function is decorated, hence the lock around every import of a driver.
    elsewhere, settings.CACHE_DIR = settings.CACHE_DIR, folder
    try:
        yield
    finally:
        settings.CACHE_DIR = elsewhere


def kept(function: F) -> F:
    """Caches numba's results for a function."""
    compiled: Any = function
    folder = try_folder(LIBRARY)
    with numba_keeps_in(str(folder)):
        compiled._cache = _Cache(compiled.py_func, folder.parent)
    return function


class _Cache(FunctionCache):
    """numba's cache with checksums; a write error only costs the result of this run."""

    def __init__(self, function: Any, root: Path) -> None:
        super().__init__(function)
        self._root, self._base = root, self._impl.filename_base
        # numba's own stamp covers the file of the function only, and would return stale results after an edit of a
        # callee.
        files = sorted(Path(function.__code__.co_filename).parent.glob("*.py"))
        stamp = tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)
        self._cache_file = IndexDataCacheFile(self.cache_path, self._base, stamp)
        self._listed = Path(self.cache_path) / f"{self._base}{ENDING}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The cached result for a signature, unless it is damaged."""
        remove_damaged(self._files(), self._listed)
        return super().load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        """Caches a compiled result."""
        try:
            super().save_overload(signature, data)
            keep_private(self._files(), self._listed)
        except OSError as error:
            give_up(self._root, error)

    def _files(self) -> Iterator[Path]:
        return (path for ending in ("nbi", "*.nbc") for path in self._listed.parent.glob(f"{self._base}.{ending}"))
