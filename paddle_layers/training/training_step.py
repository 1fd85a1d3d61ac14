"""Training step: forward and backward passes, update of the parameters, skipping of batches with non-finite values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.runtime.optimise.finite import NonFiniteGradients
from paddle_layers.runtime.plan.metrics import LossSum, total_loss

from .data_loading import advised
from .events import Events, GradientsReady, Run
from .nan_checks import layers_behind, listed
from .problems import TrainingError
from .processes.ranks import SingleProcess
from .results.result_names import selected

if TYPE_CHECKING:
    from paddle_layers.config.training import Training
    from paddle_layers.data import Batches, Stream
    from paddle_layers.runtime.net_state import Effects
    from paddle_layers.runtime.optimise.updater import Updater

MOST_SKIPPED = 20
"""Batches in a row that may be skipped."""


class _Batch(NamedTuple):
    """A batch of a step, and the number that decides its random layers."""

    place: int
    feeds: dict[str, Any]


class TrainingStep:
    """A net, its optimizer and the batches that it learns from: one step at a time.

    The gradients of a step are those of the batch that its batches are together: its loss divides the sum of each cost
    by its divisor in the whole step: its rows, its labels that are not ignored, its matches. Those are computed first,
    from what is fed, so every backward pass has the divisors that the large batch has, as the processes of `mpiexec`
    have those of all processes.
    """

    def __init__(
        self,
        training: Training,
        run: Run,
        updater: Updater,
        batches: Batches | Stream,
        ranks: SingleProcess,
        events: Events,
    ) -> None:
        self.run, self.net, self.updater, self.batches = run, run.net, updater, batches
        self.rows = self.skipped = self._skipped_in_a_row = 0
        """Rows of the last step, and the number of skipped batches, of all steps and since the last update."""
        self._training, self._ranks, self._events = training, ranks, events
        self._skipping = training.on_nan == "skip"
        self._before: Effects | None = None
        """What the passes of this step began with; kept where batches may be skipped."""

    def make(self, rate: float, momentum: float | None) -> Mapping[str, LossSum]:
        """Make the next step. Returns the sums of its costs; nothing if it was skipped."""
        run = self.run
        run.epoch, run.rate = self.batches.position.epoch, rate
        # Before the passes, which make the step themselves where updates are part of the backward pass.
        self.updater.begin_step(rate, run.step + 1, momentum)
        costs = self._passes()
        run.step += 1
        run.epochs = self.batches.position.epoch
        if not costs:
            return {}
        run.loss = total_loss(costs.values())
        self._events.emit(GradientsReady(run))
        return costs if self._update(momentum) else {}

    def _passes(self) -> dict[str, LossSum]:
        """The passes of the next step. Returns the sums of its costs; nothing where all its batches were skipped."""
        batches = self._take()
        while batches:
            # A copy of states and statistics per step, so only where batches may be skipped.
            self._before = self.net.effects() if self._skipping else None
            sums: dict[str, LossSum] = {}
            bad, problem = self._try(batches, sums)
            if problem is None:
                return sums
            self._skip(problem)
            batches = [*batches[:bad], *batches[bad + 1 :]]  # the divisors of the others are smaller: once more
        return {}

    def _update(self, momentum: float | None) -> bool:
        """The optimizer's step; False where its gradients are not finite and the step was skipped."""
        run = self.run
        try:
            self.updater.step(run.rate, run.step, momentum)
        except NonFiniteGradients as error:
            self._skip(self._bad_gradient(error, run.step))
            return False
        self._skipped_in_a_row = 0
        return True

    def _take(self) -> list[_Batch]:
        """The batches of a step; fewer at the end of an epoch, whose last batch has the rows that are left."""
        run, train = self.run, self.batches
        batches: list[_Batch] = []
        while len(batches) < self._training.accumulate and train.position.epoch == run.epoch:
            with advised():
                feeds = train.take()
            # The number of the batch within the whole training, over all processes: each batch has random numbers of
            # its own, such as dropout masks, and the same ones in a resumed training.
            number = run.step * self._training.accumulate + len(batches)
            batches.append(_Batch(number * self._ranks.count + self._ranks.number, feeds))
        rows = sum(max((len(value) for value in batch.feeds.values()), default=0) for batch in batches)
        self.rows = rows * self._ranks.count
        return batches

    def _try(self, batches: Sequence[_Batch], sums: dict[str, LossSum]) -> tuple[int, TrainingError | None]:
        """Go through the batches. Returns the number of the first one that is not finite, and what is wrong with it."""
        # Divisors first, in a separate pass without gradients: with mean losses per batch, batches with fewer counted
        # labels would weigh more than in one large batch.
        whole = self._divisors(batches) if self._training.accumulate > 1 else None
        # A batch that was found bad may have been added in part.
        self.updater.discard()
        for number, batch in enumerate(batches):
            problem = self._pass(batch, whole, sums)
            if problem is not None:
                return number, problem
        return 0, None

    def _divisors(self, batches: Sequence[_Batch]) -> dict[str, float]:
        """The divisors of the whole step, over its batches and over all processes."""
        counts: Counter[str] = Counter()
        for batch in batches:
            counts.update(self.net.divisors(batch.feeds, step=batch.place))
        whole = self._ranks.sums({name: LossSum(1.0, 0.0, counts[name]) for name in counts})
        return {name: one.divisor for name, one in whole.items()}

    def _pass(self, batch: _Batch, divisors: dict[str, float] | None, sums: dict[str, LossSum]) -> TrainingError | None:
        """Forward and backward pass of a batch, whose losses are added to `sums`. Returns the error of bad values."""
        net, run, ranks = self.net, self.run, self._ranks
        net.forward(batch.feeds, phase="train", step=batch.place)
        costs = ranks.sums(net.loss_sums())
        run.loss = total_loss(costs.values())
        if not math.isfinite(run.loss):
            return self._bad_loss()
        if ranks.count == 1:
            net.backward(divisors=divisors)
        else:
            divisors = divisors or {name: one.divisor for name, one in costs.items()}
            # Sums over processes begin while the backward pass computes the gradients of earlier layers.
            net.backward(divisors=divisors, ready=ranks.start_sum)
            ranks.wait()
            ranks.join_rows(net)
        try:
            if self._training.accumulate > 1:
                self.updater.add()
        except NonFiniteGradients as error:
            return self._bad_gradient(error, run.step + 1)
        for name, one in costs.items():
            sums[name] = sums[name].plus(one) if name in sums else one
        return None

    def _skip(self, problem: TrainingError) -> None:
        """Go on as if the last batch had not been there; raise the problem where it is not to be so."""
        self.skipped += 1
        self._skipped_in_a_row += 1
        if self._before is None:
            raise problem
        if self._skipped_in_a_row == MOST_SKIPPED:
            raise TrainingError(f"{problem}. {MOST_SKIPPED} consecutive batches were skipped without improvement")
        self.net.restore_effects(self._before)
        self.updater.discard()
        if self._ranks.count > 1:
            self.updater.catch_up()  # each process has read other rows: made in other parts, steps round
        self.run.say(f"skipped a batch: {str(problem).partition('. ')[0]}")

    def _bad_loss(self) -> TrainingError:
        run = self.run
        layer = self._ranks.any_of(run.net.find_non_finite() or "")
        where = f"the first layer whose output is not finite is `{layer}`" if layer else "every output is finite"
        return TrainingError(
            f"the loss is {run.loss} at step {run.step + 1}: {where}. Earlier checkpoints are unchanged. "
            f"Try a smaller learning_rate (now {run.rate:.3g}), clip {{ norm: 1 }}, or a longer warmup"
        )

    def _bad_gradient(self, error: NonFiniteGradients, step: int) -> TrainingError:
        run = self.run
        layer = self._ranks.any_of(run.net.find_non_finite(backward=True) or "")
        where = f"in backward order, `{layer}` is the first layer whose gradient is not finite"
        if not layer:
            later = layers_behind(selected(self._training, "train"), error.names[0])
            where = f"the cause is one of the layers after it: {listed(later)}"
        skip = "" if self._skipping else ', or skip such batches: on_nan: "skip"'
        return TrainingError(
            f"{error} at step {step}, although the loss is {run.loss:.4g}: {where}. Earlier checkpoints are "
            f"unchanged. Avoid points of infinite slope in this layer, such as sqrt(0) or log(0){skip}"
        )
