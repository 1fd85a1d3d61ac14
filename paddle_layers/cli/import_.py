"""`import`: networks, trainings and weights of other systems as files of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .output import check_new
from .terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define import Type

ONNX, CAFFE, MEAN, MODEL = ".onnx", (".prototxt", ".pbtxt", ".txt"), ".binaryproto", ".caffemodel"


@click.command()
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", required=True, metavar="DIR", help="The folder for network, weights and report.")
@click.option("--force", is_flag=True, help="Replace the files of an older import.")
@click.option("--weights", metavar="FILE", help="Of Caffe: a .caffemodel with the weights.")
@click.option("--mean", metavar="FILE", help="Of Caffe: a .binaryproto with the mean.")
@click.option(
    "--shape",
    "shapes",
    metavar="NAME=SHAPE",
    multiple=True,
    help="Of Caffe: what an input holds, where FILE does not say: 3x227x227 or ids<1000; may be given several times.",
)
def command(
    file: str, output: str, force: bool, weights: str | None, mean: str | None, shapes: tuple[str, ...]
) -> None:
    """Write the network of FILE, its weights, and a report of what became what, into DIR.

    FILE is an ONNX model (pip install 'paddle-layers[onnx]'), or a .prototxt of Caffe: a net, or a solver, which
    becomes a training file too; a .binaryproto alone becomes mean.npy. Then `validate`, `show`, `predict` and `export`
    take DIR/network.textproto, and a training goes on from the weights. What has no counterpart is told at once, and
    nothing is written.
    """
    ending = Path(file).suffix.lower()
    if ending == MODEL:
        raise click.UsageError(f"{file} has weights alone: write `import NET.prototxt --weights {file}`")
    if ending not in CAFFE and (weights or mean or shapes):
        raise click.UsageError(f"{file}: --weights, --mean and --shape are for a .prototxt")
    if ending in (*CAFFE, MEAN):
        _import_caffe(file, Path(output), weights, mean, dict(map(_shape, shapes)), force=force)
    else:
        _import_onnx(file, Path(output), force=force)


def _import_onnx(file: str, target: Path, *, force: bool) -> None:
    from paddle_layers.exchange.onnx_in.importing import NETWORK, REPORT, WEIGHTS, import_onnx

    if not force:
        _check_free(target, (NETWORK, WEIGHTS, REPORT))
    imported = import_onnx(file)
    _told(imported.summary, imported.write(target))


def _import_caffe(
    file: str, target: Path, weights: str | None, mean: str | None, shapes: dict[str, Type], *, force: bool
) -> None:
    from paddle_layers.exchange.caffe_in.importing import import_mean, import_prototxt

    is_mean = Path(file).suffix.lower() == MEAN
    imported = import_mean(file) if is_mean else import_prototxt(file, weights=weights, mean=mean, shapes=shapes)
    if not force:
        _check_free(target, imported.names)
    _told(imported.report, imported.write(target))


def _check_free(folder: Path, names: list[str] | tuple[str, ...]) -> None:
    """Raise `OSError` where something would be overwritten."""
    for name in names if folder.is_dir() else ():
        check_new(folder / name)


def _told(report: str, paths: list[Path]) -> None:
    echo(report.rstrip("\n"), nl=bool(report))
    for path in paths:
        echo(f"wrote {path}", err=True)


def _shape(text: str) -> tuple[str, Type]:
    """The name and the type of an input."""
    from paddle_layers.define import Type

    name, _, shape = text.partition("=")
    try:
        type_ = Type.parse(shape)
    except ValueError as error:
        raise click.UsageError(f"--shape {text}: {error}") from None
    if not name or 0 in type_.dims or not type_.size:
        raise click.UsageError(f"--shape {text}: write NAME=SHAPE, such as data=3x227x227; no axis is 0")
    return name, type_
