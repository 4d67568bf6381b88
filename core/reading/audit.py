"""All records together: lines by time, one line opened, how much there is, and what was verified last.

Who supervises or audits reads here. Each line is narrowed to its reader as on its own whole (rule R8): a text is looked
for only in what the reader may read.

Lines have no index by time: it would cost every line that is written more than anybody who reads here. What is looked
for by time is looked for whole by whole, in the order in which their newest (or oldest) lines may come, some at a time,
until no line of another whole can come before those that were found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select

from core import record
from core.clock import from_micros, to_micros
from core.errors import NotFound
from core.house import House
from core.ids import to_uuid
from core.reading.lines import shown
from core.reading.reader import Reader, at, whole_of
from core.sql import Statement
from core.store import Tx
from core.tables import line, person, piece, verification, whole
from core.values import AuditLine, LineOpened, LineSieve, Recorded, Verification

_person_of = person.alias("person_of")
_columns = (
    *line.c,
    piece.c.agent,
    whole.c.about,
    whole.c.person.label("whole_person"),
    whole.c.given_by,
    _person_of.c.name.label("person_name"),
)
_from = (
    line.join(piece, piece.c.id == line.c.piece)
    .join(whole, whole.c.id == line.c.root)
    .outerjoin(_person_of, _person_of.c.id == whole.c.person)
)
_CONDITIONS: dict[str, Any] = {
    "work": line.c.root == bindparam("work"),
    "agent": piece.c.agent == bindparam("agent"),
    "kind": line.c.kind == bindparam("kind"),
    "person": or_(
        whole.c.person == bindparam("person"),
        whole.c.given_by == bindparam("person"),
        line.c.payload.like(bindparam("by")),
    ),
    "since": line.c.at >= bindparam("since"),
    "until": line.c.at < bindparam("until"),
    "text": and_(
        func.lower(line.c.summary).like(bindparam("text"), escape="!"),
        or_(bindparam("all_content") == 1, whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who")),
    ),
}


WINDOW = 200  # wholes whose lines are looked through at first
WIDER = 4  # times as many, each time that was not enough
SKEW = 60_000_000  # microseconds by which a whole's clocks may have gone back
NEVER = 2**62
_TO_LOOK_AT = (  # older, newer: the whole with which a window ends
    Statement(
        select(whole.c.last_line_at.label("edge"))
        .where(whole.c.last_line_at < bindparam("beyond"), whole.c.opened_at <= bindparam("near"))
        .order_by(whole.c.last_line_at.desc())
        .limit(1)
        .offset(bindparam("skip"))
    ),
    Statement(
        select(whole.c.opened_at.label("edge"))
        .where(whole.c.opened_at > bindparam("beyond"), whole.c.last_line_at >= bindparam("near"))
        .order_by(whole.c.opened_at)
        .limit(1)
        .offset(bindparam("skip"))
    ),
)


@cache
def _in_window(narrowed: tuple[str, ...], newer: bool) -> Statement:
    """Lines of the wholes of one window, for one choice of conditions."""
    time, root, n = line.c.at, line.c.root, line.c.n
    here, same = time == bindparam("at"), root == bindparam("root")
    window: tuple[Any, ...]
    if newer:
        past = or_(time > bindparam("at"), and_(here, or_(root > bindparam("root"), and_(same, n > bindparam("n")))))
        window = (
            whole.c.opened_at > bindparam("beyond"),
            whole.c.opened_at <= bindparam("edge"),
            whole.c.last_line_at >= bindparam("near"),
        )
        order: list[Any] = [time, root, n]
    else:
        past = or_(time < bindparam("at"), and_(here, or_(root < bindparam("root"), and_(same, n < bindparam("n")))))
        window = (
            whole.c.last_line_at < bindparam("beyond"),
            whole.c.last_line_at >= bindparam("edge"),
            whole.c.opened_at <= bindparam("near"),
        )
        order = [time.desc(), root.desc(), n.desc()]
        if not narrowed:  # of a whole that lies before the place, its last lines are enough
            all_before = whole.c.last_line_at < bindparam("at")
            window = (*window, n > case((all_before, whole.c.lines - bindparam("most")), else_=0))
    return _listed((*window, past), narrowed, order)


@cache
def _of_one(narrowed: tuple[str, ...], newer: bool) -> Statement:
    """Lines of one record: they go by number, which is their order whatever a clock said."""
    n = line.c.n
    return _listed([n > bindparam("n") if newer else n < bindparam("n")], narrowed, [n if newer else n.desc()])


def _listed(which: Sequence[Any], narrowed: tuple[str, ...], order: Sequence[Any]) -> Statement:
    return Statement(
        select(*_columns)
        .select_from(_from)
        .where(*which, *(_CONDITIONS[name] for name in narrowed))
        .order_by(*order)
        .limit(bindparam("most"))
    )


_ONE = Statement(
    select(*_columns).select_from(_from).where(line.c.root == bindparam("root"), line.c.n == bindparam("n"))
)
_NEXT = Statement(
    select(line.c.hash, line.c.before).where(line.c.root == bindparam("root"), line.c.n == bindparam("n"))
)
_sums: Any = select(
    func.count(whole.c.id).label("works"),
    func.sum(whole.c.lines).label("lines"),
    func.min(whole.c.opened_at).label("since"),
)
_RECORDED = Statement(_sums)
_by = person.alias("by_person")
_LAST = Statement(
    select(verification, _by.c.name.label("by_name"), whole.c.about.label("first_about"))
    .select_from(
        verification.outerjoin(_by, _by.c.id == verification.c.asked_by).outerjoin(
            whole, whole.c.id == verification.c.first_root
        )
    )
    .order_by(verification.c.begun_at.desc(), verification.c.id.desc())
    .limit(1)
)


class _Whose:
    """Whom a whole is for and who gave it: what is asked of its reader."""

    def __init__(self, row: Any) -> None:
        self.person, self.given_by = row.whole_person, row.given_by


def audit(
    house: House,
    tx: Tx,
    reader: Reader,
    sieve: LineSieve,
    most: int,
    place: tuple[int, str, int],
    newer: bool,
    window: int = WINDOW,
) -> list[AuditLine]:
    """Lines of all records, the newest first: those before a place (time, whole, number), or with `newer` after it.
    `window`: of how many wholes at first."""
    given: dict[str, Any] = {}
    if sieve.work is not None:
        given["work"] = sieve.work.hex
    if sieve.agent:
        given["agent"] = sieve.agent
    if sieve.kind is not None:
        given["kind"] = str(sieve.kind)
    if sieve.person is not None:
        given |= {"person": sieve.person.hex, "by": f'%"by":"{sieve.person.hex}"%'}
    if sieve.since is not None:
        given["since"] = to_micros(sieve.since)
    if sieve.until is not None:
        given["until"] = to_micros(sieve.until)
    if sieve.text:
        escaped = sieve.text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        everything = reader.id is None or reader.may.audits_agents
        given |= {"text": f"%{escaped}%", "all_content": int(everything), "who": reader.id or ""}
    narrowed = tuple(name for name in _CONDITIONS if name in given)
    if sieve.work is not None:
        rows = tx.all(_of_one(narrowed, newer), most=most, n=place[2], **given)
    else:
        rows = _by_time(tx, narrowed, given, most, place, newer, window)
    return [_line(house, reader, row) for row in (reversed(rows) if newer else rows)]


def _by_time(
    tx: Tx,
    narrowed: tuple[str, ...],
    given: Mapping[str, Any],
    most: int,
    place: tuple[int, str, int],
    newer: bool,
    window: int,
) -> list[Any]:
    """The lines that come next after a place, in their order: the latest first, or with `newer` the earliest."""
    moment, root, n = place
    least, most_at = given.get("since", 0) - SKEW, given.get("until", NEVER) + SKEW
    near = max(moment - SKEW, least) if newer else min(moment + SKEW, most_at)
    beyond = -1 if newer else NEVER
    found: list[Any] = []
    while True:
        last = tx.one(_TO_LOOK_AT[newer], beyond=beyond, near=near, skip=window - 1)
        edge = last.edge if last is not None else (NEVER if newer else 0)
        where = {"at": moment, "root": root, "n": n, "beyond": beyond, "edge": edge, "near": near}
        found += tx.all(_in_window(narrowed, newer), most=most, **where, **given)
        found.sort(key=lambda row: (row.at, row.root, row.n), reverse=not newer)
        del found[most:]
        if last is None or (edge > most_at if newer else edge < least):
            return found
        if len(found) == most and (found[-1].at < edge - SKEW if newer else found[-1].at > edge + SKEW):
            return found
        beyond, window = edge, window * WIDER


def _line(house: House, reader: Reader, row: Any) -> AuditLine:
    content = reader.content(_Whose(row))
    return AuditLine(
        line=shown(row, house.label(row.agent), content),
        root=to_uuid(row.root),
        about=row.about,
        person=row.person_name or "",
        content=content,
    )


def opened(house: House, tx: Tx, reader: Reader, id: str, n: int) -> LineOpened:
    """One line, for whoever may see its whole. Raises NotFound."""
    of = whole_of(tx, reader, id)
    row = tx.one(_ONE, root=of.id, n=n)
    if row is None:
        raise NotFound("There is no such line.")
    following = tx.one(_NEXT, root=of.id, n=n + 1)
    kept = record.head_of(tx, of.id)
    return LineOpened(
        of=_line(house, reader, row),
        said=record.said_by(row._asdict()) if reader.content(of) else "",
        following=(following.hash, following.before) if following else None,
        lines=kept.lines,
        head=kept.head,
        signature=kept.signature,
        signed_by=kept.signed_by,
    )


def recorded(tx: Tx) -> Recorded:
    found = tx.one(_RECORDED)
    return Recorded(found.works, int(found.lines or 0), at(found.since))


def verification_last(tx: Tx) -> Verification | None:
    """The verification under way, else the last there was; None: there was none."""
    row = tx.one(_LAST)
    if row is None:
        return None
    first = None
    if row.first_root is not None:
        first = (to_uuid(row.first_root), str(row.first_about or ""), int(row.first_line), str(row.first_why))
    return Verification(
        begun_at=from_micros(row.begun_at),
        ended_at=at(row.ended_at),
        by=row.by_name or "",
        of_works=row.of_works,
        works=row.works,
        lines=row.lines,
        signed=row.signed,
        by_other_key=row.by_other_key,
        keys=tuple(key for key in row.keys.split("\n") if key),
        broken=row.broken,
        first=first,
    )
