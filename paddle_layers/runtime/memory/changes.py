"""Change tracking of parameters, so that cached results that depend on them are recomputed."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Lent:
    """Base object of all views of an array that a user holds: it lives as long as one of them does."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        # NumPy keeps this object as the base of every view made from it, so its lifetime is that of the last view.
        self.__array_interface__ = array.__array_interface__


class Changes:
    """Counts possible changes of the parameters of a net."""

    def __init__(self) -> None:
        self._count = 0
        self._lent: weakref.WeakSet[Lent] = weakref.WeakSet()

    @contextlib.contextmanager
    def made(self, really: bool = True) -> Iterator[None]:
        """Context manager: parameters change inside.

        It is counted at the end, since another thread may compute from both old and new values meanwhile, and at the
        begin, since an interrupt may come before the end is counted.
        """
        self._count += really
        try:
            yield
        finally:
            self._count += really

    def lend(self, array: NDArray[Any]) -> NDArray[Any]:
        """A view for a user, who may write to it until it, and all views of it, are gone."""
        if not array.flags.writeable:  # a copy
            return array
        # Writes to an array cannot be observed. As long as a writable view is alive, parameters count as changed in
        # every pass.
        lent = Lent(array)
        with self.made():
            self._lent.add(lent)
        return np.asarray(lent)

    def version(self) -> int:
        """A number that is unchanged only if nothing can have changed since the last call."""
        if self._lent:
            self._count += 1
        return self._count
