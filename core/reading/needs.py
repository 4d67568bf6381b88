"""What needs a supervisor: who waits for whom, what is near its limit, what was abandoned, and what would be stopped.

Nothing read here is content (rule R8). Wholes under way are few beside those that have ended, and are found by index.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, case, exists, func, literal, literal_column, or_, select, union_all

from core import abandonment, record
from core.asking import held
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader, at, skill_label
from core.sql import Statement
from core.store import Tx
from core.tables import help, person, piece, proposal, turn_call, whole
from core.values import (
    Abandoned,
    Active,
    Checked,
    ClosedAbandoned,
    NearLimit,
    Need,
    Now,
    Status,
    Stopping,
    ToStop,
    Wait,
)

ACTIVE = 12  # wholes that are listed
WAITS = 8  # waits that stand beside them
CROWD = 200  # more than so many for one person, and nobody reads them all
CHECK_WORKS, CHECK_LINES = 8, 2000  # records that one look reads, and their lines in all
DAY = 24 * 60 * 60 * 1_000_000

_top = piece.alias("top")
_doing = piece.alias("doing")
_held = piece.alias("held")
_of_whole = piece.c.root == whole.c.id
_going = whole.c.ended_at.is_(None)

# Why somebody looks at a whole. What was abandoned is told from what is only quiet by the one who reads.
_waits = exists().where(_of_whole, piece.c.status == "Waiting")
_is_near = and_(_top.c.tree_micros * 5 >= _top.c.limit_micros * 4, _top.c.tree_micros > 0)
_is_quiet = and_(
    whole.c.last_line_at <= bindparam("quiet"), ~exists().where(_of_whole, piece.c.run == "due"), _top.c.run != "ended"
)
_failed = (
    select(func.count())
    .where(_of_whole, piece.c.status.in_(["Failed", "Stopped"]), piece.c.depth > 0)
    .scalar_subquery()
)
_rank = case((_waits, 0), (_is_near, 1), (_is_quiet, 2), (_failed > 0, 3), else_=4)
_NEEDS = (Need.WAITS, Need.NEAR, Need.QUIET, Need.FAILED, Need.NONE)
_since = select(func.min(piece.c.waits_since)).where(_of_whole, piece.c.status == "Waiting").scalar_subquery()
_lowest = (
    select(piece.c.id)
    .where(_of_whole, piece.c.ended_at.is_(None))
    .order_by(
        case((piece.c.status == "Waiting", 0), (piece.c.run != "parked", 1), else_=2),
        piece.c.depth.desc(),
        piece.c.opened_at,
        piece.c.id,
    )
    .limit(1)
    .scalar_subquery()
)
_ranked = (
    select(whole.c.id, _rank.label("rank"), _since.label("since"), _failed.label("failed"))
    .select_from(whole.join(_top, _top.c.id == whole.c.id))
    .where(_going)
)


def _actives(found: Any) -> Any:
    """Those wholes with their names and the piece that something hangs on."""
    return select(
        found,
        whole.c.about,
        whole.c.last_line_at,
        whole.c.opened_at,
        _top.c.agent,
        _top.c.skill,
        _top.c.status,
        _top.c.closing,
        _top.c.ended_at,
        _top.c.tree_micros,
        _top.c.limit_micros,
        person.c.name,
        _doing.c.agent.label("doing_agent"),
        _doing.c.skill.label("doing_skill"),
        _doing.c.status.label("doing_status"),
        _doing.c.waiting_on.label("doing_on"),
    ).select_from(
        found.join(whole, whole.c.id == found.c.id)
        .join(_top, _top.c.id == whole.c.id)
        .outerjoin(person, person.c.id == whole.c.person)
        .outerjoin(_doing, _doing.c.id == _lowest)
    )


_first = (
    _ranked.order_by("rank", func.coalesce(_since, whole.c.opened_at), whole.c.id).limit(bindparam("most")).subquery()
)
_ACTIVE = Statement(
    _actives(_first).order_by(_first.c.rank, func.coalesce(_first.c.since, whole.c.opened_at), whole.c.id)
)
_one = (
    select(whole.c.id, _rank.label("rank"), _since.label("since"), _failed.label("failed"))
    .select_from(whole.join(_top, _top.c.id == whole.c.id))
    .where(whole.c.id == bindparam("root"))
    .subquery()
)
_ACTIVE_ONE = Statement(_actives(_one))
_ranks = _ranked.subquery()
_COUNTS = Statement(select(_ranks.c.rank, func.count().label("n")).group_by(_ranks.c.rank))

# Near its limit: what was spent, without what is held for a call under way.
_NEAR = Statement(
    select(
        whole.c.id,
        whole.c.about,
        whole.c.person,
        whole.c.given_by,
        _top.c.agent,
        _top.c.skill,
        _top.c.tree_micros,
        _top.c.limit_micros,
    )
    .select_from(whole.join(_top, _top.c.id == whole.c.id))
    .where(_going, _is_near)
    .order_by((_top.c.limit_micros - _top.c.tree_micros), whole.c.id)
    .limit(bindparam("most"))
)
_NEAR_COUNT = Statement(
    select(func.count().label("n")).select_from(whole.join(_top, _top.c.id == whole.c.id)).where(_going, _is_near)
)

# Requests that wait for a person: one statement behind list and count.
_open = union_all(
    *(
        select(
            table.c.id,
            literal(what).label("what"),
            table.c.root,
            table.c.piece,
            table.c.asked_of,
            table.c.asked_at,
            table.c.deadline,
        ).where(*conditions)
        for table, what, conditions in (
            (proposal, "a decision", held.UNDECIDED),
            (help, "an answer", (help.c.help_from == "Person", help.c.status == "Waiting", held.not_held(help))),
        )
    )
).subquery()
_OPEN_COUNT = Statement(select(func.count().label("n")).select_from(_open))
_CROWDED = Statement(
    select(person.c.name, func.count().label("n"))
    .select_from(_open.join(person, person.c.id == _open.c.asked_of))
    .group_by(person.c.id, person.c.name)
    .having(func.count() > CROWD)
    .order_by(func.count().desc(), person.c.name)
    .limit(3)
)
_open_page = (
    select(_open)
    .where(
        or_(
            _open.c.asked_at > bindparam("asked"),
            and_(_open.c.asked_at == bindparam("asked"), _open.c.id > bindparam("than")),
        )
    )
    .order_by(_open.c.asked_at, _open.c.id)
    .limit(bindparam("most"))
    .subquery()
)
_above = piece.alias("above")
_SLASH: Any = literal_column("'/'")
# Every piece above that waits, as "id=agent", joined by "/": found for each request by itself, not by a join of all.
_waiting_above = (
    select(func.aggregate_strings(_above.c.id + "=" + _above.c.agent, _SLASH))
    .where(
        _above.c.root == _open_page.c.root, _above.c.status == "Waiting", piece.c.branch.like(_above.c.branch + "/%")
    )
    .correlate(_open_page, piece)
    .scalar_subquery()
)
_WAITS = Statement(
    select(
        _open_page,
        whole.c.about,
        piece.c.agent,
        piece.c.branch,
        person.c.name,
        _waiting_above.label("above"),
    )
    .select_from(
        _open_page.join(piece, piece.c.id == _open_page.c.piece)
        .join(whole, whole.c.id == _open_page.c.root)
        .outerjoin(person, person.c.id == _open_page.c.asked_of)
    )
    .order_by(_open_page.c.asked_at, _open_page.c.id)
)

_ABANDONED = Statement(
    select(
        whole.c.id,
        whole.c.about,
        whole.c.last_line_at,
        _top.c.agent,
        _top.c.skill,
        _top.c.tree_micros,
        _top.c.limit_micros,
        person.c.name,
        _held.c.agent.label("held"),
    )
    .select_from(
        whole.join(_top, _top.c.id == whole.c.id)
        .outerjoin(person, person.c.id == whole.c.person)
        .outerjoin(_held, and_(_held.c.root == whole.c.id, _held.c.run == "held"))
    )
    .where(*abandonment.NOBODY_DOES_IT)
    .order_by(whole.c.last_line_at, whole.c.id, _held.c.depth, _held.c.id)
)
_CLOSED = Statement(
    select(piece, whole.c.about, whole.c.ended_at.label("whole_ended_at"), person.c.name)
    .select_from(piece.join(whole, whole.c.id == piece.c.root).outerjoin(person, person.c.id == whole.c.person))
    .where(
        piece.c.abandoned,
        piece.c.ended_at <= bindparam("ended"),
        or_(piece.c.ended_at < bindparam("ended"), piece.c.id < bindparam("than")),
    )
    .order_by(piece.c.ended_at.desc(), piece.c.id.desc())
    .limit(bindparam("most"))
)
_lately: Any = select(func.count().label("n"), func.max(piece.c.ended_at).label("last"))
_CLOSED_LATELY = Statement(_lately.where(piece.c.abandoned, piece.c.ended_at > bindparam("since")))

_GOING = Statement(select(whole.c.id).where(_going).order_by(whole.c.opened_at, whole.c.id))
_TO_STOP = Statement(
    select(
        func.count().label("pieces"),
        func.coalesce(func.sum(case((piece.c.run == "held", 1), else_=0)), 0).label("held"),
        func.coalesce(func.sum(case((piece.c.parent.is_(None), piece.c.tree_micros), else_=0)), 0).label("micros"),
    )
    .select_from(whole.join(piece, _of_whole))
    .where(_going, piece.c.ended_at.is_(None))
)
_BEGUN = Statement(
    select(func.count().label("n"))
    .select_from(whole.join(piece, _of_whole).join(turn_call, turn_call.c.piece == piece.c.id))
    .where(_going, piece.c.ended_at.is_(None), turn_call.c.state == "begun")
)
_STOPPED = Statement(
    select(func.count().label("n"))
    .select_from(whole.join(_top, _top.c.id == whole.c.id))
    .where(whole.c.ended_at >= bindparam("since"), _top.c.status == "Cancelled")
)
_still = and_(_going, _top.c.closing.is_not(None))
_counted: Any = select(func.count(whole.c.id.distinct()).label("works"), func.count(piece.c.id).label("pieces"))
_STOPPING = Statement(
    _counted.select_from(
        whole.join(_top, _top.c.id == whole.c.id).join(piece, and_(_of_whole, piece.c.ended_at.is_(None)))
    ).where(_still)
)
_closing = _ranked.where(_top.c.closing.is_not(None)).order_by(whole.c.id).limit(bindparam("most")).subquery()
_STILL = Statement(_actives(_closing).order_by(_closing.c.id))

_LATELY = tuple(
    Statement(
        select(whole.c.id, whole.c.about, whole.c.lines, whole.c.last_line_at)
        .where(condition)
        .order_by(order.desc())
        .limit(CHECK_WORKS)
    )
    for condition, order in ((_going, whole.c.last_line_at), (whole.c.ended_at.is_not(None), whole.c.ended_at))
)


def _quiet_before(house: House, tx: Tx) -> int:
    """No line since then, and a whole is quiet: a third of the time after which it is abandoned."""
    after = house.settings.abandoned_after
    return tx.now - int(after.total_seconds() * 1_000_000 / 3) if after else -1


def now(house: House, tx: Tx, reader: Reader, keep: list[str]) -> Now:
    """What needs somebody. `keep`: wholes that are told too where they are not among the first."""
    quiet = _quiet_before(house, tx)
    gone = _gone(house, tx)
    ranks = {_NEEDS[row.rank]: row.n for row in tx.all(_COUNTS, quiet=quiet)}
    first = [_active(house, row, gone) for row in tx.all(_ACTIVE, quiet=quiet, most=ACTIVE)]
    shown = {one.root.hex for one in first}
    others = [tx.one(_ACTIVE_ONE, quiet=quiet, root=root) for root in keep if root not in shown]
    waits = open_waits(house, tx, WAITS, None)
    nearest = near(house, tx, reader, 1)
    lately = tx.one(_CLOSED_LATELY, since=tx.now - DAY)
    return Now(
        going=sum(ranks.values()),
        waiting=tx.one(_OPEN_COUNT).n,
        oldest=waits[0] if waits else None,
        near=tx.one(_NEAR_COUNT).n,
        nearest=nearest[0] if nearest else None,
        abandoned=len(gone),
        quiet_since=min(gone.values(), default=None),
        closed_lately=lately.n,
        closed_at=at(lately.last),
        active=tuple(first),
        needy=sum(n for need, n in ranks.items() if need is not Need.NONE),
        kept=tuple(_active(house, row, gone) for row in others if row is not None),
        waits=tuple(waits),
        crowded=tuple((row.name, row.n) for row in tx.all(_CROWDED)),
    )


def _gone(house: House, tx: Tx) -> dict[str, Any]:
    """The wholes that were abandoned, and since when each is silent."""
    before = abandonment.before(house, tx)
    if before is None:
        return {}
    return {row.id: from_micros(row.last_line_at) for row in tx.all(_ABANDONED, before=before, now=tx.now)}


def _active(house: House, row: Any, gone: Any) -> Active:
    need = Need.ABANDONED if row.id in gone else Need.NONE if row.ended_at is not None else _NEEDS[row.rank]
    return Active(
        root=to_uuid(row.id),
        about=row.about,
        agent_label=house.label(row.agent),
        skill_label=skill_label(house, row.agent, row.skill),
        person=row.name or "",
        need=need,
        status=Status(row.status),
        stopping=row.closing is not None and row.ended_at is None,
        failed=row.failed,
        waits_since=at(row.since),
        last_line_at=from_micros(row.last_line_at),
        doing_agent=house.label(row.doing_agent) if row.doing_agent else "",
        doing_skill=skill_label(house, row.doing_agent, row.doing_skill) if row.doing_agent else "",
        doing_on=row.doing_on or "",
        tree_micros=row.tree_micros,
        limit_micros=row.limit_micros,
        opened_at=from_micros(row.opened_at),
        ended_at=at(row.ended_at),
    )


def near(house: House, tx: Tx, reader: Reader, most: int) -> list[NearLimit]:
    """Wholes near their limit, the one with least left first."""
    return [
        NearLimit(
            name=(row.about or skill_label(house, row.agent, row.skill)) if reader.sees(row) else "",
            root=to_uuid(row.id) if reader.sees(row) else None,
            used_micros=row.tree_micros,
            limit_micros=row.limit_micros,
        )
        for row in tx.all(_NEAR, most=most)
    ]


def open_waits(house: House, tx: Tx, most: int, after: tuple[int, str] | None) -> list[Wait]:
    """What waits for people, the longest first; `after` names the last one shown."""
    asked, than = after or (-1, "")
    return [_wait(house, row) for row in tx.all(_WAITS, asked=asked, than=than, most=most)]


def _wait(house: House, row: Any) -> Wait:
    """One request. Its chain ends at the first piece above that does not wait: that one has other things to do."""
    waiting = dict(one.split("=", 1) for one in (row.above or "").split("/") if one)
    chain = [house.label(row.agent)]
    for above in reversed(row.branch.split("/")[:-1]):
        if above not in waiting:
            break
        chain.append(house.label(waiting[above]))
    return Wait(
        id=to_uuid(row.id),
        piece=to_uuid(row.piece),
        root=to_uuid(row.root),
        about=row.about,
        chain=tuple(reversed(chain)),
        what=row.what,
        person=row.name or "",
        asked_at=from_micros(row.asked_at),
        deadline=at(row.deadline),
    )


def abandoned(house: House, tx: Tx) -> list[Abandoned]:
    """The wholes that nobody is doing, the one that is silent longest first."""
    before = abandonment.before(house, tx)
    if before is None:
        return []
    found: dict[str, list[Any]] = {}
    for row in tx.all(_ABANDONED, before=before, now=tx.now):
        found.setdefault(row.id, []).append(row)
    return [
        Abandoned(
            root=to_uuid(id),
            about=rows[0].about,
            agent_label=house.label(rows[0].agent),
            skill_label=skill_label(house, rows[0].agent, rows[0].skill),
            person=rows[0].name or "",
            pieces=tuple(house.label(row.held) for row in rows if row.held),
            last_line_at=from_micros(rows[0].last_line_at),
            tree_micros=rows[0].tree_micros,
            limit_micros=rows[0].limit_micros,
        )
        for id, rows in found.items()
    ]


def closed_as_abandoned(house: House, tx: Tx, most: int, before: tuple[int, str] | None) -> list[ClosedAbandoned]:
    """Pieces that were closed as abandoned, the last first; `before` names the last one shown."""
    ended, than = before or (2**62, "g")
    return [
        ClosedAbandoned(
            piece=to_uuid(row.id),
            root=to_uuid(row.root),
            about=row.about,
            agent_label=house.label(row.agent),
            skill_label=skill_label(house, row.agent, row.skill),
            person=row.name or "",
            status=Status(row.status),
            ended_at=from_micros(row.ended_at),
            whole_goes_on=row.whole_ended_at is None,
            tree_micros=row.tree_micros,
        )
        for row in tx.all(_CLOSED, ended=ended, than=than, most=most)
    ]


def check(tx: Tx) -> Checked:
    """Read the records that changed last line by line: as many as a glance may cost."""
    rows = sorted((row for statement in _LATELY for row in tx.all(statement)), key=lambda row: -row.last_line_at)
    works, lines, left_out, broken = 0, 0, 0, []
    for row in rows[:CHECK_WORKS]:
        if lines + row.lines > CHECK_LINES:
            left_out += 1
            continue
        verdict = record.verify_tree(tx, row.id)
        works, lines = works + 1, lines + row.lines
        if not verdict.intact:
            broken.append((to_uuid(row.id), str(row.about), verdict.broken_at))
    return Checked(works, lines, from_micros(tx.now), left_out, tuple(broken))


def going(tx: Tx) -> list[str]:
    """Every whole under way, the oldest first."""
    return [row.id for row in tx.all(_GOING)]


def to_stop(house: House, tx: Tx) -> ToStop:
    quiet, gone = _quiet_before(house, tx), _gone(house, tx)
    counted = tx.one(_TO_STOP)
    return ToStop(
        works=len(going(tx)),
        pieces=counted.pieces,
        held=int(counted.held),
        requests=tx.one(_OPEN_COUNT).n,
        outside=tx.one(_BEGUN).n,
        tree_micros=int(counted.micros),
        first=tuple(_active(house, row, gone) for row in tx.all(_ACTIVE, quiet=quiet, most=ACTIVE)),
    )


def stopping(house: House, tx: Tx, since: int) -> Stopping:
    """How far stopping has come that began at `since`."""
    still, gone = tx.one(_STOPPING), _gone(house, tx)
    left = tx.all(_STILL, quiet=_quiet_before(house, tx), most=ACTIVE)
    return Stopping(
        stopped=tx.one(_STOPPED, since=since).n,
        stopping=still.works,
        pieces=still.pieces,
        left=tuple(_active(house, row, gone) for row in left),
    )
