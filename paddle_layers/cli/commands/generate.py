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
    from paddle_layers.training.inference.generation import WrittenText

KINDS = {".csv": "CSV", ".jsonl": "JSON Lines"}


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
def command(
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
    ending = ending_of(output, KINDS)
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
