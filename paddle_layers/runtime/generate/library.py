"""Compilation cache of the package's numba functions, in the same cache folder as the drivers.

A function is recompiled when a file in its folder changes: its callees are defined there.

numba's default location is next to the module, where the cache survives uninstallation: Python then finds a folder
`paddle_layers` without modules, and imports it instead of an editable install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from numba.core.caching import FunctionCache, IndexDataCacheFile

from .cache import give_up, keep_private, numba_keeps_in, try_folder
from .checksums import ENDING, remove_damaged

F = TypeVar("F")
LIBRARY = "library"
"""The subfolder of the cache."""


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
