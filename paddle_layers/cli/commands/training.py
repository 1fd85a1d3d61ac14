"""Commands that train: `train`, `sweep`, and the comparison `runs`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files import ending_of, replace_file
from ..options import FloatRange, IntRange, device_option, given_plugins, set_option, threads_option
from ..terminal import echo, print_table

if TYPE_CHECKING:
    from paddle_layers.training.results.comparison import ComparedRun
    from paddle_layers.training.sweeps.search import TrialResult
    from paddle_layers.training.sweeps.study import Sweep


@click.command()
@click.argument("file")
@click.option("--output", metavar="DIR", help="Output folder; overrides that of FILE.")
@click.option("--resume", is_flag=True, help="Resume from the latest checkpoint in the output folder.")
@click.option("--overwrite", is_flag=True, help="Replace the contents of the output folder.")
@click.option("--weights", metavar="FILE", help="Initial weights; overrides `weights { file }` in FILE.")
@click.option("--seed", type=IntRange(min=0, max=2**63 - 1), help="Random seed; overrides that of FILE.")
@click.option(
    "--patience",
    metavar="SECONDS",
    type=FloatRange(min=1),
    default=600.0,
    show_default=True,
    help="Under mpiexec: maximum wait for another process before all of them exit.",
)
@set_option
@device_option
@threads_option
def train(
    file: str,
    output: str | None,
    resume: bool,
    overwrite: bool,
    weights: str | None,
    seed: int | None,
    patience: float,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Train the network of the training FILE. Ctrl-C saves a checkpoint and stops.

    `mpiexec -n 4 paddle-layers train FILE` trains with four data-parallel processes.
    """
    if resume and overwrite:
        raise click.UsageError("--resume and --overwrite are mutually exclusive")
    if resume and weights is not None:
        raise click.UsageError("--resume restores the weights of a checkpoint; remove --weights")
    from paddle_layers.training import train

    train(
        file,
        output=output,
        resume=resume,
        overwrite=overwrite,
        weights=weights,
        seed=seed,
        device=device,
        settings=settings,
        plugins=given_plugins(),
        patience=patience,
    )


SHOWN = 10
"""Maximum number of trials in the table; `runs` lists all of them."""


@click.command()
@click.argument("file")
@click.option(
    "--vary",
    metavar="FIELD=VALUES",
    multiple=True,
    help="Field to vary, named as in --set: a range, 1e-4..1e-1 or 1e-4..1e-1:log (log scale), or choices, sgd,adam. "
    "Integer bounds search integers. Repeatable.",
)
@click.option("--trials", type=IntRange(min=1), default=20, show_default=True, help="Total number of trials.")
@click.option("--watch", metavar="NAME", default="loss", show_default=True, help="Test result to optimize.")
@click.option(
    "--mode",
    type=click.Choice(["min", "max"]),
    help="Whether smaller (min) or larger (max) results are better; only needed if it is unknown for this result.",
)
@click.option(
    "--processes", type=IntRange(min=1, max=1024), default=1, show_default=True, help="Number of trials in parallel."
)
@click.option(
    "--output", metavar="DIR", help="Folder of the trials; by default the output folder of FILE with the suffix -sweep."
)
@set_option
@device_option
@threads_option
def sweep(
    file: str,
    vary: tuple[str, ...],
    trials: int,
    watch: str,
    mode: str | None,
    processes: int,
    output: str | None,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Tune hyperparameters of the training FILE with Optuna.

    Each trial is a run in a separate folder. The same command resumes an interrupted sweep and accepts more --trials;
    several terminals, or machines with a shared folder, work on the same sweep.
    """
    from paddle_layers.training.sweeps.search import prepare_sweep, run_sweep

    sweep = prepare_sweep(
        file,
        vary,
        watch=watch,
        mode=mode,
        trials=trials,
        output=output,
        device=device,
        settings=settings,
        plugins=given_plugins(),
    )
    _print_trials(sweep, run_sweep(sweep, processes, lambda text: echo(text, err=True)))


def _print_trials(sweep: Sweep, trials: Sequence[TrialResult]) -> None:
    from rich.table import Table

    from paddle_layers.training.sweeps.study import trial_folder

    done = [one for one in trials if one.value is not None]
    if not done:
        echo("no trial has finished")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("trial", justify="right")
    table.add_column(sweep.watch, justify="right")
    names = [setting.partition("=")[0] for setting in done[0].settings]
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for one in done[:SHOWN]:
        table.add_row(str(one.number), f"{one.value:.4g}", *(text.partition("=")[2] for text in one.settings))
    print_table(table)
    best, failed = done[0], len(trials) - len(done)
    echo("")
    echo(f"Best of {len(done)} trials{f', {failed} failed' if failed else ''}: {trial_folder(sweep, best.number)}")
    words = [word for setting in (*sweep.settings, *best.settings) for word in ("--set", setting)]
    plugins = [word for plugin in sweep.plugins for word in ("--plugins", plugin)]
    # Quoted, so that the line can be copied into a shell whatever the names contain.
    echo(f"Train with these settings: paddle-layers train {shlex.join([sweep.file, *plugins, *words])}")


MOST_SETTINGS, MOST_RESULTS, LONGEST = 8, 4, 40
"""Columns of settings and of results, and characters of a value, that fit into a terminal; a note counts the rest."""


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--svg", metavar="FILE", help="Draw the learning curves of all runs to FILE; overwrites it.")
def runs(folders: tuple[str, ...], svg: str | None) -> None:
    """Compare the runs in each DIR: differing settings, validation and test results, and time.

    DIR is a folder of runs, such as `output`, or a run.
    """
    ending_of(svg, (".svg",))
    from paddle_layers.training.results.comparison import MOST_LINES, compare, comparison_picture

    runs, notes = compare(folders)
    for note in notes:
        echo(f"note: {note}", err=True)
    if not runs:
        raise click.ClickException("no runs to compare")
    _print_runs(runs)
    if svg is not None:
        if len(runs) > MOST_LINES:
            echo(f"note: the image shows the first {MOST_LINES} of {len(runs)} runs", err=True)
        title = " ".join(folders)
        replace_file(Path(svg), comparison_picture(title, runs[:MOST_LINES]).encode())
        echo(f"wrote {svg}", err=True)


def _print_runs(runs: Sequence[ComparedRun]) -> None:
    from rich.table import Table

    from paddle_layers.training.results.comparison import differing, result_names

    settings, results = differing(runs), result_names(runs)
    for what, names, most in (("differing settings", settings, MOST_SETTINGS), ("results", results, MOST_RESULTS)):
        if len(names) > most:
            echo(f"note: {len(names) - most} more {what}; see the configs and logs", err=True)
    settings, results = settings[:MOST_SETTINGS], results[:MOST_RESULTS]
    table = Table(box=None, pad_edge=False)
    for heading in ("run", *settings):
        table.add_column(heading, overflow="fold")
    kinds = ["best", "last", *(["test"] if any(run.test for run in runs) else [])]
    for name in results:
        for kind in kinds:
            table.add_column(f"{kind} {name}" if kind == kinds[0] else kind, justify="right")
    for heading in ("steps", "time"):
        table.add_column(heading, justify="right")
    table.add_column("state", overflow="fold")
    for run in runs:
        values = [_cut(run.fields.get(name, "")) for name in settings]
        numbers = [_rounded(getattr(run, kind).get(name)) for name in results for kind in kinds]
        table.add_row(run.name, *values, *numbers, f"{run.step:,}", _duration(run.seconds), _cut(run.state))
    print_table(table)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _duration(seconds: float) -> str:
    from paddle_layers.training.progress import duration

    # The time is read from the log of a run, which anyone may have edited.
    return duration(seconds) if math.isfinite(seconds) and 0 <= seconds < 1e12 else ""
