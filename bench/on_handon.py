"""A workload on Handon: a new agency on a new database, the work given from Mia's desk, the counts read back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from bench.agency import SKILLS, Script, open_agency
from bench.databases import scratch
from bench.measure import Figures, Stopwatch, peak_memory
from bench.profiling import Profile
from bench.script import Errand, Finding
from bench.workloads import Workload
from core.tables import line, metered_call, piece
from handon import Agency, Desk, Outcome, Status, TraceKind

_COUNTS = (
    select(func.count()).select_from(piece).where(piece.c.status == str(Status.DONE)),
    select(func.count()).select_from(metered_call),
    select(func.count()).select_from(line).where(line.c.kind == str(TraceKind.TOOL_RAN)),
)


def _counts(session: Session) -> tuple[int, ...]:
    """Pieces done, model calls metered, and tools run, as the database tells them."""
    return tuple(session.execute(count).scalar_one() for count in _COUNTS)


async def _do(desk: Desk, errand: Errand) -> Outcome[Finding]:
    agent, skill = SKILLS[errand.kind]
    outcome = await desk.of(agent).do(skill, errand)
    assert outcome.done and outcome.result is not None, outcome
    assert outcome.result.path == errand.path and outcome.cost_micros > 0, outcome
    return outcome


async def _all_of(desk: Desk, errands: Sequence[Errand], *, at_once: bool) -> list[Outcome[Finding]]:
    if at_once:
        return await asyncio.gather(*(_do(desk, errand) for errand in errands))
    return [await _do(desk, errand) for errand in errands]


async def _measured(agency: Agency, desk: Desk, workload: Workload, profile: Profile | None) -> Figures:
    figures = Figures(agency.store.dialect, workload.name)
    commits = agency.store.commits
    watch = Stopwatch()
    if profile is not None:
        profile.begin()
    outcomes = await _all_of(desk, workload.roots, at_once=workload.at_once)
    if profile is not None:
        profile.end()
    watch.stop(figures)
    figures.commits = agency.store.commits - commits
    figures.peak = peak_memory()
    verdict = await desk.verify_trace(outcomes[-1].task)
    assert verdict.intact and verdict.lines > 0, verdict
    return figures


async def run(kind: str, workload: Workload, folder: Path, profile: Profile | None = None) -> Figures:
    """Do a workload on Handon over a database of that kind. Raises AssertionError where something was not done."""
    with scratch(kind, folder) as database:
        script = Script()
        async with open_agency(database.url, script) as agency:
            mia = await agency.add_person("mia@bench.test", "Mia", roles=["binder"])
            for name in agency.agents:
                await agency.seat(name, sponsor=mia)
            desk = agency.desk(mia)
            await _all_of(desk, workload.warm_up, at_once=workload.at_once)
            await agency.settle()
            counts, asked, size = await agency.read(_counts), script.asked, database.size()
            server_cpu = database.server_cpu()
            figures = await _measured(agency, desk, workload, profile)
            after = database.server_cpu()
            figures.server_cpu = after - server_cpu if after is not None and server_cpu is not None else None
            figures.disk = database.size() - size
            done = tuple(now - before for now, before in zip(await agency.read(_counts), counts, strict=True))
            assert done == (workload.pieces, workload.calls, workload.tools), done
            assert script.asked - asked == workload.calls, script.asked
    return figures
