"""What can be known of data before they are read: that they are there, and that they go with the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.data.learning import Learned

from .opening import Part, as_numbers, learned_of, open_source, part_name, placed, whole_part
from .preparation import label_fields, make_batches

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import Training


def source_faults(training: Training) -> list[Diagnostic]:
    """What is wrong with the data of sources whose opening takes no time, each at its place in the training file."""
    faults: list[Diagnostic] = []
    learned: Learned | None = None
    for name in dict.fromkeys(["train", "test", *map(part_name, training.source)]):
        parts: list[Part] = []
        sources = [source for source in training.source if part_name(source) == name]
        phase = name.partition(".")[0]
        for source in sources:
            if not getattr(source.definition.owner, "indexed", False):
                continue
            try:
                with placed(training, source):
                    parts.append(whole_part(open_source(source, training.base), source))
            except ConfigError as error:
                faults += error.diagnostics
        whole = len(parts) == len(sources)  # words that are mixed have to be known of all
        for several in [parts] if whole and parts else [[part] for part in parts]:
            try:
                own = learned or learned_of(training, several, labels=label_fields(training))
                make_batches(training, phase, [as_numbers(training, part, own) for part in several], seed=0)
            except ConfigError as error:
                faults += error.diagnostics
            else:
                learned = own if whole else None
    return faults
