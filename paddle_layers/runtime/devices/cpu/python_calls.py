"""Bodies implemented as Python functions of whole arrays: their arguments, and validation of their results.

They have the signature of a compiled body, so that launch tables treat them alike.
"""

from __future__ import annotations

import ctypes
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import DefinitionError, first_line
from paddle_layers.runtime.generate.drivers import Array, Kernel, Spec
from paddle_layers.runtime.memory.blocks import array_at

_Callback = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)
_CALLBACKS: dict[tuple[Kernel, str], Any] = {}
"""Never freed, like compiled bodies: tables hold addresses."""


class _Failure(threading.local):
    """The exception of a Python function called from machine code, which cannot propagate it.

    A launch is never split.
    """

    error: BaseException | None = None


_FAILURE = _Failure()


def python_address(kernel: Kernel, dtype: str) -> int:
    """The address of a body that calls the kernel's Python function."""
    key = (kernel, dtype)
    if key not in _CALLBACKS:
        run = PythonBody(kernel, dtype).run

        def guarded(*arguments: int) -> None:
            try:
                run(*arguments)
            except BaseException as error:  # Ctrl-C as well: `raise_failure` raises it after the launches
                # The first one: later launches of the pass fail because of the values that it did not compute.
                _FAILURE.error = _FAILURE.error or error

        _CALLBACKS[key] = _Callback(guarded)
    return int(ctypes.cast(_CALLBACKS[key], ctypes.c_void_p).value or 0)


def raise_failure() -> None:
    """Raises the exception of a Python function in the launches that ran."""
    error, _FAILURE.error = _FAILURE.error, None
    if error is not None:
        raise error


class PythonBody:
    """Calls a Python function with arrays over the memory of a launch, and stores the results."""

    def __init__(self, kernel: Kernel, dtype: str) -> None:
        assert kernel.python is not None
        self.kernel, self.python, self.dtype = kernel, kernel.python, dtype

    def run(self, first: int, last: int, pointers: int, ints: int, floats: int) -> None:
        """Runs the single work item, with the addresses of the three argument tables. Raises `DefinitionError`."""
        if first >= last:
            return
        given = dict(self._arguments(pointers, ints, floats))
        targets = [given.pop(name) for name in self.kernel.targets]
        for value in given.values():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    # Other launches, and the backward pass, rely on inputs that do not change.
                    array.flags.writeable = False
        try:
            results = self._checked(self._call(given | dict(self.python.constants)), targets)
        except BaseException:
            for target in targets:  # later launches of the same pass would read uninitialized values
                target[...] = 0 if target.dtype.kind == "i" else np.nan
            raise
        for target, values in zip(targets, results, strict=True):
            if self.kernel.accumulate:
                np.add(target, values, out=target, casting="same_kind")
            else:
                target[...] = values

    def _call(self, given: dict[str, Any]) -> Any:
        try:
            return self.python.call(**given)
        except Exception as error:  # a user's function may raise anything; it is the cause of an error at its line
            file = self.python.call.__code__.co_filename
            lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
            raise self._fault(f"{type(error).__name__}: {first_line(error)}", lines[-1] if lines else 0) from error

    def _checked(self, result: Any, targets: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """One array per target, with its shape and type."""
        names, several = self.kernel.targets, isinstance(result, (tuple, list)) and len(targets) > 1
        results = list(result) if several else [result]
        if len(results) != len(targets):
            raise self._fault(f"returns {len(results)} arrays for {', '.join(f'`{name}`' for name in names)}")
        found = []
        for name, target, ids, one in zip(names, targets, self.python.ids, results, strict=True):
            if one is None:
                raise self._fault(f"returns None for `{name}`; is a `return` missing?")
            values, whole = np.asarray(one), target.dtype.kind == "i"
            if values.dtype.kind not in ("biu" if whole else "biuf"):
                kind = "an integer" if whole else "a real"
                raise self._fault(f"returns {values.dtype} for `{name}`; expected {kind} dtype")
            if values.shape != target.shape:
                raise self._fault(f"returns shape {values.shape} for `{name}`; expected {target.shape}")
            if ids and values.size and not 0 <= values.min() <= values.max() < ids:
                wrong = values.min() if values.min() < 0 else values.max()
                raise self._fault(f"returns id {wrong} for `{name}`; valid ids are 0 to {ids - 1}")
            found.append(values)
        return found

    def _fault(self, message: str, line: int = 0) -> DefinitionError:
        code = self.python.call.__code__
        text = f"{code.co_name}, in layer `{self.python.op}`: {message}"
        return DefinitionError(text, code.co_filename, line or code.co_firstlineno)

    def _arguments(self, pointers: int, ints: int, floats: int) -> Iterator[tuple[str, Any]]:
        places, whole = _numbers(pointers, ctypes.c_int64), _numbers(ints, ctypes.c_int64)
        real = _numbers(floats, ctypes.c_double)

        def array(spec: Array) -> NDArray[Any]:
            dtype = self.dtype if spec.dtype == "real" else spec.dtype
            address = next(places)
            return array_at(address, [next(whole) for _ in range(spec.ndim)], dtype)

        def value(spec: Spec) -> Any:
            if isinstance(spec, Array):
                return array(spec)
            if not isinstance(spec, str):
                return tuple(map(array, spec))
            kind, _, count = spec.partition(" ")
            source = real if kind.startswith("real") else whole
            return tuple(next(source) for _ in range(int(count))) if count else next(source)

        for name, spec in self.kernel.args.items():
            yield name, value(spec)


def _numbers(address: int, kind: Any) -> Iterator[Any]:
    """The elements from an address on."""
    size = ctypes.sizeof(kind)
    while True:
        yield kind.from_address(address).value
        address += size
