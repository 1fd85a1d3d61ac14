"""Dates and times in table columns: parsing, and the calendar parts that become numbers of a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define.errors import suggestion

from ..problems import DataError

Array = NDArray[np.float64]

_EPOCH = datetime(1970, 1, 1)
_DAY = 86400
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_ZONE = r"(?: ?(?:Z|UTC|(?P<zone>[+-]\d\d:?\d\d)))?"
_TIME = r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d{1,9})?))?)?" + _ZONE
_MONTH = r"(?P<name>[A-Za-z]{3,9})\.?"
_FORMS = tuple(
    re.compile(form + _TIME, re.ASCII)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})",
        r"(?P<year>\d{4})[- ]?Q(?P<quarter>[1-4])",
        rf"{_MONTH}[- ](?P<day>\d{{1,2}})(?:,? |-)(?P<year>\d{{4}})",
        rf"(?P<day>\d{{1,2}})[- .]+{_MONTH}[- ](?P<year>\d{{4}})",
        rf"{_MONTH}[- ](?P<year>\d{{4}})",
    )
)
"""Notations in which the year and the month cannot be confused: 3/4/2020 is April in Europe and March in America."""

_AMBIGUOUS = re.compile(r"\d{1,2}([-/.])\d{1,2}\1(?:\d{4}|\d\d)(?!\d)", re.ASCII)


@lru_cache(maxsize=1 << 16)
def parsed_date(text: str, notation: str = "", *, utc: bool = False) -> float | None:
    """The days from 1970-01-01 to a date and time; None for other strings.

    Args:
        text: The date. A time zone is ignored: parts such as the hour are those of the local time.
        notation: Its format in the directives of `strptime`; empty for ISO 8601 and other unambiguous notations.
        utc: Whether the offset of a time zone is subtracted: local times repeat when summer ends.
    """
    text = text.strip()
    try:
        moment = datetime.strptime(text, notation) if notation else _recognized(text)
    except (ValueError, OverflowError):
        return None
    if moment is None:
        return None
    offset = moment.utcoffset() if utc else None
    since = moment.replace(tzinfo=None) - (offset or timedelta()) - _EPOCH
    return since.days + (since.seconds + since.microseconds / 1e6) / _DAY


def _recognized(text: str) -> datetime | None:
    match = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    if match is None:
        return None
    part = match.groupdict()
    month = part.get("month") or _month_of(part.get("name") or "")
    if quarter := part.get("quarter"):
        month = 3 * int(quarter) - 2
    second = float(part["second"] or 0)
    clock = (int(part["hour"] or 0), int(part["minute"] or 0), int(second), int(second % 1 * 1e6))
    zone = datetime.strptime(part["zone"], "%z").tzinfo if part["zone"] else None
    return datetime(int(part["year"]), int(month), int(part.get("day") or 1), *clock, zone)


def _month_of(name: str) -> int:
    """The number of a month, whose name may be shortened. Raises `ValueError` for other words."""
    full = next((month for month in _MONTHS if month.startswith(name.lower())), "")
    return _MONTHS.index(full) + 1


def is_date(text: str) -> bool:
    """Whether a string is a date, perhaps in a notation that needs `date_format`."""
    return parsed_date(text) is not None or _AMBIGUOUS.match(text.strip()) is not None


def _moments(days: Array) -> NDArray[np.datetime64]:
    """Dates in days to the microsecond: rounded to seconds, 23:59:59.9 would be the next day."""
    whole = np.floor(days)
    microseconds = whole * _DAY * 1e6 + np.round((days - whole) * _DAY * 1e6)
    return microseconds.astype("datetime64[us]")


def _whole(days: Array, unit: str) -> Array:
    """Whole units since 1970-01-01, of dates in days."""
    return _moments(days).astype(f"datetime64[{unit}]").astype(np.int64).astype(np.float64)


def _since(days: Array, unit: str) -> Array:
    """Days since the start of the unit."""
    moments = _moments(days)
    start = moments.astype(f"datetime64[{unit}]").astype("datetime64[D]")
    elapsed: Array = (moments.astype("datetime64[D]") - start).astype(np.float64)
    return elapsed


PARTS: dict[str, Callable[[Array], Array]] = {
    "year": lambda days: _whole(days, "Y") + 1970,
    "month": lambda days: _whole(days, "M") % 12 + 1,
    "day": lambda days: _since(days, "M") + 1,
    "weekday": lambda days: (_whole(days, "D") + 3) % 7,
    "day_of_year": lambda days: _since(days, "Y") + 1,
    "hour": lambda days: _whole(days, "h") % 24,
    "minute": lambda days: _whole(days, "m") % 60,
    "days": lambda days: days,
}
"""The parts of a date, of dates in days since 1970-01-01: weekdays are numbered from Monday 0, `days` has fractions."""


def date_parts(days: Array, parts: Sequence[str]) -> Array:
    """Parts of dates, (dates, parts); NaN of a missing date."""
    missing = np.isnan(days)
    there = np.where(missing, 0, days)
    return np.stack([np.where(missing, np.nan, PARTS[part](there)) for part in parts], axis=1)


def parse_parts(entry: str, origin: str) -> tuple[str, list[str]]:
    """The column and the parts of an entry such as "date = year, month". Raises `DataError`."""
    column, _, listed = (part.strip() for part in entry.rpartition("="))
    parts = [part.strip() for part in listed.split(",")]
    wrong = next((part for part in parts if part not in PARTS), None)
    if not column or wrong is not None:
        near = suggestion(wrong, PARTS) if column and wrong else ""
        raise DataError(
            f'{origin}: invalid `dates` {entry!r}{near}; write "date = year, month", with parts of {", ".join(PARTS)}'
        )
    return column, parts
