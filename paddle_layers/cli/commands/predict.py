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
    "--value", "values", metavar="NAME", multiple=True, help="Value to write instead of the outputs; repeatable."
)
@click.option(
    "--output",
    metavar="FILE",
    help="Write to FILE (.csv, .jsonl, .npz, .h5 or .parquet) instead of stdout; never overwrites.",
)
@click.option(
    "--dictionary", metavar="FILE", help="Names of classes and vocabulary of ids, one per line, or a tokenizer.json."
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
    """Run inference on DATA with the network of the training FILE and write the outputs.

    DATA is read with the settings of the source in FILE or, by extension, as CSV, NPZ, NPY, HDF5 or Parquet; it needs
    no labels. By default it is the source of the test phase in FILE.

    The outputs are values that only costs and metrics read; --value selects others. One line per sample:
    classifiers write the class and its probabilities, sequences of ids take one line each.
    """
    from paddle_layers.data.sinks.opening import KINDS, check_sink, open_sink, text_sink

    ending = ending_of(output, KINDS)
    if output is not None:
        check_new(Path(output))
        check_sink(Path(output))
    from paddle_layers.training.inference.prediction import open_prediction
    from paddle_layers.training.runs import left_out_text

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
    """Text buffer for the terminal; control characters are escaped."""

    def show(self) -> None:
        """Print and clear the buffer."""
        text = self.getvalue().encode(errors="backslashreplace").decode()
        if text:
            echo(text, nl=False)
        self.seek(0)
        self.truncate()
