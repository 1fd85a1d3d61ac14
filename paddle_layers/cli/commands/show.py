"""`show`: the layers of a network, as a table or as a diagram."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..options.ranges import IntRange
from ..options.threads import is_given, threads_option
from ..output.files import ending_of, replace_file
from ..output.terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.config import Network, Node
    from paddle_layers.runtime.plan.footprint import Footprint


@click.command()
@click.argument("file")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw the network into this file.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a page of it: picture, search, faults."
)
@click.option("--phase", type=click.Choice(["train", "test"]), help="Only the layers that are there in a phase.")
@click.option("--batch-size", type=IntRange(min=1), default=64, show_default=True, help="Rows, for the memory.")
@click.option("--plan", is_flag=True, help="Print what runs, with which kernel and in whose memory.")
@click.option("--time", "timed", is_flag=True, help="Run steps on made-up data and print what the time goes to.")
@threads_option
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Whose memory and launches; no card is needed.",
)
def command(
    file: str,
    svg: Path | None,
    html: Path | None,
    phase: str | None,
    batch_size: int,
    plan: bool,
    timed: bool,
    device: str,
) -> None:
    """Print layer, type, inputs, inferred output type, parameters and memory of the network in FILE.

    What a layer is made of, or runs in each step, stands below it, further to the right.
    Memory of a layer is that of its values; the totals are what a run allocates, where layers share memory.
    With --html: one page that needs nothing beside it, also of the sound part of a file that has faults.
    With --plan: every launch of a phase (train, unless --phase says test), and what was decided for it.
    With --time: time, operations and bytes of each layer and pass on the CPU; with --svg also in the picture.
    """
    if is_given("device") and timed:
        raise click.UsageError("--time runs on the CPU: leave out --device")
    if is_given("threads") and not timed:
        raise click.UsageError("--threads is for --time: nothing else is computed")
    if plan + timed + (svg is not None and not timed) + (html is not None) > 1:
        raise click.UsageError(
            "--plan and --time print tables, --svg draws the network, --html writes a page: give one of them, or "
            "--time with --svg"
        )
    if html is not None:
        ending_of(str(html), {".html": "a page", ".htm": "a page"}, "pages")
        _write_page(file, html, phase, batch_size, device)
        return
    if svg is not None:
        ending_of(str(svg), {".svg": "a picture"}, "pictures")
    if plan:
        _print_plan(file, phase or "train", batch_size, device)
    elif timed:
        _show_times(file, phase or "train", batch_size, svg)
    else:
        _show_layers(file, phase, batch_size, device, svg)


def _print_plan(file: str, phase: str, batch_size: int, device: str) -> None:
    from paddle_layers.config import network_of

    from ..output.plan import print_plan

    print_plan(network_of(file), phase, batch_size, device)


def _show_times(file: str, phase: str, batch_size: int, svg: Path | None) -> None:
    from paddle_layers.config import network_of

    from ..output.times import show_times

    show_times(network_of(file), phase, batch_size, svg)


def _show_layers(file: str, phase: str | None, batch_size: int, device: str, svg: Path | None) -> None:
    """The table of the layers, or the diagram."""
    from paddle_layers.config import network_of
    from paddle_layers.runtime.plan.footprint import footprint

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
    from paddle_layers.runtime.plan.footprint import footprint

    found = examine(read_file(file), file)
    if found.network is None or not found.network.nodes:
        raise ConfigError(found.faults)
    network = found.network.select(phase) if phase is not None else found.network
    costs = footprint(network, batch_size, device=device)
    text = network_page(network, costs, found.faults, batch_size)
    replace_file(html, text.encode())
    echo(f"wrote {html}", err=True)
    if found.failed:
        raise ConfigError(found.faults)


def _print_table(network: Network, costs: Footprint, batch_size: int) -> None:
    from rich.table import Table

    from paddle_layers.define.machine import as_bytes

    table = Table(title=network.name or None, title_justify="left", box=None, pad_edge=False, show_footer=True)
    totals = f"total, {batch_size} rows"
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
    """The layers inside of a layer, further to the right."""
    for inner in node.inside.nodes if node.inside is not None else ():
        own = f"{path}.{inner.name}"
        yield _words(inner, "  " * depth + inner.name, costs.inside(own))
        yield from _inside(inner, own, costs, depth + 1)


def number(value: int) -> str:
    """With commas between thousands."""
    return f"{value:,}"
