"""`evaluate`: evaluation of saved weights on held-out data."""

from __future__ import annotations

from pathlib import Path

import click

from ..options.device import device_option
from ..options.settings import chosen, set_option
from ..options.threads import threads_option
from ..options.weights import weights_option
from ..output.files import check_new, ending_of, replace_file
from ..output.terminal import echo

FORMATS = {".txt": "text", ".json": "json", ".csv": "csv"}


@click.command()
@click.argument("file")
@click.argument("data", required=False)
@weights_option
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS.values())),
    help="What is written to stdout: a page to read (text, the default), or all numbers as JSON or csv.",
)
@click.option("--svg", metavar="FILE", help="Draw the confusion matrix into this file, in place of what it holds.")
@click.option(
    "--output",
    metavar="FILE",
    help="Write here instead of to stdout: .txt, .json or .csv. Nothing is overwritten.",
)
@click.option("--dictionary", metavar="FILE", help="The words of the classes, one on each line.")
@set_option
@device_option
@threads_option
def command(
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
    """Test the network of the training FILE with saved weights on DATA, by default the file's source of the test phase.

    DATA is read as the training file's source reads its own file; or, by its ending, as csv, npz or npy. Prints
    the loss, every cost and statistic by name; for costs of classes precision, recall, F1 and support of each class,
    and how often it was taken for which; for costs of numbers MAE, RMSE and R2.
    """
    style = _format(style, output)
    ending_of(svg, {".svg": "a picture"}, "pictures")
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.trained.evaluation_report import evaluate

    from ..output.evaluation_texts import as_csv, as_json, as_text

    found = evaluate(chosen(file, settings), data, weights=weights, dictionary=dictionary, device=device)
    for note in found.notes:
        echo(f"note: {note}", err=True)
    if svg is not None and not found.confusions:
        raise click.ClickException(
            "there is no confusion matrix to draw: no cost or statistic of the network compares "
            "the scores of classes with labels"
        )
    text = {"text": as_text, "json": as_json, "csv": as_csv}[style](found)
    if output is None:
        echo(text, nl=not text.endswith("\n"))
    else:
        with open(output, "x", encoding="utf-8", errors="backslashreplace", newline="") as target:
            target.write(text if text.endswith("\n") else f"{text}\n")
        echo(f"wrote {output}", err=True)
    if svg is not None:
        from ..output.confusion_picture import picture

        replace_file(Path(svg), picture(found.network or Path(file).stem, found.confusions).encode())
        echo(f"wrote {svg}", err=True)


def _format(style: str | None, output: str | None) -> str:
    """The output format by file extension, which `--format` may not contradict."""
    if output is None:
        return style or "text"
    meant = FORMATS[ending_of(output, FORMATS, "evaluations")]
    if style not in (None, meant):
        raise click.UsageError(f"--format is {style}, but {output} says {meant}: leave one of them out")
    return meant
