"""The meter: what models cost, by model, agent, person and whole, for some days; and each call (rule M8)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, case, distinct, func, not_, or_, select

from core import spending
from core.clock import from_micros
from core.errors import NotFound
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader, at, skill_label
from core.sql import Statement
from core.store import Tx
from core.tables import account, metered_call, person, piece, whole
from core.values import Account, Meter, MeterCall, ModelPrice, Spent

MOST = 10  # people, and wholes, that are listed; the others are told together

_call = metered_call.c
_within = and_(_call.at >= bindparam("since"), _call.at < bindparam("until"))
_SUMS: tuple[Any, ...] = (
    func.count().label("calls"),
    func.sum(case((_call.purpose == "consult", 1), else_=0)).label("consults"),
    func.sum(_call.tokens_in).label("tokens_in"),
    func.sum(_call.tokens_out).label("tokens_out"),
    func.sum(_call.tokens_cached).label("tokens_cached"),
    func.sum(_call.micros).label("micros"),
    func.sum(case((_call.estimated, 1), else_=0)).label("estimated"),
    func.sum(case((_call.estimated, _call.micros), else_=0)).label("estimated_micros"),
)
_FIGURES = tuple(figure.name for figure in _SUMS)


def _by(key: Any, source: Any = metered_call) -> Any:
    """What was spent for each value of a column, the dearest first."""
    return (
        select(key.label("key"), *_SUMS)
        .select_from(source)
        .where(_within)
        .group_by(key)
        .order_by(func.sum(_call.micros).desc(), key)
        .limit(bindparam("most"))
    )


_TOGETHER = Statement(
    select(
        *_SUMS,
        func.count(distinct(_call.root)).label("wholes"),
        func.count(distinct(func.coalesce(_call.person, ""))).label("people"),
    ).where(_within)
)
_BY_MODEL = Statement(_by(_call.model))
_BY_AGENT = Statement(_by(piece.c.agent, metered_call.join(piece, piece.c.id == _call.piece)))
_of_person = _by(_call.person).subquery()
_BY_PERSON = Statement(
    select(_of_person, person.c.name)
    .select_from(_of_person.outerjoin(person, person.c.id == _of_person.c.key))
    .order_by(_of_person.c.micros.desc(), person.c.name)
)
_of_whole = _by(_call.root).subquery()
_top = piece.alias("top")
_BY_WHOLE = Statement(
    select(_of_whole, whole.c.about, whole.c.person, whole.c.given_by, _top.c.agent, _top.c.skill, _top.c.tree_micros)
    .select_from(_of_whole.join(whole, whole.c.id == _of_whole.c.key).join(_top, _top.c.id == whole.c.id))
    .order_by(_of_whole.c.micros.desc(), whole.c.id)
)
_HELD = Statement(
    select(func.coalesce(func.sum(_top.c.reserved_micros), 0).label("micros"))
    .select_from(whole.join(_top, _top.c.id == whole.c.id))
    .where(whole.c.ended_at.is_(None))
)
_before = or_(
    _call.at < bindparam("at"),
    and_(_call.at == bindparam("at"), _call.piece < bindparam("of")),
    and_(_call.at == bindparam("at"), _call.piece == bindparam("of"), _call.n < bindparam("number")),
)
_CALLS = Statement(
    select(
        *_call,
        piece.c.agent,
        piece.c.skill,
        whole.c.about,
        whole.c.given_by,
        whole.c.person.label("whole_person"),
        person.c.name.label("person_name"),
    )
    .select_from(
        metered_call.join(piece, piece.c.id == _call.piece)
        .join(whole, whole.c.id == _call.root)
        .outerjoin(person, person.c.id == _call.person)
    )
    .where(_call.at <= bindparam("at"), _before)
    .order_by(_call.at.desc(), _call.piece.desc(), _call.n.desc())
    .limit(bindparam("most"))
)
# What is counted for an agent or a person in a day or a month stands in the same table, under keys of its own.
_of_period = or_(
    *(account.c.key.like(f"{kind}:%:{days}") for kind in ("agent", "person") for days in ("____-__-__", "____-__"))
)
_account = (
    select(*account.c, person.c.name.label("set_by_name"))
    .select_from(account.outerjoin(person, person.c.id == account.c.set_by))
    .where(not_(_of_period))
)
_ACCOUNTS = Statement(
    _account.where(account.c.key > bindparam("after")).order_by(account.c.key).limit(bindparam("most"))
)
_ACCOUNT = Statement(_account.where(account.c.key == bindparam("account_key")))


def meter(house: House, tx: Tx, reader: Reader, first: date, last: date, *, models_only: bool = False) -> Meter:
    """What was spent from the first day to the last. Wholes the reader may not see have no name (rule R8)."""
    days = {
        "since": spending.day_begins(house.settings, first),
        "until": spending.day_begins(house.settings, last + timedelta(days=1)),
    }
    together = tx.one(_TOGETHER, **days)
    agents = [] if models_only else tx.all(_BY_AGENT, **days, most=1000)
    people = [] if models_only else tx.all(_BY_PERSON, **days, most=MOST)
    wholes = [] if models_only else tx.all(_BY_WHOLE, **days, most=MOST)
    return Meter(
        first=first,
        last=last,
        time_zone=house.settings.time_zone,
        together=_spent(together, ""),
        models=tuple(
            _spent(row, row.key, known=row.key in house.models) for row in tx.all(_BY_MODEL, **days, most=1000)
        ),
        agents=tuple(_spent(row, house.label(row.key), known=row.key in house.agents) for row in agents),
        people=tuple(_spent(row, row.name or "") for row in people),
        wholes=tuple(_of_one(house, reader, row) for row in wholes),
        more_people=together.people - len(people),
        more_wholes=together.wholes - len(wholes),
        held_micros=int(tx.one(_HELD).micros),
    )


def _spent(row: Any, name: str, **more: Any) -> Spent:
    figures: dict[str, Any] = {figure: int(getattr(row, figure) or 0) for figure in _FIGURES}
    return Spent(name=name, **figures, **more)


def _of_one(house: House, reader: Reader, row: Any) -> Spent:
    if not reader.sees(row):
        return _spent(row, "", tree_micros=row.tree_micros)
    name = row.about or skill_label(house, row.agent, row.skill)
    return _spent(row, name, root=to_uuid(row.key), tree_micros=row.tree_micros)


def calls(house: House, tx: Tx, reader: Reader, most: int, before: tuple[int, str, int] | None) -> list[MeterCall]:
    """Calls on the meter, the newest first; `before` names the last one shown: its time, piece and number."""
    time, of, number = before or (2**62, "g", 0)
    found = []
    for row in tx.all(_CALLS, at=time, of=of, number=number, most=most):
        sees = reader.sees(_Whose(row.whole_person, row.given_by))
        found.append(
            MeterCall(
                piece=to_uuid(row.piece),
                n=row.n,
                at=from_micros(row.at),
                model=row.model,
                purpose=row.purpose,
                agent_label=house.label(row.agent),
                skill_label=skill_label(house, row.agent, row.skill),
                person=row.person_name or "",
                about=row.about if sees else "",
                root=to_uuid(row.root) if sees else None,
                tokens_in=row.tokens_in,
                tokens_out=row.tokens_out,
                tokens_cached=row.tokens_cached,
                micros=row.micros,
                estimated=bool(row.estimated),
            )
        )
    return found


class _Whose:
    """Whom a whole is for and who gave it: what is asked of its reader."""

    def __init__(self, person: str | None, given_by: str | None) -> None:
        self.person, self.given_by = person, given_by


def accounts(tx: Tx, most: int, after: str) -> list[Account]:
    """What wholes are charged to besides themselves (`on=`), by key."""
    return [_account_of(row) for row in tx.all(_ACCOUNTS, after=after, most=most)]


def account_of(tx: Tx, key: str) -> Account:
    """One of them. Raises NotFound."""
    row = tx.one(_ACCOUNT, account_key=key)
    if row is None:
        raise NotFound(f"There is no account {key}.")
    return _account_of(row)


def _account_of(row: Any) -> Account:
    return Account(
        key=row.key,
        limit_micros=row.limit_micros,
        spent_micros=row.spent_micros,
        reserved_micros=row.reserved_micros,
        set_by=row.set_by_name or "",
        set_at=at(row.set_at),
    )


def prices(house: House) -> list[ModelPrice]:
    """What each of the agency's models costs, in the order they are declared."""
    found = []
    for model in house.models.values():
        price = model.price
        assert price is not None  # an agency is not made with a model that has none (rule M9)
        agents = house.agents.values()
        found.append(
            ModelPrice(
                name=model.name,
                model=model.model,
                input=price.input,
                output=price.output,
                cached=price.cached,
                over=tuple((tokens, dearer.input, dearer.output) for tokens, dearer in price.over.items()),
                agents=tuple(agent.shown_as for agent in agents if house.model_of(agent) is model),
                consulted_by=tuple(agent.shown_as for agent in agents if agent.consults == model.name),
            )
        )
    return found
