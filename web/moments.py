"""Times in an address: with a zone as they say it, without one in the reader's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

FIRST_YEAR, LAST_YEAR = 1971, 2999
HOW = "Write a time as 2031-03-14 15:40, or a day as 2031-03-14."
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class Span:
    """What was written: the moment it begins at and the one it ends before: a day, a minute, a second, an instant."""

    begins: datetime
    ends: datetime


def zone_of(name: str, otherwise: str) -> str:
    """A time zone's name as it was given, or the other one where there is no such zone."""
    try:
        return ZoneInfo(name).key if name else otherwise
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return otherwise


def span(text: str, zone: str) -> Span:
    """Raises ValueError, in words, for what is no time."""
    text = text.strip()
    try:
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text)
            begins = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
            ends = begins + timedelta(days=1)  # of the wall clock: a day is from midnight to midnight
        else:
            begins = datetime.fromisoformat(text)
            if begins.tzinfo is None:
                begins = begins.replace(tzinfo=ZoneInfo(zone))
            long = timedelta(minutes=1) if _MINUTE.fullmatch(text) else timedelta(seconds=0 if "." in text else 1)
            ends = begins + long
        if not FIRST_YEAR <= begins.year <= LAST_YEAR:
            raise ValueError
        return Span(begins.astimezone(UTC), ends.astimezone(UTC))
    except (ValueError, OverflowError):
        raise ValueError(HOW) from None
