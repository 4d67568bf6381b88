"""The figures as they are printed: a table, and what is to be read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.runs import Key, Summary

HEAD = (
    "",
    "engine",
    "pieces/s",
    "wall ms",
    "CPU ms",
    "of it loop",
    "server CPU",
    "x floor",
    "commits",
    "disk",
    "peak MB",
)
GOAL_CPU = 1.0  # ms of a model call, on W2-W4
GOAL_DISK = 12_288  # bytes of a piece
GOAL_TURN = 1.25  # what a turn of a long conversation may cost of one of a short


def _both(middle: float, best: float, digits: int = 2) -> str:
    return f"{middle:.{digits}f} [{best:.{digits}f}]"


def _row(summary: Summary, floor: Summary | None) -> tuple[str, ...]:
    workload, calls = summary.workload, summary.workload.calls
    engine = summary.runs[0].engine

    def per_call(name: str) -> str:
        return _both(
            summary.median(lambda run: getattr(run, name)) * 1000 / calls,
            summary.best(lambda run: getattr(run, name)) * 1000 / calls,
        )

    server = [run.server_cpu for run in summary.runs if run.server_cpu is not None]
    wall, fastest = summary.median(lambda run: run.wall), summary.best(lambda run: run.wall)
    long = workload.pieces == 1
    each = summary.disk / (workload.tools if long else workload.pieces)
    return (
        workload.name,
        engine,
        "" if long else _both(workload.pieces / wall, workload.pieces / fastest, 0),
        per_call("wall"),
        per_call("cpu"),
        f"{summary.median(lambda run: run.loop_cpu) * 1000 / calls:.2f}",
        f"{sorted(server)[len(server) // 2] * 1000 / calls:.2f}" if server else "",
        _both(summary.cpu_ms / floor.cpu_ms, summary.best_cpu_ms / floor.best_cpu_ms, 1) if floor is not None else "",
        f"{summary.median(lambda run: run.commits):.0f}",
        f"{each:,.0f} {'a turn' if long else 'a piece'}",
        f"{summary.median(lambda run: run.peak) / 1e6:.0f}",
    )


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if n < 2 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def table(summaries: Mapping[Key, Summary]) -> str:
    """One line for each workload and engine. Times are for each model call; the median, and the best in brackets."""
    rows: list[tuple[str, ...]] = [HEAD]
    rows += [_row(summary, summaries.get((workload, "floor"))) for (workload, _), summary in summaries.items()]
    return "\n".join(_lines(rows))


def _held(held: bool) -> str:
    return "reached" if held else "not reached"


def _added(short: Summary, long: Summary) -> float:
    """CPU of a turn that the longer conversation has and the shorter has not."""
    calls = long.workload.calls, short.workload.calls
    return (long.best_cpu_ms * calls[0] - short.best_cpu_ms * calls[1]) / (calls[0] - calls[1])


def readings(summaries: Mapping[Key, Summary], engine: str) -> list[str]:
    """What the figures say of the goals, as far as they were measured. Ratios carry over to other machines; the rest
    is of this one, now."""
    mine = {workload: summary for (workload, on), summary in summaries.items() if on == engine}
    said = []
    wide = [mine[name] for name in ("W2", "W3", "W4") if name in mine]
    if wide:
        most = max(wide, key=lambda summary: summary.cpu_ms)
        said.append(
            f"CPU of a model call, the dearest of W2-W4: {_both(most.cpu_ms, most.best_cpu_ms)} ms "
            f"on {most.workload.name} "
            f"(goal {GOAL_CPU:.1f}: {_held(most.cpu_ms <= GOAL_CPU)})"
        )
    trees = [summary for summary in mine.values() if summary.workload.pieces > 1]
    if trees:
        most = max(trees, key=lambda summary: summary.disk / summary.workload.pieces)
        each = most.disk / most.workload.pieces
        said.append(
            f"disk of a piece, the most: {each:,.0f} bytes on {most.workload.name} "
            f"(goal {GOAL_DISK:,}: {_held(each <= GOAL_DISK)})"
        )
    if "H25" in mine and "H400" in mine:
        short, long = mine["H25"], mine["H400"]
        cost = long.best_cpu_ms / short.best_cpu_ms
        said.append(
            f"a turn of 400 against one of 25: {cost:.2f} times the CPU, of the best runs "
            f"(goal {GOAL_TURN}: {_held(cost <= GOAL_TURN)}), "
            f"{long.disk / 400:,.0f} bytes against {short.disk / 25:,.0f}"
        )
        if "H100" in mine:
            early = _added(short, mine["H100"])
            said.append(
                f"turns 101-400 against turns 26-100, without the rest: {_added(mine['H100'], long) / early:.2f} times"
            )
    return said
