"""What can be known of data before they are read: that they are there, and that they go with the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_layers.config.diagnostics.report import ConfigError
from paddle_layers.data.batching.checks import words_for_numbers
from paddle_layers.data.learning import Learned

from .opening import Part, as_numbers, learned_of, open_for_phase, part_name, placed, whole_part
from .preparation import feed_types, label_fields, make_batches
from .results.result_names import selected
from .targets import target_fields

if TYPE_CHECKING:
    from paddle_layers.config.diagnostics.diagnostic import Diagnostic
    from paddle_layers.config.training import SourceSettings, Training


def source_faults(training: Training) -> list[Diagnostic]:
    """What is wrong with the data of sources whose opening takes no time, each at its place in the training file."""
    faults: list[Diagnostic] = []
    learned: Learned | None = None
    targets = target_fields(training)
    for name in dict.fromkeys(["train", "test", *map(part_name, training.source)]):
        parts: list[Part] = []
        sources = [source for source in training.source if part_name(source) == name]
        phase = name.partition(".")[0]
        for source in sources:
            if not getattr(source.definition.owner, "indexed", False):
                faults += _word_faults(training, source, phase)
                continue
            try:
                with placed(training, source):
                    parts.append(whole_part(open_for_phase(training, source, targets), source))
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


def _word_faults(training: Training, source: SourceSettings, phase: str) -> list[Diagnostic]:
    """The fields that hold words, as the settings of a source that is not opened say, for data layers of numbers."""
    made = source.definition.create(source.attributes)
    words = made.word_fields() if hasattr(made, "word_fields") else ()
    faults: list[Diagnostic] = []
    for layer, wanted in feed_types(selected(training, phase)).items():
        name = training.feed.get(layer, layer)
        if name in words and wanted.kind == "DENSE":
            error = words_for_numbers(f"{source.type}: field `{name}`", (), layer, wanted)
            place = f"source[{training.source.index(source)}]"
            faults += training.error(place, str(error)).diagnostics
    return faults
