"""`print`: values and gradients of the network during training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Int, String, Strings, callback

from ..problems import TrainingError
from . import Repeating

if TYPE_CHECKING:
    from ..runs import Run


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


def _gradient(run: Run, name: str) -> Any:
    try:
        return run.net.gradient(name)
    except KeyError:
        raise TrainingError(
            f"`gradients` names `{name}`, whose gradient is not computed: no trainable layer precedes it; set "
            "`propagate_down: true` in a layer that reads it"
        ) from None
