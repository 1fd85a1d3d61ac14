"""Side effects of passes: running states, metric counts, state carried to the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from paddle_layers.define.fork_locks import ForkSafeLock
from paddle_layers.runtime.batch.carried import CarriedRows
from paddle_layers.runtime.memory.parameters import Parameter, ParameterSet
from paddle_layers.runtime.plan.statistics import Statistics

from .locking import one_at_a_time

Arrays = Mapping[str, NDArray[Any]]


class Effects(NamedTuple):
    """A snapshot of all side effects."""

    states: Arrays
    counts: list[tuple[str, str, list[float]]]
    carried: Arrays


class PassEffects:
    """The part of `Net` that reads and restores the side effects of passes."""

    lock: ForkSafeLock
    closed: bool
    arena: ParameterSet
    carried: CarriedRows
    _statistics: Statistics
    _states_before: dict[str, NDArray[Any]]
    """Values before the last forward pass of the states that it has updated."""

    @property
    def states(self) -> dict[str, Parameter]:
        """Running states by name (`bn1.running_mean`)."""
        return self.arena.states

    @one_at_a_time
    def effects(self) -> Effects:
        """Snapshot of the side effects of passes, so that a skipped batch has none.

        Returns:
            The snapshot, for `restore_effects`.
        """
        return Effects(self.arena.copy_states(), self._statistics.sums(), self.carried.saved())

    @one_at_a_time
    def restore_effects(self, before: Effects) -> None:
        """Restores a snapshot.

        Args:
            before: Result of `effects`.
        """
        self.arena.restore_states(before.states)
        self._statistics.roll_back(before.counts)
        self.carried.restore(before.carried)

    @one_at_a_time
    def rollback_states(self) -> None:
        """Restores the running states to their values before the last forward pass."""
        self.arena.restore_states(self._states_before)

    @one_at_a_time
    def statistics(self) -> dict[str, float]:
        """Metrics since the last reset.

        Returns:
            Values by `layer.type`, or by `layer.type.name` for a layer with several metrics.
        """
        return self._statistics.results()

    @one_at_a_time
    def reset_statistics(self) -> None:
        """Resets the metrics."""
        self._statistics.reset()

    @one_at_a_time
    def statistics_state(self) -> list[tuple[str, str, list[float]]]:
        """The accumulated sums of the metrics, for `load_statistics_state`."""
        return self._statistics.sums()

    @one_at_a_time
    def load_statistics_state(self, statistics_state: Iterable[tuple[str, str, list[float]]]) -> None:
        """Restores the sums of the metrics.

        Args:
            statistics_state: Result of `statistics_state`.

        Raises:
            ValueError: Malformed sums.
        """
        self._statistics.restore(statistics_state)
