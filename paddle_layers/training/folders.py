"""The folder of a training: who may write into it, and what is in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from .checkpoints import WEIGHTS
from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.config.training import Training

CHECKPOINTS, LOG, CURVE, BEST = "checkpoints", "log.csv", "curve.svg", "best.safetensors"
RESULTS = (WEIGHTS, BEST, LOG, CURVE)
"""Files that a training leaves in its folder, beside the checkpoints."""
MARK = ".paddle_layers_training"
"""A file that says that a training made the folder; no other folder is ever cleared."""
LONGEST_NAME = 200
"""Bytes of a folder's name; file systems allow 255."""


def output_folder(training: Training, output: str | Path | None) -> Path:
    """Where results go: the argument, the training file's `output`, or a folder named like the network.

    Raises `TrainingError` for a network whose name is no name of a folder: a config is no reason to leave `output`.
    """
    given = output or training.output
    return Path(given) if given else Path("output") / _plain_name(training.network.name or "network")


def _plain_name(name: str) -> str:
    separators = any(character in "/\\:" or not character.isprintable() for character in name)
    if separators or name.startswith(".") or len(name.encode(errors="replace")) > LONGEST_NAME:
        raise TrainingError(
            f"the network is called {name!r}, which is no name for a folder; name the network otherwise, or say where "
            "results go with `output` in the training file or --output"
        )
    return name


def claim_folder(folder: Path, *, resume: bool, overwrite: bool) -> None:
    """Make the folder; `TrainingError` if something is there and it is neither to be continued nor overwritten."""
    if folder.is_file():
        raise TrainingError(f"{folder} is a file; choose another output folder with --output")
    taken = folder.exists() and any(path.name != MARK for path in folder.iterdir())
    if taken and overwrite and not (folder / MARK).is_file():
        raise TrainingError(
            f"{folder} was not made by a training, so nothing in it is removed; choose another folder with --output, "
            "or empty it yourself"
        )
    if taken and not resume and not overwrite:
        raise TrainingError(
            f"{folder} exists already, and nothing is overwritten silently; choose another folder with --output, "
            "continue that training with --resume, or replace it with --overwrite"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not taken:
            (folder / MARK).write_text("A training of paddle_layers made this folder.\n", encoding="utf-8")
    except OSError as error:
        raise TrainingError(f"the folder {folder} cannot be made: {error.strerror}") from None


def clear_folder(folder: Path) -> None:
    """Remove what an earlier training left, so that nothing of it is taken for the new one's; other files stay."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    for name in RESULTS:
        (folder / name).unlink(missing_ok=True)
