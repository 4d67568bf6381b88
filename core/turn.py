"""One turn of one piece, as transactions: begin, prepare, take in the answer, gather what came of the calls.

Each function answers what the run does next: ask a model (`Ask`), await calls (`Outside`), wait for room (`Room`), or
nothing (None): the piece is parked or has ended. `loop` does the awaiting; nothing here awaits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, select, update

from core import acting, gate, money, people, receipts, spending, standing, versions, work
from core import scene as scenes
from core.asking import proposals
from core.calls import Calls, do, with_ids
from core.declare.agents import Guards
from core.declare.deciding import Deciding
from core.declare.schemas import canonical, to_json
from core.errors import BadInput, HandonError
from core.house import House
from core.ids import to_uuid
from core.models.messages import Message, ModelAnswer, ModelCall, ModelRequest, Purpose, ToolResult
from core.offer import HAND_BACK, Offer, offer
from core.receipts import Receipt
from core.record import Tree
from core.scene import Scene
from core.sql import Statement
from core.store import Tx
from core.tables import message, turn_call
from core.values import UNKNOWN, Gate, Status, TraceKind
from core.words import listed

_MESSAGES = Statement(
    select(message).where(message.c.piece == bindparam("piece"), message.c.n > bindparam("after")).order_by(message.c.n)
)
_CALLS = Statement(select(turn_call).where(turn_call.c.piece == bindparam("piece")).order_by(turn_call.c.position))
_ANSWERED = Statement(
    update(turn_call)
    .where(turn_call.c.piece == bindparam("of"), turn_call.c.position == bindparam("at"))
    .values(state="answered", answer=bindparam("text"), ok=bindparam("went_well"))
)


@dataclass(slots=True)
class Held:
    """A piece in the hands of a run: its fence, and its conversation as it stands in the database."""

    piece: str
    agent: str
    root: str
    fence: int
    messages: list[Message]  # the system's first
    seen: float = 0.0  # when a transaction last saw that it is this run's, on the monotonic clock


@dataclass(frozen=True, slots=True)
class Ask:
    """A model is to be asked: the money is held. `said` are messages to add to the conversation first."""

    model: str
    tools: Offer
    reserved: int
    turn: int  # which of the piece's answers it will be, from 1
    said: tuple[Message, ...] = ()
    purpose: Purpose = "work"
    at: int = 0  # when it was


@dataclass(frozen=True, slots=True)
class OutsideCall:
    position: int
    name: str
    arguments: str
    subject: str | None
    kind: str  # tool, proposal, consult


@dataclass(frozen=True, slots=True)
class Outside:
    """Calls are to be awaited, side by side."""

    calls: tuple[OutsideCall, ...]
    said: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """Calls under way take all the room there is; some of it may come back."""

    said: tuple[Message, ...] = ()


Next = Ask | Outside | Room | None


def request(house: House, held: Held, ask: Ask) -> ModelRequest:
    """What the model is asked. It is handed the run's own list: nothing per turn walks the whole conversation."""
    if held.messages[0].text != ask.tools.system:
        held.messages[0] = Message("system", ask.tools.system)
    most = house.models[ask.model].max_output_tokens
    return ModelRequest(
        ask.model, held.agent, to_uuid(held.piece), ask.purpose, held.messages, ask.tools.tools, most, ask.turn
    )


# Beginning


def begin(house: House, tx: Tx, id: str) -> tuple[Held, Next] | None:
    """Take a due piece. Answers the run's hold on it and what comes first; None where it is not due."""
    taken = work.take(house, tx, id)
    if taken is None:
        return None
    tree, receipt = taken
    held = Held(id, receipt.agent, tree.root, receipt.fence, [Message("system")])
    scene = scenes.of(house, tx, tree, receipt)
    if scene is None:
        return None
    _note_new_version(scene)
    if receipt.messages == receipt.begins_after:
        brief = _brief(scene)
        if brief is None:
            return None
        work.say(tx, receipt, "user", brief)
        held.messages.append(Message("user", brief))
        return held, prepare(scene, ())
    held.messages += [_message(entry) for entry in tx.all(_MESSAGES, piece=id, after=receipt.begins_after)]
    calls = tx.all(_CALLS, piece=id)
    if not calls:
        return held, prepare(scene, ())
    if scene.end_closing() or _nobody_left(scene):
        return None
    for call in calls:
        if call.state == "begun":
            _never_reported(scene, call)
    return held, gather(scene)


def _note_new_version(scene: Scene) -> None:
    """The app may have defined the skill anew while its piece waited: from here on it works by the new definition,
    which the receipt and the record say. Writes one line then."""
    receipt = scene.receipt
    if isinstance(scene.skill, Deciding):  # made for one question, and nobody's to define anew
        return
    now = versions.of(scene.house, scene.tx, scene.skill)
    if now == receipt.skill_version_now:
        return
    changed = versions.changed(scene.tx, receipt.skill_version_now, now)
    what = f"what changed is {listed(changed)}" if changed else "what changed is not known any more"
    summary = f"{scene.skill.shown_as} was defined anew since {scene.agent.shown_as} last worked on it: {what}."
    payload = {"from": receipt.skill_version_now, "to": now, "changed": changed}
    scene.line(TraceKind.REDEFINED, summary, payload)
    receipt.set(skill_version_now=now)


def _never_reported(scene: Scene, call: Any) -> None:
    """Rule A7: a change that was begun outside and never reported back is not made again. Writes one line."""
    if call.kind == "proposal":
        proposals.ran_outside(scene.tx, call.subject, acting.Ran(False, UNKNOWN))
    answer_call(scene.tx, scene.receipt.id, call.position, UNKNOWN, False)
    summary = f"What {scene.agent.shown_as} had begun with {call.name} never reported back: its outcome is unknown."
    payload = {"tool": call.name, "arguments": call.arguments, "answer": UNKNOWN, "ok": False}
    scene.line(TraceKind.TOOL_RAN, summary, payload)


def _nobody_left(scene: Scene) -> bool:
    """Rule R10: call the whole off where the person it is for was deactivated. Answers whether."""
    tx, tree = scene.tx, scene.tree
    if tree.person is None or people.standing(tx, tree.person).deactivated_at is None:
        return False
    _call_off_deactivated(scene)
    return True


def _call_off_deactivated(scene: Scene) -> None:
    top = receipts.get(scene.tx, scene.tree.root)
    work.call_off(scene.house, scene.tx, scene.tree, top, Status.CANCELLED, "The person it is for was deactivated.")
    scene.end_closing()


def _forbidden(scene: Scene, call: Any) -> bool:
    """Rule R11: whether a call that is about to reach outside is forbidden by now; the model is told, and a proposal
    ends as refused by rule."""
    why = _why_not(scene, call) if call.kind in ("tool", "proposal") else ""
    if not why:
        return False
    if call.kind == "proposal":
        proposals.refused_since(scene.house, scene.tx, scene.tree, scene.receipt, call.subject, why)
    else:
        answer_call(scene.tx, scene.receipt.id, call.position, why, False)
    return True


def _why_not(scene: Scene, call: Any) -> str:
    action = acting.find(scene.agent, scene.receipt.skill, call.name)
    if action is None:
        return f"{call.name} is no longer a tool of {scene.agent.shown_as}."
    ruling = gate.strictest(scene.agents, action)
    if ruling.gate is Gate.NEVER:
        return ruling.why_never(action)
    if call.kind == "tool":
        plain = action.plain(action.read(call.arguments))
        if standing.ruling(scene.tx, scene.tree, scene.agents, action, plain).ruling.gate is not Gate.ALONE:
            return "It was not done: it is put to a person by now. Ask for it again."
    return ""


def _outside(rows: Iterable[dict[str, Any]], said: tuple[Message, ...] = ()) -> Outside:
    names = ("position", "name", "arguments", "subject", "kind")
    return Outside(tuple(OutsideCall(**{name: row[name] for name in names}) for row in rows), said)


def _brief(scene: Scene) -> str | None:
    """The first message of the conversation. Where it cannot be made the piece fails, saying why."""
    try:
        receipt = scene.receipt
        with acting.guarded_context(scene.house, scene.tx, scene.agent.account, scene.tree.person, receipt.id) as ctx:
            return scene.skill.brief_handed(receipt.input, ctx)
    except HandonError as error:
        scene.fail(f"Its work could not be read: {error}")
    except Exception as error:
        acting.log.exception("the brief of %s failed", scene.skill.name)
        scene.fail(f"Its work could not be read: {type(error).__name__}: {error}")
    return None


def _message(entry: Any) -> Message:
    calls = tuple(ModelCall(*call) for call in json.loads(entry.calls)) if entry.calls else ()
    results = tuple(ToolResult(*result) for result in json.loads(entry.results)) if entry.results else ()
    return Message(entry.role, entry.text, calls, results)


# Before a model is asked


def prepare(scene: Scene, said: tuple[Message, ...]) -> Next:
    """Still wanted, within its guards, and affordable? Then the money is held and its model may be asked."""
    house, tx, tree, receipt = scene.house, scene.tx, scene.tree, scene.receipt
    if scene.end_closing():
        return None
    stands = people.standing(tx, tree.person) if tree.person is not None else None
    if stands is not None and stands.deactivated_at is not None:
        _call_off_deactivated(scene)
        return None
    why = stopped_by_guard(scene)
    if why:
        scene.end(Status.STOPPED, why)
        return None
    tools = offer(house, receipt, scene.agents, scene.skill)
    model = house.model_of(scene.agent)
    assert model.price is not None
    cost = model.price.micros(tools.tokens + receipt.tokens, model.max_output_tokens)
    some_set = stands is None or bool(stands.limited)
    caps = spending.caps(tx, house.settings, scene.agent, tree.person, some_set=some_set)
    no_room = money.reserve(tx, house.settings, tree, receipts.branch(tx, receipt), cost, caps)
    if no_room is None:
        purpose: Purpose = "decide" if isinstance(scene.skill, Deciding) else "work"
        return Ask(model.name, tools, cost, receipt.turn + 1, said, purpose, tx.now)
    if no_room.passing:
        return Room(said)
    why = no_room.sentence(house.settings.currency, receipt)
    if no_room.whose == receipt.id or (no_room.cap is not None and no_room.cap.of_agent):
        scene.end(Status.STOPPED, why)
        return None
    above = receipts.get(tx, no_room.whose if no_room.agent else tree.root)
    work.call_off(house, tx, tree, above, Status.STOPPED, why)
    scene.end_closing()
    return None


def stopped_by_guard(scene: Scene) -> str:
    """Rule E7: why a guard stops the piece before another turn; empty where none does."""
    receipt = scene.receipt
    guards = scene.agent.guards or scene.house.settings.guards
    if receipt.turn >= guards.turns:
        return f"It had {receipt.turn} turns, which is all a piece of its work gets."
    if too_long(scene.tx, receipt, guards):
        return f"It took longer than {guards.wall_clock}, which is all a piece of its work gets."
    return ""


def too_long(tx: Tx, receipt: Receipt, guards: Guards) -> bool:
    most = guards.wall_clock
    return most is not None and tx.now - receipt.opened_at - receipt.waited > most.total_seconds() * 1_000_000


def try_again(house: House, tx: Tx, held: Held) -> Next:
    """Ask once more for room."""
    tree = house.tree(tx, held.root)
    scene = scenes.of(house, tx, tree, work.mine(tx, held.piece, held.fence))
    return prepare(scene, ()) if scene else None


# After it has answered


def take_in(house: House, tx: Tx, held: Held, ask: Ask, answer: ModelAnswer) -> Next:
    """Charge and record an answer, and do what it asks for. An answer for a piece this run no longer holds is charged
    and goes on the record, and nothing else comes of it (rule E9)."""
    tree = house.tree(tx, held.root)
    receipt = receipts.get(tx, held.piece)
    late = receipt.fence != held.fence or receipt.run != "held"
    charge(house, tx, tree, receipt, ask, answer, late)
    if late:
        return None
    if answer.tokens_in is not None:  # what went in is known now: never reckon less for the same again
        receipt.set(tokens=max(receipt.tokens, answer.tokens_in - ask.tools.tokens))
    receipt.set(turn=receipt.turn + 1)
    calls = with_ids(answer.calls, receipt.turn)
    as_json = to_json([[call.id, call.name, call.arguments_text] for call in calls]) if calls else None
    work.say(tx, receipt, "assistant", answer.text, as_json)
    said = Message("assistant", answer.text, tuple(calls))
    scene = scenes.of(house, tx, tree, receipt)
    if scene is None or scene.end_closing():
        return None
    if not calls:
        told = f"Nothing was called. When the work is done, call {HAND_BACK} with the result."
        return _failed_attempt(scene, ModelCall("", "", ""), told, said)
    if _goes_round(scene, calls):
        return None
    if len(calls) == 1 and calls[0].name == HAND_BACK:
        return _hand_back(scene, calls[0], said)
    if _nobody_left(scene):  # nothing it asks for is done for somebody who is gone (rule R10)
        return None
    done = Calls(receipt.id)
    for call in calls:
        do(scene, done, call, answer.text)
    return _after_calls(scene, done, said)


def _goes_round(scene: Scene, calls: list[ModelCall]) -> bool:
    """Rule E7: the same calls again and again stop the piece. Answers whether they did."""
    receipt = scene.receipt
    asked = to_json([[call.name, call.arguments_text] for call in calls])
    mark = hashlib.sha256(asked.encode()).hexdigest()
    receipt.set(same_calls=receipt.same_calls + 1 if mark == receipt.last_calls else 1, last_calls=mark)
    guards = scene.agent.guards or scene.house.settings.guards
    if receipt.same_calls < guards.same_call:
        return False
    names = ", ".join(call.name for call in calls)
    scene.end(Status.STOPPED, f"It asked for the same {receipt.same_calls} times in a row: {names}.")
    return True


def charge(house: House, tx: Tx, tree: Tree, receipt: Receipt, ask: Ask, answer: ModelAnswer, late: bool) -> None:
    model = house.models[ask.model]
    estimated = answer.tokens_in is None or answer.tokens_out is None
    tokens = (answer.tokens_in or 0, answer.tokens_out or 0, answer.tokens_cached)
    assert model.price is not None
    cost = ask.reserved if estimated else model.price.micros(*tokens)
    money.settle(tx, tree, receipts.branch(tx, receipt), 0 if late else ask.reserved, cost)
    money.meter(tx, tree, receipt, model.name, ask.purpose, tokens, cost, estimated=estimated)
    counted = "an unknown number of tokens, charged as reserved"
    if not estimated:
        counted = f"{tokens[0]} tokens in, {tokens[1]} out"
    tree.append(
        tx.now,
        receipt.id,
        TraceKind.LATE_ANSWER if late else TraceKind.MODEL_ANSWERED,
        f"{house.label(receipt.agent)} had an answer from {model.name}{' too late' if late else ''}: {counted}.",
        {
            "asked_at": ask.at,
            "model": model.name,
            "micros": cost,
            "tokens_in": tokens[0],
            "tokens_out": tokens[1],
            "tokens_cached": tokens[2],
            "said": answer.text,
            "calls": [[call.name, call.arguments_text] for call in answer.calls],
        },
    )


def _hand_back(scene: Scene, call: ModelCall, said: Message) -> Next:
    skill = scene.skill
    try:
        value = skill.hands_back.read(call.arguments_text)
        wrong = skill.check(value)
    except BadInput as error:
        wrong = str(error)
    except Exception as error:
        acting.log.exception("the check of %s failed", skill.name)
        wrong = f"It could not be checked: {type(error).__name__}: {error}"
    if wrong is None and isinstance(skill, Deciding) and _unsure(scene, value):
        return _ask_again(scene, skill, call, said)
    if wrong is None:
        scene.receipt.set(failed_in_row=0)
        scene.end(Status.DONE, "", skill.hands_back.write(value))
        return None
    return _failed_attempt(scene, call, f"That does not fit. {wrong}", said)


def _unsure(scene: Scene, decided: dict[str, Any]) -> bool:
    floor = scene.agent.confidence_floor
    return floor is not None and scene.agent.consults is not None and Decimal(decided["confidence"]) < floor


def _ask_again(scene: Scene, skill: Deciding, call: ModelCall, said: Message) -> Next:
    """Rule C4: a decision under the floor is asked again of the consulted model, whose answer ends the piece."""
    asked = {"question": skill.asked["question"], "context": skill.asked["context"], "told": call.arguments_text}
    calls = Calls(scene.receipt.id)
    calls.add(ModelCall(call.id, call.name, canonical(asked)), "unsure", state="to_run")
    return _after_calls(scene, calls, said)


def _failed_attempt(scene: Scene, call: ModelCall, told: str, said: Message) -> Next:
    """Rule E6: told why; so many in a row, and a model is consulted once, or the piece fails."""
    receipt, agent = scene.receipt, scene.agent
    receipt.set(failed_in_row=receipt.failed_in_row + 1)
    stuck = receipt.failed_in_row >= agent.stuck_after
    calls = Calls(receipt.id)
    if stuck and agent.consults and not receipt.consulted_stuck:
        receipt.set(consulted_stuck=True)
        asked = {
            "question": f"This failed {receipt.failed_in_row} times in a row. What would be right? {told}",
            "context": f"The work: {scene.skill.description}\nThe last attempt: {call.arguments_text}",
            "told": told,
        }
        calls.add(ModelCall(call.id, call.name, canonical(asked)), "stuck", state="to_run")
        return _after_calls(scene, calls, said)
    if stuck:
        scene.fail(f"It failed {receipt.failed_in_row} times in a row. {told}")
        return None
    calls.add(call, "tool", answer=told)
    return _after_calls(scene, calls, said)


def _after_calls(scene: Scene, calls: Calls, said: Message) -> Next:
    if calls.went_well:
        scene.receipt.set(failed_in_row=0)
    if all(row["state"] == "answered" for row in calls.rows):
        told = _tell(scene, [(row["call_id"], row["name"], row["answer"]) for row in calls.rows])
        return prepare(scene, (said, told))
    work.keep_calls(scene.tx, calls.rows)
    to_run = [row for row in calls.rows if row["state"] == "to_run"]
    if to_run:
        return _outside(to_run, (said,))
    work.park(scene.house, scene.tx, scene.tree, scene.receipt)
    return None


def _tell(scene: Scene, results: list[tuple[str, str, str]]) -> Message:
    """Give a turn's answers to the model, together and in the order it asked (rule H1)."""
    if [id for id, _, _ in results] == [""]:  # nothing had been called, so there is no call to answer
        text = results[0][2]
        work.say(scene.tx, scene.receipt, "user", text)
        return Message("user", text)
    work.say(scene.tx, scene.receipt, "tool", "", None, to_json(results))
    return Message("tool", "", (), tuple(ToolResult(*result) for result in results))


def gather(scene: Scene) -> Next:
    """Go on where all calls of the turn are answered; else await those that are this run's to make, one approved while
    it had the piece in hand too; else park on those that others answer."""
    calls = scene.tx.all(_CALLS, piece=scene.receipt.id)
    to_run = [call for call in calls if call.state == "to_run"]
    if to_run:
        allowed = [call._asdict() for call in to_run if not _forbidden(scene, call)]
        if allowed:
            return _outside(allowed)
        calls = scene.tx.all(_CALLS, piece=scene.receipt.id)
    if any(call.state != "answered" for call in calls):
        work.park(scene.house, scene.tx, scene.tree, scene.receipt)
        return None
    scene.tx.run(work.FORGET_CALLS, piece=scene.receipt.id)
    if any(call.ok for call in calls):
        scene.receipt.set(failed_in_row=0)
    return prepare(scene, (_tell(scene, [(call.call_id, call.name, call.answer) for call in calls]),))


def answer_call(tx: Tx, piece: str, position: int, text: str, ok: bool) -> None:
    tx.run(_ANSWERED, of=piece, at=position, text=text, went_well=ok)
