"""The list of the inbox: every request that waits for its reader, by whole, what is due first on top (rule P9).

One statement makes the list, its counts and the place of one request in it; who is asked is the condition of the
badge. Pages go on after a row, not after a number of rows: what is decided meanwhile makes none be skipped. Where many
proposals of one agent in one whole are for one action they stand together, in the place of the first of them: a place
only ever moves down by what is decided, also when too few are left to stand together.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Any

from sqlalchemy import BigInteger, String, and_, bindparam, case, func, literal_column, or_, select, tuple_, union_all

from core.aside import is_aside
from core.asking import whom
from core.asking.handing_over import is_handed
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.advice import advice
from core.reading.offers import action_label
from core.reading.reader import Reader, at
from core.reading.requests import UNANSWERED, UNDECIDED, asked, for_reader, top
from core.sql import Statement
from core.store import Tx
from core.tables import handed_over, help, piece, proposal, set_aside, whole
from core.values import Advice, Asked, AskedBundle, AskedGroup, Place, Waiting

PAGE = 50
BUNDLE = 5  # so many of one agent and action in one whole stand together
_LATER = 10 * 366 * 86_400_000_000  # micros: what has no deadline comes after everything that has one, by its age
_START = "-1..-1..-1."


def _part(table: Any, kind: str, text: Any, *conditions: Any) -> Any:
    changes = table is proposal
    return (
        select(
            literal_column(f"'{kind}'").label("kind"),
            table.c.id,
            table.c.root,
            whole.c.about,
            piece.c.agent,
            table.c.through,
            text.label("text"),
            (table.c.action if changes else literal_column("''")).label("action"),
            (table.c.fingerprint if changes else table.c.id).label("call"),
            table.c.asked_at,
            table.c.deadline,
            table.c.asked_of,
            asked.c.name.label("asked_name"),
            func.coalesce(table.c.deadline, table.c.asked_at + _LATER).label("due"),
        )
        .select_from(
            table.join(whole, whole.c.id == table.c.root)
            .join(top, top.c.id == table.c.root)
            .join(piece, piece.c.id == table.c.piece)
            .outerjoin(asked, asked.c.id == table.c.asked_of)
        )
        .where(*conditions)
    )


_all = union_all(
    _part(proposal, "proposal", proposal.c.sentence, UNDECIDED, ~is_aside(proposal), for_reader(proposal)),
    _part(help, "question", help.c.question, UNANSWERED, ~is_aside(help), for_reader(help)),
).subquery("waiting")
_aside = union_all(
    _part(proposal, "proposal", proposal.c.sentence, UNDECIDED, is_aside(proposal), for_reader(proposal)),
    _part(help, "question", help.c.question, UNANSWERED, is_aside(help), for_reader(help)),
).subquery("aside")
_ASIDE = Statement(
    select(*_aside.c, set_aside.c.until)
    .select_from(
        _aside.join(set_aside, (set_aside.c.request == _aside.c.id) & (set_aside.c.person == bindparam("who")))
    )
    .order_by(set_aside.c.until, _aside.c.id)
)
_handed = union_all(
    _part(proposal, "proposal", proposal.c.sentence, UNDECIDED, is_handed(proposal)),
    _part(help, "question", help.c.question, UNANSWERED, is_handed(help)),
).subquery("handed")
_HANDED = Statement(
    select(*_handed.c, handed_over.c.at)
    .select_from(_handed.join(handed_over, handed_over.c.request == _handed.c.id))
    .order_by(handed_over.c.at.desc(), _handed.c.id)
    .limit(PAGE)
)
_FACETS = Statement(
    select(
        _all.c.kind,
        _all.c.agent,
        _all.c.root,
        _all.c.about,
        _all.c.action,
        func.count().label("number"),
        func.min(_all.c.asked_at).label("oldest"),
        func.min(_all.c.due).label("due"),
    ).group_by(_all.c.kind, _all.c.agent, _all.c.root, _all.c.about, _all.c.action)
)


def _any_or(column: Any, name: str) -> Any:
    return or_(bindparam(name, type_=String) == "", column == bindparam(name, type_=String))


_sifted = (
    select(_all)
    .where(
        *(_any_or(_all.c.kind, "kind"), _any_or(_all.c.agent, "agent"), _any_or(_all.c.root, "whole")),
        _all.c.agent != bindparam("but_agent", type_=String),
        _all.c.root != bindparam("but_whole", type_=String),
    )
    .subquery("sifted")
)
_same = (_sifted.c.root, _sifted.c.agent, _sifted.c.action)
_alike = (_sifted.c.root, _sifted.c.agent, _sifted.c.call)
_TOLD = (  # of each row, of its whole, and of those it stands together with
    func.min(_sifted.c.asked_at).over(partition_by=_sifted.c.root).label("oldest"),
    func.min(_sifted.c.deadline).over(partition_by=_sifted.c.root).label("deadline_first"),
    func.count().over(partition_by=_sifted.c.root).label("in_group"),
    func.min(_sifted.c.asked_at).over(partition_by=_same).label("bundle_oldest"),
    func.min(_sifted.c.deadline).over(partition_by=_same).label("bundle_deadline"),
    func.count().over(partition_by=_alike).label("alike"),
    func.row_number().over(partition_by=_alike, order_by=(_sifted.c.due, _sifted.c.id)).label("nth_alike"),
    func.count().over().label("shown"),
)


def _listed(*told: Any) -> Any:
    """All rows in the order of the list, numbered, each with those beside it."""
    grouped = select(
        *_sifted.c,
        func.min(_sifted.c.due).over(partition_by=_sifted.c.root).label("first_due"),
        func.count().over(partition_by=_same).label("in_bundle"),
        func.min(_sifted.c.due).over(partition_by=_same).label("bundle_due"),
        func.min(_sifted.c.id).over(partition_by=_same).label("bundle_first"),
        *told,
    ).subquery("grouped")
    bundled = and_(grouped.c.action != "", grouped.c.in_bundle >= BUNDLE)
    placed = select(
        *grouped.c,
        case((bundled, 1), else_=0).label("bundled"),
        case((bundled, grouped.c.bundle_due), else_=grouped.c.due).label("place_due"),
        case((bundled, grouped.c.bundle_first), else_=grouped.c.id).label("place_id"),
    ).subquery("placed")
    order = _order(placed)
    return select(
        *placed.c,
        func.row_number().over(order_by=order).label("n"),
        func.lag(placed.c.id).over(order_by=order).label("before"),
        func.lead(placed.c.id).over(order_by=order).label("after"),
    ).subquery("numbered")


def _order(rows: Any) -> tuple[Any, ...]:
    return rows.c.first_due, rows.c.root, rows.c.place_due, rows.c.place_id, rows.c.due, rows.c.id


_full, _bare = _listed(*_TOLD), _listed()
_PAGE = Statement(
    select(*_full.c)
    .where(
        tuple_(*_order(_full))
        > tuple_(*(bindparam(f"k{n}", type_=BigInteger if n % 2 else String) for n in range(1, 7))),
        _full.c.n > bindparam("skip", type_=BigInteger),
    )
    .order_by(_full.c.n)
    .limit(bindparam("most"))
)
_PLACE = Statement(select(_bare.c.n, _bare.c.before, _bare.c.after).where(_bare.c.id == bindparam("item")))


def waiting(
    house: House,
    tx: Tx,
    reader: Reader,
    *,
    kind: str,
    agent: str,
    whole: str,
    but_agent: str,
    but_whole: str,
    after: str,
    item: str | None,
) -> Waiting:
    """One page of what waits for the reader, narrowed to a kind, an agent and a whole where those are given, or to all
    but one. `after` is the mark the page before ended with; with `item` it is the page that holds it, and its place is
    told."""
    if reader.id is None:
        return _made(house, reader, [], [], None, [], ())
    sieve = {"who": reader.id, "now": tx.now, "kind": kind, "agent": agent, "whole": whole}
    sieve |= {"but_agent": but_agent, "but_whole": but_whole}
    facets = tx.all(_FACETS, who=reader.id, now=tx.now)
    place = tx.one(_PLACE, item=item, **sieve) if item else None
    skip = (place.n - 1) // PAGE * PAGE if place is not None else 0
    mark = after if place is None else ""
    rows = tx.all(_PAGE, **sieve, **_key(mark), skip=skip, most=PAGE + 1)
    if not rows and mark:  # nothing comes after it any more: the first page
        rows = tx.all(_PAGE, **sieve, **_key(""), skip=skip, most=PAGE + 1)
    put_aside = tx.all(_ASIDE, who=reader.id, now=tx.now)
    handed = tuple((_asked(house, reader, row), from_micros(row.at)) for row in tx.all(_HANDED, who=reader.id))
    told = () if item else _advice(house, tx, reader, facets)
    return replace(_made(house, reader, facets, rows, place, put_aside, told), handed=handed)


def _advice(house: House, tx: Tx, reader: Reader, facets: list[Any]) -> tuple[Advice, ...]:
    waits: dict[tuple[str, str], int] = {}
    for facet in facets:
        if facet.action:
            kind = facet.agent, facet.action
            waits[kind] = waits.get(kind, 0) + facet.number
    return advice(house, tx, reader, waits)


def _key(mark: str) -> dict[str, Any]:
    """The place a mark stands for; the beginning for one that is none."""
    parts = mark.split(".")
    whole_number = all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts[::2])
    found = parts if len(parts) == 6 and whole_number else _START.split(".")
    return {f"k{n}": int(part) if n % 2 else part for n, part in enumerate(found, 1)}


def _made(
    house: House,
    reader: Reader,
    facets: list[Any],
    rows: list[Any],
    place: Any,
    put_aside: list[Any],
    told: tuple[Advice, ...],
) -> Waiting:
    page, more = rows[:PAGE], len(rows) > PAGE
    agents: dict[str, int] = {}
    works: dict[str, tuple[str, int]] = {}
    kinds = {"proposal": 0, "question": 0}
    for facet in sorted(facets, key=lambda facet: (facet.due, facet.root)):
        kinds[facet.kind] += facet.number
        agents[facet.agent] = agents.get(facet.agent, 0) + facet.number
        works[facet.root] = (facet.about, works.get(facet.root, ("", 0))[1] + facet.number)
    last = page[-1] if page else None
    return Waiting(
        groups=tuple(_group(house, reader, list(group)) for _, group in groupby(page, key=lambda row: row.root)),
        total=sum(kinds.values()),
        shown=rows[0].shown if rows else 0,
        first=page[0].n if page else 0,
        last=last.n if last is not None else 0,
        more=_mark(last) if more and last is not None else "",
        oldest=at(min((facet.oldest for facet in facets), default=None)),
        proposals=kinds["proposal"],
        questions=kinds["question"],
        agents=tuple((name, house.label(name), number) for name, number in agents.items()),
        works=tuple((to_uuid(root), about, number) for root, (about, number) in works.items()),
        place=None
        if place is None
        else Place(
            place.n, to_uuid(place.before) if place.before else None, to_uuid(place.after) if place.after else None
        ),
        aside=tuple((_asked(house, reader, row), from_micros(row.until)) for row in put_aside),
        advice=told,
    )


def _mark(last: Any) -> str:
    """The mark of a row, which the next page begins after."""
    return f"{last.first_due}.{last.root}.{last.place_due}.{last.place_id}.{last.due}.{last.id}"


def _group(house: House, reader: Reader, rows: list[Any]) -> AskedGroup:
    first = rows[0]
    return AskedGroup(
        root=to_uuid(first.root),
        about=first.about,
        number=first.in_group,
        oldest=from_micros(first.oldest),
        deadline=at(first.deadline_first),
        rows=tuple(
            row
            for _, together in groupby(rows, key=lambda row: row.place_id)
            for row in _rows(house, reader, list(together))
        ),
    )


def _rows(house: House, reader: Reader, rows: list[Any]) -> tuple[Asked | AskedBundle, ...]:
    """A request, or those that stand together."""
    first, requests = rows[0], tuple(_asked(house, reader, row) for row in rows)
    if not first.bundled:
        return requests
    bundle = AskedBundle(
        agent=first.agent,
        agent_label=house.label(first.agent),
        action=first.action,
        action_label=action_label(house, first.agent, first.action),
        number=first.in_bundle,
        oldest=from_micros(first.bundle_oldest),
        deadline=at(first.bundle_deadline),
        requests=requests,
    )
    return (bundle,)


def _asked(house: House, reader: Reader, row: Any) -> Asked:
    return Asked(
        id=to_uuid(row.id),
        kind=row.kind,
        text=row.text,
        asked_through=whom.through_words(house, row.through) or house.label(row.agent),
        asked_at=from_micros(row.asked_at),
        deadline=at(row.deadline),
        put_to="" if row.asked_of == reader.id else row.asked_name or "nobody",
        alike=getattr(row, "alike", 1),  # what is set aside is not counted among them
        nth_alike=getattr(row, "nth_alike", 1),
    )
