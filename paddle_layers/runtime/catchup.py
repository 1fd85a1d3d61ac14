"""Steps that are put off for rows that no batch uses, and done before anybody looks at these rows.

An optimizer moves a weight even where its gradient is zero: by momentum, by decay. To do this for all rows of a table
in every step takes time for all of them, so that a `Lag` remembers for each row the step up to which it is right, and
what the steps since were. A row catches up when a batch is about to use it, and all do when somebody asks for the
parameter. The maps of the steps put off (see `idle`) multiply up to one, so it takes no longer for many steps than for
one; where a state fades, its turns are done before, one by one. The result is that of the dense way, but for rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import Argument, Fixed, Ref, plain_argument
from .blocks import Flat
from .device_protocol import Device
from .domains import Domain, Extent, rows_of
from .idle import Idle
from .launches import Launch
from .rowforms import mix_launch, replay_launch

Ints = NDArray[np.int64]
HISTORY = 1 << 14
"""Steps that are remembered; then all rows catch up. It is so rare that it takes no time to speak of."""
CHUNK = 1 << 14
"""Rows that catch up at a time."""


class Lag:
    """What has been put off for the rows of one parameter; `tables` are its values and the optimizer's states.

    `states` hold the memory: what was put off has to be done even when the optimizer is gone.
    """

    def __init__(
        self, idle: Idle, tables: Mapping[str, Ref], states: object, rows: int, device: Device, dtype: str
    ) -> None:
        assert idle.turns is not None
        self._idle, self._turns, self._dtype, self._held = idle, idle.turns, dtype, states
        self._done = np.zeros(rows, np.int32)
        """For each row, how many of the remembered steps it has made."""
        self._steps = 0
        size = idle.size
        self._maps = np.zeros((size, (HISTORY + 1) * size))
        """Next to each other, for each remembered step, the map from before it to now."""
        self._maps[:, :size] = np.eye(size)
        self._chunk = Domain("rows that catch up", capacity=CHUNK)
        self._ids = Flat(device, CHUNK, "int64")
        self._factors = Flat(device, CHUNK * size * size, dtype)
        extent = rows_of(self._chunk)
        ids = _ref(self._ids, extent)
        mix: dict[str, Argument] = {**tables, "ids_": ids, "maps_": _ref(self._factors, extent, Extent(size * size))}
        launches = [mix_launch("catch up", list(tables), mix, device.name)]
        if self._turns:
            self._faded = np.ones(rows, bool)
            """Rows whose fading states have faded, or never were: no turn of theirs has to be done one by one."""
            self._first, self._last = (Flat(device, CHUNK, "int64") for _ in range(2))
            self._rates, self._counts = (Flat(device, HISTORY, dtype) for _ in range(2))
            launches.insert(0, self._replay(tables, ids, device.name))
        self._count = len(launches)
        self._table = device.table(launches, dtype, _address)

    def _replay(self, tables: Mapping[str, Ref], ids: Ref, device: str) -> Launch:
        function = self._idle.optimizer.function
        assert function is not None
        attributes = {name: plain_argument(value) for name, value in self._idle.attributes.items()}
        args: dict[str, Argument] = {
            **tables,
            "ids_": ids,
            "first_": _ref(self._first, ids.shape[0]),
            "last_": _ref(self._last, ids.shape[0]),
            "rates_": _ref(self._rates, Extent(HISTORY)),
            "counts_": _ref(self._counts, Extent(HISTORY)),
            **{name: value for name, value in attributes.items() if name in function.args},
        }
        return replay_launch(function, "catch up", list(tables), args, device)

    def note(self, rate: float, count: float, moved: Ints) -> None:
        """Remember a step, which the rows `moved` have made."""
        if self._steps == HISTORY:
            self.catch_up()
        size, now = self._idle.size, self._steps
        known = self._maps[:, : (now + 1) * size]
        known[...] = self._idle.matrix(rate, count) @ known
        self._maps[:, (now + 1) * size : (now + 2) * size] = np.eye(size)
        if self._turns:
            self._faded[moved] = False
            itemsize = np.dtype(self._dtype).itemsize
            for flat, number in ((self._rates, rate), (self._counts, count)):
                flat.block.write(now * itemsize, np.array([number]), self._dtype)
        self._steps += 1
        self._done[moved] = self._steps

    def catch_up(self, rows: Ints | None = None) -> None:
        """Bring these rows up to date; without any named all of them, and the steps are forgotten."""
        if self._steps == 0:
            return
        if rows is None:
            behind = np.flatnonzero(self._done < self._steps)
        else:
            behind = np.sort(rows[self._done[rows] < self._steps])
            behind = behind[np.diff(behind, prepend=-1) > 0]
        for start in range(0, len(behind), CHUNK):
            self._bring(behind[start : start + CHUNK])
        if rows is None:
            self._done[:] = self._steps = 0
            self._maps[:, : self._idle.size] = np.eye(self._idle.size)
        else:
            self._done[behind] = self._steps

    def saved(self) -> dict[str, NDArray[Any]]:
        """What `restore` needs; nothing where there is nothing to know."""
        found: dict[str, NDArray[Any]] = {"faded": self._faded} if self._turns else {}
        if self._steps == 0:
            return found
        found |= {
            "done": self._done,
            "maps": self._maps[:, : (self._steps + 1) * self._idle.size],
        }
        if self._turns:
            found |= {"rates": self._rates.read()[: self._steps], "counts": self._counts.read()[: self._steps]}
        return found

    def restore(self, found: Mapping[str, NDArray[Any]]) -> None:
        """Put off what `saved` gave."""
        if self._turns:
            self._faded[:] = found.get("faded", np.zeros(1, bool))
        if "maps" not in found:
            return
        width = found["maps"].shape[1]
        self._done[:], self._maps[:, :width] = found["done"], found["maps"]
        self._steps = width // self._idle.size - 1
        if self._turns:
            self._rates.block.write(0, found["rates"], self._dtype)
            self._counts.block.write(0, found["counts"], self._dtype)

    def _bring(self, rows: Ints) -> None:
        done, size = self._done[rows].astype(np.int64), self._idle.size
        self._chunk.rows = len(rows)
        self._ids.block.write(0, rows, "int64")
        if self._turns:
            self._first.block.write(0, done, "int64")
            turns = np.where(self._faded[rows], 0, np.minimum(self._turns, self._steps - done))
            self._faded[rows] |= turns == self._turns
            done += turns
            self._last.block.write(0, done, "int64")
        maps = self._maps.reshape(size, HISTORY + 1, size)[:, done]
        self._factors.block.write(0, maps.transpose(1, 0, 2), self._dtype)
        self._table.set_rows()
        self._table.run(0, self._count)


def _ref(flat: Flat, *shape: Extent) -> Ref:
    return Ref(Fixed(flat.block.address), shape, "int64" if flat.dtype == "int64" else "real")


def _address(ref: Ref) -> int:
    assert isinstance(ref.owner, Fixed)
    return ref.owner.address
