"""What holds of the tables at every moment at which nothing moves. Each function names the rules it holds."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from handon import TraceKind
from tests.core.stateful.cast import Stage
from tests.core.stateful.rows import Snapshot

ABANDONED_AFTER = 30 * 60 * 1_000_000
FINAL = {"Done", "Failed", "Stopped", "Cancelled"}


def money_adds_up(at: Snapshot, late: Mapping[str, int]) -> None:
    """M2, M3, M4, M5: sums are true at every level, and spent and held are within each limit. `late`: what answers
    cost that came after their piece was closed or taken up by somebody else, by piece (E9)."""
    for row in at.pieces.values():
        legs = at.under[row.id]
        assert row.tree_micros == row.own_micros + sum(leg.tree_micros for leg in legs), f"{row.agent}: tree cost"
        assert row.reserved_micros == row.call_micros + sum(leg.reserved_micros for leg in legs), f"{row.agent}: held"
        too_late = sum(late.get(one.id, 0) for one in [row, *at.below(row)])
        assert row.tree_micros + row.reserved_micros <= row.limit_micros + too_late, f"{row.agent} overran its limit"
        if row.run != "held":
            assert row.call_micros == 0, f"{row.agent} is {row.run} and holds money for no call"
        if row.status == "Waiting":
            assert row.reserved_micros == 0, f"{row.agent} waits and holds money"
        if row.parent:
            assert row.limit_micros <= at.pieces[row.parent].limit_micros, "a share is more than what it is of"
    for whole in at.wholes.values():
        own = sum(row.own_micros for row in at.rows["piece"] if row.root == whole.id)
        assert own == at.pieces[whole.id].tree_micros, "the sum of all own costs is not the tree cost of the top"


def meter_agrees(at: Snapshot, charged: Mapping[str, int]) -> None:
    """M3, M8: each piece spent what its calls cost, as the test counts it, and the meter says the same."""
    metered: Counter[str] = Counter()
    for call in at.rows["metered_call"]:
        metered[call.piece] += call.micros
    for row in at.pieces.values():
        want = charged.get(row.id, 0)
        assert (row.own_micros, metered[row.id]) == (want, want), f"{row.agent} was to be charged {want}"


def accounts_agree(at: Snapshot, before: Snapshot | None, late: int) -> None:
    """M2, M7: what is charged to an account is what its wholes' meter says; what it holds is for calls under way; and
    no limit is overrun, unless it was set under what was spent already, or by what came too late."""
    spent: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for row in at.pieces.values():
        for key in at.wholes[row.root].accounts.split("\n"):
            spent[key] += row.own_micros
            held[key] += row.call_micros
        for key in filter(None, row.period_accounts.split("\n")):
            held[key] += row.call_micros
    for key, account in at.accounts.items():
        assert account.reserved_micros == held[key], f"{key} holds {account.reserved_micros}, and calls {held[key]}"
        limit = account.limit_micros
        if key.startswith(("agent:", "person:")):
            _check_period(at, key, account.spent_micros)
            subject, _, period = key.rpartition(":")
            each = "day" if period.count("-") == 2 else "month"
            limit = next(
                (r.limit_micros for r in at.rows["spend_limit"] if (r.subject, r.period) == (subject, each)), None
            )
        else:
            assert account.spent_micros == spent[key], f"{key} was charged something else than its wholes spent"
        was = before.accounts.get(key) if before else None
        total = account.spent_micros + account.reserved_micros
        most = max(limit or 0, was.spent_micros + was.reserved_micros if was else account.spent_micros)
        assert limit is None or total <= most + late, f"{key} overran its limit of {limit}: {total}"


def _check_period(at: Snapshot, key: str, spent: int) -> None:
    kind, who = key.split(":")[:2]
    mine = sum(
        call.micros
        for call in at.rows["metered_call"]
        if (call.person == who if kind == "person" else at.pieces[call.piece].agent == who)
    )
    assert spent <= mine, f"{key} was charged {spent}, and all that was ever metered is {mine}"


def ended_is_ended(at: Snapshot, before: Snapshot | None) -> None:
    """E1, E4: what has ended stays as it is, nothing under it is going, and nobody is asked for it any more."""
    for row in at.pieces.values():
        assert (row.run == "ended") == (row.status in FINAL)
        if row.run == "ended":
            going = [under.agent for under in at.below(row) if under.run != "ended"]
            assert not going, f"{row.agent} has ended, and under it {going} goes on"
            assert not at.calls[row.id], f"{row.agent} has ended with calls open"
            assert not row.waiting_on
        was = before.pieces.get(row.id) if before else None
        if was is not None and was.run == "ended":
            names = ("status", "outcome", "ended_at", "result", "fence", "turn", "messages")
            for name in names:
                assert getattr(was, name) == getattr(row, name), f"{row.agent} has ended, and its {name} changed"
    for request in [*at.undecided(), *at.unanswered()]:
        row = at.pieces[request.piece]
        assert row.run != "ended", f"{row.agent} has ended, and somebody is asked for it"
        subjects = [call.subject for call in at.calls[row.id] if call.state == "open"]
        assert request.id in subjects, f"{row.agent} asked, and its turn awaits no answer"
    for whole in at.wholes.values():
        assert (whole.ended_at is not None) == (at.pieces[whole.id].run == "ended")


def what_is_called_off_ends(at: Snapshot) -> None:
    """E4: a piece that is called off goes on only while a run holds it or something under it, and takes all of it."""
    for row in at.pieces.values():
        if row.closing is None or row.run == "ended":
            continue
        held = [one for one in [row, *at.below(row)] if one.run == "held"]
        assert held, f"{row.agent} was called off, and nothing holds it"
        spared = [under.agent for under in at.below(row) if under.run != "ended" and under.closing is None]
        assert not spared, f"{row.agent} was called off, and {spared} under it was not"


def each_waits_for_something(at: Snapshot) -> None:
    """P3: whoever waits says for what; whoever works does not wait for people alone."""
    names = {row.id: row.name for row in at.rows["person"]}
    asked = {row.id: row.asked_of for row in [*at.rows["proposal"], *at.rows["help"]]}
    for row in at.pieces.values():
        if row.run != "parked":
            assert row.status != "Waiting" and not row.waiting_on, f"{row.agent} waits, and is {row.run}"
            continue
        if row.closing is not None:  # it goes on with nothing, whatever it had waited for
            continue
        waits: list[str] = []
        works = False
        for call in at.calls[row.id]:
            if call.state == "answered":
                continue
            if call.state != "open":
                works = True
            elif call.kind == "leg":
                leg = at.pieces[call.subject]
                assert leg.run != "ended", f"{row.agent} waits for {leg.agent}, which has ended"
                works = works or leg.status != "Waiting"
                waits.append(f"{leg.agent}, which waits for {leg.waiting_on}")
            else:
                what = "a decision" if call.kind == "proposal" else "an answer"
                name = names.get(asked[call.subject]) or "somebody: nobody answers for it"
                waits.append(f"{what} from {name}")
        assert works or waits, f"{row.agent} is parked on nothing"
        on = "" if works else "; ".join(dict.fromkeys(waits))
        assert (row.status, row.waiting_on) == ("Working" if works else "Waiting", on)
        assert (row.waits_since is not None) == (row.status == "Waiting")


def somebody_is_at_it(at: Snapshot, stage: Stage, died: Iterable[tuple[str, int]]) -> None:
    """P3, A8: work that has not ended is with somebody. Nothing that may be taken lies about; what is held is under
    way, waits for room that somebody else takes, or its process has died; what waits, waits for a person there is."""
    gone = set(died)
    under_way = {(held.piece, held.fence) for held in stage.held}
    for row in at.pieces.values():
        if row.run == "due":
            assert row.due_at is not None and row.due_at > at.now, f"{row.agent} is due, and nobody took it"
        if row.run == "held" and (row.id, row.fence) not in under_way | gone:
            assert row.call_micros == 0, f"{row.agent} holds money, and no call is under way"
            keys = {*at.wholes[row.root].accounts.split("\n"), *row.period_accounts.split("\n")}
            takes = any(one.reserved_micros for one in at.above(row))
            takes = takes or any(at.accounts[key].reserved_micros for key in filter(None, keys))
            assert takes, f"{row.agent} is held, and nothing of it is under way"
    for top in at.under[None]:
        live = [row for row in [top, *at.below(top)] if row.run != "ended"]
        if not live or any(row.run in ("due", "held") for row in live):
            continue
        requests = [r for r in [*at.undecided(), *at.unanswered()] if r.root == top.id]
        assert top.status == "Waiting" and requests, f"{top.agent} has not ended, and nobody is at it"


def requests_are_in_time(at: Snapshot) -> None:
    """P11: a request whose deadline has passed is not left open, and nothing expires before."""
    for request in [*at.undecided(), *at.unanswered()]:
        assert request.deadline is None or request.deadline > at.now, "a deadline has passed unnoticed"
    for row in at.rows["proposal"]:
        if row.status == "Expired":
            assert row.decided_by is None and row.deadline is not None and row.deadline <= at.now
    for row in at.questions.values():
        if row.status == "Unavailable":
            assert row.answered_by is None and row.deadline is not None and row.deadline <= at.now


def delegations_are_kept(at: Snapshot) -> None:
    """D5, D6: levels and pieces stay within what the agents declare."""
    deepest = {"Head": 2, "Middle": 1, "Hand": 0}
    most = {"Head": 4, "Middle": 3, "Hand": 0}
    for row in at.pieces.values():
        assert len(at.under[row.id]) == row.handed_on <= most[row.agent]
        for one in at.above(row):
            assert row.depth - one.depth <= deepest[one.agent], f"{row.agent} is too deep under {one.agent}"


def lines_tell_it_once(at: Snapshot) -> None:
    """T5, H1, P5: each ending, each coming back and each decision is on the record once."""
    ended: Counter[str] = Counter()
    came_back: Counter[str] = Counter()
    decided: defaultdict[str, list[str]] = defaultdict(list)
    used: Counter[str] = Counter()
    for lines in at.lines.values():
        for line in lines:
            if line.kind in (TraceKind.ENDED, TraceKind.ABANDONED):
                ended[line.piece] += 1
            elif line.kind == TraceKind.CAME_BACK:
                came_back[json.loads(line.payload)["from"]] += 1
            elif line.kind == TraceKind.DECIDED:
                said = json.loads(line.payload)
                decided[said["proposal"]].append(said["decision"])
            elif line.kind == TraceKind.RULE_USED:
                used[json.loads(line.payload)["rule"]] += 1
    for row in at.pieces.values():
        assert ended[row.id] == (row.run == "ended"), f"{row.agent}: {ended[row.id]} lines say that it ended"
        assert came_back[row.id] <= 1, f"{row.agent} came back {came_back[row.id]} times"
        assert not came_back[row.id] or row.run == "ended"
        told = row.parent and row.run == "ended" and at.pieces[row.parent].run != "ended"
        if told and at.pieces[row.parent].closing is None and not at.pieces[row.parent].tries:
            assert came_back[row.id] == 1, f"{row.agent} has ended, and {at.pieces[row.parent].agent} was not told"
    for row in at.proposals.values():
        assert len(decided[row.id]) <= 1, f"one proposal was decided twice: {decided[row.id]}"
        assert bool(decided[row.id]) == (row.decided_at is not None), f"{row.sentence}: {decided[row.id]}"
    for row in at.rules.values():
        assert row.uses == used[row.id], "a rule's uses are not those on the record"
        assert row.max_uses is None or row.uses <= row.max_uses, "a rule was used too often"
        assert row.max_sum is None or float(row.used_sum) <= float(row.max_sum), "a rule's sum was overrun"


def only_the_quiet_is_abandoned(at: Snapshot, before: Snapshot | None) -> None:
    """A3, A6: what is closed as abandoned, or taken up again, was under way before."""
    for row in at.pieces.values():
        was = before.pieces.get(row.id) if before else None
        if was is None:
            continue
        if (row.abandoned and not was.abandoned) or row.takeovers > was.takeovers:
            assert was.status == "Working", f"{row.agent} waited for a person, and was taken for abandoned"
            long = was.held_since is None or at.now - was.held_since >= ABANDONED_AFTER
            assert long, f"{row.agent} was taken just now, and taken for abandoned"


def nobody_is_woken_in_vain(at: Snapshot, before: Snapshot | None) -> None:
    """H1, P4: a piece that is parked on legs and people is taken up once all of them have answered, and not before."""
    for row in at.pieces.values():
        was = before.pieces.get(row.id) if before else None
        if was is None or not was.run == row.run == "parked" or was.turn != row.turn:
            continue
        if not any(call.name == "send" for call in at.calls[row.id]):  # which its own run has to make once approved
            assert was.fence == row.fence, f"{row.agent} was woken, and not all it waits for had come back"
