"""By whose account a piece runs, for whom, and what both of them may: read when the call runs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, mapped_column

from handon import (
    Agent,
    Context,
    Delegation,
    NotAllowed,
    Permits,
    Person,
    Policies,
    Policy,
    Row,
    Skill,
    Specialist,
    action,
    allow,
    deny,
    has_role,
    query,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Oversee, Shop, hears, is_binder, is_helper, is_master, shop

BACK = Says.hand_back(Answer(text="done"))
is_porter = has_role("porter")


class Locker(Row):
    """One that says per row and per field who may what."""

    __tablename__ = "test_locker"

    name: Mapped[str] = mapped_column(String(40))
    owner: Mapped[str] = mapped_column(String(40), default="")
    note: Mapped[str] = mapped_column(String(40), default="")
    price: Mapped[int] = mapped_column(default=0)

    security = [
        allow("read", when=is_binder, rows=lambda who: Locker.owner.in_([who.name, "everybody"])),
        allow("read", when=is_master),
        allow("read", "update", when=is_helper, rows=lambda who: Locker.name != "sealed"),
        allow("update", "create", when=is_binder | is_master),
        allow("read", "update", when=is_porter),
        deny("update", fields=["price"], when=is_helper),
        deny("update", fields=["note"], when=is_binder),
    ]


@query("Say who this is done by and for")
def who_is_it(ctx: Context) -> str:
    return f"{ctx.agent.name} for {ctx.person.name if ctx.person else 'nobody'}"


@query("Name the lockers")
def lockers(ctx: Context) -> str:
    return ", ".join(sorted(ctx.session.scalars(select(Locker.name)))) or "none"


@query("Read a locker")
def read_locker(locker: Locker) -> str:
    return f"{locker.name} of {locker.owner}"


@action("Set the price", says="Price {locker.name} at {price}")
def set_price(locker: Locker, price: int) -> str:
    locker.price = price
    return "Priced."


@action("Write on a locker", says="Write on {locker.name}: {note}")
def write_on(ctx: Context, locker: Locker, note: str) -> str:
    locker.note = f"{note}, by {ctx.agent.name} for {ctx.person.name if ctx.person else 'nobody'}"
    return "Written."


class Keep(Skill[str, Answer]):
    description = "Keep the lockers."
    tools = [who_is_it, lockers, read_locker, set_price, write_on]


class Open(Skill[Locker, Answer]):
    description = "Open one locker."
    tools = [read_locker, who_is_it]


class Keeper(Agent):
    """A helper: reads all but what is sealed, and sets no price."""

    roles = {"helper"}
    skills = [Keep(), Open()]
    may = Permits.changes_alone()


class Porter(Agent):
    """Reads and changes every locker."""

    roles = {"porter"}
    skills = [Keep(), Open()]
    may = Permits.changes_alone()


class Master(Agent):
    """Holds every role there is, and hands on."""

    roles = {"master", "porter", "helper", "binder"}
    skills = [Oversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(agent, skill) for agent in (Keeper, Porter) for skill in (Keep(), Open())])


AGENTS = (Master(), Keeper(), Porter())


async def locker(opened: Shop, name: str, owner: str = "Mia") -> UUID:
    def add(session: Any) -> UUID:
        row = Locker(name=name, owner=owner)
        session.add(row)
        session.flush()
        return row.id

    return await opened.agency.write(add)


async def found(opened: Shop, id: UUID) -> Locker:
    row = await opened.agency.read(lambda session: session.get(Locker, id))
    assert row is not None
    return row


async def keep(opened: Shop, agent: type[Agent], *turns: Any, who: Person | None = None, **given: Any) -> list[str]:
    """Have one piece of work done by `agent`; answers what its model was told."""
    heard = hears(opened.agency, AgentCast().plays(agent, AgentScript(*turns, BACK)))
    outcome = await opened.agency.desk(who).of(agent).do(Keep(), "them", **given)
    assert outcome.done, outcome.why
    return heard.told(agent)


async def handed(opened: Shop, agent: type[Agent], *turns: Any, who: Person | None = None, **given: Any) -> list[str]:
    """The same, handed on by Master."""
    cast = AgentCast().plays(Master, AgentScript(Says.hand_to(agent, Keep(), "them"), BACK))
    heard = hears(opened.agency, cast.plays(agent, AgentScript(*turns, BACK)))
    outcome = await opened.agency.desk(who).of(Master).do(Oversee(), "it", **given)
    assert outcome.done, outcome.why
    return heard.told(agent)


# R1
async def test_a_piece_runs_by_its_own_agents_account_for_the_person_the_work_is_for(
    database: str, clock: TestClock
) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        ask = Says.tool(who_is_it, {})
        assert await handed(opened, Keeper, ask, who=opened.mia) == ["Keeper for Mia"]
        assert await handed(opened, Keeper, ask, who=opened.noor, for_=opened.mia) == ["Keeper for Mia"]
        assert await handed(opened, Keeper, ask) == ["Keeper for nobody"]


# R2
async def test_a_tool_reads_only_the_rows_that_both_may_read(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        await locker(opened, "hers"), await locker(opened, "his", "Noor"), await locker(opened, "sealed")
        look = Says.tool(lockers, {})
        assert await keep(opened, Keeper, look, who=opened.mia) == ["hers"]
        assert await keep(opened, Porter, look, who=opened.mia) == ["hers, sealed"]
        assert await keep(opened, Keeper, look, who=opened.noor) == ["hers, his"]
        assert await keep(opened, Porter, look, who=opened.noor) == ["hers, his, sealed"]


# R2
async def test_a_row_that_either_may_not_read_is_not_found_by_its_id(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        his, sealed = await locker(opened, "his", "Noor"), await locker(opened, "sealed")
        reads = [Says.tool(read_locker, {"locker": str(id)}) for id in (his, sealed)]
        missing = [f"There is no locker with the id {id}." for id in (his, sealed)]
        assert await keep(opened, Keeper, *reads, who=opened.mia) == missing
        assert await keep(opened, Porter, *reads, who=opened.noor) == ["his of Noor", "sealed of Mia"]


# R2
async def test_work_for_nobody_does_what_the_agents_account_alone_may(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        await locker(opened, "hers"), await locker(opened, "sealed")
        assert await keep(opened, Keeper, Says.tool(lockers, {})) == ["hers"]
        assert await keep(opened, Porter, Says.tool(lockers, {})) == ["hers, sealed"]


# R2
@pytest.mark.parametrize(
    ("agent", "person", "field", "allowed"),
    [
        (Keeper, "Noor", "price", False),  # denied to the agent
        (Porter, "Noor", "price", True),
        (Porter, "Mia", "note", False),  # denied to the person
        (Porter, "Noor", "note", True),
        (Keeper, "Mia", "price", False),
        (Porter, "Mia", "price", True),
    ],
)
async def test_a_tool_changes_only_the_fields_that_both_may_change(
    database: str, clock: TestClock, agent: type[Agent], person: str, field: str, allowed: bool
) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        id = await locker(opened, "hers")
        who = {"Mia": opened.mia, "Noor": opened.noor}[person]
        change = {
            "price": Says.tool(set_price, {"locker": str(id), "price": 5}),
            "note": Says.tool(write_on, {"locker": str(id), "note": "x"}),
        }[field]
        [told] = await keep(opened, agent, change, who=who)
        row = await found(opened, id)
        assert (row.price == 5 or row.note != "") is allowed
        if not allowed:
            barred = {"price": "Keeper", "note": "Mia"}[field]
            assert told == f"{barred} may not change the {field} of a locker."


# R3
async def test_a_piece_is_not_given_the_roles_of_the_agent_above_it(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        await locker(opened, "hers")
        sealed = await locker(opened, "sealed")
        told = await handed(
            opened,
            Keeper,
            Says.tool(lockers, {}),
            Says.tool(set_price, {"locker": str(sealed), "price": 5}),
            who=opened.mia,
        )
        assert told == ["hers", f"There is no locker with the id {sealed}."]


# R7
@pytest.mark.parametrize(
    ("name", "owner", "agent", "opens"),
    [
        ("hers", "Mia", Keeper, True),
        ("his", "Noor", Keeper, False),  # the person may not read it
        ("sealed", "Mia", Keeper, False),  # the specialist may not
        ("sealed", "Mia", Porter, True),
    ],
)
async def test_a_row_is_handed_on_only_where_specialist_and_person_may_both_read_it(
    database: str, clock: TestClock, name: str, owner: str, agent: type[Agent], opens: bool
) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        id = await locker(opened, name, owner)
        cast = AgentCast().plays(Master, AgentScript(Says.hand_to(agent, Open(), Says.row(id)), BACK))
        heard = hears(opened.agency, cast.plays(agent, AgentScript(BACK)))
        outcome = await opened.agency.desk(opened.mia).of(Master).do(Oversee(), "it")
        tree = await Trajectory(opened.agency, outcome.task).tree()
        assert len(tree) == (2 if opens else 1)
        if not opens:
            assert heard.told(Master) == [f"There is no locker with the id {id}."]


# R7
async def test_a_row_that_the_person_may_not_read_is_given_to_no_agent(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        his = await found(opened, await locker(opened, "his", "Noor"))
        with pytest.raises(Exception, match="There is no locker"):
            await opened.agency.desk(opened.mia).of(Keeper).do(Open(), his)
        assert await opened.agency.desk(opened.mia).works("all") == []


# R9
async def test_whoever_the_app_says_uses_no_agents_gives_none_any_work(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as opened:
        guest = await opened.agency.add_person("guest@bindery.test", "Guest", roles=["guest"])
        desk = await opened.agency.desk_of(guest.id)
        with pytest.raises(NotAllowed):
            await desk.of(Keeper).do(Keep(), "them")
        assert await desk.gives() == []
        assert not desk.may.uses_agents
        assert [giving.skill for giving in await opened.agency.desk(opened.mia).gives()].count("Keep") == 2


# R9
async def test_the_app_answers_five_questions_about_a_person(database: str, clock: TestClock) -> None:
    only = {
        name: Policy(lambda who, name=name: name in who.roles)  # type: ignore[misc]
        for name in ("uses_agents", "supervises_agents", "audits_agents", "reads_model_usage", "manages_model_spend")
    }
    async with shop(database, AGENTS, clock=clock, policies=Policies(**only)) as opened:
        for name in only:
            person = await opened.agency.add_person(f"{name}@bindery.test", name, roles=[name])
            may = (await opened.agency.desk_of(person.id)).may
            assert [other for other in only if getattr(may, other)] == [name]
            await opened.agency.deactivate(person)
            may = (await opened.agency.desk_of(person.id)).may
            assert not any(getattr(may, other) for other in only)
