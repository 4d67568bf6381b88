"""Real models: whole pieces over HTTP, and everything that can go wrong on the way there and back."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from llmock.testing import LLMockServer

from handon import Agent, Price, Status
from handon.testing import TestClock
from tests.builders import Answer, Clerk, Find, Note, Shop, make, shop
from tests.staging import STAFF, Finder, calls_of, check_money, rows_of
from tests.wire import CHAT, FAILS, HANGS, KEY, MESSAGES, RESPONSES, WIRES, Reply, Wire, nobody, provider

LOOKED_UP = ("look_up", {"word": "vellum"})
HANDED_BACK = ("hand_back", {"text": "Calfskin.", "number": 1})
QUICK: dict[str, Any] = {"model_tries": 3, "model_pause": timedelta(milliseconds=1)}
COST = 100 * 1 + 20 * 5  # micros that an answer costs by default

each_wire = pytest.mark.parametrize("wire", WIRES, ids=[wire.prefix for wire in WIRES])


def opened(database: str, *models: Any, agents: Any = STAFF, **settings: Any) -> AbstractAsyncContextManager[Shop]:
    return shop(database, agents, models=list(models), **QUICK | settings)


async def find(at: Shop, agent: type[Agent] = Finder) -> Any:
    return await at.agency.desk(at.mia).of(agent).do(Find(), "What is vellum?")


# Whole pieces


# C6, M8
@each_wire
async def test_a_piece_calls_a_tool_and_hands_back_over_http(sqlite_database: str, wire: Wire) -> None:
    async with (
        provider(wire.says("I look it up.", LOOKED_UP), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert (outcome.status, outcome.result) == (Status.DONE, Answer(text="Calfskin.", number=1))
        first, second = there.asked
        assert {"look_up", "hand_back"} <= set(wire.tools(first))
        assert wire.tools(first)["look_up"]["properties"]["word"]["type"] == "string"
        assert (first["model"], first[wire.most]) == ("some-model", 1000)
        assert "You find things out." in json.dumps(first) and "What is vellum?" in json.dumps(first)
        assert wire.results(first) == []
        assert first.get("store") is (False if wire is RESPONSES else None)  # nothing of the work is to be kept there
        assert [name for name, _ in wire.called(second)] == ["look_up"]
        assert "I look it up." in json.dumps(second)
        assert wire.results(second) == ["VELLUM"]
        calls = await calls_of(at.agency, outcome.task)
        assert [(call.tokens_in, call.tokens_out, call.micros, call.estimated) for call in calls] == [
            (100, 20, COST, False)
        ] * 2
        assert outcome.cost_micros == 2 * COST


# H6
@each_wire
async def test_the_same_call_twice_in_one_answer_is_answered_twice(sqlite_database: str, wire: Wire) -> None:
    other = ("look_up", {"word": "calf"})
    async with (
        provider(wire.says("", LOOKED_UP, LOOKED_UP, other), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        assert (await find(at)).done
        assert wire.results(there.asked[1]) == ["VELLUM", "VELLUM", "CALF"]


# D4
@each_wire
async def test_a_tool_that_the_model_made_up_goes_back_under_a_name_that_providers_take(
    sqlite_database: str, wire: Wire
) -> None:
    made_up = ("functions.look up!" + "x" * 90, {"word": "vellum"})
    async with (
        provider(wire.says("", made_up), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        assert (await find(at)).done
        [(name, _)] = wire.called(there.asked[1])
        assert name == ("functions_look_up_" + "x" * 90)[:64]
        assert wire.results(there.asked[1])[0].startswith("There is no tool functions.look up!")


# H4
@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=["openai-chat", "openai"])
async def test_arguments_that_are_no_json_are_told_to_the_model(sqlite_database: str, wire: Wire) -> None:
    async with (
        provider(wire.says("", ("look_up", '{"word": "vel')), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        assert (await find(at)).done
        assert "not valid JSON" in wire.results(there.asked[1])[0]
        [(_, arguments)] = wire.called(there.asked[1])
        assert '{"word": "vel' in json.loads(arguments).values()


# E6
@each_wire
async def test_an_answer_that_says_nothing_is_told_so(sqlite_database: str, wire: Wire) -> None:
    async with (
        provider(wire.says("", used=(100, 0, 0)), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        assert "Nothing was called" in json.dumps(there.asked[1])
        assert '"content": ""' not in json.dumps(there.asked[1])
        assert outcome.cost_micros == 100 + COST


# The kept mock server, which speaks for itself


@pytest.fixture(scope="module")
def mock_server() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        yield server


@pytest.fixture
def mock(mock_server: LLMockServer) -> LLMock:
    return LLMock(mock_server).reset()


def mocked(mock: LLMock, wire: Wire, **more: Any) -> Any:
    return wire.model(mock.base_url("anthropic") if wire is MESSAGES else mock.url, **more)


# E8
@each_wire
async def test_a_provider_that_is_asked_too_often_is_asked_again_when_it_said(
    sqlite_database: str, wire: Wire, mock: LLMock
) -> None:
    mock.rate_limit(times=1, retry_after=1).call_tool(*LOOKED_UP).call_tool(*HANDED_BACK)
    async with opened(sqlite_database, mocked(mock, wire)) as at:
        outcome = await find(at)
        assert outcome.result == Answer(text="Calfskin.", number=1)
        assert len(await calls_of(at.agency, outcome.task)) == 2
        assert len(mock.requests) == 3
        mock.assert_resilient(strict=True)


# Where the request was not carried out


# E8, M10
@each_wire
@pytest.mark.parametrize("status", [429, 503, 529, 408])
async def test_a_provider_that_turns_every_request_away_costs_nothing(
    sqlite_database: str, wire: Wire, status: int
) -> None:
    away = Reply({"error": {"message": "Later."}}, status)
    async with provider(away) as there, opened(sqlite_database, wire.model(there.url)) as at:
        outcome = await find(at)
        assert (outcome.status, outcome.why) == (Status.FAILED, "Its model could not be reached: Everyday.")
        assert len(there.asked) == QUICK["model_tries"]
        assert (outcome.cost_micros, await calls_of(at.agency, outcome.task)) == (0, [])
        check_money(await rows_of(at.agency, outcome.task))


# E8
async def test_a_provider_that_asks_to_be_left_alone_for_long_is_not_asked_again(sqlite_database: str) -> None:
    away = Reply({"error": {"message": "Later."}}, 429, {"retry-after": "301"})
    async with provider(away) as there, opened(sqlite_database, CHAT.model(there.url)) as at:
        outcome = await find(at)
        assert outcome.why == "Its model could not be reached: Everyday."
        assert len(there.asked) == 1


# E8, M10
@each_wire
async def test_where_nobody_listens_nothing_is_charged(sqlite_database: str, wire: Wire) -> None:
    with nobody() as url:
        async with opened(sqlite_database, wire.model(url)) as at:
            outcome = await find(at)
            assert (outcome.status, outcome.why) == (Status.FAILED, "Its model could not be reached: Everyday.")
            assert (outcome.cost_micros, await calls_of(at.agency, outcome.task)) == (0, [])


REJECTIONS = [
    (
        401,
        "Its model could not be asked: Everyday: its provider does not take the key, or the key may not use it (401).",
    ),
    (
        403,
        "Its model could not be asked: Everyday: its provider does not take the key, or the key may not use it (403).",
    ),
    (404, "Its model could not be asked: Everyday: its provider knows no such model, or the address is wrong (404)."),
    (402, "Its model could not be asked: Everyday: its provider says that the account has no credit left (402)."),
    (400, "Its model could not be asked: Everyday: its provider does not take the request (400)."),
    (413, "Its model could not be asked: Everyday: its provider does not take the request (413)."),
]


# E8, M10
@each_wire
@pytest.mark.parametrize(("status", "why"), REJECTIONS, ids=[str(status) for status, _ in REJECTIONS])
async def test_a_request_that_is_turned_down_for_good_is_not_asked_again_and_not_charged(
    sqlite_database: str, wire: Wire, status: int, why: str
) -> None:
    async with (
        provider(Reply({"error": {"type": "error", "message": "No."}}, status)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert (outcome.status, outcome.why) == (Status.FAILED, why)
        assert len(there.asked) == 1
        assert (outcome.cost_micros, await calls_of(at.agency, outcome.task)) == (0, [])
        check_money(await rows_of(at.agency, outcome.task))


# T6
@each_wire
@pytest.mark.parametrize("status", [200, 401, 500])
async def test_no_key_is_in_a_log_on_the_record_or_told_to_a_person(
    sqlite_database: str, wire: Wire, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leaks = Reply({"error": {"type": "error", "message": f"Wrong key: {KEY}"}}, status)
    model = wire.model("")
    assert KEY not in repr(model)
    async with provider(leaks) as there, opened(sqlite_database, wire.model(there.url)) as at:
        outcome = await find(at)
        assert outcome.status is Status.FAILED
        assert KEY in there.headers[0]
        desk = at.agency.desk(at.noor)
        assert KEY not in outcome.why + await desk.export_trace(outcome.task)
        assert KEY not in caplog.text
        assert KEY not in repr(at.agency._house.models)


# Where it may have been carried out


UNREADABLE = [
    Reply(b"<html>It works!</html>", headers={"content-type": "text/html"}),
    Reply(b'{"id": 1, "choi', headers={"content-type": "application/json"}),
    Reply({"hello": "there"}),
    Reply([]),
]


LOST = [
    ("hangs", HANGS, "it did not answer in time"),
    (
        "drops",
        Reply(b'{"id": "half of it, and a little more"}', drops=True),
        "the connection broke before it had answered",
    ),
    ("fails", FAILS, "its provider failed while it answered"),
]
each_loss = pytest.mark.parametrize(("reply", "why"), [loss[1:] for loss in LOST], ids=[loss[0] for loss in LOST])


# M10, E8
@each_wire
@each_loss
async def test_an_answer_that_was_lost_is_charged_its_reservation_and_asked_for_once_more(
    sqlite_database: str, wire: Wire, reply: Reply, why: str
) -> None:
    async with (
        provider(reply, wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url, timeout=timedelta(seconds=2 if reply.hangs else 60))) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        assert len(there.asked) == 2
        lost, answered = await calls_of(at.agency, outcome.task)
        assert (lost.estimated, answered.estimated, answered.micros) == (True, False, COST)
        assert lost.micros > 1000 * 5
        assert outcome.cost_micros == lost.micros + COST


# M10, M9, E8
@each_loss
async def test_an_answer_that_is_lost_twice_fails_the_piece_and_both_are_charged(
    database: str, reply: Reply, why: str
) -> None:
    async with (
        provider(reply) as there,
        opened(database, CHAT.model(there.url, timeout=timedelta(milliseconds=500))) as at,
    ):
        outcome = await find(at)
        assert (outcome.status, outcome.why) == (Status.FAILED, f"Its model's answer was lost: Everyday: {why}.")
        assert len(there.asked) == 2
        one, other = await calls_of(at.agency, outcome.task)
        assert (one.estimated, other.estimated, one.micros) == (True, True, other.micros)
        assert outcome.cost_micros == 2 * one.micros
        check_money(await rows_of(at.agency, outcome.task))


# M2, M6
async def test_an_answer_that_was_lost_is_not_asked_for_again_where_the_money_does_not_reach(database: str) -> None:
    async with provider(FAILS) as there, opened(database, CHAT.model(there.url), task_budget="0.009") as at:
        outcome = await find(at)
        assert outcome.status is Status.STOPPED
        assert outcome.why.startswith("Its money ran out")
        assert len(there.asked) == 1
        [lost] = await calls_of(at.agency, outcome.task)
        assert outcome.cost_micros == lost.micros


# M10, A8
@each_wire
async def test_a_call_under_way_when_the_agency_leaves_is_closed_and_charged_and_asked_again_by_the_next(
    sqlite_database: str, wire: Wire
) -> None:
    async with provider(HANGS, wire.says("", HANDED_BACK)) as there:
        async with opened(sqlite_database, wire.model(there.url), stop_grace=timedelta(0)) as at:
            task = await at.agency.desk(at.mia).of(Finder).start(Find(), "What is vellum?")
            await there.has(1)
        await there.is_left()
        async with make(sqlite_database, STAFF, models=[wire.model(there.url)]) as again:
            await again.settle()
            outcome = await again.desk(at.mia).outcome(task)
            assert outcome.done
            cut_off, answered = await calls_of(again, task)
            assert (cut_off.estimated, answered.estimated) == (True, False)
            assert outcome.cost_micros == cut_off.micros + COST
            check_money(await rows_of(again, task))


# A8, M10
async def test_an_answer_that_is_lost_while_the_agency_leaves_is_asked_for_by_the_next(database: str) -> None:
    async with provider(HANGS, CHAT.says("", HANDED_BACK)) as there:
        async with opened(database, CHAT.model(there.url, timeout=timedelta(milliseconds=500))) as at:
            task = await at.agency.desk(at.mia).of(Finder).start(Find(), "What is vellum?")
            await there.has(1)
        assert len(there.asked) == 1
        async with make(database, STAFF, models=[CHAT.model(there.url)]) as again:
            await again.settle()
            outcome = await again.desk(at.mia).outcome(task)
            assert outcome.done
            lost, answered = await calls_of(again, task)
            assert (lost.estimated, answered.estimated) == (True, False)
            check_money(await rows_of(again, task))


# E9, M10, A5
@pytest.mark.parametrize("reply", [LOST[1][1], UNREADABLE[0]], ids=["lost", "unreadable"])
async def test_an_answer_that_is_lost_after_its_piece_was_closed_is_charged_and_nothing_else_comes_of_it(
    database: str, clock: TestClock, reply: Reply
) -> None:
    reply = replace(reply, after=asyncio.Event())
    async with (
        provider(reply) as there,
        opened(database, CHAT.model(there.url), clock=clock) as at,
    ):
        desk = at.agency.desk(at.mia)
        task = await desk.of(Finder).start(Find(), "What is vellum?")
        await there.has(1)
        await clock.advance(timedelta(minutes=45))
        closed = await desk.piece(task)
        assert closed.status is Status.FAILED
        reply.after.set()
        await at.agency.settle()
        assert len(there.asked) == 1
        [call] = await calls_of(at.agency, task)
        [row] = await rows_of(at.agency, task)
        assert call.estimated and call.micros > 1000 * 5
        assert (row.tree_micros, row.reserved_micros) == (call.micros, 0)
        after = await desk.piece(task)
        assert (after.status, after.outcome) == (closed.status, closed.outcome)


# T5, M8, M10
@each_loss
async def test_what_is_charged_for_a_lost_answer_is_on_the_record(sqlite_database: str, reply: Reply, why: str) -> None:
    async with (
        provider(reply, CHAT.says("", HANDED_BACK)) as there,
        opened(sqlite_database, CHAT.model(there.url, timeout=timedelta(seconds=2 if reply.hangs else 60))) as at,
    ):
        outcome = await find(at)
        lines = await at.agency.desk(at.mia).trace_of(outcome.task)
        assert sum(line.micros or 0 for line in lines) == outcome.cost_micros


# P4, P5, A8
@each_wire
async def test_a_conversation_that_waited_for_a_person_over_a_restart_goes_on_with_all_of_it(
    sqlite_database: str, wire: Wire
) -> None:
    adds = ("add_shelf", {"mark": "B-2"})
    async with provider(
        wire.says("I look first.", LOOKED_UP), wire.says("Now I add it.", LOOKED_UP, adds), wire.says("", HANDED_BACK)
    ) as there:
        async with opened(sqlite_database, wire.model(there.url)) as at:
            waiting = await at.agency.desk(at.mia).of(Clerk).do(Note(), at.shelf)
            assert waiting.waiting
        await there.is_left()
        async with make(sqlite_database, models=[wire.model(there.url)]) as again:
            desk = again.desk(at.mia)
            [proposal] = await desk.proposals()
            await desk.approve(proposal.id)
            await again.settle()
            assert (await desk.outcome(waiting.task)).done
        last = there.asked[2]
        assert [(name, json.loads(arguments)) for name, arguments in wire.called(last)] == [LOOKED_UP, LOOKED_UP, adds]
        first, second, added = wire.results(last)
        assert (first, second) == ("VELLUM", "VELLUM")
        assert "Added B-2." in added
        assert all(text in json.dumps(last) for text in ("Shelf A-1", "I look first.", "Now I add it."))


# A8
@each_wire
async def test_connections_are_closed_when_the_agency_leaves_and_opened_again_with_it(
    sqlite_database: str, wire: Wire
) -> None:
    async with provider(wire.says("", HANDED_BACK)) as there:
        async with opened(sqlite_database, wire.model(there.url)) as at:
            assert (await find(at)).done
            assert there.connected == 1
        await there.is_left()
        async with at.agency:
            assert (await find(at)).done


# Where it was carried out


# M9, M10
@each_wire
@pytest.mark.parametrize("reply", UNREADABLE, ids=["html", "half", "other", "list"])
async def test_an_answer_that_cannot_be_read_is_charged_its_reservation_and_fails_the_piece(
    sqlite_database: str, wire: Wire, reply: Reply
) -> None:
    async with provider(reply) as there, opened(sqlite_database, wire.model(there.url)) as at:
        outcome = await find(at)
        assert outcome.status is Status.FAILED
        assert outcome.why == "Its model's answer could not be used: Everyday: what came back is no answer."
        assert len(there.asked) == 1
        [call] = await calls_of(at.agency, outcome.task)
        assert (call.estimated, call.micros) == (True, outcome.cost_micros)
        assert call.micros > 1000 * 5


# M9
@each_wire
async def test_an_answer_without_counts_is_charged_its_reservation_and_marked_as_estimated(
    sqlite_database: str, wire: Wire
) -> None:
    async with (
        provider(wire.says("", HANDED_BACK, used=None)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        [call] = await calls_of(at.agency, outcome.task)
        assert call.estimated
        assert outcome.cost_micros == call.micros > 1000 * 5


# M9
@each_wire
@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize("used", [(-5, 20, 0), (100, -20, 0), (100, 0, 0), (0, 20, 0)])
async def test_counts_that_cannot_be_true_are_none(
    sqlite_database: str, wire: Wire, used: tuple[int, int, int]
) -> None:
    async with (
        provider(wire.says("", HANDED_BACK, used=used)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        [call] = await calls_of(at.agency, outcome.task)
        assert call.estimated


# M3
@each_wire
async def test_input_that_came_from_the_providers_cache_is_counted_in_and_charged_at_its_own_price(
    sqlite_database: str, wire: Wire
) -> None:
    price = Price(input=10, output=50, cached=1)
    async with (
        provider(wire.says("", HANDED_BACK, used=(100, 20, 60))) as there,
        opened(sqlite_database, wire.model(there.url, price=price), task_budget="1") as at,
    ):
        outcome = await find(at)
        [call] = await calls_of(at.agency, outcome.task)
        assert (call.tokens_in, call.tokens_cached, call.micros) == (100, 60, 40 * 10 + 60 * 1 + 20 * 50)


# M2, H4
@each_wire
@pytest.mark.parametrize("call", [HANDED_BACK, ("hand_back", {})], ids=["whole", "empty"])
async def test_a_call_that_may_have_been_cut_off_is_never_taken_and_the_model_is_told(
    sqlite_database: str, wire: Wire, call: Any
) -> None:
    async with (
        provider(wire.says("", call, cut=True), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        assert len(there.asked) == 2
        assert "not valid JSON" in wire.results(there.asked[1])[0]
        assert "Cut off here: an answer has at most 1000 tokens." in json.dumps(there.asked[1])
        assert outcome.cost_micros == 2 * COST


# T4
@each_wire
async def test_a_text_that_was_cut_off_says_so(sqlite_database: str, wire: Wire) -> None:
    async with (
        provider(wire.says("Vellum is", cut=True), wire.says("", HANDED_BACK)) as there,
        opened(sqlite_database, wire.model(there.url)) as at,
    ):
        outcome = await find(at)
        assert outcome.done
        assert "[Cut off here: an answer has at most 1000 tokens.]" in json.dumps(there.asked[1])
        assert "[Cut off here" in await at.agency.desk(at.mia).export_trace(outcome.task)


# E6
async def test_an_answer_that_the_provider_broke_off_says_so(sqlite_database: str) -> None:
    refused = MESSAGES.says("Vellum")
    refused.body["stop_reason"] = "refusal"
    async with (
        provider(refused, MESSAGES.says("", HANDED_BACK)) as there,
        opened(sqlite_database, MESSAGES.model(there.url)) as at,
    ):
        assert (await find(at)).done
        assert "[Broken off by the provider.]" in json.dumps(there.asked[1])


# Consulting


class Unsure(Agent):
    purpose = "You find things out, and ask when unsure."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"


ASKS = ("consult", {"question": "Which?", "context": "There are two."})


# C5, C6, M8
@each_wire
async def test_a_consult_goes_over_http_with_its_question_alone(sqlite_database: str, wire: Wire) -> None:
    async with (
        provider(wire.says("", ASKS), wire.says("", HANDED_BACK)) as there,
        provider(wire.says("The left one.")) as senior,
        opened(sqlite_database, wire.model(there.url), wire.model(senior.url, "Senior"), agents=[Unsure()]) as at,
    ):
        outcome = await find(at, Unsure)
        assert outcome.done
        [asked] = senior.asked
        assert "Which?" in json.dumps(asked) and "What is vellum?" not in json.dumps(asked)
        assert wire.tools(asked) == {}
        assert wire.results(there.asked[1]) == ["The left one."]
        calls = await calls_of(at.agency, outcome.task)
        assert sorted((call.model, call.purpose, call.micros) for call in calls) == [
            ("Everyday", "work", COST),
            ("Everyday", "work", COST),
            ("Senior", "consult", COST),
        ]


# T6, C6
@each_wire
async def test_no_key_is_in_a_log_of_a_consult(
    sqlite_database: str, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        provider(wire.says("", ASKS), wire.says("", HANDED_BACK)) as there,
        provider(Reply({"error": {"type": "error", "message": f"Wrong key: {KEY}"}}, 500)) as senior,
        opened(sqlite_database, wire.model(there.url), wire.model(senior.url, "Senior"), agents=[Unsure()]) as at,
    ):
        assert (await find(at, Unsure)).done
        assert KEY in senior.headers[0]
        assert KEY not in caplog.text


# C6, M10
@pytest.mark.parametrize(
    ("reply", "charged"), [(Reply({}, 401), 0), (Reply({}, 429), 0), (FAILS, 1), (UNREADABLE[0], 1)]
)
async def test_work_goes_on_where_a_consulted_provider_gives_no_help(database: str, reply: Reply, charged: int) -> None:
    async with (
        provider(CHAT.says("", ASKS), CHAT.says("", HANDED_BACK)) as there,
        provider(reply) as senior,
        opened(database, CHAT.model(there.url), CHAT.model(senior.url, "Senior"), agents=[Unsure()]) as at,
    ):
        outcome = await find(at, Unsure)
        assert outcome.done
        assert CHAT.results(there.asked[1]) == ["Senior could not be reached. Go on without."]
        consults = [call for call in await calls_of(at.agency, outcome.task) if call.purpose == "consult"]
        assert [call.estimated for call in consults] == [True] * charged
        check_money(await rows_of(at.agency, outcome.task))


# E9, M10, C6
async def test_a_consult_that_is_answered_after_its_piece_was_closed_is_charged(
    database: str, clock: TestClock
) -> None:
    late = replace(CHAT.says("The left one."), after=asyncio.Event())
    async with (
        provider(CHAT.says("", ASKS)) as there,
        provider(late) as senior,
        opened(database, CHAT.model(there.url), CHAT.model(senior.url, "Senior"), agents=[Unsure()], clock=clock) as at,
    ):
        desk = at.agency.desk(at.mia)
        task = await desk.of(Unsure).start(Find(), "What is vellum?")
        await senior.has(1)
        await clock.advance(timedelta(minutes=45))
        assert (await desk.piece(task)).status is Status.FAILED
        late.after.set()
        await at.agency.settle()
        assert [call.purpose for call in await calls_of(at.agency, task)] == ["work", "consult"]
