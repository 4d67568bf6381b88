"""The record: one chain for each whole, in which a line that was touched is found and named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import bindparam, select

from bench.big_tree import Shape, plant
from core import record
from core.house import House
from core.sql import Statement
from core.store import Tx
from core.tables import line
from handon import Delegation, Desk, Line, Specialist, Status, TraceKind
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Clerk, Find, Note, Shop, make, note_shelf, shop
from tests.staging import (
    DONE,
    STAFF,
    Deputy,
    Finder,
    Gather,
    Lead,
    Staged,
    check_money,
    finders,
    gathers,
    rows_of,
    sql,
)

ZEROS = "0" * 64


@dataclass
class Told:
    """A whole that has ended, and its record."""

    at: Shop
    desk: Desk
    task: UUID
    lines: list[Line]

    async def sql(self, statement: str, **values: Any) -> None:
        await sql(self.at.agency, statement, root=self.task.hex, **values)

    async def broken_at(self) -> int:
        verdict = await self.desk.verify_trace(self.task)
        assert not verdict.intact
        assert verdict.broken_at is not None
        assert verdict.why
        return verdict.broken_at


@asynccontextmanager
async def told(database: str) -> AsyncIterator[Told]:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(2), Says.hand_to(Deputy, Gather(), "more")))
        cast = cast.plays(Deputy, gathers(*finders(1))).plays(Finder, AgentScript(DONE))
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        assert outcome.done
        yield Told(at, desk, outcome.task, await desk.trace_of(outcome.task))


# T3
async def test_a_record_nobody_touched_is_intact_to_its_last_line(database: str) -> None:
    async with told(database) as it:
        verdict = await it.desk.verify_trace(it.task)
        assert (verdict.intact, verdict.lines, verdict.broken_at, verdict.why) == (True, len(it.lines), None, "")
        assert f"{len(it.lines)} lines" in verdict.proven


# T3
async def test_each_line_holds_the_hash_of_the_line_before_and_they_are_numbered_from_one(database: str) -> None:
    async with told(database) as it:
        assert [entry.n for entry in it.lines] == list(range(1, len(it.lines) + 1))
        assert [entry.before for entry in it.lines] == [ZEROS, *[entry.hash for entry in it.lines[:-1]]]


# T3
async def test_the_record_is_the_same_from_any_piece_of_the_whole(database: str) -> None:
    async with told(database) as it:
        for node in await it.desk.work_tree(it.task):
            assert await it.desk.trace_of(node.piece) == it.lines
            assert await it.desk.verify_trace(node.piece) == await it.desk.verify_trace(it.task)


# T3
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("summary", "Nothing happened."),
        ("payload", '{"micros":0}'),
        ("kind", "tool ran"),
        ("at", 0),
        ("piece", "0" * 32),
        ("hash", "f" * 64),
    ],
)
async def test_a_changed_line_is_found_and_named(database: str, column: str, value: object) -> None:
    async with told(database) as it:
        await it.sql(f"update line set {column} = :value where root = :root and n = 5", value=value)
        assert await it.broken_at() == 5


# T3
async def test_a_removed_line_is_found_and_named(database: str) -> None:
    async with told(database) as it:
        await it.sql("delete from line where root = :root and n = 4")
        assert await it.broken_at() == 4


# T3
async def test_a_removed_line_whose_followers_were_renumbered_is_found_and_named(database: str) -> None:
    async with told(database) as it:
        await it.sql("delete from line where root = :root and n = 4")
        for n in range(5, len(it.lines) + 1):
            await it.sql("update line set n = n - 1 where root = :root and n = :n", n=n)
        assert await it.broken_at() == 4


# T3
async def test_an_inserted_line_is_found_and_named(database: str) -> None:
    async with told(database) as it:
        for n in range(len(it.lines), 5, -1):
            await it.sql("update line set n = n + 1 where root = :root and n = :n", n=n)
        forged = forge(it, 6, it.lines[4].hash, "Noor approved it.")
        await it.at.agency.store.write(lambda tx: tx.run(record._INSERT, **forged))
        # The forged line itself gives its hash and follows the fifth; the one after it does not follow it.
        assert await it.broken_at() == 7


# T3
async def test_two_lines_that_changed_places_are_found_and_named(database: str) -> None:
    async with told(database) as it:
        for old, new in ((6, 1_000), (7, 6), (1_000, 7)):
            await it.sql("update line set n = :new where root = :root and n = :old", old=old, new=new)
        assert await it.broken_at() == 6


# T3
@pytest.mark.parametrize("lost", [1, 3])
async def test_a_record_whose_end_was_cut_off_is_found_out(database: str, lost: int) -> None:
    async with told(database) as it:
        kept = len(it.lines) - lost
        await it.sql("delete from line where root = :root and n > :kept", kept=kept)
        assert await it.broken_at() == kept + 1


# T3
async def test_a_record_of_which_nothing_is_left_is_found_out(database: str) -> None:
    async with told(database) as it:
        await it.sql("delete from line where root = :root")
        assert await it.broken_at() == 1


# T3
async def test_a_line_added_at_the_end_is_found_out(database: str) -> None:
    async with told(database) as it:
        forged = forge(it, len(it.lines) + 1, it.lines[-1].hash, "Noor approved it.")
        await it.at.agency.store.write(lambda tx: tx.run(record._INSERT, **forged))
        assert await it.broken_at() == len(it.lines) + 1


# T3
async def test_a_last_line_that_was_put_in_place_of_the_one_written_is_found_out(database: str) -> None:
    async with told(database) as it:
        last = len(it.lines)
        await it.sql("delete from line where root = :root and n = :last", last=last)
        forged = forge(it, last, it.lines[-2].hash, "Lead is done.")
        await it.at.agency.store.write(lambda tx: tx.run(record._INSERT, **forged))
        assert await it.broken_at() == last


def forge(it: Told, n: int, before: str, summary: str) -> dict[str, Any]:
    """A line that fits the one before it and gives its own hash."""
    entry: dict[str, Any] = {
        "root": it.task.hex,
        "n": n,
        "at": 1,
        "piece": it.task.hex,
        "kind": "decided",
        "summary": summary,
        "payload": "{}",
        "before": before,
    }
    return entry | {"hash": record.hash_of(entry)}


# T3
async def test_fifty_writers_at_once_on_one_whole_leave_one_unbroken_chain(database: str) -> None:
    async with told(database) as it:
        count, house = 50, it.at.agency._house

        def write(n: int) -> Any:
            def add(tx: Tx) -> None:
                tree = house.tree(tx, it.task.hex)
                for part in range(3):
                    tree.append(tx.now, it.task.hex, TraceKind.TOOL_RAN, f"Writer {n}, {part}.", {"writer": n})

            return add

        await asyncio.gather(*(it.at.agency.store.write(write(n)) for n in range(count)))
        verdict = await it.desk.verify_trace(it.task)
        assert (verdict.intact, verdict.lines) == (True, len(it.lines) + 3 * count)
        added = [json.loads(entry.payload)["writer"] for entry in (await it.desk.trace_of(it.task))[len(it.lines) :]]
        assert sorted(added) == sorted(list(range(count)) * 3)
        assert all(len(set(added[n : n + 3])) == 1 for n in range(0, len(added), 3)), "a writer's lines were torn apart"


# T3
async def test_a_record_that_is_read_in_parts_is_checked_to_its_last_line(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = (("Lead", "Gather"), ("Finder", "Find"))
        task = await at.agency.write(
            lambda session: plant(
                session, Shape(pieces=900), person=at.mia.id, name="Mia", cast=cast, now=at.agency.clock.now()
            )
        )
        desk = at.agency.desk(at.mia)
        whole = await desk.verify_trace(task)
        assert whole.intact and whole.lines > 2 * record.READ
        it = Told(at, desk, task, [])
        await it.sql("update line set n = 0 where root = :root and n = :n", n=whole.lines)
        assert await it.broken_at() == 1  # what has a number that no line has is read too
        await it.sql("update line set n = :n where root = :root and n = 0", n=whole.lines)
        for n in (whole.lines, 2 * record.READ + 1, 2 * record.READ, record.READ + 1, record.READ):
            await it.sql("update line set summary = summary || '.' where root = :root and n = :n", n=n)
            assert await it.broken_at() == n
        await it.sql("delete from line where root = :root and n = :n", n=record.READ)
        assert await it.broken_at() == record.READ


# T5
async def test_a_transaction_that_fails_leaves_no_line_and_the_chain_goes_on(database: str) -> None:
    async with told(database) as it:

        def breaks(tx: Tx) -> None:
            record.lock(tx, it.task.hex).append(tx.now, it.task.hex, TraceKind.TOOL_RAN, "Never happened.")
            raise RuntimeError

        with pytest.raises(RuntimeError):
            await it.at.agency.store.write(breaks)
        assert await it.desk.trace_of(it.task) == it.lines
        assert (await it.desk.verify_trace(it.task)).intact


# T3
async def test_nothing_that_is_hashed_is_a_float(database: str) -> None:
    def no_float(text: str) -> float:
        raise AssertionError(f"{text} is a float")

    async with told(database) as it:
        rows = await it.at.agency.store.read(lambda tx: tx.all(_LINES, root=it.task.hex))
        for row in rows:
            assert isinstance(row.at, int)
            json.loads(row.payload, parse_float=no_float)


_LINES = Statement(select(line).where(line.c.root == bindparam("root")))


# T4
async def test_a_line_tells_of_each_thing_that_happens_in_a_sentence(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(
            AgentCast()
            .plays(Lead, gathers(*finders(1), Says.hand_to(Clerk, Note(), Says.row(at.shelf))))
            .plays(Finder, AgentScript(Says.ask("Which one?"), DONE))
            .plays(Clerk, AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Full."}), DONE))
        )
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things", about="The shelves")
        assert outcome.status is Status.WAITING
        [proposal] = await desk.proposals()
        [question] = await desk.questions()
        await desk.approve(proposal.id)
        await desk.answer(question.id, "The left one.")
        await at.agency.settle()
        said = {(entry.kind, entry.summary) for entry in await desk.trace_of(outcome.task)}
        assert said >= {
            (TraceKind.OPENED, "Lead was given Gather: The shelves"),
            (TraceKind.MODEL_ANSWERED, "Lead had an answer from Everyday: 100 tokens in, 20 out."),
            (TraceKind.ASKED, "Finder asked Mia: Which one?"),
            (TraceKind.WAITING, "Finder waits for an answer from Mia."),
            (TraceKind.PROPOSED, "Clerk proposed: Write on A-1: Full."),
            (TraceKind.DECIDED, "Mia approved: Write on A-1: Full."),
            (TraceKind.TOOL_RAN, "Clerk used “Write a note on the shelf”."),
            (TraceKind.RESUMED, "Clerk goes on."),
            (TraceKind.ANSWERED, "Mia answered Finder."),
            (TraceKind.CAME_BACK, "Clerk's work came back to Lead."),
            (TraceKind.ENDED, "Lead is done."),
        }
        assert TraceKind.HANDED_ON in {kind for kind, _ in said}


# T4, R8
def test_every_kind_of_line_has_a_sentence_for_whoever_may_not_read_content() -> None:
    for kind in TraceKind:
        sentence = record.bare(kind, "Finder")
        assert "Finder" in sentence
        assert "{" not in sentence


# T3
async def test_lines_can_be_read_on_from_any_number(database: str, clock: TestClock) -> None:
    async with told(database) as it:
        assert await it.desk.lines(it.task, after=3, limit=4) == it.lines[3:7]
        assert await it.desk.lines(it.task, after=len(it.lines)) == []


Rows = list[dict[str, Any]]


def rehashed(rows: Rows) -> Rows:
    """Lines numbered anew, each following from the one before: what somebody would write who knows how it is done."""
    before = ZEROS
    for n, row in enumerate(rows, 1):
        row.update(n=n, before=before)
        row["hash"] = before = record.hash_of(row)
    return rows


def changed(rows: Rows) -> Rows:
    rows[4]["summary"] = "Noor approved it."
    return rows


TAMPERED = {
    "changed": changed,
    "deleted": lambda rows: rows[:4] + rows[5:],
    "inserted": lambda rows: [*rows[:5], rows[4] | {"summary": "Noor approved it."}, *rows[5:]],
    "swapped": lambda rows: [*rows[:4], rows[5], rows[4], *rows[6:]],
    "cut off": lambda rows: rows[:-2],
    "emptied": lambda rows: rows[:1],
}


# T3
@pytest.mark.parametrize("how", TAMPERED)
async def test_a_record_that_was_written_anew_from_a_touched_line_on_does_not_lead_to_the_head_that_was_kept(
    database: str, how: str
) -> None:
    async with told(database) as it:
        await write_anew(it, rehashed(TAMPERED[how](await rows_of_record(it))))
        count = len(await it.desk.trace_of(it.task))
        assert await it.broken_at() == min(count, len(it.lines)) + (count != len(it.lines))


# T3, T6
@pytest.mark.parametrize("how", TAMPERED)
async def test_a_record_that_was_written_anew_with_its_head_does_not_bear_the_signature_it_ended_with(
    database: str, how: str
) -> None:
    async with told(database) as it:
        rows = rehashed(TAMPERED[how](await rows_of_record(it)))
        await write_anew(it, rows)
        await it.sql(
            "update whole set lines = :count, head = :head where id = :root", count=len(rows), head=rows[-1]["hash"]
        )
        assert await it.broken_at() == len(rows)
        verdict = await it.desk.verify_trace(it.task)
        assert "signature does not fit" in verdict.why


# T3, T6
async def test_a_record_of_ended_work_whose_signature_was_taken_away_does_not_hold(database: str) -> None:
    async with told(database) as it:
        rows = rehashed(changed(await rows_of_record(it)))
        await write_anew(it, rows)
        await it.sql("update whole set head = :head, signature = null where id = :root", head=rows[-1]["hash"])
        assert await it.broken_at() == len(rows)
        assert "signature of its head is gone" in (await it.desk.verify_trace(it.task)).why


# T3, T6
@pytest.mark.parametrize("how", TAMPERED)
@pytest.mark.parametrize("head_too", [False, True])
async def test_a_file_that_was_written_anew_is_found_out_by_its_head_or_by_the_signature(
    database: str, how: str, head_too: bool
) -> None:
    async with told(database) as it:
        first, *rows = [json.loads(row) for row in (await it.desk.export_trace(it.task)).splitlines()]
        anew = rehashed(TAMPERED[how](rows))
        if head_too:
            first |= {"lines": len(anew), "head": anew[-1]["hash"]}
        verdict, key = record.verify_export("\n".join(json.dumps(row) for row in [first, *anew]))
        assert key == it.at.agency.public_key
        assert not verdict.intact
        assert verdict.broken_at == (
            len(anew) if head_too else min(len(anew), len(it.lines)) + (len(anew) != len(it.lines))
        )


async def rows_of_record(it: Told) -> Rows:
    return [row._asdict() for row in await it.at.agency.store.read(lambda tx: tx.all(_LINES, root=it.task.hex))]


async def write_anew(it: Told, rows: Rows) -> None:
    await it.sql("delete from line where root = :root")
    await it.at.agency.store.write(lambda tx: tx.many(record._INSERT, rows))


# T3
async def test_writers_in_two_processes_at_once_leave_one_unbroken_chain(database: str) -> None:
    async with told(database) as it, make(database, STAFF, clock=TestClock()) as other:

        def write(n: int, house: House) -> Any:
            def add(tx: Tx) -> None:
                tree = house.tree(tx, it.task.hex)
                tree.append(tx.now, it.task.hex, TraceKind.TOOL_RAN, f"Writer {n}.", {"writer": n})

            return add

        two = [it.at.agency, other]
        await asyncio.gather(*(two[n % 2].store.write(write(n, two[n % 2]._house)) for n in range(50)))
        verdict = await it.desk.verify_trace(it.task)
        assert (verdict.intact, verdict.lines) == (True, len(it.lines) + 50)
        added = [json.loads(entry.payload)["writer"] for entry in (await it.desk.trace_of(it.task))[len(it.lines) :]]
        assert sorted(added) == list(range(50))


class Many(Lead):
    delegates = Delegation(to=[Specialist.of(Finder, Find())], max_pieces=50)


# T3, H1, M5
async def test_fifty_pieces_at_once_in_one_whole_leave_one_unbroken_chain(database: str) -> None:
    staged = Staged(AgentCast().plays(Many, gathers(*finders(50))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, [Many(), Finder()], task_budget=Decimal(1)) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Many).start(Gather(), "things")
        await staged.holds(50)
        staged.let_go()
        await at.agency.settle()
        assert (await desk.outcome(task)).done
        verdict = await desk.verify_trace(task)
        assert verdict.intact
        kinds = [line.kind for line in await desk.trace_of(task)]
        assert kinds.count(TraceKind.CAME_BACK) == 50
        assert kinds.count(TraceKind.MODEL_ANSWERED) == 52
        check_money(await rows_of(at.agency, task))
