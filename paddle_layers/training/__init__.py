"""Trainer, optimizers, schedules and checkpoints."""

from typing import TYPE_CHECKING, Any

from .callbacks import make_callback
from .problems import TrainingError

if TYPE_CHECKING:
    from .runs import Report, Run
    from .trainer import train

__all__ = ["Report", "Run", "TrainingError", "make_callback", "train"]


def __getattr__(name: str) -> Any:
    # The definitions of optimizers and schedules are in this room and are needed without the trainer.
    if name == "train":
        from .trainer import train

        return train
    if name in ("Report", "Run"):
        from . import runs

        return getattr(runs, name)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
