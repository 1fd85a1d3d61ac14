"""Output folders as directory descriptors: no file is written or deleted through a symbolic link in one of them.

A path may point to another folder a moment after it was checked. So a folder is opened once, each subfolder relative to
its parent without following links, and files are named relative to their open folder. Where the platform has no
directory descriptors (Windows), paths are used, and each folder is checked first.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from .concurrency import ForkSafeLock

_OPERATIONS = {os.open, os.mkdir, os.unlink, os.rmdir, os.rename, os.stat, os.link}
HAS_DESCRIPTORS = os.supports_dir_fd >= _OPERATIONS and os.listdir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
"""Whether files can be named relative to an open folder."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_MODE = 0o644

_CLAIMED: dict[str, list[int | None]] = {}
"""Descriptors of the output folders that this process holds, by absolute path; one for each claim that is open."""
_CLAIMING = ForkSafeLock()
"""Held while claims are read or changed: a descriptor in the list is open."""


class LinkError(OSError):
    """A symbolic link in an output folder where a folder or a file is written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            errno.ELOOP,
            "symbolic links are not followed in an output folder; remove the link, or choose another folder",
            str(path),
        )

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class Folder:
    """An open folder. Its methods take names of entries and follow no links; all raise `OSError`.

    The path is for messages, and for platforms without descriptors, where `descriptor` has the value None.
    """

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self.descriptor = path, descriptor

    @contextlib.contextmanager
    def folder(self, name: str, *, create: bool = False) -> Iterator[Folder]:
        """A folder in this one. Raises `LinkError`, and `FileNotFoundError` where it is absent and not to `create`."""
        if create:
            with contextlib.suppress(FileExistsError):
                self.make(name)
        path = self.path / name
        if self.descriptor is None:
            if path.is_symlink() or not path.is_dir():
                raise self._no_folder(name)
            yield Folder(path, None)
            return
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=self.descriptor)
        except OSError as error:
            raise self._no_folder(name, error) from None
        try:
            yield Folder(path, descriptor)
        finally:
            os.close(descriptor)

    def _no_folder(self, name: str, error: OSError | None = None) -> OSError:
        """Why an entry cannot be opened as a folder; the error of a link depends on the system (ELOOP, ENOTDIR)."""
        if self.is_link(name):
            return LinkError(self.path / name)
        number = (error and error.errno) or (errno.ENOTDIR if self.has(name) else errno.ENOENT)
        return OSError(number, os.strerror(number), str(self.path / name))

    def names(self, pattern: str = "*") -> list[str]:
        """Names of the entries that match, sorted."""
        found = os.listdir(self.path if self.descriptor is None else self.descriptor)
        return sorted(name for name in found if fnmatchcase(name, pattern))

    def has(self, name: str) -> bool:
        """Whether there is an entry of this name, a link that leads nowhere included."""
        return self._kind(name) is not None

    def is_link(self, name: str) -> bool:
        """Whether an entry is a symbolic link."""
        return self._is(name, stat.S_ISLNK)

    def is_file(self, name: str) -> bool:
        """Whether an entry is a file, not a link to one."""
        return self._is(name, stat.S_ISREG)

    def is_folder(self, name: str) -> bool:
        """Whether an entry is a folder, not a link to one."""
        return self._is(name, stat.S_ISDIR)

    def open(self, name: str, flags: int) -> int:
        """A descriptor of a file, as `os.open` gives it. Raises `LinkError`."""
        try:
            return os.open(self._place(name), flags | _NO_LINK, _MODE, dir_fd=self.descriptor)
        except OSError as error:
            if self.is_link(name):
                raise LinkError(self.path / name) from None
            raise OSError(error.errno, error.strerror, str(self.path / name)) from None

    def write(self, name: str, *data: bytes | memoryview, durable: bool = True, mode: int = _MODE) -> None:
        """Write a file whole or not at all: beside it first, then renamed. A link is replaced.

        It survives a power failure where it is `durable`: that takes milliseconds, of many files seconds.
        """
        with self.temporary(name, mode) as (temporary, descriptor):
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(data)
                file.flush()
                if durable:
                    # Before the rename: file systems may otherwise write the name first, and a power failure leaves an
                    # empty file under it.
                    os.fsync(file.fileno())
            self.replace(temporary, name)

    @contextlib.contextmanager
    def temporary(self, name: str, mode: int = _MODE) -> Iterator[tuple[str, int]]:
        """Name and descriptor of a new file beside another one; it is removed at the end if it is still there."""
        # Beside the target, because a rename is atomic within a file system only. With a random name and O_EXCL, it
        # cannot be a link that someone has placed there.
        temporary = f".{name}.{secrets.token_hex(6)}.tmp"
        descriptor = self.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            if os.chmod in os.supports_fd:
                # Whatever the umask is, as `weights.safetensors` is for others, too; before anything is written, which
                # others may not be allowed to read.
                os.chmod(descriptor, mode)
            yield temporary, descriptor
        finally:
            self.remove(temporary)

    def create(self, name: str, data: bytes) -> None:
        """Write a new file. Raises `FileExistsError`."""
        with os.fdopen(self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)

    def create_below(self, path: str, data: bytes) -> None:
        """Write a new file by its path in this folder; the folders on the way are made. Raises `FileExistsError`."""
        with self._below(path) as (folder, name):
            folder.create(name, data)

    def write_below(self, path: str, data: bytes) -> None:
        """Write a file by its path in this folder, replacing what is there; the folders on the way are made."""
        with self._below(path) as (folder, name):
            folder.write(name, data, durable=False)

    @contextlib.contextmanager
    def _below(self, path: str) -> Iterator[tuple[Folder, str]]:
        first, _, rest = path.partition("/")
        if not rest:
            yield self, first
            return
        with self.folder(first, create=True) as folder, folder._below(rest) as found:
            yield found

    def append(self, name: str, data: bytes) -> None:
        """Append to a file, creating it if it does not exist. Raises `LinkError`."""
        with os.fdopen(self.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            file.write(data)

    def link(self, name: str, source: Folder, source_name: str) -> None:
        """Make a file the same as one of another folder: a hard link, or a copy where the file system has none."""
        if source.is_link(source_name):
            raise LinkError(source.path / source_name)
        # A link to an existing name fails; the source is a complete file, so nothing is lost if this is interrupted.
        self.remove(name)
        ends = {"src_dir_fd": source.descriptor, "dst_dir_fd": self.descriptor}
        try:
            os.link(source._place(source_name), self._place(name), follow_symlinks=False, **ends)
        except (OSError, NotImplementedError):  # also where there is no such file, which the copy reports
            with os.fdopen(source.open(source_name, os.O_RDONLY), "rb") as file:
                self.write(name, file.read())

    def replace(self, name: str, new: str) -> None:
        """Rename an entry; a file or an empty folder of the new name is replaced."""
        ends = {"src_dir_fd": self.descriptor, "dst_dir_fd": self.descriptor}
        os.replace(self._place(name), self._place(new), **ends)

    def make(self, name: str) -> None:
        """Make a folder. Raises `FileExistsError`."""
        os.mkdir(self._place(name), dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Remove a file or a link, if there is one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._place(name), dir_fd=self.descriptor)

    def remove_empty(self, name: str) -> None:
        """Remove a folder if nothing is in it; a link and what is no folder stay."""
        with contextlib.suppress(OSError):
            os.rmdir(self._place(name), dir_fd=self.descriptor)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all that is in it, as far as it can be removed; of a link only the link."""
        if self.is_link(name):
            self.remove(name)
        elif self.descriptor is None:
            shutil.rmtree(self.path / name, ignore_errors=True)
        else:
            shutil.rmtree(name, ignore_errors=True, dir_fd=self.descriptor)

    def sync(self) -> None:
        """Make sure that the entries are on the disk; Windows has nothing for it."""
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def path_of(self, name: str) -> Path:
        """A path for libraries that take nothing else; on Linux it leads through this folder's descriptor."""
        if self.descriptor is not None and os.path.isdir("/proc/self/fd"):
            return Path("/proc/self/fd", str(self.descriptor), name)
        return self.path / name

    def _place(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def _kind(self, name: str) -> int | None:
        try:
            return os.stat(self._place(name), dir_fd=self.descriptor, follow_symlinks=False).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is(self, name: str, test: Callable[[int], bool]) -> bool:
        kind = self._kind(name)
        return kind is not None and test(kind)


@contextlib.contextmanager
def open_folder(path: Path) -> Iterator[Folder]:
    """An existing folder. In a claimed folder no links are followed; in others the path is the user's.

    Raises `OSError`, including `LinkError`.
    """
    # Not `resolve`, which would follow the links that must be detected.
    full = Path(os.path.abspath(path))
    with contextlib.ExitStack() as stack:
        root = stack.enter_context(_claimed_root(full))
        if root is None:
            found = stack.enter_context(_opened(path))
        else:
            found = root
            for name in full.relative_to(root.path).parts:
                found = stack.enter_context(found.folder(name))
            found.path = path
        yield found


@contextlib.contextmanager
def existing_folder(path: Path) -> Iterator[Folder | None]:
    """As `open_folder`; None if the folder does not exist."""
    with contextlib.ExitStack() as stack:
        try:
            found: Folder | None = stack.enter_context(open_folder(path))
        except (FileNotFoundError, NotADirectoryError):
            found = None
        yield found


@contextlib.contextmanager
def claim(path: Path) -> Iterator[Folder]:
    """An existing folder that is held open, so that `open_folder` finds no other one at its path."""
    key = os.path.abspath(path)
    with open_folder(path) as folder:
        with _CLAIMING.current:
            _CLAIMED.setdefault(key, []).append(folder.descriptor)
        try:
            yield folder
        finally:
            with _CLAIMING.current:
                _CLAIMED[key].remove(folder.descriptor)
                if not _CLAIMED[key]:
                    del _CLAIMED[key]


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Folder]:
    """A folder that is made where it is absent, with those above it, and claimed as long as the context is open."""
    path.mkdir(parents=True, exist_ok=True)
    with claim(path) as folder:
        yield folder


def make_folder(path: Path) -> None:
    """Make a folder in an existing one; nothing where it is there. Raises `LinkError`."""
    with open_folder(path.parent) as folder, folder.folder(path.name, create=True):
        pass


def remove_matching(path: Path, pattern: str) -> None:
    """Remove the files in a folder whose names match; nothing where there is no folder."""
    with existing_folder(path) as folder:
        if folder is not None:
            for name in folder.names(pattern):
                folder.remove(name)


def write_texts(path: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files into a folder, which is made, by their paths in it; returns the paths. Raises `OSError`."""
    with new_folder(path) as root:
        for name, text in texts.items():
            root.write_below(name, text.encode())
    return [path / name for name in texts]


def copy_files(source: Path, target: Path) -> None:
    """Copy the files of a folder, at any depth, into another one, which is made. Raises `OSError`."""
    with new_folder(target) as root:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                root.write_below(path.relative_to(source).as_posix(), path.read_bytes())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Folder]:
    if not HAS_DESCRIPTORS:
        if not path.is_dir():
            number = errno.ENOTDIR if path.exists() else errno.ENOENT
            raise OSError(number, os.strerror(number), str(path))
        yield Folder(path, None)
        return
    descriptor = os.open(path, _FOLDER)
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _claimed_root(path: Path) -> Iterator[Folder | None]:
    """The claimed folder at or above a path, if it is still at its own: results in a moved folder would be lost."""
    # With a separate descriptor: another thread may end its claim, and its number is then given to any other file.
    with _CLAIMING.current:
        root = next((folder for folder in (path, *path.parents) if str(folder) in _CLAIMED), None)
        claimed = None if root is None else _CLAIMED[str(root)][-1]
        descriptor = None if claimed is None else os.open(".", _FOLDER, dir_fd=claimed)
    if root is None or descriptor is None:
        yield None if root is None else Folder(root, None)
        return
    try:
        if not os.path.samestat(os.stat(root), os.fstat(descriptor)):
            raise OSError(errno.ESTALE, "it was replaced by another folder", str(root))
        yield Folder(root, descriptor)
    finally:
        os.close(descriptor)
