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
    """Evaluate the network of the training FILE on DATA.

    DATA is read with the settings of the source in FILE or, by extension, as CSV, NPZ or NPY; by default it is the
    source of the test phase in FILE. Prints the loss, every cost and every metric; for classification also precision,
    recall, F1 and support per class and the confusion matrix; for regression MAE, RMSE and R2.
    """
    style = _format(style, output)
    ending_of(svg, {".svg": "SVG"})
    if output is not None:
        check_new(Path(output))
    from paddle_layers.training.inference.evaluation_report import evaluate

    from ..output.evaluation_texts import as_csv, as_json, as_text

    found = evaluate(chosen(file, settings), data, weights=weights, dictionary=dictionary, device=device)
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
    meant = FORMATS[ending_of(output, FORMATS)]
    if style not in (None, meant):
        raise click.UsageError(f"--format {style} contradicts the extension of {output}; remove one of them")
    return meant
