"""What needs a supervisor: the wholes under way by need, what is near its limit, and what would be stopped.

Nothing read here is content (rule R8). Wholes under way are few beside those that have ended, and are found by index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, bindparam, case, exists, func, select

from core import record
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.abandoned import closed_since
from core.reading.abandoned import gone as gone_now
from core.reading.decided import decided
from core.reading.open_waits import crowded, open_count, open_waits
from core.reading.reader import Reader, at, skill_label
from core.sql import Statement
from core.store import Tx
from core.tables import person, piece, turn_call, whole
from core.values import (
    Active,
    Checked,
    NearLimit,
    Need,
    Now,
    Status,
    Stopping,
    ToStop,
)

ACTIVE = 12  # wholes that are listed
WAITS = 8  # waits that stand beside them
CHECK_WORKS, CHECK_LINES = 8, 2000  # records that one look reads, and their lines in all
DAY = 24 * 60 * 60 * 1_000_000

_top = piece.alias("top")
_doing = piece.alias("doing")
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
    gone, held = gone_now(house, tx), decided(tx).wholes
    ranks = {_NEEDS[row.rank]: row.n for row in tx.all(_COUNTS, quiet=quiet)}
    first = [_active(house, row, gone, held) for row in tx.all(_ACTIVE, quiet=quiet, most=ACTIVE)]
    shown = {one.root.hex for one in first}
    others = [tx.one(_ACTIVE_ONE, quiet=quiet, root=root) for root in keep if root not in shown]
    waits = open_waits(house, tx, WAITS, None)
    nearest = near(house, tx, reader, 1)
    closed, closed_at = closed_since(tx, tx.now - DAY)
    return Now(
        going=sum(ranks.values()),
        waiting=open_count(tx),
        oldest=waits[0] if waits else None,
        near=tx.one(_NEAR_COUNT).n,
        nearest=nearest[0] if nearest else None,
        abandoned=len(gone),
        quiet_since=min(gone.values(), default=None),
        closed_lately=closed,
        closed_at=closed_at,
        active=tuple(first),
        needy=sum(n for need, n in ranks.items() if need is not Need.NONE),
        kept=tuple(_active(house, row, gone, held) for row in others if row is not None),
        waits=tuple(waits),
        crowded=crowded(tx),
    )


def _active(house: House, row: Any, gone: Any, held: Mapping[str, str]) -> Active:
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
        decided_by=held.get(row.id, ""),
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
    quiet, gone, held = _quiet_before(house, tx), gone_now(house, tx), decided(tx).wholes
    counted = tx.one(_TO_STOP)
    return ToStop(
        works=len(going(tx)),
        pieces=counted.pieces,
        held=int(counted.held),
        requests=open_count(tx),
        outside=tx.one(_BEGUN).n,
        tree_micros=int(counted.micros),
        first=tuple(_active(house, row, gone, held) for row in tx.all(_ACTIVE, quiet=quiet, most=ACTIVE)),
    )


def stopping(house: House, tx: Tx, since: int) -> Stopping:
    """How far stopping has come that began at `since`."""
    still, gone, held = tx.one(_STOPPING), gone_now(house, tx), decided(tx).wholes
    left = tx.all(_STILL, quiet=_quiet_before(house, tx), most=ACTIVE)
    return Stopping(
        stopped=tx.one(_STOPPED, since=since).n,
        stopping=still.works,
        pieces=still.pieces,
        left=tuple(_active(house, row, gone, held) for row in left),
    )
