"""Spelling suggestions with bounded running time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property

# Up to here, every name is compared; above, 2 x 2 x 25 neighbors. Listing and comparing up to 2,000 names for each of
# 100 unknown inputs in 10,000 layers took 8 to 23 times as long as the full check of onnx.
_MANY = 2000
_LONG = 200
_NEIGHBOURS = 25


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most similar to `name`, or None."""
    return Vocabulary(known).nearest(name, cutoff=cutoff)


def name_hint(name: str, known: Sequence[str], none: str) -> str:
    """The nearest known name, else all of them; `none` without known names."""
    if near := nearest(name, known):
        return f"did you mean `{near}`?"
    return f"available: {', '.join(known)}" if known else none


class Vocabulary:
    """Known names, for several queries.

    In a long list, only names with a similar prefix or suffix are compared: difflib over 100,000 names takes a third of
    a second.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._names = [name for name in known if name]

    def nearest(self, name: str, *, besides: str = "", cutoff: float = 0.6) -> str | None:
        """The known name that is most similar to `name`, other than `besides`; or None."""
        # The time of difflib is quadratic in the length, and no one misspells a name of this length.
        if len(name) > _LONG:
            return None
        near = self._names if len(self._names) <= _MANY else self._neighbours(name.lower())
        candidates = [other for other in near if other != besides]
        lowered = {other.lower(): other for other in candidates}
        # Wrong capitals first: for difflib they are different letters.
        if name.lower() in lowered:
            return lowered[name.lower()]
        found = _most_like(name, candidates, cutoff)
        if found is None:
            found = lowered.get(_most_like(name.lower(), lowered, cutoff) or "")
        return found

    def _neighbours(self, name: str) -> Iterator[str]:
        """The alphabetical neighbors before and after the name, by prefixes and by suffixes."""
        # A typo at the start of a name leaves the suffix intact, one at the end the prefix, and one in the middle both.
        for ordered, key in ((self._forwards, name), (self._backwards, name[::-1])):
            place = bisect_left(ordered, (key, ""))
            yield from (other for _, other in ordered[max(place - _NEIGHBOURS, 0) : place + _NEIGHBOURS])

    @cached_property
    def _forwards(self) -> list[tuple[str, str]]:
        return sorted((name.lower(), name) for name in self._names)

    @cached_property
    def _backwards(self) -> list[tuple[str, str]]:
        return sorted((name.lower()[::-1], name) for name in self._names)


def _most_like(name: str, candidates: Iterable[str], cutoff: float) -> str | None:
    """The first result of `difflib.get_close_matches`; candidates below the best similarity so far are skipped."""
    # difflib indexes `b`: the fixed name is prepared once.
    matcher = SequenceMatcher(b=name)
    best, found = cutoff, ""
    for other in candidates:
        matcher.set_seq1(other)
        # Upper bounds of the ratio in order of their cost, as in difflib; the bound rises with the best candidate,
        # which difflib does not do.
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best:
            best, found = max((best, found), (matcher.ratio(), other))
    return found or None
