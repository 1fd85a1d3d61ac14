"""`print`: values and gradients of the network, shown while it learns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_layers.define import Int, String, Strings, callback

from ..problems import TrainingError
from .repeating import Repeating

if TYPE_CHECKING:
    from ..runs import Run


@callback(
    "print",
    elsewhere={"Paddle": "value_printer, gradient_printer, max_id_printer, seq_text_printer, print"},
)
class Print(Repeating):
    """Shows values of the network while it learns, and their gradients: the first rows of a batch.

    `best: 1` shows the best class of every row, as Paddle's `max_id_printer`; with the labels beside it in `values`,
    where a row is wrong. With a `dictionary` ids are words, so sequences of ids are text, which Paddle's
    `seq_text_printer` writes into a file. Of sparse rows the columns that are set are shown. Values of a test are
    written by `write_values`. Paddle's layer `print` shows its inputs in every pass.
    """

    reads_sparse = True

    values = Strings("values that are shown", default=())
    gradients = Strings("values whose gradients are shown", default=())
    rows = Int("rows of a batch that are shown; sequences where these are ids", default=3, min=1)
    best = Int("shows so many of a row's best columns in place of all, as `column:value`", min=1, optional=True)
    dictionary = String(
        "file of the words of ids, one on each line, or a tokenizer.json, relative to the training file", default=""
    )

    def __init__(self) -> None:
        self.keep = (*self.values, *self.gradients)
        self._words: Sequence[str] = ()

    def prepare(self, base: Path) -> None:
        """Read the dictionary."""
        from paddle_layers.data.formats.dictionaries import read_words

        if self.dictionary:
            self._words = read_words(base / self.dictionary)

    def on_step(self, run: Run) -> None:
        """Show them when it is time."""
        from ..printing import value_text

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
            f"`gradients` names `{name}`, but nothing asks for its gradient: no layer before it learns; "
            "`propagate_down: true` in a layer that reads it makes it computed"
        ) from None
