"""Did you mean: near names, at a bounded price."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MANY = 2000


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that is most like `name`, or None.

    Long lists are first cut to names of a similar length with the same beginning or end: difflib over 100,000
    names takes a third of a second.
    """
    candidates = [other for other in known if other]
    if len(candidates) > _MANY:
        candidates = [other for other in candidates if abs(len(other) - len(name)) <= 2]
    if len(candidates) > _MANY:
        candidates = [other for other in candidates if other[:3] == name[:3] or other[-3:] == name[-3:]][:_MANY]
    if len(name) > 200:
        return None
    lowered = {other.lower(): other for other in candidates}
    if name.lower() in lowered:
        return lowered[name.lower()]
    found = get_close_matches(name, candidates, 1, cutoff) or [
        lowered[key] for key in get_close_matches(name.lower(), lowered, 1, cutoff)
    ]
    return found[0] if found else None
