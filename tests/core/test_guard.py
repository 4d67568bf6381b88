"""The security of rows, where they are read: only what all principals may, and no way round it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete, func, insert, literal_column, select, text, update
from sqlalchemy.orm import Session, aliased, joinedload

from core.declare.rights import Principal
from handon import NotAllowed
from tests.core.drawers import GUEST, MIA, NOBODY, NOOR, Drawer, Sheet, Slip, Try, Unsaid, drawer, names, who


# R2
@pytest.mark.parametrize(
    ("principals", "read"),
    [
        ((NOOR,), ["also hers", "hers", "his"]),
        ((MIA,), ["also hers", "hers"]),
        ((NOOR, MIA), ["also hers", "hers"]),
        ((MIA, NOOR), ["also hers", "hers"]),
        ((MIA, who("Noor", "clerk")), []),  # each may read some, both none
        ((NOOR, NOBODY), []),
        ((NOBODY,), []),
    ],
)
async def test_only_rows_that_every_principal_may_read_are_found(
    attempt: Try, principals: tuple[Principal, ...], read: list[str]
) -> None:
    assert await attempt(names, *principals) == read


# R2
@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.scalar(select(func.count()).select_from(Drawer)),
        lambda s: s.scalar(select(func.count(Drawer.id))),
        lambda s: len(s.execute(select(Drawer.id, Drawer.owner)).all()),
        lambda s: len(s.scalars(select(aliased(Drawer))).all()),
        lambda s: len(s.scalars(select(Drawer).where(Drawer.id.in_(select(Drawer.id)))).all()),
        lambda s: s.query(Drawer).count(),
        lambda s: len(s.scalars(select(Drawer).order_by(Drawer.name).limit(50)).unique().all()),
        lambda s: s.scalar(select(select(func.count(Drawer.id)).scalar_subquery())),
        lambda s: len(s.scalars(select(Drawer.name).where(~Drawer.sheets.any(Sheet.text == "none such"))).all()),
        lambda s: len(s.scalars(select(Drawer).options(joinedload(Drawer.sheets))).unique().all()),
    ],
)
async def test_however_rows_are_asked_for_those_left_out_are_left_out(attempt: Try, ask: Any) -> None:
    assert await attempt(ask, MIA) == 2
    assert await attempt(ask, NOOR) == 3


# R2
async def test_a_row_that_may_not_be_read_is_not_found_by_its_id(attempt: Try) -> None:
    his = await attempt(lambda s: drawer(s, "his").id, NOOR)
    assert await attempt(lambda s: s.get(Drawer, his), MIA) is None
    assert await attempt(lambda s: s.get(Drawer, his) is not None, NOOR)


# R2
async def test_what_hangs_on_a_row_is_read_by_its_own_rules(attempt: Try) -> None:
    def sheets(session: Session) -> list[str]:
        return [sheet.text for sheet in drawer(session).sheets]

    def joined(session: Session) -> list[str]:
        return list(session.scalars(select(Sheet.text).join(Sheet.drawer)))

    for read in (sheets, joined):
        assert await attempt(read, NOOR) == ["secret"]
        assert await attempt(read, MIA) == []


# R2
async def test_a_row_that_says_nothing_is_nobodys(attempt: Try) -> None:
    assert await attempt(lambda s: s.scalars(select(Unsaid)).all(), NOOR) == []
    with pytest.raises(NotAllowed, match="Noor may not create a unsaid"):
        await attempt(lambda s: s.add(Unsaid(name="x")), NOOR)


def refreshed(session: Session) -> int:
    row = drawer(session)
    session.refresh(row, ["wage"])
    return row.wage


def touched_after_all_was_forgotten(session: Session) -> int:
    row = drawer(session)
    session.refresh(row)
    assert row.name == "hers"
    return row.wage


def denied(session: Session) -> list[Callable[[], Any]]:
    """Ways to come to know a field."""
    other = aliased(Drawer)
    return [
        lambda: drawer(session).wage,
        lambda: session.scalars(select(Drawer.wage)).all(),
        lambda: session.execute(select(Drawer.name, Drawer.wage + 1)).all(),
        lambda: session.scalar(select(func.sum(Drawer.wage))),
        lambda: session.scalars(select(Drawer.name).where(Drawer.wage > 1)).all(),
        lambda: session.scalars(select(Drawer.name).order_by(Drawer.wage)).all(),
        lambda: session.scalars(select(other.wage)).all(),
        lambda: refreshed(session),
        lambda: session.scalars(select(Drawer.name).where(Drawer.id.in_(select(other.id).where(other.wage > 1)))).all(),
        lambda: touched_after_all_was_forgotten(session),
        lambda: session.get(Drawer, drawer(session).id).wage,
        lambda: session.scalars(select(Drawer.name).group_by(Drawer.name).having(func.max(Drawer.wage) > 1)).all(),
    ]


# R2
@pytest.mark.parametrize("way", range(12))
async def test_a_field_that_may_not_be_read_is_not_come_by(attempt: Try, way: int) -> None:
    await attempt(lambda s: denied(s)[way](), NOOR)
    for principals in ((MIA,), (NOOR, MIA), (MIA, NOOR)):
        with pytest.raises(NotAllowed, match="Mia may not read the wage of a drawer"):
            await attempt(lambda s: denied(s)[way](), *principals)


# R2
async def test_a_field_that_may_not_be_read_is_not_come_by_through_another_row(attempt: Try) -> None:
    await attempt(lambda s: s.add(Slip(text="slip", drawer_id=drawer(s).id)), NOOR)
    for options in ([], [joinedload(Slip.drawer)]):
        slips = select(Slip).options(*options)
        assert await attempt(lambda s, slips=slips: s.scalars(slips).one().drawer.wage, NOOR) == 7
        assert await attempt(lambda s, slips=slips: s.scalars(slips).one().drawer.name, MIA) == "hers"
        with pytest.raises(NotAllowed, match="Mia may not read the wage of a drawer"):
            await attempt(lambda s, slips=slips: s.scalars(slips).one().drawer.wage, MIA)


# R2
async def test_the_other_fields_of_a_row_with_a_denied_one_are_read(attempt: Try) -> None:
    assert await attempt(lambda s: (drawer(s).name, drawer(s).owner), MIA) == ("hers", "Mia")


AROUND: list[Callable[[Session], Any]] = [
    lambda s: s.execute(update(Drawer).values(name="x")),
    lambda s: s.execute(delete(Sheet)),
    lambda s: s.execute(insert(Drawer).values(name="x", owner="Mia")),
    lambda s: s.execute(insert(Drawer), [{"name": "x", "owner": "Mia"}]),
    lambda s: s.execute(text("SELECT text FROM test_sheet")).all(),
    lambda s: s.execute(select(Drawer.__table__)).all(),
    lambda s: s.execute(select(Sheet.__table__.c.text)).all(),
    lambda s: s.execute(select(Drawer.name, Sheet.__table__.c.text)).all(),
    lambda s: s.scalars(select(Sheet).from_statement(text("SELECT * FROM test_sheet"))).all(),
    lambda s: s.connection(),
    lambda s: s.bulk_save_objects([Drawer(name="x", owner="Mia")]),
    lambda s: s.bulk_insert_mappings(Drawer, [{"name": "x", "owner": "Mia"}]),
    lambda s: s.bulk_update_mappings(Drawer, []),
    lambda s: s.query(Drawer).update({"name": "x"}),
    lambda s: s.query(Sheet).delete(),
    lambda s: s.commit(),
    lambda s: s.rollback(),
    lambda s: s.close(),
    lambda s: s.begin_nested(),
    lambda s: s.execute(select(Drawer.name, Sheet.__table__)).all(),
    lambda s: s.execute(select(Drawer.name, Sheet.__table__.alias().c.text)).all(),
    lambda s: s.execute(select(Drawer.name).join(Sheet.__table__, Drawer.id == Sheet.__table__.c.drawer_id)).all(),
    lambda s: s.execute(select(Drawer.name, Drawer.__table__.c.wage)).all(),
    lambda s: s.execute(select(Drawer.name).where(text("wage > 1"))).all(),
    lambda s: s.execute(select(Drawer.name, literal_column("(SELECT max(text) FROM test_sheet)"))).all(),
]


# R2
@pytest.mark.parametrize("around", AROUND)
async def test_what_would_go_round_the_rules_is_refused_in_words(attempt: Try, around: Any) -> None:
    for principal in (MIA, GUEST):
        with pytest.raises(NotAllowed):
            await attempt(around, principal)
    assert await attempt(names, NOOR) == ["also hers", "hers", "his"]
    assert await attempt(lambda s: s.scalars(select(Sheet.text)).all(), NOOR) == ["secret"]
