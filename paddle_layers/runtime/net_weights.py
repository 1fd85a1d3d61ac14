"""Parameters and weights files of a net."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from paddle_layers.define.fork_locks import ForkSafeLock
from paddle_layers.runtime.memory.parameters import Parameter, ParametersByName, ParameterSet
from paddle_layers.runtime.memory.weights import OURS, Forms, LoadReport, Names, load_weights, save_weights

from . import arguments
from .locking import one_at_a_time


class NetWeights:
    """The part of `Net` that loads and saves parameters and states."""

    lock: ForkSafeLock
    closed: bool
    arena: ParameterSet
    _forms: Forms
    """Forms of the parameters in PyTorch."""

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
            WeightsError: A layer has no equivalent in PyTorch.
        """
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
