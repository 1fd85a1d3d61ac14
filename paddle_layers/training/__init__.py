"""Trainer, optimizers, schedules and checkpoints."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .callbacks import make_callback
from .problems import TrainingError

if TYPE_CHECKING:
    from .evaluation_report import Evaluation, evaluate
    from .generation import Generation, generate
    from .own_loop import Optimizer, Schedule
    from .prediction import Prediction, predict
    from .runs import Report, Run
    from .trainer import train

__all__ = [
    "Evaluation",
    "Generation",
    "Optimizer",
    "Prediction",
    "Report",
    "Run",
    "Schedule",
    "TrainingError",
    "evaluate",
    "generate",
    "make_callback",
    "predict",
    "train",
]

_HOMES = {
    "Evaluation": "evaluation_report",
    "evaluate": "evaluation_report",
    "Generation": "generation",
    "generate": "generation",
    "Optimizer": "own_loop",
    "Schedule": "own_loop",
    "Prediction": "prediction",
    "predict": "prediction",
    "Report": "runs",
    "Run": "runs",
    "train": "trainer",
}


def __getattr__(name: str) -> Any:
    # The definitions of optimizers and schedules are in this package and are needed without the trainer.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
