"""What an agent's or a person's work may cost in a day or a month (rule M7).

A limit is declared (`AgentLimits.per_day`, the agency's `person_per_month`) or set by somebody who manages model
spend. What a call may be charged to stands in `account`, a row for each period, made with what the meter says was
spent in it before; a limit that is set in the middle of a period counts that, and not the calls under way then.
Days and months begin at midnight in the agency's time zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sqlalchemy import bindparam, delete, func, or_, select, update

from core import clock, people
from core.amounts import to_micros
from core.declare.agents import Agent
from core.settings import Settings
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import account, metered_call, piece, spend_limit

Period = Literal["day", "month"]

_LIMITS = Statement(
    select(spend_limit).where(
        or_(spend_limit.c.subject == bindparam("agent"), spend_limit.c.subject == bindparam("person"))
    )
)
_ALL = Statement(select(spend_limit).order_by(spend_limit.c.subject, spend_limit.c.period))
_NEW = insert_into(spend_limit, or_ignore=True)
_SET = Statement(
    update(spend_limit)
    .where(spend_limit.c.subject == bindparam("of"), spend_limit.c.period == bindparam("each"))
    .values(limit_micros=bindparam("micros"), set_by=bindparam("who"), set_at=bindparam("at"))
)
_UNSET = Statement(
    delete(spend_limit).where(spend_limit.c.subject == bindparam("of"), spend_limit.c.period == bindparam("each"))
)
_spent = func.coalesce(func.sum(metered_call.c.micros), 0).label("micros")
_SPENT_FOR = Statement(
    select(_spent).where(metered_call.c.person == bindparam("who"), metered_call.c.at >= bindparam("since"))
)
_SPENT_BY = Statement(
    select(_spent)
    .select_from(metered_call.join(piece, piece.c.id == metered_call.c.piece))
    .where(metered_call.c.at >= bindparam("since"), piece.c.agent == bindparam("who"))
)
_ACCOUNT = Statement(select(account).where(account.c.key == bindparam("account_key")))
_OPEN = insert_into(account, or_ignore=True)


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit that holds for calls of this moment."""

    subject: str  # person:<id>, agent:<name>
    period: Period
    account: str  # the key of what is counted against it
    micros: int
    words: str  # "Buyer's limit for the day (UTC)"

    @property
    def of_agent(self) -> bool:
        return self.subject.startswith("agent:")


def of_agent(name: str) -> str:
    return f"agent:{name}"


def of_person(id: str) -> str:
    return f"person:{id}"


def _here(settings: Settings, now: int) -> datetime:
    return clock.from_micros(now).astimezone(ZoneInfo(settings.time_zone))


def account_of(settings: Settings, subject: str, period: Period, now: int) -> str:
    """The key of what is counted in the period that `now` lies in: `agent:Buyer:2031-03-03`, `person:<id>:2031-03`."""
    return f"{subject}:{_here(settings, now):{'%Y-%m-%d' if period == 'day' else '%Y-%m'}}"


def begins(settings: Settings, period: Period, now: int) -> int:
    """When the period that `now` lies in began, in microseconds."""
    first = _here(settings, now).replace(hour=0, minute=0, second=0, microsecond=0)
    return clock.to_micros(first if period == "day" else first.replace(day=1))


def today(settings: Settings, now: int) -> date:
    """The day that it is in the agency's time zone."""
    return _here(settings, now).date()


def day_begins(settings: Settings, day: date) -> int:
    """When a day begins in the agency's time zone, in microseconds."""
    return clock.to_micros(datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(settings.time_zone)))


def caps(tx: Tx, settings: Settings, agent: Agent, person: str | None, *, some_set: bool = True) -> Sequence[Cap]:
    """The limits that hold for a call of this agent's for this person. Where an agent's is both declared and set, the
    least of both holds; a person's that is set holds instead of the agency's. `some_set`: whether any is, as far as
    whoever asks knows."""
    by_agent, by_person = of_agent(agent.name), of_person(person) if person else ""
    limits: dict[tuple[str, Period], int] = {}
    if agent.limits.per_day is not None:
        limits[by_agent, "day"] = to_micros(agent.limits.per_day)
    if person is not None and settings.person_per_month is not None:
        limits[by_person, "month"] = to_micros(settings.person_per_month)
    for row in tx.all(_LIMITS, agent=by_agent, person=by_person) if some_set else ():
        key = (row.subject, row.period)
        declared = limits.get(key) if row.subject == by_agent else None
        limits[key] = row.limit_micros if declared is None else min(declared, row.limit_micros)
    return [_cap(tx, settings, agent, subject, period, micros) for (subject, period), micros in limits.items()]


def _cap(tx: Tx, settings: Settings, agent: Agent, subject: str, period: Period, micros: int) -> Cap:
    whose = agent.shown_as if subject.startswith("agent:") else people.row(tx, subject.removeprefix("person:")).name
    words = f"{whose}'s limit for the {period} ({settings.time_zone})"
    return Cap(subject, period, account_of(settings, subject, period, tx.now), micros, words)


def open_account(tx: Tx, settings: Settings, cap: Cap) -> None:
    """Make the row that is counted in, where there is none yet, with what was spent in the period before."""
    if tx.one(_ACCOUNT, account_key=cap.account) is None:
        spent = spent_before(tx, settings, cap.subject, cap.period)
        tx.run(
            _OPEN, key=cap.account, limit_micros=None, spent_micros=spent, reserved_micros=0, set_by=None, set_at=None
        )


def spent_before(tx: Tx, settings: Settings, subject: str, period: Period) -> int:
    """What the meter says was spent in the running period, in micros."""
    tx.flush()
    kind, _, who = subject.partition(":")
    statement = _SPENT_BY if kind == "agent" else _SPENT_FOR
    return int(tx.one(statement, who=who, since=begins(settings, period, tx.now)).micros)


def set_limit(tx: Tx, subject: str, period: Period, micros: int | None, by: str | None) -> None:
    """Limit what a subject's work may cost in each period from now on; None takes the limit away."""
    if micros is None:
        tx.run(_UNSET, of=subject, each=period)
        return
    tx.run(_NEW, subject=subject, period=period, limit_micros=micros, set_by=by, set_at=tx.now)
    tx.run(_SET, of=subject, each=period, micros=micros, who=by, at=tx.now)


def all_set(tx: Tx) -> list[Any]:
    return tx.all(_ALL)


def counted(tx: Tx, settings: Settings, subject: str, period: Period) -> Mapping[str, int]:
    """What is spent and held in the running period."""
    row = tx.one(_ACCOUNT, account_key=account_of(settings, subject, period, tx.now))
    if row is None:
        return {"spent": spent_before(tx, settings, subject, period), "reserved": 0}
    return {"spent": row.spent_micros, "reserved": row.reserved_micros}
