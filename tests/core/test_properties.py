"""What holds of every whole at every moment, whatever its models say and whatever people do to it meanwhile.

Random trees of one agent that hands on to itself: each turn of each piece says what a drawn plan has for it, some calls
are held back, and people decide, answer and stop in between. Drawn by the piece's path and turn, never by the order in
which pieces happen to run, so that an example plays the same again.
"""

from __future__ import annotations

import asyncio
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handon import Agent, Delegation, HandonError, ModelAnswer, ModelRequest, Skill, Specialist, Status
from handon.testing import ProcessDied, Says, TestClock, Unreachable
from tests.builders import Answer, Shop, add_shelf, look_up, shop
from tests.databases import Databases
from tests.staging import check_money, rows_of, until


class Grow(Skill[str, Answer]):
    description = "Do it, or have parts of it done."
    tools = [add_shelf, look_up]


class Branch(Agent):
    purpose = "You do things, and have things done."
    roles = {"helper"}
    skills = [Grow()]

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        to = [Specialist.of(Branch, Grow()), Specialist.helper(Grow(), budget=Decimal("0.012"))]
        return Delegation(to=to, max_depth=2, max_pieces=3)


SAYS = ["back", "misfit", "look", "split", "helper", "ask", "propose", "mixed", "silent", "gone", "dies"]
COSTS = [(100, 20), (50, 500), (200, 1_000)]


@dataclass
class Play:
    """What the models say, drawn; and which of their calls are held back."""

    plan: list[tuple[str, tuple[int, int], bool]]
    asked: list[tuple[UUID, int]] = field(default_factory=list)
    held: list[asyncio.Event] = field(default_factory=list)
    holds: bool = True
    died: bool = False

    async def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
        path = request.messages[1].text.strip('"')
        turn = sum(message.role == "assistant" for message in request.messages)
        self.asked.append((request.piece, len(request.messages)))
        says, tokens, held = self.plan[zlib.crc32(f"{path}:{turn}".encode()) % len(self.plan)]
        if held and self.holds:
            go = asyncio.Event()
            self.held.append(go)
            await go.wait()
        if says == "gone":
            raise Unreachable("down")
        if says == "dies":
            self.died = True
            raise ProcessDied
        return self._turn("back" if turn >= 3 else says, path, turn, tokens).answer()

    def _turn(self, says: str, path: str, turn: int, tokens: tuple[int, int]) -> Any:
        def under(n: int) -> Any:
            return Says.hand_to(Branch, Grow(), f"{path}.{turn}{n}")

        look = Says.tool(look_up, {"word": f"{path} {turn}"})
        turns = {
            "back": [Says.hand_back(Answer(text=path))],
            "misfit": [Says.hand_back({"number": "many"})],
            "look": [look],
            "split": [under(0), under(1)],
            "helper": [Says.hand_to_helper(Grow(), f"{path}.{turn}h"), Says.ask("Which?")],
            "ask": [Says.ask("Which?")],
            "propose": [Says.tool(add_shelf, {"mark": path})],
            "mixed": [under(0), Says.tool(add_shelf, {"mark": path}), look],
            "silent": [],
        }[says]
        return Says.together(*turns, tokens=tokens)

    def let_go(self) -> None:
        for go in self.held:
            go.set()
        self.held.clear()


async def check(at: Shop, tasks: list[UUID], play: Play) -> None:
    """What holds at every moment."""
    for task in tasks:
        rows = await rows_of(at.agency, task)
        check_money(rows)
        [top] = [row for row in rows if row.parent is None]
        for row in rows:
            if row.status == "Waiting":
                assert row.reserved_micros == 0, "work that waits holds money"
                assert row.waiting_on
            if top.run == "ended":
                assert row.run == "ended", "something under an ended top is going"
        verdict = await at.agency.desk(None).verify_trace(task)
        assert verdict.intact, verdict.why
    assert len(set(play.asked)) == len(play.asked), "a piece was woken twice for one turn"


async def act(at: Shop, what: str, which: int, tasks: list[UUID], play: Play) -> None:
    """Do one thing that a person or a clock might do."""
    desk = at.agency.desk(at.mia)
    proposals, questions = await desk.proposals(), await desk.questions()
    if what == "let go":
        play.let_go()
    elif what in ("approve", "refuse") and proposals:
        decide = desk.approve if what == "approve" else desk.refuse
        await decide(proposals[which % len(proposals)].id)
    elif what in ("answer", "decline") and questions:
        question = questions[which % len(questions)]
        await (desk.answer(question.id, "Left.") if what == "answer" else desk.decline(question.id))
    elif what == "stop":
        nodes = await desk.work_tree(tasks[which % len(tasks)])
        await desk.stop(nodes[which % len(nodes)].piece)
    elif what == "stop and answer" and questions:
        question = questions[which % len(questions)]
        await asyncio.gather(desk.answer(question.id, "Left."), desk.stop(question.root), return_exceptions=True)


async def rest(at: Shop, clock: TestClock, play: Play) -> None:
    """Until nothing moves. What died holds the room that others wait for until it is closed."""
    while True:
        play.let_go()
        try:
            async with asyncio.timeout(0.3):
                return await at.agency.settle()
        except TimeoutError:
            if play.died:
                await clock.advance(timedelta(hours=1))


async def play_out(at: Shop, clock: TestClock, play: Play, limits: list[str], acts: list[tuple[str, int]]) -> None:
    at.agency.script(play)
    desk = at.agency.desk(at.mia)
    tasks = [
        await desk.of(Branch).start(Grow(), str(n), limit=Decimal(limit), on="everything")
        for n, limit in enumerate(limits)
    ]
    for what, which in acts:
        with suppress(HandonError):  # somebody was first
            await act(at, what, which, tasks, play)
        await asyncio.sleep(0.005)
        await check(at, tasks, play)
    play.holds = False

    async def over() -> bool:
        await rest(at, clock, play)
        with suppress(HandonError):  # what one decision set going may have ended what another one was for
            for proposal in await desk.proposals():
                await desk.approve(proposal.id)
            for question in await desk.questions():
                await desk.answer(question.id, "Left.")
        await rest(at, clock, play)
        await check(at, tasks, play)
        return not await desk.waiting_count()

    for _ in range(5):
        await until(over, 30)
        await clock.advance(timedelta(hours=1))  # what died is closed; what was told of it goes on, and may die too
    await until(over, 30)
    spent = 0
    for task in tasks:
        nodes = await desk.work_tree(task)
        assert all(node.status.final for node in nodes)
        assert all(node.reserved_micros == 0 for node in nodes)
        assert nodes[0].status in (Status.DONE, Status.FAILED, Status.STOPPED, Status.CANCELLED)
        spent += nodes[0].tree_micros
    assert await at.agency.spent_against("everything") * 1_000_000 == spent


ACTS = ["let go", "approve", "refuse", "answer", "decline", "stop", "stop and answer", "wait"]
turns = st.tuples(st.sampled_from(SAYS), st.sampled_from(COSTS), st.booleans())


# M4, M5, E4, T3, P4
@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    plan=st.lists(turns, min_size=3, max_size=12),
    limits=st.lists(st.sampled_from(["0.006", "0.012", "0.02", "0.05"]), min_size=1, max_size=2),
    acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 50)), max_size=8),
)
def test_whatever_happens_money_adds_up_nothing_is_left_going_and_the_record_holds(
    databases: Databases,
    tmp_path_factory: pytest.TempPathFactory,
    plan: list[tuple[str, tuple[int, int], bool]],
    limits: list[str],
    acts: list[tuple[str, int]],
) -> None:
    database = databases.sqlite(tmp_path_factory.mktemp("example"))

    async def example() -> None:
        clock = TestClock()
        async with shop(database, [Branch()], clock=clock, model_tries=1) as at:
            await play_out(at, clock, Play(plan), limits, acts)

    asyncio.run(example())
