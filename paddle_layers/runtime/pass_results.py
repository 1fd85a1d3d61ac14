"""Results of passes: values and gradients of the last pass, losses, and the divisors of losses."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from numpy.typing import NDArray

from paddle_layers.runtime.batch.dynamic_rows import CapacityExceededError, make_late_rows
from paddle_layers.runtime.batch.feeding import Batch
from paddle_layers.runtime.batch.rows import prepare_entries
from paddle_layers.runtime.batch.transfers import read_value, rows_of, write_batch
from paddle_layers.runtime.plan.metrics import LossSum, loss_divisors, loss_sums, total_loss
from paddle_layers.runtime.plan.phase import Phase
from paddle_layers.runtime.plan.plan import Plan

from .arguments import no_gradient, no_value
from .net_state import NetWeights, one_at_a_time

_INSTEAD = {
    **dict.fromkeys(("train", "eval"), 'write `forward(feeds)` to train, `forward(feeds, phase="test")` for inference'),
    **dict.fromkeys(("fit", "compile"), "use `pl.train`, or a loop with a `pl.Optimizer`"),
    "state_dict": "`save` writes the weights, `parameters` has them by name",
    "load_state_dict": "`load` reads a weights file",
    "zero_grad": "`backward` overwrites the gradients",
    **dict.fromkeys(("to", "cuda"), 'write `pl.Net(network, device="cuda")`'),
    "predict": "`forward` returns the outputs; `pl.predict` reads and writes files",
}
"""Methods of PyTorch's modules and Keras' models, and what to use instead."""


@dataclass(eq=False)
class LastPass:
    """A forward pass; its results belong to the thread that ran it.

    It is recorded as a whole, so that no interrupt leaves a part of it.
    """

    phase: Phase
    plan: Plan
    batch: Batch
    thread: threading.Thread = field(default_factory=threading.current_thread)
    consumed: bool = False
    """Whether a backward pass has overwritten the values, or has begun to."""
    has_gradients: bool = False
    """Whether a backward pass has completed."""

    @functools.cached_property
    def loss(self) -> float:
        """The loss; read once, since a backward pass overwrites values."""
        return total_loss(self.loss_sums().values())

    def loss_sums(self) -> dict[str, LossSum]:
        """The losses by name, as sums."""
        return loss_sums(self.phase.graph, self.plan)

    def gradient(self, name: str, parameters: Container[str]) -> NDArray[Any]:
        """A copy of the gradient of a value. Raises `KeyError` if it does not exist, `RuntimeError` before backward."""
        if not isinstance(name, str) or name not in self.plan.gradients:
            types = {value: one.type for value, one in self.phase.graph.values.items()}
            raise no_gradient(name, self.plan.gradients, parameters, types)
        if not self.has_gradients:
            raise RuntimeError("no gradients: call backward after the last forward pass")
        return rows_of(self.plan, self.plan.gradients[name], self.phase.graph.values[name]).copy()

    @property
    def parts(self) -> tuple[Phase, Plan, Batch]:
        """Phase, plan and batch of the pass."""
        return self.phase, self.plan, self.batch

    def check_thread(self) -> None:
        """Raises `RuntimeError` in another thread than the one that ran the pass."""
        if self.thread is not threading.current_thread():
            raise RuntimeError("the last forward pass ran in another thread; use one Net per training thread")


class PassResults(NetWeights):
    """The part of `Net` that reads the results of the last pass."""

    _keep: tuple[str, ...]
    _last: LastPass | None

    if not TYPE_CHECKING:  # for type checkers, a misspelled attribute remains an error

        def __getattr__(self, name: str) -> NoReturn:
            instead = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
            raise AttributeError(f"a net has no attribute `{name}`{instead}", name=name, obj=self)

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
            raise no_value(name, phase.graph.values)
        return read_value(plan, batch, phase.graph.values[name])

    def _last_pass(self, missing: str) -> LastPass:
        """The last forward pass. Raises `RuntimeError` if there was no pass, or if another thread has run it."""
        if self._last is None:
            raise RuntimeError(f"no {missing}: call forward first")
        self._last.check_thread()
        return self._last


def batch_divisors(phase: Phase, batch: Batch, key: Callable[[str], int]) -> dict[str, float]:
    """The divisors by the name of the loss, without the weight, before a pass; `key` is that of the next pass.

    A step of several batches divides by their sums.

    Returns:
        The divisors.
    """
    prepare_entries(batch, phase.graph, key)
    phase.select(batch.of)
    if batch.reserve(phase.graph):
        phase.outgrow()
    # A batch may exceed the capacity only after values of the pass are known; the second plan then has enough of it.
    while True:
        plan = phase.divisor_plan()
        try:
            _run(plan, batch, key)
        except CapacityExceededError:
            phase.outgrow()
        else:
            return loss_divisors(phase.graph, plan)


def _run(plan: Plan, batch: Batch, key: Callable[[str], int]) -> None:
    plan.lay(batch)
    write_batch(plan, batch)
    plan.set_keys(key)
    plan.forward(lambda made: make_late_rows(batch, made, plan))
