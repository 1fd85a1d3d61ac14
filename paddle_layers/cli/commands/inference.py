"""Commands that use a trained network: `evaluate`, `predict`, `generate`."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ..files import check_new, ending_of, replace_file
from ..options import (
    FloatRange,
    IntRange,
    chosen,
    device_option,
    say_weights,
    set_option,
    threads_option,
    weights_option,
)
from ..terminal import echo

if TYPE_CHECKING:
    from paddle_layers.training.inference.generation import WrittenText

REPORTS = {".txt": "text", ".json": "json", ".csv": "csv"}


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@weights_option
@click.option(
    "--format",
    "style",
    type=click.Choice(list(REPORTS.values())),
    help="Format of the report: readable text (default), or all values as JSON or CSV.",
)
@click.option("--svg", metavar="FILE", help="Draw the confusion matrix to FILE; overwrites it.")
@click.option(
    "--output",
    metavar="FILE",
    help="Write to FILE (.txt, .json or .csv) instead of stdout; never overwrites.",
)
@click.option("--dictionary", metavar="FILE", help="Names of the classes, one per line.")
@set_option
@device_option
@threads_option
def evaluate(
    file: str,
    data: str | None,
    weights: str | None,
    style: str | None,
    svg: str | None,
    output: str | None,
    dictionary: str | None,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Evaluate the network of the training FILE on DATA.

    DATA is read with the settings of the source in FILE or, by extension, as CSV, NPZ or NPY; by default it is the
    source of the test phase in FILE. Prints the loss, every cost and every metric; for classification also precision,
    recall, F1 and support per class and the confusion matrix; for regression MAE, RMSE and R2.
    """
    style = _report_format(style, output)
    ending_of(svg, (".svg",))
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.inference.evaluation_report import evaluate

    from ..evaluation_report import as_csv, as_json, as_text

    found = evaluate(chosen(file, settings, weights), data, weights=weights, dictionary=dictionary, device=device)
    for note in found.notes:
        echo(f"note: {note}", err=True)
    if svg is not None and not found.confusions:
        raise click.ClickException(
            "no confusion matrix to draw: no cost or metric of the network compares class scores with labels"
        )
    text = {"text": as_text, "json": as_json, "csv": as_csv}[style](found)
    if output is None:
        echo(text, nl=not text.endswith("\n"))
    else:
        # "x" instead of the earlier check alone: the file may have appeared meanwhile. Names may contain unpaired
        # surrogates, which UTF-8 cannot represent.
        with open(output, "x", encoding="utf-8", errors="backslashreplace", newline="") as target:
            target.write(text if text.endswith("\n") else f"{text}\n")
        echo(f"wrote {output}", err=True)
    if svg is not None:
        from ..evaluation_report import confusion_picture

        replace_file(Path(svg), confusion_picture(found.network or Path(file).stem, found.confusions).encode())
        echo(f"wrote {svg}", err=True)


def _report_format(style: str | None, output: str | None) -> str:
    """The output format by file extension, which `--format` may not contradict."""
    if output is None:
        return style or "text"
    meant = REPORTS[ending_of(output, REPORTS)]
    if style not in (None, meant):
        raise click.UsageError(f"--format {style} contradicts the extension of {output}; remove one of them")
    return meant


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
def predict(
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

    DATA is read with the settings of the source in FILE or, by extension, as CSV, NPZ, NPY, HDF5 or Parquet; "-" reads
    CSV from stdin. It needs no labels. By default it is the source of the test phase in FILE.

    The outputs are values that only costs and metrics read; --value selects others. CSV has one line per row: a step
    for values in sequences, a whole sequence for ids; classifiers write the class and its probabilities. JSON Lines
    (.jsonl) has one line per sample.
    """
    from paddle_layers.data.sinks.opening import KINDS, check_sink, open_sink, text_sink

    ending = ending_of(output, KINDS)
    if output is not None:
        check_new(Path(output))
        # Missing packages of the format are reported now, not after the inference.
        check_sink(Path(output))
    from paddle_layers.training.inference.prediction import open_prediction
    from paddle_layers.training.results.training_report import left_out_text

    with contextlib.ExitStack() as stack:
        run = stack.enter_context(
            open_prediction(chosen(file, settings, weights), data, weights, values, dictionary, device)
        )
        say_weights(run, weights)
        stream = TerminalBuffer()
        sink = text_sink(ending, stream) if output is None else stack.enter_context(open_sink(Path(output)))
        for batch in run.batches():
            sink.write(batch)
            stream.show()
        for note in (*run.unknown.notes(), *filter(None, [left_out_text(run.data)])):
            echo(f"note: {note}", err=True)
    if output is not None:
        echo(f"wrote {output}", err=True)


class TerminalBuffer(io.StringIO):
    """Text buffer for the terminal; control characters are escaped."""

    def show(self) -> None:
        """Print and clear the buffer."""
        # Escaped here and not where it is written: a file must contain the strings as they are.
        text = self.getvalue().encode(errors="backslashreplace").decode()
        if text:
            echo(text, nl=False)
        self.seek(0)
        self.truncate()


SEQUENCES = (".csv", ".jsonl")


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@weights_option
@click.option("--dictionary", metavar="FILE", help="Vocabulary of the ids, one word per line, or a tokenizer.json.")
@click.option("--output", metavar="FILE", help="Write to FILE (.csv or .jsonl) instead of stdout; never overwrites.")
@click.option("--beam-size", type=IntRange(min=1), help="Beam size: hypotheses per sample at each step.")
@click.option("--results", type=IntRange(min=1), help="Generated sequences per sample.")
@click.option("--max-length", type=IntRange(min=1), help="Maximum number of words per sequence.")
@click.option("--length-penalty", type=FloatRange(min=0), help="Divide scores by the length raised to this power.")
@click.option(
    "--temperature",
    type=FloatRange(min=0, min_open=True),
    help="Sample instead of beam search; below 1 favors probable words.",
)
@click.option("--top-k", type=IntRange(min=1), help="Sample from the K most probable words.")
@click.option(
    "--top-p",
    type=FloatRange(min=0, max=1, min_open=True),
    help="Sample from the most probable words up to this total probability (nucleus sampling).",
)
@click.option("--seed", type=IntRange(min=0), help="Seed of the sampling; by default that of FILE.")
@device_option
@threads_option
def generate(
    file: str,
    data: str | None,
    weights: str | None,
    dictionary: str | None,
    output: str | None,
    device: str,
    **settings: float | None,
) -> None:
    """Generate text with the network of the training FILE.

    Generates sequences for each sample of DATA. The options override the block `generate` in FILE. DATA is read with
    the settings of the source in FILE; by default it is the source of the test phase.

    Prints one line per generated sequence: the sample number, the score and the words.
    """
    ending = ending_of(output, SEQUENCES)
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.inference.generation import open_generation

    written = io.StringIO()
    given = {name: value for name, value in settings.items() if value is not None}
    with open_generation(file, data, weights, dictionary, device, given) as run:
        say_weights(run, weights)
        write = write_table if ending == ".csv" else write_lines
        row = 0
        for batch in run.batches():
            write(batch, row, written)
            row += len(batch)
            if output is None:
                echo(written.getvalue(), nl=False)
                written = io.StringIO()
    if output is not None:
        replace_file(Path(output), written.getvalue().encode())
        echo(f"wrote {output}", err=True)


def write_table(batch: list[list[WrittenText]], row: int, stream: TextIO) -> None:
    """Write one CSV line per generated sequence."""
    table = csv.writer(stream, lineterminator="\n")
    if not row:
        table.writerow(["row", "score", "text"])
    for number, texts in enumerate(batch, start=row):
        table.writerows([number, f"{one.score:.4f}", one.text] for one in texts)


def write_lines(batch: list[list[WrittenText]], row: int, stream: TextIO) -> None:
    """Write one JSON object per generated sequence."""
    for number, texts in enumerate(batch, start=row):
        for one in texts:
            item = {"row": number, "score": one.score, "text": one.text, "words": one.words}
            stream.write(json.dumps(item, ensure_ascii=False) + "\n")
