"""`show --plan`: launches, kernels and memory, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.runtime.plan.explanation import ExplainedLaunch

COLUMNS = ("", "layer", "kernel", "result", "shape", "bytes", "offset", "in-place", "lifetime", "fusion")


def print_plan(network: Network, phase: str, batch_size: int, device: str) -> None:
    """Print the launches of a phase in order, the backward pass after the forward pass."""
    from rich.table import Table

    from paddle_layers.define.machine import as_bytes
    from paddle_layers.runtime.passes import PASSES
    from paddle_layers.runtime.plan.explanation import explain_plan

    plan = explain_plan(network, phase, batch_size, "float32", device)
    shared = f"{as_bytes(plan.nbytes)} of memory ({as_bytes(plan.separate)} without buffer reuse)"
    echo(f"phase {phase}, batch size {batch_size}, {device}: {len(plan.launches)} launches, {shared}")
    echo(f"passes: {', '.join(PASSES)}\n")
    if plan.copies:
        same = ", ".join(f"{copy} is {original}" for copy, original in plan.copies)
        echo(f"elided copies: {same}\n")
    if plan.parts:
        echo(f"elided concatenations: {', '.join(f'{part} in {whole}' for part, whole in plan.parts)}\n")
    if plan.recomputed:
        echo(f"recomputed in the backward pass: {', '.join(plan.recomputed)}\n")
    table = Table(box=None, pad_edge=False)
    for heading in COLUMNS:
        table.add_column(heading, overflow="fold", justify="right" if heading in ("", "bytes", "offset") else "left")
    for launch in plan.launches:
        if launch.backward and not plan.launches[launch.number - 1].backward:
            table.add_section()
        table.add_row(*_cells(launch))
    print_table(table)


def _cells(launch: ExplainedLaunch) -> tuple[str, ...]:
    size = f"{launch.nbytes:,}" if launch.lifetime else ""
    return (
        *(str(launch.number), launch.layer, launch.kernel, launch.result, launch.shape),
        *(size, launch.place, launch.in_place, launch.lifetime, launch.fused),
    )
