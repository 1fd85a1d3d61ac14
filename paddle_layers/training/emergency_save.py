"""Emergency save: weights of a valid training that an error ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.runtime import DeviceError

from .checkpoints.files import WEIGHTS
from .problems import TrainingError

if TYPE_CHECKING:
    from paddle_layers.runtime import Net

    from .loop import Trainer


@contextlib.contextmanager
def weights_rescued(trainer: Trainer) -> Iterator[None]:
    """A context in which an error of a callback, a log or the data leaves the weights of the last step.

    They are no checkpoint, which would lack what was left to do in that step. A loss that is not finite leaves none,
    and neither does a second Ctrl-C.
    """
    run = trainer.run
    try:
        yield
    # These report problems of the training itself, where weights may be useless or memory is exhausted.
    except (TrainingError, DeviceError):
        raise
    except Exception:
        with contextlib.suppress(Exception):  # the disk may be full; what is reported is the first error
            if trainer.saved_weights != run.step and _all_finite(run.net):
                trainer.save_weights()
                trainer.progress.say(f"saved the weights of the last step to {run.folder / WEIGHTS}")
        raise


def _all_finite(net: Net) -> bool:
    return all(bool(np.isfinite(parameter.value).all()) for parameter in net.arena.by_name.values())
