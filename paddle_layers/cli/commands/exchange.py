"""Conversion from and to other frameworks: `export`, `import`, `weights`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..files import check_new
from ..terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define import Type

ONNX, CAFFE, MEAN, MODEL = ".onnx", (".prototxt", ".pbtxt", ".txt"), ".binaryproto", ".caffemodel"
OVERWRITE = "add --overwrite to replace it"
V = TypeVar("V")


@click.command()
@click.argument("file", metavar="NET")
@click.option(
    "--weights",
    metavar="FILE",
    help="Weights to export; by default the best ones in the output folder. Required for a network file.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="ONNX model to write (.onnx).")
@click.option(
    "--value", "values", metavar="NAME", multiple=True, help="Value to export instead of the outputs; repeatable."
)
@click.option("--overwrite", is_flag=True, help="Replace an existing model.")
def export(file: str, weights: str | None, output: str, values: tuple[str, ...], overwrite: bool) -> None:
    """Export the network of NET and its weights as an ONNX model.

    NET is a training or network file. The model has the outputs of `predict`: in the test phase, values that only costs
    and metrics read; --value selects others. Requires onnx: pip install 'paddle-layers[onnx]'.
    """
    target = Path(output)
    if target.suffix != ".onnx":
        raise click.UsageError(f"{output}: unsupported extension; expected .onnx")
    if not overwrite:
        # Before the export, whose result would otherwise be lost.
        check_new(target, OVERWRITE)
    from paddle_layers.exchange.onnx_out.exporting import export_file

    for path in export_file(file, weights, target, values):
        echo(f"wrote {path}", err=True)


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
    help="Shape of an input that FILE leaves open, without the batch axis: 3x227x227; ids<1000 in Caffe; repeatable.",
)
@click.option(
    "--constant",
    "constants",
    metavar="NAME=VALUE",
    multiple=True,
    help="Value of a scalar ONNX input, which becomes a constant: rate=16000; repeatable.",
)
@click.option("--overwrite", is_flag=True, help="Replace the files of an earlier import.")
@click.option("--no-verify", is_flag=True, help="Do not compare the network with ONNX's reference implementation.")
def import_(
    file: Path,
    output: Path,
    weights: Path | None,
    mean: Path | None,
    shapes: tuple[str, ...],
    constants: tuple[str, ...],
    overwrite: bool,
    no_verify: bool,
) -> None:
    """Import the ONNX or Caffe network FILE into the folder DIR.

    Writes network.textproto, the weights and a report. FILE is an ONNX model (.onnx), a Caffe network or solver
    (.prototxt; a solver also becomes train.textproto), or a Caffe image mean (.binaryproto), which becomes mean.npy.
    Lists everything that is unsupported and then writes nothing. ONNX models require onnx: pip install
    'paddle-layers[onnx]'.
    """
    given = _once("--shape", map(_shape, shapes))
    onnx = _ending(file) == ONNX
    for option in ["--no-verify"] * no_verify + ["--constant"] * bool(constants):
        if not onnx:
            raise click.UsageError(f"{option} is only for ONNX; remove it for {file}")
    settings = {"constants": _once("--constant", map(_constant, constants)), "verify": not no_verify}
    found = _onnx(file, (weights, mean), given, settings) if onnx else _caffe(file, weights, mean, given)
    if output.is_dir() and not overwrite:
        for name in found.names:
            check_new(output / name, OVERWRITE)
    # Everything is converted before anything is written: with an unsupported layer, no half of a network remains.
    paths = found.write(output)
    echo(found.summary.rstrip("\n"))
    for path in paths:
        echo(f"wrote {path}", err=True)


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending == MODEL:
        raise click.UsageError(
            f"{file} contains only weights; run `paddle-layers import NET.prototxt --weights {file} -o DIR`"
        )
    if ending not in (ONNX, *CAFFE, MEAN):
        raise click.UsageError(f"{file}: unsupported extension; expected {ONNX}, {CAFFE[0]} or {MEAN}")
    return ending


def _onnx(file: Path, others: tuple[object, ...], shapes: dict[str, Type], settings: dict[str, Any]) -> Any:
    from paddle_layers.exchange.onnx_in.importing import import_onnx

    if any(others):
        raise click.UsageError(f"--weights and --mean are only for Caffe; remove them for {file}")
    for name, type_ in shapes.items():
        if type_.kind != "DENSE" or type_.level:
            raise click.UsageError(f"--shape {name}={type_}: an ONNX input takes sizes only, such as {name}=3x224x224")
    return import_onnx(file, shapes={name: type_.dims for name, type_ in shapes.items()}, **settings)


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
    # `Type.parse` only checks the syntax.
    if not name or 0 in type_.dims or not type_.size:
        raise click.UsageError(f"--shape {text}: expected NAME=SHAPE with positive sizes, such as data=3x227x227")
    return name, type_


def _constant(text: str) -> tuple[str, float]:
    """The name and the value of an input."""
    name, _, value = text.partition("=")
    try:
        number = float({"true": "1", "false": "0"}.get(value.lower(), value))
    except ValueError:
        name, number = "", 0.0
    if not name:
        raise click.UsageError(f"--constant {text}: expected NAME=VALUE with a number, such as rate=16000")
    return name, int(number) if number.is_integer() else number


@click.command()
@click.argument("file", metavar="NET")
@click.argument("source", metavar="WEIGHTS")
@click.option("-o", "--output", required=True, metavar="FILE", help="Weights file to write (.safetensors).")
@click.option("--from", "origin", type=click.Choice(["paddle_layers", "torch"]), help="Layout of WEIGHTS.")
@click.option("--to", "target", type=click.Choice(["paddle_layers", "torch"]), help="Layout of the output.")
@click.option(
    "--rename",
    metavar="OLD=NEW",
    multiple=True,
    help="Rename weights; * matches any text, the same in both names. Repeatable.",
)
@click.option("--leave-out", metavar="PATTERN", multiple=True, help="Weights to skip; repeatable.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def weights(
    file: str,
    source: str,
    output: str,
    origin: str | None,
    target: str | None,
    rename: Sequence[str],
    leave_out: Sequence[str],
    overwrite: bool,
) -> None:
    """Convert WEIGHTS to or from the layout of PyTorch.

    NET is the network or training file that the weights belong to. WEIGHTS is a safetensors file, the index of a
    sharded one (model.safetensors.index.json) or a PyTorch state_dict (.pt, .pth, .bin). --from torch writes weights
    for all other commands; --to torch writes a state_dict for safetensors.torch.load_file. 16-bit floats become float32
    exactly.
    """
    if target == "torch" and origin == "torch":
        raise click.UsageError("--from torch and --to torch exclude each other: nothing would change")
    if Path(output).suffix.lower() != ".safetensors":
        raise click.UsageError(f"{output}: unsupported extension; expected .safetensors")
    names = _once("--rename", map(_renamed, rename))
    if not overwrite:
        check_new(Path(output), OVERWRITE)
    from paddle_layers.exchange.weights import convert_weights

    for line in convert_weights(
        file, source, output, origin=origin, target=target or "paddle_layers", rename=names, leave_out=leave_out
    ):
        echo(line, err=True)


def _once(option: str, pairs: Iterable[tuple[str, V]]) -> dict[str, V]:
    """The values by name; a second one for a name would silently replace the first."""
    found: dict[str, V] = {}
    for name, value in pairs:
        if name in found:
            raise click.UsageError(f"{option} is given twice for {name}; remove one of them")
        found[name] = value
    return found


def _renamed(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise click.UsageError(f"--rename {text!r}: expected OLD=NEW, such as 'features.0.*=conv1.*'")
    return old, new
