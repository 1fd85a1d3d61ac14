"""Training of networks: steps and their events, optimizers, schedules, checkpoints; uses of trained networks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .callbacks import make_callback
from .problems import TrainingError

if TYPE_CHECKING:
    from .events import Run
    from .inference.evaluation_report import Evaluation, evaluate
    from .inference.generation import Generation, generate
    from .inference.prediction import Prediction, predict
    from .manual_loop import Optimizer, Schedule
    from .results.training_report import TrainingReport
    from .trainer import train

__all__ = [
    "Evaluation",
    "Generation",
    "Optimizer",
    "Prediction",
    "Run",
    "Schedule",
    "TrainingError",
    "TrainingReport",
    "evaluate",
    "generate",
    "make_callback",
    "predict",
    "train",
]

_HOMES = {
    "Evaluation": "inference.evaluation_report",
    "evaluate": "inference.evaluation_report",
    "Generation": "inference.generation",
    "generate": "inference.generation",
    "Optimizer": "manual_loop",
    "Schedule": "manual_loop",
    "Prediction": "inference.prediction",
    "predict": "inference.prediction",
    "TrainingReport": "results.training_report",
    "Run": "events",
    "train": "trainer",
}


def __getattr__(name: str) -> Any:
    # The definitions of optimizers and schedules are in this package and are needed without the trainer.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
