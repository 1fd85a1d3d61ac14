"""Results of the last forward and backward pass of a net."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from paddle_layers.runtime.batch.reading import read_value
from paddle_layers.runtime.plan.losses import LossSum

from . import arguments
from .last_pass import LastPass
from .locking import one_at_a_time
from .net_weights import NetWeights


class PassResults(NetWeights):
    """The part of `Net` that reads the results of the last pass."""

    _keep: tuple[str, ...]
    _last: LastPass | None

    @property
    @one_at_a_time
    def loss(self) -> float:
        """Loss of the last forward pass, the sum over the losses of weight x mean over the counted rows.

        Raises:
            RuntimeError: There was no forward pass, or it ran in another thread.
        """
        return self._last_pass("loss").loss

    @one_at_a_time
    def loss_sums(self) -> dict[str, LossSum]:
        """Sums of the losses of the last forward pass, from which the loss over several batches is computed.

        Returns:
            The sums by name of the loss.

        Raises:
            RuntimeError: There was no forward pass, or it ran in another thread.
        """
        return self._last_pass("loss").loss_sums()

    @one_at_a_time
    def gradient(self, name: str) -> NDArray[Any]:
        """Gradient of a value after a backward pass.

        Args:
            name: An output, a value in `keep` or one with `propagate_down: true`.

        Returns:
            A copy of the gradient, with the shape of the value.

        Raises:
            KeyError: The value has no gradient.
            RuntimeError: There was no backward pass, or it ran in another thread.
        """
        return self._last_pass("gradients").gradient(name, self.parameters)

    @one_at_a_time
    def value(self, name: str) -> Any:
        """Value of the last forward pass.

        Args:
            name: An output, a feed, or a value in `keep`.

        Returns:
            An array (rows, ...), `Sequences` or `Csr`.

        Raises:
            KeyError: The value does not exist or is not kept.
            RuntimeError: There was no forward pass, or it ran in another thread.
        """
        phase, plan, batch = self._last_pass("values").parts
        if not isinstance(name, str) or name not in {*phase.outputs, *self._keep, *phase.graph.feeds}:
            raise arguments.no_value(name, phase.graph.values)
        return read_value(plan, batch, phase.graph.values[name])

    def _last_pass(self, missing: str) -> LastPass:
        """The last forward pass. Raises `RuntimeError` if there was no pass, or if another thread has run it."""
        if self._last is None:
            raise RuntimeError(f"no {missing}: call forward first")
        self._last.check_thread()
        return self._last
