"""Settings of text generation: the block `generate` of a training file."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from paddle_layers.define import Type
from paddle_layers.define.errors import suggestion

from .binding.headers import spec
from .network import Network

BEAMS = 4
"""Default number of hypotheses per sample that beam search returns."""
_LARGEST = math.log(sys.float_info.max)
_SEARCHING = ("beam_size", "length_penalty")
_DRAWING = ("temperature", "top_k", "top_p")


class Fault(NamedTuple):
    """An invalid setting."""

    setting: str
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class GenerateSettings:
    """Settings of beam search, or of sampling with a `temperature`; names are those of the block."""

    words: str
    scores: str | None = None
    begin: int | None = None
    end: int | None = None
    max_length: int = 100
    beam_size: int | None = None
    results: int = 1
    length_penalty: float = 0.0
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None

    def with_settings(self, given: Mapping[str, Any]) -> GenerateSettings:
        """A copy with other settings; sampling settings replace those of beam search, and vice versa."""
        dropped: dict[str, Any] = {}
        if given.get("temperature") is not None:
            dropped = {"beam_size": None, "length_penalty": 0.0}
        elif any(name in given for name in _SEARCHING):
            dropped = dict.fromkeys(_DRAWING)
        return replace(self, **{**dropped, **given})

    def fault(self, network: Network) -> Fault | None:
        """A contradiction in the settings, or with the network."""
        # In this order: contradictions are only meaningful between legal values, and one error at a time suffices here.
        return self._outside() or self._contradiction() or self._unknown(network)

    def _outside(self) -> Fault | None:
        """A value that is out of range: callers in Python may pass any."""
        for name, field in spec("Generate").fields.items():
            assert field.attribute is not None, "it has no blocks"
            value = getattr(self, name)
            left_out = value is None and field.default is None and not field.required
            if not left_out and (reason := field.attribute.check(value)) is not None:
                return Fault(name, reason)
        # Scores are divided by length ** penalty, which must not overflow at the maximum length; logarithms do not.
        if self.length_penalty * math.log(self.max_length) > _LARGEST:
            message = f"`length_penalty` {self.length_penalty:g} is too large for a `max_length` of {self.max_length}"
            return Fault("length_penalty", message, "1 averages the score over the tokens")
        return None

    def _contradiction(self) -> Fault | None:
        if self.temperature is None:
            for name in ("top_k", "top_p"):
                if getattr(self, name) is not None:
                    return Fault(name, f"`{name}` is only for sampling", "add `temperature: 1`")
            if self.results > (self.beam_size or BEAMS):
                message = f"`results` is {self.results}, but the beam size is {self.beam_size or BEAMS}"
                return Fault("results", message, f"write `beam_size: {self.results}` or more")
        for name, usual in (("beam_size", None), ("length_penalty", 0.0)):
            if self.temperature is not None and getattr(self, name) != usual:
                message = f"`{name}` is for beam search, but `temperature` selects sampling"
                return Fault(name, message, "remove one of them")
        return None

    def _unknown(self, network: Network) -> Fault | None:
        feeds: dict[str, Type] = {}
        known: dict[str, Type] = {}
        for node in network.nodes:
            own = dict(zip(node.output_names, node.output_types, strict=True))
            known |= own
            feeds |= own if not node.definition.inputs else {}
        words = feeds.get(self.words)
        if words is None:
            listed = ", ".join(f"`{name}`" for name in feeds)
            near = suggestion(self.words, feeds).removeprefix("; ")
            return Fault("words", f"`{self.words}` is not a data layer of the network", near or f"available: {listed}")
        if words.kind != "INT" or words.level != 1:
            return Fault("words", f"`words` must be integer ids in sequences, but `{self.words}` is {words}")
        if self.scores is not None and self.scores not in known:
            near = suggestion(self.scores, known).removeprefix("; ")
            return Fault("scores", f"the network has no value `{self.scores}`", near)
        for name in ("begin", "end"):
            number = getattr(self, name)
            if number is not None and number >= words.size:
                message = f"`{name}` is {number}, but the ids of `{self.words}` are 0 to {words.size - 1}"
                return Fault(name, message)
        return None
