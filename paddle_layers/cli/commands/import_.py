"""`import`: conversion of networks, trainings and weights of other systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..output.files import check_new
from ..output.terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define import Type

ONNX, CAFFE, MEAN, MODEL = ".onnx", (".prototxt", ".pbtxt", ".txt"), ".binaryproto", ".caffemodel"


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="Output folder.")
@click.option("--weights", metavar="FILE", type=click.Path(path_type=Path), help="Caffe weights (.caffemodel).")
@click.option("--mean", metavar="FILE", type=click.Path(path_type=Path), help="Caffe image mean (.binaryproto).")
@click.option(
    "--shape",
    "shapes",
    metavar="NAME=SHAPE",
    multiple=True,
    help="Type of an input that FILE leaves open: 3x227x227 or ids<1000; repeatable.",
)
@click.option("--force", is_flag=True, help="Overwrite the files of an earlier import.")
def command(
    file: Path, output: Path, weights: Path | None, mean: Path | None, shapes: tuple[str, ...], force: bool
) -> None:
    """Import the ONNX or Caffe network FILE into the folder DIR.

    Writes network.textproto, the weights and a report. FILE is an ONNX model (.onnx), a Caffe network or solver
    (.prototxt; a solver also becomes train.textproto), or a Caffe image mean (.binaryproto), which becomes mean.npy.
    Lists everything that is unsupported and then writes nothing. ONNX models require onnx: pip install
    'paddle-layers[onnx]'.
    """
    given = dict(map(_shape, shapes))
    found = _onnx(file, (weights, mean, shapes)) if _ending(file) == ONNX else _caffe(file, weights, mean, given)
    if output.is_dir() and not force:
        for name in found.names:
            check_new(output / name)
    paths = found.write(output)
    echo(found.summary.rstrip("\n"))
    for path in paths:
        echo(f"wrote {path}", err=True)


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending == MODEL:
        raise click.UsageError(
            f"{file} contains only weights; run `paddle-layers import NET.prototxt --weights {file}`"
        )
    if ending not in (ONNX, *CAFFE, MEAN):
        raise click.UsageError(f"{file}: unsupported extension; expected {ONNX}, {CAFFE[0]} or {MEAN}")
    return ending


def _onnx(file: Path, others: tuple[object, ...]) -> Any:
    from paddle_layers.exchange.onnx_in.importing import import_onnx

    if any(others):
        raise click.UsageError(f"--weights, --mean and --shape are only for Caffe; remove them for {file}")
    return import_onnx(file)


def _caffe(file: Path, weights: Path | None, mean: Path | None, shapes: dict[str, Type]) -> Any:
    from paddle_layers.exchange.caffe_in.importing import import_mean, import_prototxt

    if _ending(file) == MEAN:
        if weights or mean or shapes:
            raise click.UsageError(f"--weights, --mean and --shape require a .prototxt; {file} is an image mean")
        return import_mean(file)
    return import_prototxt(file, weights=weights, mean=mean, shapes=shapes)


def _shape(text: str) -> tuple[str, Type]:
    """The name and the type of an input."""
    from paddle_layers.define import Type

    name, _, shape = text.partition("=")
    try:
        type_ = Type.parse(shape)
    except ValueError as error:
        raise click.UsageError(f"--shape {text}: {error}") from None
    if not name or 0 in type_.dims or not type_.size:
        raise click.UsageError(f"--shape {text}: expected NAME=SHAPE with positive sizes, such as data=3x227x227")
    return name, type_
