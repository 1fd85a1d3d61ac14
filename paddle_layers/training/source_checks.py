"""What can be known of data before they are read: that they are there, and that they go with the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.data.learning import Learned, encoded, learn

from .opening import Part, open_source, placed
from .preparation import label_fields, make_batches

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import Training


def source_faults(training: Training) -> list[Diagnostic]:
    """What is wrong with the data of sources whose opening takes no time, each at its place in the training file."""
    faults: list[Diagnostic] = []
    learned: Learned | None = None
    for source in sorted(training.source, key=lambda one: one.phase != "train"):
        if not getattr(source.definition.owner, "indexed", False):
            continue
        try:
            with placed(training, source):
                dataset = open_source(source, training.base)
                rows = np.arange(len(dataset))
                learned = learned or learn(dataset, rows, labels=label_fields(training))
                part = Part(encoded(dataset, learned, "the training"), rows)
            make_batches(training, source.phase, part, seed=0)
        except ConfigError as error:
            faults += error.diagnostics
    return faults
