"""The security of rows, where they are changed: every principal is asked, and what may not be leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import String, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, mapped_column

from core.declare.rights import Principal
from handon import Context, HandonError, NotAllowed, Permits, Row, Skill, action, allow, has_role, query
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, hears, shop
from tests.core.drawers import GUEST, MIA, NOOR, Drawer, Try, drawer, names, who


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
