"""`predict`: inference on new data."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from ..options.device import device_option
from ..options.settings import chosen, set_option
from ..options.threads import threads_option
from ..options.weights import say_weights, weights_option
from ..output.files import check_new, ending_of
from ..output.terminal import echo


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@weights_option
@click.option(
    "--value", "values", metavar="NAME", multiple=True, help="A value of the network; may be given several times."
)
@click.option(
    "--output",
    metavar="FILE",
    help="Write here instead of to stdout: .csv, .jsonl (a JSON object on each line), .npz, .h5 or .parquet. Nothing "
    "is overwritten.",
)
@click.option(
    "--dictionary", metavar="FILE", help="The words of ids and classes, one on each line, or a tokenizer.json."
)
@set_option
@device_option
@threads_option
def command(
    file: str,
    data: str | None,
    weights: str | None,
    values: tuple[str, ...],
    output: str | None,
    dictionary: str | None,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Write what the network of the training FILE makes of DATA, as a table with a line for each row.

    DATA is read as the training file's source reads its own file or folder; or, by its ending, as csv, npz, npy, HDF5
    or Parquet. It needs no labels. Without DATA the file's source for the test phase is used.

    What is written are the network's outputs: what no layer reads but costs and statistics; --value names others.
    Classes come with their probabilities; ids in sequences are a line for each sequence.
    """
    from paddle_layers.data.sinks.opening import KINDS, check_sink, open_sink, text_sink

    ending = ending_of(output, KINDS, "predictions")
    if output is not None:
        check_new(Path(output))
        check_sink(Path(output))
    from paddle_layers.training.runs import left_out_text
    from paddle_layers.training.trained.prediction import open_prediction

    with contextlib.ExitStack() as stack:
        run = stack.enter_context(open_prediction(chosen(file, settings), data, weights, values, dictionary, device))
        say_weights(run, weights)
        stream = Shown()
        sink = text_sink(ending, stream) if output is None else stack.enter_context(open_sink(Path(output)))
        for batch in run.batches():
            sink.write(batch)
            stream.show()
        if left_out := left_out_text(run.data):
            echo(f"note: {left_out}", err=True)
    if output is not None:
        echo(f"wrote {output}", err=True)


class Shown(io.StringIO):
    """Text on its way to the terminal, where it is shown without what that would obey."""

    def show(self) -> None:
        """Write what there is, and forget it."""
        text = self.getvalue().encode(errors="backslashreplace").decode()
        if text:
            echo(text, nl=False)
        self.seek(0)
        self.truncate()
