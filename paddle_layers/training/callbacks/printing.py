"""Callbacks that print values of the network: `print`, its first samples; `debug`, means of all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_layers.define import Int, String, Strings, callback

from ..problems import TrainingError
from . import Repeating

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..events import Run


@callback(
    "print",
    elsewhere={"Paddle": "value_printer, gradient_printer, max_id_printer, seq_text_printer, print"},
    terms=("print values",),
)
class Print(Repeating):
    """Prints values of the network and their gradients during training: the first samples of a batch.

    `best: 1` prints the class with the maximum score per sample, as Paddle's `max_id_printer`; add the labels to
    `values` to see errors. With a `dictionary` ids are printed as words, so sequences of ids are text, which Paddle's
    `seq_text_printer` writes to a file. For sparse values the nonzero columns are printed. To write values of a test to
    a file see `write_values`. Paddle's layer `print` prints its inputs in every pass.
    """

    reads_sparse = True

    values = Strings("values to print", default=())
    gradients = Strings("values whose gradients are printed", default=())
    rows = Int("number of samples to print; of sequences, if they are ids", default=3, min=1)
    best = Int("print only the columns with the largest values, as `column:value`", min=1, optional=True)
    dictionary = String(
        "vocabulary file, one word per line, or a tokenizer.json, relative to the training file", default=""
    )

    def __init__(self) -> None:
        self.keep = (*self.values, *self.gradients)
        self._words: Sequence[str] = ()

    def prepare(self, base: Path) -> None:
        """Read the dictionary."""
        from paddle_layers.data.formats.tokenizers import read_words

        if self.dictionary:
            self._words = read_words(base / self.dictionary)

    def on_step(self, run: Run) -> None:
        """Show them when it is time."""
        from ..network_values import value_text

        if not self.due(run):
            return
        for name in self.values:
            run.say(f"step {run.step}: {name}\n{value_text(run.net.value(name), self.rows, self.best, self._words)}")
        for name in self.gradients:
            run.say(f"step {run.step}: gradient of {name}\n{value_text(_gradient(run, name), self.rows, None, ())}")


@callback(
    "debug",
    elsewhere={"Caffe": "debug_info", "Paddle": "show_parameter_stats_period"},
    terms=("debug output", "monitor gradients", "vanishing gradients"),
)
class Debug(Repeating):
    """Debug output: the mean absolute value of every layer output, parameter, gradient and update, and dead units.

    As Caffe's `debug_info`. A unit, which is a column or a channel of a value, is dead if it is zero in the whole
    batch, such as a `relu` whose inputs are always negative. Gradients that decrease from layer to layer are vanishing;
    an update of more than a hundredth of its parameter is a large step. All values are kept for it, so training needs
    more memory.
    """

    keep = ("*",)

    def __init__(self) -> None:
        self._before: dict[str, NDArray[Any]] = {}

    def on_gradients(self, run: Run) -> None:
        """Note the parameters before they change."""
        if self.due(run):
            self._before = {name: np.array(one.value) for name, one in run.net.parameters.items()}

    def on_step(self, run: Run) -> None:
        """Show all of it when it is time."""
        if not self.due(run):
            return
        rows = [("value", "mean abs.", "gradient", "", "dead units"), *_values(run)]
        rows += [("parameter", "mean abs.", "gradient", "update", ""), *self._parameters(run)]
        self._before = {}
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
        run.say("\n".join([f"step {run.step}: values, gradients and updates", *(f"  {line}" for line in lines)]))

    def _parameters(self, run: Run) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for name, one in run.net.parameters.items():
            value, gradient, before = one.value, one.gradient, self._before.get(name)
            update = "" if before is None or not one.trained else _mean(value - before)
            rows.append((name, _mean(value), "" if gradient is None else _mean(gradient), update, ""))
        return rows


def _gradient(run: Run, name: str) -> Any:
    try:
        return run.net.gradient(name)
    except KeyError:
        raise TrainingError(
            f"`gradients` names `{name}`, whose gradient is not computed: no trainable layer precedes it; set "
            "`propagate_down: true` in a layer that reads it"
        ) from None


def _values(run: Run) -> list[tuple[str, ...]]:
    """A line for each value that is no id; gradients where they are computed."""
    from ..network_values import rows_and_starts  # with it comes the runtime, which the check of a file does without

    rows: list[tuple[str, ...]] = []
    for name in _dense(run):
        try:
            value, _ = rows_and_starts(run.net.value(name))
        except KeyError:  # of a layer of the other phase
            continue
        try:
            gradient = _mean(rows_and_starts(run.net.gradient(name))[0])
        except KeyError:
            gradient = ""
        units = np.abs(value).max(axis=(0, *range(2, value.ndim)), initial=0) if value.ndim > 1 else np.zeros(0)
        dead = int(np.count_nonzero(units == 0))
        rows.append((name, _mean(value), gradient, "", f"{dead} of {units.size}" if dead and units.size else ""))
    return rows


def _dense(run: Run) -> Iterator[str]:
    for node in run.net.network.nodes:
        for name, type_ in zip(node.output_names, node.output_types, strict=True):
            if type_.kind == "DENSE":
                yield name


def _mean(array: Any) -> str:
    """The mean of absolute values, so that sums of small precision do not overflow."""
    found = np.asarray(array)
    mean = float(np.mean(np.abs(found), dtype=np.float64)) if found.size else math.nan
    return f"{mean:.3g}"
