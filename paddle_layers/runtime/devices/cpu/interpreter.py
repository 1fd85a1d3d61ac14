"""Interpreter: runs drivers as plain Python without compilation, slow but immediate; used for the examples on pages."""

from __future__ import annotations

import builtins
import ctypes
import math
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.concurrency import switched
from paddle_layers.kernels.primitives import elementary
from paddle_layers.runtime.generate.authors import author_place
from paddle_layers.runtime.generate.drivers import Kernel, TunedCall
from paddle_layers.runtime.memory.blocks import array_at

from .arrays import LANES
from .native import ADDRESS, FLOATS, INTS, LENGTH, PARTS, POINTERS, TOTAL
from .python_calls import PythonBody

DRIVER = "<driver>"
"""File name of an interpreted driver in tracebacks."""
Body = Callable[[int, int, int, int, int], None]
_INTS, _FLOATS = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_double)

_BODIES: list[Body] = []
_NUMBERS: dict[str, int] = {}
_SWITCHED_ON = ContextVar("drivers run as Python", default=False)


def interpreted() -> AbstractContextManager[None]:
    """Context manager: plans run their drivers as Python; tuned kernels are compiled and must be disabled."""
    return switched(_SWITCHED_ON, True)


def is_interpreted() -> bool:
    """Whether drivers are interpreted."""
    return _SWITCHED_ON.get()


def interpreted_address(code: Kernel | TunedCall, text: str, dtype: str) -> int:
    """A negative number that represents the address of a driver's body."""
    if text not in _NUMBERS:
        _BODIES.append(_body(code, text, dtype))
        # Negative, as user-space addresses never are: a table recognizes interpreted drivers by the sign.
        _NUMBERS[text] = -len(_BODIES)
    return _NUMBERS[text]


def _body(code: Kernel | TunedCall, text: str, dtype: str) -> Body:
    if isinstance(code, Kernel) and code.python is not None:
        return PythonBody(code, dtype).run
    scope: dict[str, Any] = {"__builtins__": vars(builtins) | {"__import__": _import}}
    exec(compile(text, DRIVER, "exec"), scope)
    return _with_place(scope["body"], code, text)


def _with_place(body: Any, code: Kernel | TunedCall, text: str) -> Body:
    """The body with its argument tables; its exceptions get a note with the author's source line."""

    def run(first: int, last: int, pointers: int, ints: int, floats: int) -> None:
        try:
            # Their elements are Python numbers, which do not overflow.
            tables = ctypes.cast(pointers, _INTS), ctypes.cast(ints, _INTS), ctypes.cast(floats, _FLOATS)
            body(first, last, *tables)
        except Exception as error:  # re-raised, whatever it is, with the author's line as a note
            lines = [
                line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == DRIVER
            ]
            place = author_place(code, text, lines[-1]) if isinstance(code, Kernel) and lines else None
            if place is not None:
                error.add_note(f"at {place}")
            raise

    return run


def interpret(rows: NDArray[np.int64]) -> None:
    """Runs launches, rows of a table with the columns of `native.COLUMNS`, sequentially."""
    with np.errstate(all="ignore"):  # as compiled kernels, which return NaN and infinity without warnings
        at, table = 0, rows.tolist()
        while at < len(table):
            length = table[at][LENGTH] if at + table[at][LENGTH] <= len(table) else 1
            _run_group(table[at : at + length])
            at += length


def _run_group(group: list[list[int]]) -> None:
    """Runs the fused launches from a row of a table on, or a single one: as `native.run_parts`."""
    head, *others = group
    if not others:
        _run_row(head, 0, head[TOTAL])
        return
    parts, runs, cells, step, width = head[PARTS:]
    for low in range(0, parts, step):
        high = min(low + step, parts)
        _run_row(head, low * (head[TOTAL] // parts), high * (head[TOTAL] // parts))
        end = runs * high // parts * (cells // runs)
        for cell in range(runs * low // parts * (cells // runs), end, width):
            for row in others:
                each = row[TOTAL] // cells
                _run_row(row, cell * each, min(cell + width, end) * each)


def _run_row(row: list[int], first: int, last: int) -> None:
    _BODIES[-row[ADDRESS] - 1](first, last, row[POINTERS], row[INTS], row[FLOATS])


def _argument(pointers: Any, at: int, ints: Any, first: int, sizes: int, ones: int, dtype: Any) -> Any:
    shape = [ints[first + axis] for axis in range(sizes)] + [1] * ones
    return array_at(pointers[at], shape, dtype).view(_Strict)


def _stack(dtype: Any) -> NDArray[Any]:
    """NaN, so that reads of uninitialized elements are detected."""
    return np.full(LANES, np.nan, dtype)


_get, _set = np.ndarray.__getitem__, np.ndarray.__setitem__


class _Strict(np.ndarray[Any, Any]):
    """An array with bounds checks: machine code checks no index.

    NumPy rejects indices past the end. A negative index counts from the end there; a kernel that computes one reads out
    of bounds as soon as its type is unsigned or the axis is shorter.
    """

    # Hot path: every element access, so nothing else is called.
    def __getitem__(self, index: Any) -> Any:
        if (min(index) if type(index) is tuple else index) < 0:
            raise IndexError(f"index {index} is negative")
        return _get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if (min(index) if type(index) is tuple else index) < 0:
            raise IndexError(f"index {index} is negative")
        _set(self, index, value)


def _unchanged(*_: Any, **__: Any) -> Callable[[Any], Any]:
    return lambda function: function


def _as_compiled(name: str) -> Any:
    """A function of `math` that returns infinity or NaN where Python raises, as a kernel does."""
    exact = getattr(math, name)
    limit = getattr(np, name, None)

    def compute(*arguments: Any) -> Any:
        try:
            return exact(*arguments)
        except (ValueError, OverflowError):
            if limit is None:
                raise
            return limit(*arguments)

    return compute if callable(exact) else exact


_MATH = SimpleNamespace(**{name: _as_compiled(name) for name in dir(math) if not name.startswith("_")})
_STANDS_FOR = {
    "math": _MATH,
    "numba": SimpleNamespace(
        cfunc=_unchanged,
        njit=_unchanged,
        uint64=int,
        **{name: getattr(np, name) for name in ("float32", "float64", "int32", "int64")},
    ),
    "paddle_layers.kernels.primitives": SimpleNamespace(
        elementary=SimpleNamespace(**vars(_MATH), maximum=elementary.maximum, minimum=elementary.minimum)
    ),
    "paddle_layers.kernels.primitives.float32_helpers": SimpleNamespace(single_form=lambda helper: helper),
    "paddle_layers.kernels.primitives.compile_options": SimpleNamespace(INNER={}, OUTER={}),
    "paddle_layers.runtime.devices.cpu.arrays": SimpleNamespace(LANES=LANES, argument=_argument, stack=_stack),
    "paddle_layers.runtime.devices.cpu.native": SimpleNamespace(BODY=None),
}
"""Replacements of a driver's imports in the interpreter."""


def _import(name: str, *arguments: Any) -> Any:
    return _STANDS_FOR.get(name) or builtins.__import__(name, *arguments)
