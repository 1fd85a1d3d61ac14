"""Test phase: loss and statistics over all data of a source, and the validations and tests of a training."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_layers.runtime.plan.metrics import LossSum, total_loss

from .data_loading import advised
from .events import Events, FinalTestDone, StepDone, TestBatchDone, TestDone, WeightsRestored
from .processes.ranks import SINGLE_PROCESS, SingleProcess
from .results.result_names import further_names, loss_names, nan_notes, statistic_names

if TYPE_CHECKING:
    from paddle_layers.config.training import Training
    from paddle_layers.data import Batches, Stream
    from paddle_layers.runtime import Net
    from paddle_layers.runtime.optimise.updater import Updater

    from .events import Run
    from .nan_checks import FiniteWeights


class PhaseData(NamedTuple):
    """The data of the evaluations of a phase."""

    phase: str
    first: Batches | Stream | None = None
    """Those of the first source; without them there is no evaluation."""
    further: Mapping[str, Batches] = MappingProxyType({})
    """Those of additional sources, by name."""

    @property
    def batches(self) -> list[Batches | Stream]:
        """The data of all sources."""
        return [*([self.first] if self.first is not None else []), *self.further.values()]


class TestRunner:
    """The evaluations of a training: `monitored` ones during it, and a final test if these are validations."""

    def __init__(
        self,
        training: Training,
        run: Run,
        updater: Updater,
        monitored: PhaseData,
        final: PhaseData,
        finite: FiniteWeights,
        ranks: SingleProcess,
        events: Events,
    ) -> None:
        self.last = -1
        """Number of completed steps at the last evaluation during the training."""
        self._training, self._run, self._updater, self._finite = training, run, updater, finite
        self._monitored, self._final, self._ranks, self._events = monitored, final, ranks, events
        self._losses, self._statistics = loss_names(training), statistic_names(training)

    def step_done(self, step: StepDone) -> None:
        """Validate or test if it is due."""
        if step.due.test:
            self.run()

    def run(self) -> None:
        """Validate or test the weights of the last step, or their averages."""
        run, is_first, self.last = self._run, self.last < 0, self._run.step
        data = self._monitored
        if data.first is None:
            return
        # Metrics are those of the averaged weights, which are also the ones that are saved for use.
        with self._averaged():
            self._finite.check(run.step)  # callbacks save what is tested
            seen = partial(self._events.emit, TestBatchDone(run))
            run.results = self._evaluate(data, self._training.test.batches, seen)
            self._events.emit(TestDone(run, nan_notes(self._training, run.results) if is_first else ()))
        # Outside of the averages: callbacks such as `plateau` save and restore the weights of the training itself.
        self._events.emit(WeightsRestored(run))

    def run_final(self, best: Path | None, step: int) -> None:
        """Test the weights of the file `best`, saved after so many steps, or those of the last step, on all test data.

        The net keeps the weights of the file: nothing follows.
        """
        run, data = self._run, self._final
        if data.first is None:
            return
        if best is not None:
            if self._ranks.first:
                run.net.load(str(best), layout="paddle_layers")
            self._ranks.take_first(run.net)
        with self._averaged() if best is None else contextlib.nullcontext():
            run.test_results = self._evaluate(data, None, None)
        self._events.emit(FinalTestDone(run, step))

    @contextlib.contextmanager
    def _averaged(self) -> Iterator[None]:
        """A context with the averaged weights, and with the states of all processes."""
        # Running averages of `batch_norm` are moved by each process's own rows: a test uses their mean.
        self._ranks.level_states(self._run.net)
        if self._ranks.count > 1:  # each process has read other rows: made in other parts, pending steps round
            self._updater.catch_up()
        with self._updater.averaged():
            yield

    def _evaluate(self, data: PhaseData, most: int | None, seen: Callable[[], None] | None) -> dict[str, float]:
        """The results of all sources of a phase, from the first batches if there is a maximum number."""
        assert data.first is not None, "checked by the callers"
        results = self._results_of(data.first, most, seen)
        for source, batches in data.further.items():
            names = further_names(self._training, source)
            results |= {names[short]: value for short, value in self._results_of(batches, most, None).items()}
        return results

    def _results_of(
        self, data: Batches | Stream, most: int | None, seen: Callable[[], None] | None
    ) -> dict[str, float]:
        batches = first_batches(data, most)
        return evaluate(self._run.net, batches, self._statistics, self._losses, seen, self._ranks)


def evaluate(
    net: Net,
    batches: Iterable[Mapping[str, Any]],
    names: Mapping[str, str],
    losses: Mapping[str, str] | None = None,
    seen: Callable[[], None] | None = None,
    ranks: SingleProcess = SINGLE_PROCESS,
) -> dict[str, float]:
    """The loss and the statistics over all batches, as if they were one; statistics are reset before and after.

    `names` are those of the statistics in the results, by the net's, and `losses` those of single losses; `seen` is
    called after each batch; other processes of `ranks` have other rows of each.
    """
    sums = ranks.sums(run_test(net, batches, seen))
    ranks.join_counts(net)
    costs = named_costs(sums, losses or {})
    return {"loss": total_loss(sums.values()), **costs, **take_statistics(net, names)}


def first_batches(batches: Iterable[Mapping[str, Any]], count: int | None) -> Iterator[Mapping[str, Any]]:
    """The first `count` batches, or all of them; prefetching threads end with it."""
    made = iter(batches)
    try:
        yield from itertools.islice(made, count)
    finally:
        if isinstance(made, Generator):
            made.close()


def run_test(
    net: Net, batches: Iterable[Mapping[str, Any]], seen: Callable[[], None] | None = None
) -> dict[str, LossSum]:
    """Run all batches. Returns the costs by name; the net has counted the statistics of these batches alone."""
    net.reset_statistics()
    sums: dict[str, LossSum] = {}
    with advised():
        for batch in batches:
            net.forward(batch, phase="test")
            for name, one in net.loss_sums().items():
                # Sums and divisors, not means: batches differ in size and in ignored labels.
                sums[name] = sums[name].plus(one) if name in sums else one
            if seen is not None:
                seen()
    return sums


def named_costs(sums: Mapping[str, LossSum], names: Mapping[str, str]) -> dict[str, float]:
    """The average per-sample losses, by the names of the log."""
    return {short: sums[name].mean for name, short in names.items() if name in sums}


def take_statistics(net: Net, names: Mapping[str, str]) -> dict[str, float]:
    """The statistics since the last call, by the names of the log; they are reset."""
    found = net.statistics()
    net.reset_statistics()
    return {short: found[name] for name, short in names.items() if name in found}
