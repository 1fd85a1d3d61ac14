"""Tables of `show --plan` and `show --time`: launches, kernels, memory and the profile of a step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.define.machine import as_seconds

from .files import replace_file
from .terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.config import Network
    from paddle_layers.runtime.devices.cpu.peaks import Peaks
    from paddle_layers.runtime.plan.dry_run import ExplainedLaunch
    from paddle_layers.runtime.profile.step import StepTimes, Work

PLAN_COLUMNS = ("", "layer", "kernel", "result", "shape", "bytes", "offset", "in-place", "lifetime", "fusion")


def print_plan(network: Network, phase: str, batch_size: int, device: str) -> None:
    """Print the launches of a phase in order, the backward pass after the forward pass."""
    from rich.table import Table

    from paddle_layers.define.machine import as_bytes
    from paddle_layers.runtime.passes import PASSES
    from paddle_layers.runtime.plan.dry_run import explain_plan

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
    for heading in PLAN_COLUMNS:
        table.add_column(heading, overflow="fold", justify="right" if heading in ("", "bytes", "offset") else "left")
    for launch in plan.launches:
        if launch.backward and not plan.launches[launch.number - 1].backward:
            table.add_section()
        table.add_row(*_launch_cells(launch))
    print_table(table)


def _launch_cells(launch: ExplainedLaunch) -> tuple[str, ...]:
    size = f"{launch.nbytes:,}" if launch.lifetime else ""
    return (
        *(str(launch.number), launch.layer, launch.kernel, launch.result, launch.shape),
        *(size, launch.place, launch.in_place, launch.lifetime, launch.fused),
    )


TIME_COLUMNS = ("layer", "pass", "time", "of step", "GFLOP/s", "GB/s", "of peak")


def show_times(network: Network, phase: str, batch_size: int, svg: Path | None) -> None:
    """Print one line per layer and pass and the whole step; optionally draw the times per layer."""
    times, peaks = _measured(network, phase, batch_size)
    _print_times(network, phase, batch_size, times, peaks)
    if svg is not None:
        from paddle_layers.codegen.network_picture import picture
        from paddle_layers.runtime.plan.dry_run import footprint

        seconds: dict[str, dict[str, float]] = {}
        for (layer, direction), work in times.layers.items():
            seconds.setdefault(layer, {})[direction] = work.seconds
        selected = network.select(phase)
        drawn = picture(selected, footprint(selected, batch_size), seconds=seconds)
        replace_file(svg, drawn.encode())
        echo(f"wrote {svg}", err=True)


def _measured(network: Network, phase: str, batch_size: int) -> tuple[StepTimes, Peaks]:
    """The times of a step and the peak performance; compiles kernels with the usual progress bar."""
    from paddle_layers.runtime.devices.cpu.peaks import measure_peaks
    from paddle_layers.runtime.devices.cpu.pool import most_threads
    from paddle_layers.runtime.profile.step import time_step
    from paddle_layers.training.progress import make_progress

    progress = make_progress()
    try:
        return time_step(network, phase, batch_size, progress.compiling), measure_peaks(most_threads())
    finally:
        progress.close()


def _print_times(network: Network, phase: str, batch_size: int, times: StepTimes, peaks: Peaks) -> None:
    from rich.table import Table

    from paddle_layers.runtime.devices.cpu.pool import most_threads
    from paddle_layers.runtime.profile.step import SEQUENCE_LENGTH, total

    threads = f"{most_threads()} thread{'s' * (most_threads() != 1)}"
    sequences = f", sequences of length {SEQUENCE_LENGTH}" if _has_sequences(network) else ""
    echo(f"phase {phase}, batch size {batch_size}{sequences}, float32, {threads}")
    echo(f"measured peak: {peaks.operations / 1e9:.0f} GFLOP/s, {peaks.bandwidth / 1e9:.1f} GB/s memory bandwidth\n")
    table = Table(box=None, pad_edge=False)
    for heading in TIME_COLUMNS:
        table.add_column(heading, overflow="fold", justify="left" if heading in TIME_COLUMNS[:2] else "right")
    step = total(times.whole.values())
    before = ""
    for (layer, direction), work in times.layers.items():
        table.add_row(layer if layer != before else "", direction, *_time_cells(work, step, peaks))
        before = layer
    table.add_row()
    # Both, since they differ: for the lines of the layers, each launch is timed alone; a regular step runs the launches
    # without a pause.
    for name, rows in (("sum of layers", _by_pass(times)), ("whole step", times.whole)):
        for direction, work in rows.items():
            table.add_row(name if direction == "forward" else "", direction, *_time_cells(work, step, peaks))
    table.add_row("", "both", *_time_cells(step, step, peaks))
    print_table(table)


def _by_pass(times: StepTimes) -> dict[str, Work]:
    from paddle_layers.runtime.profile.step import total

    return {
        direction: total(work for key, work in times.layers.items() if key[1] == direction) for direction in times.whole
    }


def _time_cells(work: Work, step: Work, peaks: Peaks) -> Iterator[str]:
    yield as_seconds(work.seconds)
    yield f"{work.seconds / step.seconds:.1%}".replace("%", " %")
    yield f"{work.operations / work.seconds / 1e9:.1f}"
    yield f"{work.nbytes / work.seconds / 1e9:.1f}"
    yield _of_peak(work, peaks)


def _of_peak(work: Work, peaks: Peaks) -> str:
    """The larger share of the two peaks, that of the limiting resource."""
    compute, memory = work.operations / peaks.operations, work.nbytes / peaks.bandwidth
    # The roofline model: the larger of the two shares says what limits the layer.
    share, what = max((compute / work.seconds, "compute"), (memory / work.seconds, "memory"))
    return f"{share:.0%} {what}".replace("%", " % of")


def _has_sequences(network: Network) -> bool:
    return any(type_.level for node in network.nodes for type_ in node.output_types)
