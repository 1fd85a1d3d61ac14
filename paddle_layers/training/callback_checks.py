"""Checks of callbacks before the first step: monitored results, values that they read, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.config.trainingfiles import NO_TEST_SOURCE, TEST_SOURCE, acts_on_tests
from paddle_layers.data import DataError
from paddle_layers.define.errors import suggestion
from paddle_layers.define.name_patterns import matching

from .callbacks.monitoring import Watching
from .problems import TrainingError
from .results.result_names import best_of, column_names, selected

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import Training

CODE = "E318"


def prepare_callbacks(training: Training, callbacks: Sequence[object], monitored: str) -> list[str]:
    """Let callbacks read their files; returns the names of the values that they read. Raises `ConfigError`.

    The phase `monitored` has the results that they act on.
    """
    if faults := list(callback_faults(training, callbacks, monitored)):
        raise ConfigError(faults)
    keep: list[str] = []
    for listener in callbacks:
        known = _readable_by(training, listener)
        for name in getattr(listener, "keep", ()):
            keep += matching(name, sorted(known)) if "*" in name else [name]
    return keep


def check_tests(training: Training, callbacks: Sequence[object]) -> None:
    """Raises `ConfigError`, or `TrainingError` for a callback from Python, where something waits for tests."""
    if training.test.repeated or training.test.at_start:
        raise training.error("test.every", NO_TEST_SOURCE, code="E310", help=TEST_SOURCE)
    for number, listener in enumerate(callbacks):
        if acts_on_tests(type(listener)) or getattr(listener, "phase", "") == "test":
            named = number < len(training.callback)
            name = training.callback[number].definition.name if named else type(listener).__name__
            message = f"`{name}` requires tests, but {NO_TEST_SOURCE}"
            if named:
                raise training.error(f"callback[{number}]", message, code="E310", help=TEST_SOURCE)
            raise TrainingError(f"{message}: add one, or pass datasets={{'validation': ...}}")


def callback_faults(training: Training, callbacks: Sequence[object], monitored: str) -> Iterator[Diagnostic]:
    """The errors of all callbacks, each at its position in the training file; those without errors are prepared."""
    results, all_results = {"loss", *column_names(training, (monitored,))}, column_names(training)
    results.update(name for listener in callbacks for name in getattr(listener, "gives", ()))
    best = best_of(training)
    for number, listener in enumerate(callbacks):
        place = f"callback[{number}]"
        watched = getattr(listener, "watch", "loss")
        if watched not in results:
            there = ", ".join(f"`{name}`" for name in sorted(results))
            message = f"unknown {monitored} result `{watched}` in `watch`; available: {there}"
            message += suggestion(watched, results)
            if len(results) == 1:
                message += "; metrics are layers of the network, such as `accuracy`"
            if watched in all_results:
                message = (
                    f"`{watched}` is a result of the test at the end; `watch` needs one of the validations: {there}"
                )
            yield training.fault(f"{place}/watch", message, code=CODE)
        better = best.get(watched)
        # The wrong mode would keep the worst weights as the best, without any error.
        if better is not None and (getattr(listener, "mode", None) or better) in {"min", "max"} - {better}:
            size = "larger" if better == "max" else "smaller"
            message = f"{size} values of `{watched}` are better: remove `mode`, or write `mode: {better}`"
            yield training.fault(f"{place}/mode", message, code=CODE)
        if isinstance(listener, Watching):
            if better is None and not listener.mode and watched in results:
                message = f"it is unknown whether smaller or larger values of `{watched}` are better"
                help_ = "add `mode: min` or `mode: max`"
                yield training.fault(f"{place}/watch", message, code=CODE, help=help_)
            listener.known_mode = better or listener.known_mode
        yield from _unreadable(training, number, listener)
        if hasattr(listener, "prepare"):
            try:
                listener.prepare(training.base)
            except DataError as error:
                yield training.fault(place, str(error), code=CODE)


def _unreadable(training: Training, number: int, listener: object) -> Iterator[Diagnostic]:
    """Values that a callback reads and that do not exist in its phase, or are sparse."""
    phase, known = getattr(listener, "phase", "train"), _readable_by(training, listener)
    for name in getattr(listener, "keep", ()):
        if "*" in name or name in known:
            continue
        message = f"{type(listener).__name__} reads `{name}`: no such value in the {phase} phase"
        if name in _readable(training, phase, sparse=True):
            message = f"{type(listener).__name__} reads `{name}`, but cannot read sparse rows"
        yield training.fault(f"callback[{number}]", message + suggestion(name, known), code=CODE)


def _readable_by(training: Training, listener: object) -> set[str]:
    phase = getattr(listener, "phase", "train")
    return _readable(training, phase, sparse=getattr(listener, "reads_sparse", False))


def _readable(training: Training, phase: str, *, sparse: bool) -> set[str]:
    """The values of a phase that callbacks can read."""
    if phase not in ("train", "test"):
        return set()
    return {
        name
        for node in selected(training, phase).nodes
        for name, type_ in zip(node.output_names, node.output_types, strict=True)
        if sparse or type_.kind in ("DENSE", "INT")
    }
