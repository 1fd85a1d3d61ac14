"""Write tracking: versions of the parameters, for cached results, and the thread that wrote the gradients."""

from __future__ import annotations

import contextlib
import threading
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


class GradientOwner:
    """The thread that ran the last backward pass, and whether it completed; all threads share the gradients' memory."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._complete = True
        self.passes = 0
        """Number of completed backward passes."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Context manager: a backward pass of this thread overwrites the gradients."""
        # Not in a `finally`: after an exception the gradients are neither those of this pass nor of the one before.
        self._complete = False
        self._thread = threading.current_thread()
        yield
        self._complete = True
        self.passes += 1

    def check(self) -> None:
        """Raises `RuntimeError` if the gradients are not those of this thread's last backward pass."""
        if self._thread is not None and self._thread is not threading.current_thread():
            raise RuntimeError("the last backward pass ran in another thread; use one Net per training thread")
        if not self._complete:
            raise RuntimeError("no gradients: the last backward pass was interrupted; call backward again")
