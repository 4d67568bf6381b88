"""`make soak`: much work, people who decide at random, and `kill -9` every few seconds; then what is left of it.

One process at a time on SQLite, two at once on PostgreSQL where it answers; now and then one is stopped for longer than
it may be quiet, and goes on. When the time is up the processes are told
to stop, the clock is moved on, what is left is decided, and everything is counted: nothing may be lost, done twice or
left reserved, and every record must hold. Prints its figures, and how many wholes it came to; ends with 1 where one is
wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select

from core import record
from core.sql import Statement
from core.store import Tx
from core.tables import account, help, line, metered_call, piece, proposal, whole
from handon import Agency, TraceKind
from handon.testing import TestClock
from tests.crash import yard
from tests.crash.processes import Processes
from tests.crash.stories import Ledger
from tests.databases import Databases, nobody_is_on, server_answers
from tests.staging import check_money

AT_ONCE = 150  # wholes under way
QUICK = {"sweep_every": 200, "abandoned_after": 3000, "abandoned_check_every": 500}  # milliseconds
FREEZES = 0.2  # of all times: stopped for a while instead of killed
ROUNDS = 50  # of deciding what is left, and moving the clock on
POLICIES = ("close", "resume")  # of each process, drawn: what it does with work whose process is gone
PROCESSES = {"sqlite": 1, "postgresql": 2}

_WHOLES = Statement(select(whole))
_PIECES = Statement(select(piece).order_by(piece.c.root, piece.c.depth))
_PROPOSALS = Statement(select(proposal))
_HELP = Statement(select(help))
_ACCOUNTS = Statement(select(account))
_METER = Statement(select(metered_call.c.root, metered_call.c.micros))
_LINES = Statement(select(line.c.root, line.c.piece, line.c.kind, line.c.payload))


@dataclass
class Figures:
    """What was reached, and what was found wrong: the latter must all be 0."""

    wholes: int = 0
    pieces: int = 0
    lines: int = 0
    decisions: int = 0
    kills: int = 0
    freezes: int = 0
    closed_as_abandoned: int = 0
    taken_over: int = 0
    unknown_outcomes: int = 0
    lost: int = field(default=0, metadata={"wrong": True})
    doubled: int = field(default=0, metadata={"wrong": True})
    left_going: int = field(default=0, metadata={"wrong": True})
    left_waiting: int = field(default=0, metadata={"wrong": True})
    reserved: int = field(default=0, metadata={"wrong": True})
    sums_wrong: int = field(default=0, metadata={"wrong": True})
    chains_broken: int = field(default=0, metadata={"wrong": True})
    seconds: int = 0  # with opening, finishing and counting
    killing: float = field(default=0, metadata={"hidden": True})  # seconds of it in which processes were killed
    why: list[str] = field(default_factory=list, metadata={"hidden": True})

    def wrong(self, what: str, count: int, why: str) -> None:
        if count:
            setattr(self, what, getattr(self, what) + count)
            self.why.append(f"{what.replace('_', ' ')}: {count} {why}")

    @property
    def right(self) -> bool:
        return not any(getattr(self, one.name) for one in fields(self) if one.metadata.get("wrong"))


@dataclass
class Soak:
    """One database's."""

    database: str
    folder: Path
    wholes: int
    seconds: float
    draw: random.Random
    policies: Sequence[str] = POLICIES

    def __post_init__(self) -> None:
        self.ledger = Ledger.opens(self.folder / "ledger")
        self.kind = self.database.partition(":")[0]
        self.found = Figures()

    async def run(self) -> Figures:
        begun = time.monotonic()
        async with yard.yard(self.database, "drawn", concurrency=0) as agency:
            await yard.prepare(agency)
        processes = Processes()
        killing = time.monotonic()
        try:
            self.kill_again_and_again(processes, killing + self.seconds)
        finally:
            processes.close()
        self.found.killing = time.monotonic() - killing
        nobody_is_on(self.database)
        clock = TestClock(datetime.now(UTC) + timedelta(hours=1))
        async with yard.yard(self.database, "drawn", clock=clock) as agency:
            await self.finish(agency, clock)
            await agency.store.read(self.count)
        self.found.seconds = round(time.monotonic() - begun)
        return self.found

    # While it runs

    def kill_again_and_again(self, processes: Processes, until: float) -> None:
        running = {n: self.start(processes, n) for n in range(PROCESSES[self.kind])}
        while (now := time.monotonic()) < until and not self.all_given():
            time.sleep(min(self.draw.uniform(2, 4), max(until - now, 0)))
            n = self.draw.choice(list(running))
            if self.draw.random() < FREEZES:
                processes.kill(running[n], signal.SIGSTOP)
                time.sleep(self.draw.uniform(3, 5))  # past its abandonment
                processes.goes_on(running[n])
                self.found.freezes += 1
                continue
            processes.kill(running[n])
            processes.wait(running[n])
            self.found.kills += 1
            running[n] = self.start(processes, n)
        for process in running.values():
            processes.kill(process, signal.SIGTERM)
        for process in running.values():
            ended = processes.wait(process)
            self.found.wrong("lost", int(ended != 0), f"process that could not leave: {ended}")

    def start(self, processes: Processes, n: int) -> int:
        """A process that goes on giving where the one before it was killed: with its last work once more."""
        given = [key for key, _ in self.ledger.of("given")]
        own = [f"{n}-{i}" for i in range(n, self.wholes, PROCESSES[self.kind])]
        begun = [key for key in own if key in set(given)]
        return processes.start(
            "serve",
            database=self.database,
            ledger=str(self.ledger.path),
            plan="drawn",
            keys=own[max(len(begun) - 1, 0) :],
            at_once=AT_ONCE,
            decides="at random",
            seed=self.draw.random(),
            quick=QUICK,
            settings={"when_abandoned": self.draw.choice(self.policies)},
        )

    def all_given(self) -> bool:
        return len({key for key, _ in self.ledger.of("given")}) >= self.wholes

    # Afterwards

    async def finish(self, agency: Agency, clock: TestClock) -> None:
        """Decide what waits and move the clock on, until nothing is under way."""
        people = await yard.desks(agency)
        for _ in range(ROUNDS):
            await agency.settle()
            decided = 0
            for desk in people:
                decided += await yard.decide_all(desk)
            if not decided:
                await clock.advance(timedelta(hours=1))
                await agency.settle()
                if not await people[0].works("going", limit=1):
                    return

    def count(self, tx: Tx) -> None:
        wholes, pieces = tx.all(_WHOLES), tx.all(_PIECES)
        told = [(entry.kind, entry.root, json.loads(entry.payload)) for entry in tx.all(_LINES)]
        found = self.found
        found.wholes, found.pieces, found.lines = len(wholes), len(pieces), len(told)
        found.decisions = sum(len(self.ledger.of(what)) for what in ("approved", "refused", "answered", "stopped"))
        found.closed_as_abandoned = sum(kind == TraceKind.ABANDONED for kind, _, _ in told)
        found.taken_over = sum(kind == TraceKind.TAKEN_UP for kind, _, _ in told)
        self.count_wholes(wholes, pieces)
        self.count_money(tx, pieces)
        self.count_changes(tx, told)
        verdicts = [record.verify_tree(tx, one.id) for one in wholes]
        found.wrong("chains_broken", sum(not verdict.intact for verdict in verdicts), "records do not hold")

    def count_wholes(self, wholes: Sequence[Any], pieces: Sequence[Any]) -> None:
        given: dict[str, set[str]] = defaultdict(set)
        for key, root in self.ledger.of("given"):
            given[key].add(root)
        there = {one.id for one in wholes}
        self.found.wrong("lost", len(set().union(*given.values()) - there), "wholes that were given")
        self.found.wrong("doubled", sum(len(roots) > 1 for roots in given.values()), "wholes given once")
        self.found.wrong("left_going", sum(one.ended_at is None for one in wholes), "wholes")
        self.found.wrong("left_going", sum(one.ended_at is None for one in pieces), "pieces")

    def count_money(self, tx: Tx, pieces: Sequence[Any]) -> None:
        accounts = tx.all(_ACCOUNTS)
        self.found.wrong("reserved", sum(bool(one.reserved_micros or one.call_micros) for one in pieces), "pieces")
        self.found.wrong("reserved", sum(bool(one.reserved_micros) for one in accounts), "accounts")
        metered: Counter[str] = Counter()
        for call in tx.all(_METER):
            metered[call.root] += call.micros
        trees: dict[str, list[Any]] = defaultdict(list)
        for one in pieces:
            trees[one.root].append(one)
        for root, rows in trees.items():
            try:
                check_money(rows)
                assert rows[0].tree_micros == metered[root], "the meter says something else"
            except AssertionError as error:
                self.found.wrong("sums_wrong", 1, f"{UUID(root)}: {error}")

    def count_changes(self, tx: Tx, told: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        """Each change once: what was approved, what was made, and what the record says of it."""
        found = self.found
        inside = Counter(entry.key for entry in tx.session.scalars(select(yard.Entry)))
        outside = {what: Counter(key for key, *_ in self.ledger.of(what)) for what in ("post", "label")}
        made = {
            "enter": 0,
            "propose_entry": 0,
            "post": outside["post"].total(),
            "order_label": outside["label"].total(),
        }
        for marks in (inside, *outside.values()):
            found.wrong("doubled", sum(count > 1 for count in marks.values()), "changes made again for one call")
        ran = Counter(said["tool"] for kind, _, said in told if kind == TraceKind.TOOL_RAN and said["ok"])
        begun = Counter(said["tool"] for kind, _, said in told if kind == TraceKind.BEGUN)
        entries = ran["enter"] + ran["propose_entry"]
        found.wrong("lost", max(entries - inside.total(), 0), "changes that the record says were made")
        found.wrong("doubled", max(inside.total() - entries, 0), "changes that the record does not know")
        for tool in ("post", "order_label"):
            found.unknown_outcomes += begun[tool] - ran[tool]
            found.wrong("lost", max(ran[tool] - made[tool], 0), f"of {tool}, that the record says were made")
            found.wrong("doubled", max(made[tool] - begun[tool], 0), f"of {tool}, that were never begun")
        self.count_decisions(tx, told, inside, outside["post"])

    def count_decisions(
        self,
        tx: Tx,
        told: Sequence[tuple[str, str, dict[str, Any]]],
        inside: Counter[str],
        posted: Counter[str],
    ) -> None:
        found = self.found
        proposals = {one.id: one for one in tx.all(_PROPOSALS)}
        decided = Counter((said["proposal"], said["decision"]) for kind, _, said in told if kind == TraceKind.DECIDED)
        for what, other in (("approved", "refused"), ("refused", "approved")):
            confirmed = {id for (id,) in self.ledger.of(what)}
            lost = [id for id in confirmed if not decided[id, what] and not self.forbidden(proposals[id])]
            found.wrong("lost", len(lost), f"decisions that were confirmed as {what}")
            found.wrong("doubled", sum(bool(decided[id, other]) for id in confirmed), f"decisions, {what} and {other}")
        found.wrong("doubled", sum(count > 1 for count in decided.values()), "decisions on the record")
        for one in proposals.values():
            made = inside[one.id] if one.action == "propose_entry" else posted[f"{one.piece}-{one.id}"]
            found.wrong("doubled", int(made > (one.decided_by is not None)), f"{one.action} that is {one.status}")
            found.wrong("lost", int(one.status == "Done" and not made), f"{one.action} that is {one.status}")
            odd = one.decided_by is not None and decided[one.id, "approved"] and one.status not in ("Done", "Failed")
            found.wrong("lost", int(bool(odd)), f"approved {one.action} that is {one.status}")
        answers = {id for (id,) in self.ledger.of("answered")}
        helps = {one.id: one for one in tx.all(_HELP)}
        found.wrong("lost", sum(helps[id].answered_by is None for id in answers), "answers that were confirmed")
        found.wrong("left_waiting", sum(one.status == "Waiting" for one in proposals.values()), "proposals")
        found.wrong("left_waiting", sum(one.status == "Waiting" for one in helps.values()), "questions and consults")

    @staticmethod
    def forbidden(one: Any) -> bool:
        """Refused by a rule at the moment it was approved."""
        return bool(one.status == "Refused" and one.decided_by is None)


def soak(kinds: Sequence[str], wholes: int, seconds: float, seed: int, policies: Sequence[str]) -> dict[str, Figures]:
    """Each kind of database gets its share of the wholes and of the time."""
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="handon_soak_") as folder:
        databases = Databases(Path(folder))
        try:
            for n, kind in enumerate(kinds):
                left = max(seconds - sum(figures.killing for figures in found.values()), 0) / (len(kinds) - n)
                own = Path(folder) / kind
                own.mkdir()
                url = databases.sqlite(own) if kind == "sqlite" else databases.postgresql()
                draw = random.Random(f"{seed} {kind}")
                soaked = Soak(url, own, wholes // len(kinds), left, draw, policies)
                found[kind] = asyncio.run(soaked.run())
        finally:
            databases.drop()
    return found


def table(found: dict[str, Figures], wholes: int) -> str:
    """The figures, a row each; and what is wrong, in words."""
    rows = [["", *found]]
    for one in fields(Figures):
        if not one.metadata.get("hidden"):
            name = one.name.replace("_", " ") + (" (0 is right)" if one.metadata.get("wrong") else "")
            rows.append([name, *(f"{getattr(figures, one.name):,}" for figures in found.values())])
    text = "\n".join(f"{row[0]:<30}" + "".join(f"{cell:>14}" for cell in row[1:]) for row in rows)
    reached = sum(figures.wholes for figures in found.values())
    text += f"\n\n{reached:,} of {wholes:,} wholes were given."
    return "\n".join([text, *(f"{kind}: {why}" for kind, figures in found.items() for why in figures.why)])


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    asked.add_argument("--seconds", type=float, default=120, help="of killing, in all (default 120)")
    asked.add_argument("--wholes", type=int, default=2000, help="at most, in all (default 2,000)")
    asked.add_argument("--seed", type=int, default=1, help="of the people and of the kills")
    asked.add_argument("--database", choices=["sqlite", "postgresql"], help="only this kind")
    asked.add_argument("--when-abandoned", choices=POLICIES, help="of every process (default: drawn for each)")
    given = asked.parse_args()
    kinds = [given.database] if given.database else ["sqlite", *(["postgresql"] if server_answers() else [])]
    policies = [given.when_abandoned] if given.when_abandoned else POLICIES
    found = soak(kinds, given.wholes, given.seconds, given.seed, policies)
    print(table(found, given.wholes))
    return 0 if all(figures.right for figures in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
