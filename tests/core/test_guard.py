"""The security of rows: a session does only what all of its principals may, per row and per field, or says no in words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import ForeignKey, String, delete, func, insert, literal_column, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, aliased, joinedload, mapped_column, relationship

from core.declare.rights import Principal
from core.errors import HandonError, NotAllowed
from core.guard import GuardedSession, guarded
from handon import Agency, Context, Permits, Row, Skill, action, allow, anybody, deny, has_role, query
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, hears, make, shop


class Drawer(Row):
    """Clerks see the drawers of their own, and no wages; a boss sees all; a guest only reads."""

    __tablename__ = "test_drawer"

    name: Mapped[str] = mapped_column(String(40))
    owner: Mapped[str] = mapped_column(String(40))
    wage: Mapped[int] = mapped_column(default=0)
    sheets: Mapped[list[Sheet]] = relationship(back_populates="drawer")

    security = [
        allow("read", "create", "update", "delete", when=has_role("clerk"), rows=lambda who: Drawer.owner == who.name),
        allow("read", "create", "update", "delete", when=has_role("boss")),
        allow("read", when=has_role("guest")),
        deny("read", "update", "create", fields=["wage"], when=has_role("clerk")),
        deny("delete", when=has_role("careful")),
    ]


class Sheet(Row):
    """What lies in a drawer: only a boss reads it."""

    __tablename__ = "test_sheet"

    text: Mapped[str] = mapped_column(String(40))
    drawer_id: Mapped[UUID] = mapped_column(ForeignKey("test_drawer.id"))
    drawer: Mapped[Drawer] = relationship(back_populates="sheets")

    security = [allow("read", "create", when=has_role("boss"))]


class Unsaid(Row):
    """Says nothing of who may."""

    __tablename__ = "test_unsaid"

    name: Mapped[str] = mapped_column(String(40))


def who(name: str, *roles: str) -> Principal:
    return Principal(name, frozenset(roles))


MIA, NOOR, GUEST, NOBODY = who("Mia", "clerk"), who("Noor", "boss"), who("Gus", "guest"), who("Pat")

Try = Callable[..., Any]


@pytest.fixture
async def attempt(database: str, clock: TestClock) -> AsyncIterator[Try]:
    """`await attempt(fn, *principals)`: fn(session) in one guarded transaction, over three drawers and a sheet."""
    async with make(database, clock=clock) as agency:

        def furnish(session: Session) -> None:
            for name, owner in (("hers", "Mia"), ("his", "Noor"), ("also hers", "Mia")):
                session.add(Drawer(name=name, owner=owner, wage=7))
            session.flush()
            one = session.scalars(select(Drawer).where(Drawer.name == "hers")).one()
            session.add(Sheet(text="secret", drawer_id=one.id))
            session.add(Unsaid(name="unsaid"))

        await agency.write(furnish)
        yield lambda fn, *principals, **more: _attempt(agency, fn, *principals, **more)


async def _attempt(
    agency: Agency, fn: Callable[[Session], Any], *principals: Principal, query_only: bool = False
) -> Any:
    def run(tx: Any) -> Any:
        session = guarded(tx.new_session(GuardedSession), *principals)
        session.query_only = query_only
        try:
            answer = fn(session)
            Session.commit(session)
            return answer
        finally:
            Session.close(session)

    return await agency.store.write(run)


def names(session: Session) -> list[str]:
    return sorted(session.scalars(select(Drawer.name)))


def drawer(session: Session, name: str = "hers") -> Drawer:
    found = session.scalar(select(Drawer).where(Drawer.name == name))
    if found is None:
        raise LookupError(name)
    return found


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


class Slip(Row):
    """Lies in a drawer, and anybody reads it."""

    __tablename__ = "test_slip"

    text: Mapped[str] = mapped_column(String(40))
    drawer_id: Mapped[UUID] = mapped_column(ForeignKey("test_drawer.id"))
    drawer: Mapped[Drawer] = relationship()

    security = [allow("read", "create", when=anybody)]


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


def change(which: str, **fields: Any) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        row = drawer(session, which)
        for field, value in fields.items():
            setattr(row, field, value)

    return run


# R2
async def test_a_change_is_asked_of_every_principal(attempt: Try) -> None:
    await attempt(change("hers", name="new"), MIA)
    await attempt(change("new", name="newer"), NOOR, MIA)
    with pytest.raises(NotAllowed, match="Gus may not change a drawer"):
        await attempt(change("newer", name="no"), NOOR, GUEST)
    with pytest.raises(NotAllowed, match="Gus may not change a drawer"):
        await attempt(change("newer", name="no"), GUEST, NOOR)
    assert "newer" in await attempt(names, NOOR)


# R2
@pytest.mark.parametrize("principals", [(MIA,), (NOOR, MIA), (MIA, NOOR)])
async def test_a_field_that_one_may_not_change_is_not_changed(attempt: Try, principals: tuple[Principal, ...]) -> None:
    with pytest.raises(NotAllowed, match="Mia may not change the wage of a drawer"):
        await attempt(change("hers", wage=9), *principals)
    with pytest.raises(NotAllowed, match="Mia may not create the wage of a drawer"):
        await attempt(lambda s: s.add(Drawer(name="x", owner="Mia", wage=9)), *principals)
    await attempt(change("hers", wage=9), NOOR)
    assert await attempt(lambda s: drawer(s).wage, NOOR) == 9


# R2
async def test_a_change_undone_before_it_is_written_is_no_change(attempt: Try) -> None:
    await attempt(lambda s: setattr(drawer(s, "hers"), "name", "hers"), GUEST)


# R2
async def test_rows_are_made_only_of_the_kind_one_may_read(attempt: Try) -> None:
    await attempt(lambda s: s.add(Drawer(name="x", owner="Mia")), MIA)
    with pytest.raises(NotAllowed, match="Mia may not create a drawer"):
        await attempt(lambda s: s.add(Drawer(name="y", owner="Noor")), MIA)
    with pytest.raises(NotAllowed, match="Gus may not create a drawer"):
        await attempt(lambda s: s.add(Drawer(name="z", owner="Gus")), GUEST)
    assert await attempt(names, NOOR) == ["also hers", "hers", "his", "x"]


# R2
async def test_a_row_is_not_changed_into_one_that_would_not_be_ones_own(attempt: Try) -> None:
    with pytest.raises(NotAllowed):
        await attempt(change("hers", owner="Noor"), MIA)
    await attempt(change("hers", owner="Noor"), NOOR)


# R2
async def test_deleting_is_asked_like_changing_and_a_deny_beats_an_allow(attempt: Try) -> None:
    def remove(session: Session) -> None:
        session.delete(drawer(session, "also hers"))

    with pytest.raises(NotAllowed, match="Gus may not delete a drawer"):
        await attempt(remove, GUEST)
    with pytest.raises(NotAllowed, match="Ann may not delete a drawer"):
        await attempt(remove, who("Ann", "boss", "careful"))
    await attempt(remove, NOOR, MIA)
    assert await attempt(names, NOOR) == ["hers", "his"]


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


# R2
@pytest.mark.parametrize(
    "changes",
    [
        lambda s: s.add(Drawer(name="x", owner="Mia")),
        lambda s: setattr(drawer(s), "name", "x"),
        lambda s: s.delete(drawer(s)),
        lambda s: (setattr(drawer(s), "name", "x"), s.flush()),
    ],
)
async def test_a_query_that_tries_to_change_something_changes_nothing(attempt: Try, changes: Any) -> None:
    with pytest.raises(NotAllowed, match="A query changes nothing"):
        await attempt(changes, NOOR, query_only=True)
    assert await attempt(names, NOOR) == ["also hers", "hers", "his"]
    assert await attempt(names, NOOR, query_only=True) == ["also hers", "hers", "his"]


# R2
async def test_without_anybody_to_ask_nothing_is_changed(attempt: Try) -> None:
    with pytest.raises(HandonError):
        await attempt(lambda s: s.add(Drawer(name="x", owner="Mia")))


@query("Pretend to look")
def pretend_to_look(drawer: Drawer) -> str:
    drawer.name = "changed by a query"
    return "Looked."


@action("Change one, then fail", says="Change {drawer.name}")
def change_then_fail(drawer: Drawer) -> str:
    drawer.name = "half done"
    raise ValueError("no ink")


class Meddle(Skill[str, Answer]):
    tools = [pretend_to_look, change_then_fail]


class Meddler(Clerk):
    roles = {"boss"}
    skills = [Meddle()]
    may = Permits.changes_alone()


# R2, T5
async def test_a_tool_that_may_not_or_fails_leaves_nothing_behind_and_the_model_is_told(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Meddler()], clock=clock) as opened:

        def furnish(session: Session) -> UUID:
            row = Drawer(name="one", owner="Mia")
            session.add(row)
            session.flush()
            return row.id

        id = await opened.agency.write(furnish)
        tools = [Says.tool(tool, {"drawer": str(id)}) for tool in (pretend_to_look, change_then_fail)]
        script = AgentScript(*tools, Says.hand_back(Answer()))
        heard = hears(opened.agency, AgentCast().plays(Meddler, script))
        outcome = await opened.agency.desk(None).of(Meddler).do(Meddle(), "it")
        assert outcome.done
        assert heard.told(Meddler) == [
            "A query changes nothing.",
            "Change one, then fail failed: ValueError: no ink",
        ]
        assert await opened.agency.read(lambda session: session.scalar(select(Drawer.name))) == "one"


class Label(Row):
    """No two of a name."""

    __tablename__ = "test_label"

    name: Mapped[str] = mapped_column(String(40), unique=True)

    security = [allow("read", "create", when=has_role("boss"))]


@action("Make a label", says="Make {name}")
def make_label(ctx: Context, name: str) -> str:
    ctx.session.add(Label(name=name))
    return "Made."


class Stick(Skill[str, Answer]):
    tools = [make_label]


class Sticker(Clerk):
    roles = {"boss"}
    skills = [Stick()]
    may = Permits.changes_alone()


# R2, T5
async def test_a_change_that_the_database_refuses_takes_nothing_else_with_it(database: str, clock: TestClock) -> None:
    async with shop(database, [Sticker()], clock=clock) as opened:
        turn = Says.together(*[Says.tool(make_label, {"name": name}) for name in ("one", "one", "two")])
        heard = hears(opened.agency, AgentCast().plays(Sticker, AgentScript(turn, Says.hand_back(Answer()))))
        outcome = await opened.agency.desk(None).of(Sticker).do(Stick(), "it")
        assert outcome.done, outcome.why
        assert heard.told(Sticker) == ["Made.", "Make a label failed: the database refused the change.", "Made."]
        assert outcome.cost_micros == 2 * 200
        assert sorted(await opened.agency.read(lambda s: list(s.scalars(select(Label.name))))) == ["one", "two"]
        assert (await opened.agency.desk(None).verify_trace(outcome.task)).intact


# T5
async def test_of_changes_an_app_makes_at_once_one_that_fails_takes_none_of_the_others_with_it(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Sticker()], clock=clock) as opened:
        names = ["a", "b", "a", "c", "d"]
        done = await asyncio.gather(
            *[opened.agency.write(lambda s, name=name: s.add(Label(name=name))) for name in names],  # type: ignore[misc]
            return_exceptions=True,
        )
        assert [isinstance(each, IntegrityError) for each in done].count(True) == 1
        assert sorted(await opened.agency.read(lambda s: list(s.scalars(select(Label.name))))) == ["a", "b", "c", "d"]
