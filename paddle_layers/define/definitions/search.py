"""Search for definitions by name, names in other systems, established terms and summary."""

from __future__ import annotations

import re
from typing import NamedTuple

from .definition import Definition
from .registry import registries

NAME, SAME_SPELLING, TERM, EQUIVALENT, PART_OF_NAME, PART_OF_TERM, SUMMARY = range(7)
"""Kinds of matches, from the best to the weakest."""
SYSTEMS = ("PyTorch", "Keras", "ONNX", "Paddle", "Caffe", "Mocha", "KUnet")
"""Priority of systems for a name that several have, from the most to the least likely."""


class Match(NamedTuple):
    """A definition that was searched for, and the name or term that matched; empty where it was the summary."""

    rank: int
    definition: Definition
    term: str

    @property
    def is_exact(self) -> bool:
        """Whether the whole name or term was searched for, apart from case and separators."""
        return self.rank <= EQUIVALENT


def search(words: str) -> list[Match]:
    """Search all registered definitions.

    Args:
        words: One or more words, in any case; `_`, `-` and capitals inside a name separate words.

    Returns:
        The matches, best first: equal names, equal terms, names, terms and summaries that contain all words.
    """
    wanted = _words(words)
    found = [_match(words, wanted, d) for registry in registries.values() for d in registry.values()] if wanted else []
    return sorted(
        (match for match in found if match is not None), key=lambda m: (m.rank, _system(m), len(_words(m.term)))
    )


def _system(match: Match) -> int:
    """The rank of the most likely system that has this name: Keras' `LSTM` before Caffe's."""
    names = match.definition.elsewhere
    return min(
        (place for place, system in enumerate(SYSTEMS) if match.term in names.get(system, "").split(", ")),
        default=len(SYSTEMS),
    )


def _match(words: str, wanted: tuple[str, ...], definition: Definition) -> Match | None:
    if _joined(wanted) == _joined(_words(definition.name)):
        return Match(NAME, definition, definition.name)
    terms = terms_of(definition)
    if any(words in listed.split(", ") for listed in definition.elsewhere.values()):
        return Match(SAME_SPELLING, definition, words)  # `InnerProduct` is Caffe's layer, not the inner product
    for term in terms:
        if _joined(wanted) == _joined(_words(term)):
            return Match(TERM if term in definition.terms else EQUIVALENT, definition, term)
    if set(wanted) <= set(_words(definition.name)):
        return Match(PART_OF_NAME, definition, definition.name)
    for term in terms:
        if set(wanted) <= set(_words(term)):
            return Match(PART_OF_TERM, definition, term)
    return Match(SUMMARY, definition, "") if set(wanted) <= set(_words(definition.summary)) else None


def terms_of(definition: Definition) -> list[str]:
    """Search terms of a definition and its names in other systems: the one table that every search reads."""
    names = [name for listed in definition.elsewhere.values() for name in listed.split(", ")]
    return list(dict.fromkeys([*definition.terms, *names]))


def _words(text: str) -> tuple[str, ...]:
    """The words in lower case: `Conv2DTranspose`, `conv2d_transpose` and `conv2d transpose` have equal letters."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return tuple(re.findall(r"\w+", spaced.replace("_", " ").lower()))


def _joined(words: tuple[str, ...]) -> str:
    return "".join(words)
