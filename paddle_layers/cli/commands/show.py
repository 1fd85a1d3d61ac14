"""`show`: summary, graph, page, plan and profile of a network; `warm`: compilation in advance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import ending_of, replace_file
from ..options import IntRange, device_option, is_given, threads_option
from ..terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.config import Network, Node
    from paddle_layers.runtime.plan.dry_run import Footprint


@click.command()
@click.argument("file")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw the network graph to this file.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML page: graph, search, errors."
)
@click.option("--phase", type=click.Choice(["train", "test"]), help="Show only the layers of one phase.")
@click.option("--batch-size", type=IntRange(min=1), default=64, show_default=True, help="Batch size for the memory.")
@click.option("--plan", is_flag=True, help="Print the execution plan: launches, kernels and buffers.")
@click.option("--time", "timed", is_flag=True, help="Profile steps on synthetic data.")
@threads_option
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Device of the memory and launches; needs no GPU.",
)
def show(
    file: str,
    svg: Path | None,
    html: Path | None,
    phase: str | None,
    batch_size: int,
    plan: bool,
    timed: bool,
    device: str,
) -> None:
    """Print the layers of the network in FILE.

    Lists type, inputs, inferred output type, parameters and memory. The layers of a composite layer or recurrent group
    are indented below it. The memory of a layer is that of its values; the totals are what a run allocates, with buffer
    reuse.

    --html writes a self-contained page, also for the valid part of a file with errors. --plan prints every launch of
    a phase (train unless --phase is test) with the optimizations applied. --time prints time, operations and bytes per
    layer and pass on the CPU; with --svg also in the image.
    """
    if is_given("device") and timed:
        raise click.UsageError("--time profiles the CPU; remove --device")
    if is_given("threads") and not timed:
        raise click.UsageError("--threads requires --time")
    if plan + timed + (svg is not None and not timed) + (html is not None) > 1:
        raise click.UsageError("--plan, --time, --svg and --html are mutually exclusive, except --time with --svg")
    if html is not None:
        ending_of(str(html), (".html", ".htm"))
        _write_page(file, html, phase, batch_size, device)
        return
    if svg is not None:
        ending_of(str(svg), (".svg",))
    if plan:
        _print_plan(file, phase or "train", batch_size, device)
    elif timed:
        _show_times(file, phase or "train", batch_size, svg)
    else:
        _show_layers(file, phase, batch_size, device, svg)


def _print_plan(file: str, phase: str, batch_size: int, device: str) -> None:
    # Per function, since each form of output needs other imports; those of the runtime take the longest.
    from paddle_layers.config import network_of

    from ..execution_tables import print_plan

    print_plan(network_of(file), phase, batch_size, device)


def _show_times(file: str, phase: str, batch_size: int, svg: Path | None) -> None:
    from paddle_layers.config import network_of

    from ..execution_tables import show_times

    show_times(network_of(file), phase, batch_size, svg)


def _show_layers(file: str, phase: str | None, batch_size: int, device: str, svg: Path | None) -> None:
    """The table of the layers, or the diagram."""
    from paddle_layers.config import network_of
    from paddle_layers.runtime.plan.dry_run import footprint

    network = network_of(file)
    if phase is not None:
        network = network.select(phase)
    costs = footprint(network, batch_size, device=device)
    if svg is None:
        _print_table(network, costs, batch_size)
        return
    from paddle_layers.codegen.network_picture import picture

    replace_file(svg, picture(network, costs).encode())
    echo(f"wrote {svg}", err=True)


def _write_page(file: str, html: Path, phase: str | None, batch_size: int, device: str) -> None:
    """The page of the valid part of the network, with its errors; errors set the exit status."""
    from paddle_layers.codegen.network_page import network_page
    from paddle_layers.config import ConfigError
    from paddle_layers.config.checking import examine
    from paddle_layers.config.files import read_file
    from paddle_layers.runtime.plan.dry_run import footprint

    found = examine(read_file(file), file)
    if found.network is None or not found.network.nodes:
        raise ConfigError(found.faults)
    network = found.network.select(phase) if phase is not None else found.network
    costs = footprint(network, batch_size, device=device)
    text = network_page(network, costs, found.faults, batch_size)
    replace_file(html, text.encode())
    echo(f"wrote {html}", err=True)
    # Errors come after the page, which also exists for an invalid network: it is most needed while the network is
    # designed.
    if found.failed:
        raise ConfigError(found.faults)


def _print_table(network: Network, costs: Footprint, batch_size: int) -> None:
    from rich.table import Table

    from paddle_layers.define.machine import as_bytes

    table = Table(title=network.name or None, title_justify="left", box=None, pad_edge=False, show_footer=True)
    totals = f"total, batch size {batch_size}"
    # Folded instead of cut off: a name that ends in dots could not be copied.
    table.add_column("layer", totals, overflow="fold")
    for heading in ("type", "inputs", "output"):
        table.add_column(heading, overflow="fold")
    table.add_column("parameters", number(costs.parameters), justify="right")
    table.add_column("training", as_bytes(costs.training), justify="right")
    table.add_column("inference", as_bytes(costs.inference), justify="right")
    for node in network.nodes:
        cost = costs.layers[node.name]
        table.add_row(*_words(node, node.name, cost.parameters), as_bytes(cost.training), as_bytes(cost.inference))
        for cells in _inside(node, node.name, costs, 1):
            table.add_row(*cells)
    print_table(table)


def _words(node: Node, name: str, parameters: int) -> tuple[str, ...]:
    return (
        name,
        node.definition.name + (f" + {node.activation[0].name}" if node.activation else ""),
        ", ".join(node.inputs),
        ", ".join(map(str, node.output_types)),
        number(parameters) if parameters else "",
    )


def _inside(node: Node, path: str, costs: Footprint, depth: int) -> Iterator[tuple[str, ...]]:
    """Rows of the layers inside a layer, indented."""
    for inner in node.inside.nodes if node.inside is not None else ():
        own = f"{path}.{inner.name}"
        yield _words(inner, "  " * depth + inner.name, costs.inside(own))
        yield from _inside(inner, own, costs, depth + 1)


def number(value: int) -> str:
    """With commas between thousands."""
    return f"{value:,}"


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--batch-size", type=IntRange(min=1), help="Batch size; by default that of a training file, or 64.")
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    help="Data type; by default that of a training file, or float32.",
)
@device_option
def warm(files: tuple[str, ...], batch_size: int | None, dtype: str | None, device: str) -> None:
    """Compile the kernels of FILES in advance.

    Those of a training file include its optimizer.
    """
    from paddle_layers.config import Training, load_either
    from paddle_layers.runtime import Net
    from paddle_layers.training.job import compile_kernels
    from paddle_layers.training.progress import make_progress

    for file in files:
        given = load_either(file)
        progress = make_progress()
        try:
            if isinstance(given, Training):
                rows, type_ = batch_size or given.batch_size, dtype or given.dtype
                compile_kernels(replace(given, batch_size=rows, dtype=type_), device, progress.compiling)
            else:
                rows, type_ = batch_size or 64, dtype or "float32"
                Net(given, device=device, dtype=type_, batch_size=rows, progress=progress.compiling).close()
        finally:
            progress.close()
        echo(f"{file}: kernels compiled")
