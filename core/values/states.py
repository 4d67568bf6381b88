"""How pieces, requests and changes stand, and the kinds of line on a record."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a piece stands (rule E1). The last four are final and never change again."""

    WORKING = "Working"  # due, held by a run, or parked on legs that still work
    WAITING = "Waiting"  # everything it needs waits for a person
    DONE = "Done"  # it handed back a result that fits
    FAILED = "Failed"  # it could not: `outcome` says why
    STOPPED = "Stopped"  # a limit or a guard ended it: `outcome` says which
    CANCELLED = "Cancelled"  # it was called off

    final: bool  # kept with each, since it is asked of thousands

    def __init__(self, word: str) -> None:
        self.final = word not in ("Working", "Waiting")


class ProposalStatus(StrEnum):
    """What became of a change that was put to a person."""

    WAITING = "Waiting"
    DONE = "Done"  # approved, and it ran
    FAILED = "Failed"  # approved, and it ran into an error: `result` says which
    REFUSED = "Refused"  # a person said no, or a rule did
    WITHDRAWN = "Withdrawn"  # the piece ended before anybody decided
    EXPIRED = "Expired"  # nobody answered in time


class HelpFrom(StrEnum):
    MODEL = "Model"
    PERSON = "Person"


class HelpReason(StrEnum):
    CHOSEN = "Chosen"
    STUCK = "Stuck"
    LOW_CONFIDENCE = "LowConfidence"


class HelpStatus(StrEnum):
    WAITING = "Waiting"
    ANSWERED = "Answered"
    REFUSED = "Refused"
    UNAVAILABLE = "Unavailable"
    CLOSED = "Closed"  # the piece ended before anybody answered


# What is told of a change that was begun outside by a process that is gone (rule A7).
UNKNOWN = "It was begun and never reported back: its outcome is unknown, and it is not run again. Find out first."


NEVER_BEGUN = "It was approved, and its piece ended before it was begun: it was not done."


class Gate(StrEnum):
    """What happens to a change that an agent's model asks for (rule R4), from the widest to the strictest."""

    ALONE = "alone"
    PROPOSE = "propose"
    PROPOSE_EVERY_TIME = "propose every time"
    NEVER = "never"


class TraceKind(StrEnum):
    """The kinds of line on the record (rule T4). What each says to a person stands in `record.KINDS`."""

    OPENED = "opened"
    MODEL_ANSWERED = "model answered"
    TOOL_RAN = "tool ran"
    PROPOSED = "proposed"
    DECIDED = "decided"
    ASKED = "asked"
    ANSWERED = "answered"
    HANDED_ON = "handed on"
    CAME_BACK = "came back"
    CONSULTED = "consulted"
    WAITING = "waiting"
    RESUMED = "resumed"
    RETRIED = "retried"
    RULE_USED = "rule used"
    STOP_ASKED = "stop asked"
    ENDED = "ended"
    ABANDONED = "closed as abandoned"
    LATE_ANSWER = "answered late"
    BEGUN = "begun outside"
    ANSWER_LOST = "answer lost"
    EXPIRED = "expired"
    TAKEN_OVER = "taken over"
    HANDED_OVER = "handed over"
    TAKEN_UP = "taken up again"
    REDEFINED = "redefined"
    NOT_CARRIED_OUT = "not carried out"
