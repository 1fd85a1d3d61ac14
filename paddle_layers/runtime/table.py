"""Launches as tables of numbers, which one compiled loop runs through."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .arguments import Key, Rate, Ref, Setting
from .domains import Extent
from .interpreter import interpret
from .launches import Launch
from .native import run_backwards, run_launches

PIECES = 8
"""Pieces a launch is cut into; more than there are threads, so that they end together."""
SERIAL_WORK = 1 << 19
"""Operations below which other threads are not woken: some 50 us, which a busy machine takes to wake one."""


_CUT: Literal["", "pieces", "backwards"] = ""


@contextlib.contextmanager
def always_cut(how: Literal["pieces", "backwards"]) -> Iterator[None]:
    """Within it, every launch is cut into pieces, however small it is: for checks.

    The pieces run side by side, or one by one from the last to the first.
    """
    global _CUT  # noqa: PLW0603  (a switch for checks, never for users)
    before, _CUT = _CUT, how
    try:
        yield
    finally:
        _CUT = before


class Table:
    """Addresses, sizes and numbers of launches; only what a batch or a step changes is written again."""

    def __init__(self, launches: Sequence[Launch], bodies: Sequence[int], address: Callable[[Ref], int]) -> None:
        self._address = address
        pointers: list[int] = []
        ints: list[Extent] = []
        floats: list[float | Rate | Setting] = []
        self._keys: list[tuple[int, str]] = []
        table = np.zeros((len(launches), 6), np.int64)
        starts = []
        for launch in launches:
            starts.append((len(pointers), len(ints), len(floats)))
            for argument in launch.args:
                self._put(argument, pointers, ints, floats)
        self._pointers = np.array(pointers or [0], np.int64)
        self._ints = np.array([extent.extra for extent in ints] or [0], np.int64)
        self._floats = np.array([f if isinstance(f, float) else 0.0 for f in floats] or [0.0])
        for row, (body, start) in enumerate(zip(bodies, starts, strict=True)):
            table[row, 0] = body
            for column, (array, at) in enumerate(zip((self._pointers, self._ints, self._floats), start, strict=True)):
                table[row, 3 + column] = array.ctypes.data + 8 * at
        self.rows = table
        self._settings = [(at, f) for at, f in enumerate(floats) if isinstance(f, Setting)]
        self._rates = [(at, f) for at, f in enumerate(floats) if isinstance(f, Rate)]
        self._sized = Sizes(ints)
        self._totals = Sizes([launch.total or Extent() for launch in launches])
        self._tuned = [(row, launch.items) for row, launch in enumerate(launches) if launch.items is not None]
        self._weights = np.array([launch.weight for launch in launches], np.int64)
        self._work = np.array([launch.work for launch in launches], np.int64)

    def _put(
        self, argument: Any, pointers: list[int], ints: list[Extent], floats: list[float | Rate | Setting]
    ) -> None:
        if isinstance(argument, Ref):
            pointers.append(self._address(argument))
            ints.extend(argument.shape)
        elif isinstance(argument, Key):
            self._keys.append((len(ints), argument.op))
            ints.append(Extent())
        elif isinstance(argument, Extent):
            ints.append(argument)
        elif isinstance(argument, (float, Rate, Setting)):
            floats.append(argument)
        else:
            for part in argument:
                self._put(part, pointers, ints, floats)

    def set_rows(self) -> None:
        """Bring sizes and totals to the rows that the domains have now."""
        self._sized.write(self._ints)
        for at, rate in self._rates:
            self._floats[at] = rate.share
        totals = self.rows[:, 1]
        self._totals.write(totals)
        for row, items in self._tuned:
            totals[row] = items()
        work = np.maximum(totals * self._weights, self._work)
        least = 0 if _CUT else SERIAL_WORK
        self.rows[:, 2] = np.where(work < least, 1, np.minimum(totals, PIECES))

    def set_keys(self, key: Callable[[str], int]) -> None:
        """Draw the keys of random operations for a step."""
        for at, op in self._keys:
            self._ints[at] = key(op)

    def set_numbers(self, values: Mapping[str, float]) -> None:
        """Write the real numbers that are new in every step."""
        for at, setting in self._settings:
            self._floats[at] = values[setting.name] * setting.factor

    def run(self, start: int, stop: int) -> None:
        """Run launches `start` to `stop`."""
        if start < stop and self.rows[start, 0] < 0:
            interpret(self.rows[start:stop])
        elif _CUT == "backwards":
            run_backwards(self.rows, start, stop)
        else:
            run_launches(self.rows, start, stop)


class Sizes:
    """Extents of a table, written in one go: `extra + rows * factor`."""

    def __init__(self, extents: Sequence[Extent]) -> None:
        moving = [(at, e) for at, e in enumerate(extents) if e.domain is not None]
        self.domains = list({id(e.domain): e.domain for _, e in moving if e.domain}.values())
        number: Mapping[int, int] = {id(domain): i for i, domain in enumerate(self.domains)}
        self.places = np.array([at for at, _ in moving], np.int64)
        self.which = np.array([number[id(e.domain)] for _, e in moving], np.int64)
        self.factors = np.array([e.factor for _, e in moving], np.int64)
        self.extras = np.array([e.extra for _, e in moving], np.int64)
        self.fixed_places = np.array([at for at, e in enumerate(extents) if e.domain is None and e.extra], np.int64)
        self.fixed = np.array([e.extra for e in extents if e.domain is None and e.extra], np.int64)

    def write(self, table: NDArray[np.int64]) -> None:
        """Write the sizes for the rows of now; entries without a size (keys) are left alone."""
        table[self.fixed_places] = self.fixed
        if len(self.places):
            rows = np.array([domain.rows for domain in self.domains], np.int64)
            table[self.places] = self.extras + rows[self.which] * self.factors
