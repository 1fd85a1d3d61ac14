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


def output_folder(training: Training, output: str | Path | None) -> Path:
    """Where results go: the argument, the training file's `output`, or a folder named like the network."""
    return Path(output or training.output or Path("output") / (training.network.name or "network"))


def claim_folder(folder: Path, *, resume: bool, overwrite: bool) -> None:
    """Make the folder; `TrainingError` if something is there and it is neither to be continued nor overwritten."""
    if folder.is_file():
        raise TrainingError(f"{folder} is a file; choose another output folder with --output")
    if folder.exists() and any(folder.iterdir()) and not resume and not overwrite:
        raise TrainingError(
            f"{folder} exists already, and nothing is overwritten silently; choose another folder with --output, "
            "continue that training with --resume, or replace it with --overwrite"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(f"the folder {folder} cannot be made: {error.strerror}") from None


def clear_folder(folder: Path) -> None:
    """Remove what an earlier training left, so that nothing of it is taken for the new one's; other files stay."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    for name in RESULTS:
        (folder / name).unlink(missing_ok=True)
