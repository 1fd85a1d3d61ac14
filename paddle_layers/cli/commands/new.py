"""`new`: a starter project."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..output.files import empty_folder
from ..output.terminal import echo

if TYPE_CHECKING:
    from paddle_layers.define.output_folders import Folder

STARTER = Path(__file__).parents[1] / "starter"
CLASSES, TRAIN_ROWS, TEST_ROWS = 3, 360, 120


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Create a project in DIRECTORY.

    It contains a network, a training file, CSV and NPZ data and a README. Never overwrites files.
    """
    with empty_folder(directory) as folder:
        for file in sorted(STARTER.iterdir()):
            folder.create(file.name, file.read_bytes())
        _write_points(folder, "train", TRAIN_ROWS, seed=1)
        _write_points(folder, "test", TEST_ROWS, seed=2)
    echo(f"created {directory} with {', '.join(sorted(path.name for path in directory.iterdir()))}")
    echo(f"next: cd {shlex.quote(str(directory))} && paddle-layers train train.textproto")


def _write_points(folder: Folder, name: str, rows: int, *, seed: int) -> None:
    """Points on three noisy spiral arms, with alternating classes."""
    import io

    import numpy as np

    random = np.random.Generator(np.random.Philox(key=seed))
    label = np.arange(rows) % CLASSES
    radius = np.sqrt(random.random(rows))
    angle = 2 * np.pi * label / CLASSES + 4 * radius + random.normal(0, 0.1, rows)
    features = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).round(4).astype(np.float32)
    lines = [f"{x:.4f},{y:.4f},{c}" for (x, y), c in zip(features, label, strict=True)]
    folder.create(f"{name}.csv", "\n".join(["x,y,label", *lines, ""]).encode())
    arrays = io.BytesIO()
    np.savez(arrays, features=features, label=label)
    folder.create(f"{name}.npz", arrays.getvalue())
