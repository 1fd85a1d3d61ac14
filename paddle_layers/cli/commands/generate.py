"""`generate`: text generation with a trained network."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ..options.device import device_option
from ..options.ranges import FloatRange, IntRange
from ..options.threads import threads_option
from ..options.weights import say_weights, weights_option
from ..output.files import check_new, ending_of, replace_file
from ..output.terminal import echo

if TYPE_CHECKING:
    from paddle_layers.training.trained.generation import WrittenText

KINDS = {".csv": "a table", ".jsonl": "a JSON object on each line"}


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@weights_option
@click.option("--dictionary", metavar="FILE", help="The words of the ids, one on each line, or a tokenizer.json.")
@click.option(
    "--output", metavar="FILE", help="Write here instead of to stdout: .csv or .jsonl. Nothing is overwritten."
)
@click.option("--beam-size", type=IntRange(min=1), help="Texts that are kept of each sample at every word.")
@click.option("--results", type=IntRange(min=1), help="Texts of each sample that are written down.")
@click.option("--max-length", type=IntRange(min=1), help="Words of the longest text.")
@click.option("--length-penalty", type=FloatRange(min=0), help="Divide scores by the length to this power.")
@click.option(
    "--temperature", type=FloatRange(min=0, min_open=True), help="Draw the words; below 1 the probable ones more."
)
@click.option("--top-k", type=IntRange(min=1), help="Draw from so many words with the best scores.")
@click.option(
    "--top-p",
    type=FloatRange(min=0, max=1, min_open=True),
    help="Draw from the fewest words of this probability.",
)
@click.option("--seed", type=IntRange(min=0), help="Seed of what is drawn; by default that of the training.")
@device_option
@threads_option
def command(
    file: str,
    data: str | None,
    weights: str | None,
    dictionary: str | None,
    output: str | None,
    device: str,
    **settings: float | None,
) -> None:
    """Write texts with the network of the training FILE, for each sample of DATA.

    The block `generate` of FILE says how; the options take the place of what is there. DATA is read as the training
    file's source reads its own file; without it that source's data for the test phase are used.

    A line for each text has the number of the sample, the score, and the words.
    """
    ending = ending_of(output, KINDS, "texts")
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.trained.generation import open_generation

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
    """A line of a table for each text."""
    table = csv.writer(stream, lineterminator="\n")
    if not row:
        table.writerow(["row", "score", "text"])
    for number, texts in enumerate(batch, start=row):
        table.writerows([number, f"{one.score:.4f}", one.text] for one in texts)


def write_lines(batch: list[list[WrittenText]], row: int, stream: TextIO) -> None:
    """A JSON object for each text."""
    for number, texts in enumerate(batch, start=row):
        for one in texts:
            item = {"row": number, "score": one.score, "text": one.text, "words": one.words}
            stream.write(json.dumps(item, ensure_ascii=False) + "\n")
