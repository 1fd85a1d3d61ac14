"""Driver files on disk: named by the hash of their own text, so a result can be neither stale nor missed."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType

VARIABLE = "PADDLE_LAYERS_CACHE"
FORMAT = "1"
"""Changes when the meaning of a driver's text changes."""


@functools.cache
def cache_folder() -> Path:
    """The user's cache folder (`$PADDLE_LAYERS_CACHE` overrides it); a temporary one when it can't be written."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(os.environ.get(VARIABLE) or os.path.join(home, "paddle_layers"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="paddle_layers_"))
    return folder


def driver_path(kind: str, name: str, text: str) -> Path:
    """Where the driver of this text lives."""
    import numba

    digest = hashlib.sha256(f"{FORMAT} {numba.__version__}\n{text}".encode()).hexdigest()[:16]
    return cache_folder() / kind / f"{name}_{digest}.py"


def is_compiled(path: Path) -> bool:
    """Whether numba has a result for the driver at `path` (for any machine: a guess for progress displays)."""
    folder = path.parent / "__pycache__"
    try:
        return path.stem in _compiled(str(folder), folder.stat().st_mtime_ns)
    except FileNotFoundError:
        return False


@functools.lru_cache(maxsize=4)
def _compiled(folder: str, changed: int) -> frozenset[str]:  # noqa: ARG001  (another listing once it has changed)
    """Drivers for which numba keeps a result: the folder may hold thousands of files."""
    return frozenset(name.partition(".")[0] for name in os.listdir(folder) if name.endswith(".nbi"))


def keep_file(path: Path, data: bytes) -> None:
    """Write a file of the cache whole or not at all; several processes may race."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)


def load_driver(path: Path, text: str) -> ModuleType:
    """Write the driver if it is not there, atomically, and import it; several processes may race."""
    name = f"paddle_layers_driver_{path.parent.name}_{path.stem}"
    with _IMPORTING:  # a module is in `sys.modules` before it has run: another thread would find it half made
        if name in sys.modules:
            return sys.modules[name]
        if not path.exists():
            keep_file(path, text.encode())
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


_IMPORTING = threading.RLock()
