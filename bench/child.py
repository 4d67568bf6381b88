"""One run in a process of its own: `python -m bench.child ENGINE WORKLOAD [SIDE TOP]`. Prints JSON, or a profile."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from bench.measure import Figures
from bench.workloads import WORKLOADS, Workload


async def _run(engine: str, workload: Workload, folder: Path) -> Figures:
    if engine == "floor":
        from bench import floor  # each engine's process imports only what that engine needs

        return await floor.run(workload, folder)
    from bench import on_handon

    return await on_handon.run(engine, workload, folder)


async def _profile(engine: str, workload: Workload, folder: Path, side: str, top: int) -> str:
    from bench import on_handon
    from bench.profiling import Profile

    profile = Profile(engine, side)
    await on_handon.run(engine, workload, folder, profile)
    return profile.report(top)


def main(engine: str, name: str, side: str = "", top: str = "30") -> None:
    workload = WORKLOADS[name]
    with tempfile.TemporaryDirectory(prefix="handon_bench_") as folder:
        if side:
            print(asyncio.run(_profile(engine, workload, Path(folder), side, int(top))))
        else:
            print(json.dumps(asdict(asyncio.run(_run(engine, workload, Path(folder))))))


if __name__ == "__main__":
    main(*sys.argv[1:])
