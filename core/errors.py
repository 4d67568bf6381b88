"""What can go wrong, for a person to read and for code to tell apart.

    HandonError
    ├── BadDeclaration   the agency cannot be made as declared
    ├── BadInput         something given does not fit; says what, field by field
    ├── NotAllowed       this person or agent may not
    ├── NotFound         it is not there, or this person may not see it (never told apart)
    ├── NotWaiting       nothing is left to decide
    │   └── AlreadyDecided   somebody was first; says who and when
    ├── Stale            the decision was made on something that has changed since
    ├── OutOfMoney       no room for it
    ├── Unreachable      a model cannot be reached; it was not asked
    ├── Rejected         a model's provider turned the request down; asking again as it is changes nothing
    ├── AnswerLost       a model was asked, and no whole answer came back
    └── AnswerUnusable   a model's answer cannot be read

    Superseded           inside core only: this run no longer holds its piece
    Abort                a BaseException that ends a run on the spot, with nothing written

Text of a driver never reaches a person: it goes to the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime


class HandonError(Exception):
    """Something a person can be told as it is."""


class BadDeclaration(HandonError):
    """What the app declares does not hold together. Names the class and the entry (rule D8)."""


class BadInput(HandonError):
    """What was given does not fit. `fields` maps a field's path ("" for the whole) to what is wrong with it."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{field}: {wrong}" if field else wrong for field, wrong in self.fields.items()))


class NotAllowed(HandonError):
    """Somebody may not do this. The message says who and what."""


class NotFound(HandonError):
    """There is no such thing, or whoever asks may not see it."""


class NotWaiting(HandonError):
    """It does not wait for a decision any more."""


class AlreadyDecided(NotWaiting):
    """Somebody was first. `by` is a name, `at` a time in UTC, `status` what became of it."""

    def __init__(self, status: str, by: str, at: datetime) -> None:
        self.status, self.by, self.at = status, by, at
        verb = {"Refused": "refused", "Failed": "approved", "Done": "approved"}.get(status, status.lower())
        super().__init__(f"It was already {verb} by {by or 'a rule'} at {at:%H:%M} UTC.")


class Stale(HandonError):
    """The decision names another call than the one that waits (rule P12). `changed` says what differs."""

    def __init__(self, changed: str) -> None:
        self.changed = changed
        super().__init__(f"What waits is no longer what you saw: {changed} Look at it again before you decide.")


class OutOfMoney(HandonError):
    """A limit leaves no room."""


class Unreachable(HandonError):
    """A model could not be reached: the request did not get to it, or was turned away for now. Nothing is charged, and
    it is asked again; `retry_after` seconds from now where the provider said so (rule E8)."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class Rejected(HandonError):
    """A model's provider turned the request down and did not carry it out: the key, the model's name or the request
    itself is wrong. Nothing is charged, and it is not asked again."""


class AnswerLost(HandonError):
    """A request left, and no whole answer came back. It may have been carried out, so it is charged its whole
    reservation; it is asked once more (rules M10, E8)."""


class AnswerUnusable(HandonError):
    """An answer came that cannot be read. It is charged its whole reservation, and it is not asked again."""


class Superseded(Exception):
    """This run's fencing token is old: somebody else has the piece, or it is closed. The run is dropped (rule A5)."""


class Abort(BaseException):
    """Ends a run on the spot and writes nothing, as a killed process would. Whoever waits for the work is raised it."""


class ProcessDied(Abort):
    """A process that dies, staged: a scripted model raises it. Whoever waits for the work is raised it."""
