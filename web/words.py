"""Figures and states as a person reads them: money, times, durations, and the look of a status.

Pure functions. Money is exact to the micro and never "0" for something. Times are written in UTC; the page's script
puts them into the reader's own zone, and without script they say "UTC".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from core.values import Active, HelpStatus, Need, Proposal, ProposalStatus, Question, Status, Work, WorkNode

SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "CHF": "CHF\u00a0"}
THIN = "\u202f"


# What is not seen but changes how a text reads: controls, letters that turn it around, and those of no width. The two
# joiners stay, since scripts and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with a mark in the place of everything in it that is not seen: "invoice⟨U+202E⟩txt.exe"."""
    return (
        text if text.isascii() and text.isprintable() else _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    )


def amount(micros: int) -> str:
    """The figure alone: two decimals where they are exact, up to six where they are not."""
    whole, rest = divmod(abs(micros), 1_000_000)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'−' if micros < 0 else ''}{whole:,}".replace(",", THIN) + f".{decimals}"


def money(micros: int, currency: str) -> str:
    """`€0.0014`: exact, with its currency."""
    return SYMBOLS.get(currency, f"{currency}\u00a0") + amount(micros)


def price(per_million: Decimal) -> str:
    """A price, exact, with two decimals at least."""
    whole, _, rest = f"{per_million:f}".partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def count(number: int) -> str:
    return f"{number:,}".replace(",", THIN)


def duration(span: timedelta) -> str:
    """Two units at most: "4 m 12 s", "6 h 37 m", "3 d 4 h"."""
    seconds = max(0, int(span.total_seconds()))
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days} d {hour} h"
    if hours:
        return f"{hours} h {minute:02d} m"
    if minutes >= 10:
        return f"{minutes} m"
    if minutes:
        return f"{minutes} m {second:02d} s"
    return f"{second} s"


def ago(span: timedelta) -> str:
    """One unit, for a glance: "just now", "6 min", "3 h", "12 d"."""
    minutes = max(0, int(span.total_seconds())) // 60
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h"
    return f"{minutes // (24 * 60)} d"


def past(span: timedelta) -> str:
    told = ago(span)
    return told if told == "just now" else f"{told} ago"


def age(span: timedelta) -> str:
    """One unit, as short as it goes, for a narrow column: "40 s", "12 m", "3 h", "12 d"."""
    seconds = max(0, int(span.total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def utc(moment: datetime) -> str:
    """The exact time, for a title: "30 Nov 2026, 15:41:02 UTC"."""
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S} UTC"


def clock(moment: datetime, now: datetime, seconds: bool = False, zone: str = "") -> str:
    """What stands there until the script has put it into the reader's zone, which may be known; with the day where it
    is not today."""
    place = ZoneInfo(zone) if zone else UTC
    moment = moment.astimezone(place)
    told = f"{moment:%H:%M:%S %Z}" if seconds else f"{moment:%H:%M %Z}"
    if moment.date() == now.astimezone(place).date():
        return told
    return f"{moment.day} {moment:%b} {told}"


@dataclass(frozen=True, slots=True)
class Look:
    """How a state stands on a page: a role for its hue, a shape, and the word, which says it all."""

    tone: str
    icon: str
    word: str


_FINAL = {
    Status.DONE: Look("good", "done", "Done"),
    Status.FAILED: Look("bad", "failed", "Failed"),
    Status.STOPPED: Look("neutral", "stopped", "Stopped"),
    Status.CANCELLED: Look("neutral", "off", "Called off"),
}
_BELOW = ", which waits for "
_FROM = " from "


def waits_for(waiting_on: str) -> str:
    """Whom a receipt waits for, in a few words: "Collator, which waits for a decision from Mia" is "Collator"."""
    parts = [part for part in waiting_on.split("; ") if part]
    if len(parts) > 1:
        return f"{len(parts)} others"
    if not parts:
        return "somebody"
    if _BELOW in parts[0]:
        return parts[0].partition(_BELOW)[0]
    return parts[0].rpartition(_FROM)[2]


def waits_for_agents(waiting_on: str) -> bool:
    return _BELOW in waiting_on


def look_of_node(node: WorkNode, legs: tuple[str, ...] = ()) -> Look:
    """The look of one piece. `legs` are the agents it handed on to whose pieces still go on."""
    if node.abandoned:
        return Look("bad", "abandoned", "Abandoned")
    if node.status.final:
        return _FINAL[node.status]
    if node.stopping:
        return Look("progress", "stopping", "Stopping")
    if node.waits_for_you:
        return Look("attention", "you", "Waits for you")
    if node.decided_by:
        return Look("progress", "clock", f"Decided by {node.decided_by}")
    if node.status is Status.WAITING:
        agents = waits_for_agents(node.waiting_on)
        return Look(
            "neutral" if agents else "attention",
            "agent" if agents else "you",
            f"Waits for {waits_for(node.waiting_on)}",
        )
    if legs:
        return Look("neutral", "agent", f"Waits for {legs[0] if len(legs) == 1 else f'{len(legs)} agents'}")
    return Look("progress", "working", "Working")


def look_of_work(work: Work) -> Look:
    """The look of a whole: what needs its reader comes before what it does."""
    if work.status.final:
        return _FINAL[work.status]
    if work.for_you:
        return Look("attention", "you", f"{work.for_you} {'waits' if work.for_you == 1 else 'wait'} for you")
    if work.stopping:
        return Look("progress", "stopping", "Stopping")
    if work.decided_by:
        return Look("progress", "clock", f"Decided by {work.decided_by}")
    if work.status is Status.WAITING:
        return Look("attention", "you", f"Waits for {work.waiting_on.rpartition(_FROM)[2] or 'somebody'}")
    return Look("progress", "working", "Working")


def look_of_status(status: Status) -> Look:
    """The look of a final status, without anything known beside it."""
    return _FINAL[status]


def look_of_active(active: Active) -> Look:
    """The look of a whole among those that need somebody: why it does comes before what it does."""
    if active.ended_at is not None:
        return _FINAL[active.status]
    if active.need is Need.ABANDONED:
        return Look("bad", "abandoned", "Abandoned")
    if active.stopping:
        return Look("progress", "stopping", "Stopping")
    if active.need is Need.WAITS and active.decided_by:
        return Look("progress", "clock", f"Decided by {active.decided_by}")
    if active.need is Need.WAITS:
        return Look("attention", "you", f"Waits for {waits_for(active.doing_on)}")
    if active.need is Need.NEAR:
        return Look("attention", "limit", "Near its limit")
    if active.need is Need.QUIET:
        return Look("attention", "quiet", "Quiet")
    word = f"Working, {active.failed} fell short" if active.failed else "Working"
    return Look("progress", "working", word)


def gate_icon(gate: str) -> str:
    """The shape beside a sentence that says how an agent's changes pass."""
    told = gate.lower()
    if told.startswith(("makes changes by itself", "alone")):
        return "alone"
    if "every time" in told:
        return "everytime"
    return "never" if told.startswith("never") else "proposes"


_BECAME = {
    ProposalStatus.WAITING: Look("attention", "you", "waits"),
    ProposalStatus.DONE: Look("good", "done", "approved"),
    ProposalStatus.FAILED: Look("bad", "failed", "approved, and it failed"),
    ProposalStatus.REFUSED: Look("neutral", "off", "refused"),
    ProposalStatus.WITHDRAWN: Look("neutral", "off", "Withdrawn"),
    ProposalStatus.EXPIRED: Look("attention", "clock", "Expired, unanswered"),
}


HOLDS = {"approve": "yes", "refuse": "no", "answer": "answer", "decline": "“I cannot say”"}  # what was held
_HELD = {"approve": "approved", "refuse": "refused", "answer": "answered", "decline": "could not say"}


def look_of_request(request: Proposal | Question) -> Look:
    """The look of what became of a proposal or question, without its subject: "approved, with changes"."""
    if request.hold is not None and request.hold.lasts:
        changed = isinstance(request, Proposal) and request.edited is not None
        return Look("progress", "clock", _HELD[request.hold.act] + (", with changes" if changed else ""))
    if isinstance(request, Proposal):
        if request.status is ProposalStatus.WAITING and request.decided_at is not None:
            return Look("progress", "working", "approved, and it is under way")
        look = _BECAME[request.status]
        if request.status is ProposalStatus.DONE and request.edited is not None:
            return Look(look.tone, look.icon, "approved, with changes")
        return look
    if request.status is HelpStatus.WAITING:
        return Look("attention", "you", "waits")
    if request.declined:
        return Look("neutral", "off", "could not say")
    if request.status is HelpStatus.UNAVAILABLE:
        return Look("neutral", "off", "nobody answered in time")
    if request.status is not HelpStatus.ANSWERED:
        return Look("neutral", "off", "No longer needed")
    return Look("good", "done", "answered")
