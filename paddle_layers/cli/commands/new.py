"""`new`: a small project to start from."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ..output.terminal import echo

STARTER = Path(__file__).parents[1] / "starter"
CLASSES, TRAIN_ROWS, TEST_ROWS = 3, 360, 120


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Start a project in DIRECTORY: network, training file, data as csv and npz, a README. Overwrites nothing."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        echo(f"{directory} exists already, and nothing is overwritten; choose another name", err=True)
        raise click.exceptions.Exit(1)
    directory.mkdir(parents=True, exist_ok=True)
    for file in sorted(STARTER.iterdir()):
        _write(directory / file.name, file.read_bytes())
    _write_points(directory, "train", TRAIN_ROWS, seed=1)
    _write_points(directory, "test", TEST_ROWS, seed=2)
    echo(f"made {directory} with {', '.join(sorted(path.name for path in directory.iterdir()))}")
    echo(f"next: cd {shlex.quote(str(directory))} && paddle-layers train train.textproto")


def _write(path: Path, content: bytes) -> None:
    """Write a new file. Raises `FileExistsError` where another process was quicker."""
    with path.open("xb") as file:
        file.write(content)


def _write_points(directory: Path, name: str, rows: int, *, seed: int) -> None:
    """Points on three spiral arms with a little noise, the classes in turn."""
    import io

    import numpy as np

    random = np.random.Generator(np.random.Philox(key=seed))
    label = np.arange(rows) % CLASSES
    radius = np.sqrt(random.random(rows))
    angle = 2 * np.pi * label / CLASSES + 4 * radius + random.normal(0, 0.1, rows)
    features = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).round(4).astype(np.float32)
    lines = [f"{x:.4f},{y:.4f},{c}" for (x, y), c in zip(features, label, strict=True)]
    _write(directory / f"{name}.csv", "\n".join(["x,y,label", *lines, ""]).encode())
    arrays = io.BytesIO()
    np.savez(arrays, features=features, label=label)
    _write(directory / f"{name}.npz", arrays.getvalue())
