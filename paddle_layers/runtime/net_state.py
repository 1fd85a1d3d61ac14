"""State of a net: its lock, parameters and their files, and side effects of passes.

A net has one set of buffers, so its methods wait for each other. Side effects are running states, metrics and rows
carried to the next batch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, NoReturn, ParamSpec, Protocol, TypeVar

from numpy.typing import NDArray

from paddle_layers.define.concurrency import ForkSafeLock
from paddle_layers.runtime.batch.carried import CarriedRows
from paddle_layers.runtime.memory.parameters import Parameter, ParametersByName, ParameterSet
from paddle_layers.runtime.memory.weights import OURS, Forms, LoadReport, Names, load_weights, save_weights
from paddle_layers.runtime.plan.metrics import Statistics

from . import arguments

P = ParamSpec("P")
R = TypeVar("R")
Arrays = Mapping[str, NDArray[Any]]


class _Locked(Protocol):
    lock: ForkSafeLock
    closed: bool


L = TypeVar("L", bound=_Locked)


def one_at_a_time(method: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Decorator: a method waits until no other thread runs one of the object; all but `close` need what it frees."""

    @functools.wraps(method)
    def locked(self: L, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock.current:
            if self.closed and method.__name__ != "close":
                raise RuntimeError("this net is closed; create a new one, or use it inside its `with` block")
            return method(self, *args, **kwargs)

    return locked


class NetWeights:
    """The part of `Net` that loads and saves parameters and states."""

    lock: ForkSafeLock
    closed: bool
    arena: ParameterSet
    _forms: Forms
    """Forms of the parameters in PyTorch."""

    def __reduce_ex__(self, _: object) -> NoReturn:
        """A copy would share the buffers, so that its passes would change the results of this net."""
        raise TypeError("a net cannot be copied or pickled: create another `Net(net.network)`, and load saved weights")

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Trained and frozen parameters by name (`conv1.weight`)."""
        states = self.arena.states
        return ParametersByName((name, p) for name, p in self.arena.by_name.items() if name not in states)

    @one_at_a_time
    def save(self, path: str | Path, *, rename: Names = None, layout: str = OURS) -> None:
        """Writes parameters and states to a safetensors file atomically.

        Args:
            path: The file.
            rename: Names in the file by names in the network.
            layout: `"paddle_layers"`, or `"torch"` for names and shapes of PyTorch's modules.

        Raises:
            SaveError: The file cannot be written.
            TypeError: The path is neither a string nor a `Path`.
            ValueError: The path has the extension of another format, such as `.pt`.
            WeightsError: A layer has no equivalent in PyTorch.
        """
        arguments.check_weights_path(path)
        save_weights(str(path), self.arena, self._forms, rename=rename or {}, layout=layout)

    @one_at_a_time
    def load(
        self, path: str | Path, *, rename: Names = None, leave_out: str | Iterable[str] = (), layout: str | None = None
    ) -> LoadReport:
        """Loads parameters and states by name; names and shapes must match exactly.

        Args:
            path: A safetensors file, the index of several, or a state_dict of PyTorch.
            rename: Names in the network by names in the file, such as `{"head.*": "scores.*"}`.
            leave_out: Patterns of parameters that are not loaded and keep their values.
            layout: `"torch"` or `"paddle_layers"`, if shapes do not show the layout of matrices.

        Returns:
            The names of loaded, missing and ignored weights.

        Raises:
            WeightsError: Lists all mismatches; nothing is changed then.
        """
        left = arguments.names_of("leave_out", [leave_out] if isinstance(leave_out, str) else leave_out)
        return load_weights(str(path), self.arena, self._forms, rename=rename or {}, leave_out=left, layout=layout)


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
