"""One turn of one piece, as transactions: begin, prepare, take in the answer, gather what came of the calls.

Each function answers what the run does next: ask a model (`Ask`), await calls (`Outside`), wait for room (`Room`), or
nothing (None): the piece is parked or has ended. `loop` does the awaiting; nothing here awaits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, select, update

from core import acting, asking, gate, handing_on, money, people, work
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.schemas import canonical, read_object
from core.declare.skills import Skill
from core.errors import BadInput, HandonError
from core.house import House
from core.ids import to_uuid
from core.models.messages import Message, ModelAnswer, ModelCall, ModelRequest, ToolResult
from core.offer import ASK_PERSON, CONSULT, HAND_BACK, Offer, offer
from core.record import Tree
from core.sql import Statement
from core.store import Tx
from core.tables import message, piece, turn_call
from core.values import Gate, HelpReason, Status, TraceKind

_MESSAGES = Statement(select(message).where(message.c.piece == bindparam("piece")).order_by(message.c.n))
_CALLS = Statement(select(turn_call).where(turn_call.c.piece == bindparam("piece")).order_by(turn_call.c.position))
_PROGRESS_FIELDS = (
    "turn",
    "messages",
    "tokens",
    "handed_on",
    "failed_in_row",
    "consulted_stuck",
    "same_calls",
    "last_calls",
)
_PROGRESS = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"))
    .values({name: bindparam(f"new_{name}") for name in _PROGRESS_FIELDS})
)
_BACK = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"))
    .values(run="due", fence=piece.c.fence + 1, held_since=bindparam("none"))
)
_BEGUN = Statement(
    update(turn_call)
    .where(turn_call.c.piece == bindparam("of"), turn_call.c.position == bindparam("at"))
    .values(state="begun")
)
_ANSWERED = Statement(
    update(turn_call)
    .where(turn_call.c.piece == bindparam("of"), turn_call.c.position == bindparam("at"))
    .values(state="answered", answer=bindparam("text"), ok=bindparam("went_well"))
)
UNKNOWN = (
    "It was begun and never reported back: its outcome is unknown. It is not run again. Find out before you rely on it."
)


@dataclass(slots=True)
class Held:
    """A piece in the hands of a run: its fence, and its conversation as it stands in the database."""

    piece: str
    agent: str
    root: str
    fence: int
    branch: tuple[str, ...]
    messages: list[Message]  # the system's first


@dataclass(frozen=True, slots=True)
class Ask:
    """A model is to be asked: the money is held. `said` are messages to add to the conversation first."""

    model: str
    tools: Offer
    reserved: int
    said: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class OutsideCall:
    position: int
    name: str
    arguments: str
    subject: str | None
    kind: str  # tool, proposal, consult
    state: str


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
    return ModelRequest(ask.model, held.agent, to_uuid(held.piece), "work", held.messages, ask.tools.tools, most)


# Beginning


def begin(house: House, tx: Tx, id: str) -> tuple[Held, Next] | None:
    """Take a due piece. Answers the run's hold on it and what comes first; None where it is not due."""
    root = work.root_of(tx, id)
    tree = house.tree(tx, root)
    row = work.take(tx, id)
    if row is None:
        return None
    held = Held(id, row.agent, root, row.fence, tuple(row.branch.split("/")), [Message("system")])
    found = _declared(house, tx, tree, row)
    if found is None:
        return None
    agents, skill = found
    if row.messages == 0:
        brief = _brief(house, tx, tree, row, agents[-1], skill)
        if brief is None:
            return None
        work.say(tx, id, 1, "user", brief)
        row = _progress(tx, row, messages=1, tokens=row.tokens + money.tokens_of(len(brief.encode())))
        held.messages.append(Message("user", brief))
        return held, prepare(house, tx, tree, row, agents, skill, ())
    held.messages += [_message(entry) for entry in tx.all(_MESSAGES, piece=id)]
    calls = tx.all(_CALLS, piece=id)
    if not calls:
        return held, prepare(house, tx, tree, row, agents, skill, ())
    for call in calls:
        if call.state == "begun":
            tx.run(_ANSWERED, of=id, at=call.position, text=UNKNOWN, went_well=False)
    waiting = outside_calls(calls)
    return held, Outside(waiting) if waiting else gather(house, tx, tree, row, agents, skill)


def outside_calls(calls: Sequence[Any]) -> tuple[OutsideCall, ...]:
    return tuple(
        OutsideCall(call.position, call.name, call.arguments, call.subject, call.kind, call.state)
        for call in calls
        if call.state == "to_run"
    )


def _declared(house: House, tx: Tx, tree: Tree, row: Any) -> tuple[list[Agent], Skill[Any, Any]] | None:
    """The agents of the branch and the piece's skill as declared now. Where one is gone the piece fails."""
    try:
        agents = asking.agents_of(house, row)
    except HandonError as error:
        work.end(house, tx, tree, row, Status.FAILED, str(error))
        return None
    skill = handing_on.find_skill(agents[-1], row.skill, row.helper, house)
    if skill is None:
        work.end(house, tx, tree, row, Status.FAILED, f"{agents[-1].shown_as} no longer has the skill {row.skill}.")
        return None
    return agents, skill


def _brief(house: House, tx: Tx, tree: Tree, row: Any, agent: Agent, skill: Skill[Any, Any]) -> str | None:
    """The first message of the conversation. Where it cannot be made the piece fails, saying why."""
    try:
        with tx.savepoint():
            ctx = acting.context(
                house, tx, agent.account, people.principal(tx, tree.person), row.id, "", query_only=True
            )
            try:
                return skill.brief_handed(row.input, ctx)
            finally:
                ctx.session.expunge_all()
    except HandonError as error:
        work.end(house, tx, tree, row, Status.FAILED, f"Its work could not be read: {error}")
    except Exception as error:
        acting.log.exception("a brief failed", skill=skill.name)
        work.end(house, tx, tree, row, Status.FAILED, f"Its work could not be read: {type(error).__name__}: {error}")
    return None


def _message(entry: Any) -> Message:
    calls = tuple(ModelCall(*call) for call in json.loads(entry.calls)) if entry.calls else ()
    results = tuple(ToolResult(*result) for result in json.loads(entry.results)) if entry.results else ()
    return Message(entry.role, entry.text, calls, results)


def _progress(tx: Tx, row: Any, **changes: Any) -> Any:
    """Write how far a piece has come; answers the row as it is now."""
    row = row._replace(**changes)
    tx.run(_PROGRESS, piece_id=row.id, **{f"new_{name}": getattr(row, name) for name in _PROGRESS_FIELDS})
    return row


# Before a model is asked


def prepare(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agents: Sequence[Agent],
    skill: Skill[Any, Any],
    said: tuple[Message, ...],
) -> Next:
    """Still wanted, within its guards, and affordable? Then the money is held and its model may be asked."""
    agent = agents[-1]
    if row.closing is not None:
        work.end(house, tx, tree, row, Status(row.closing), row.closing_why)
        return None
    if tree.person is not None and people.row(tx, tree.person).deactivated_at is not None:
        work.call_off(
            house, tx, tree, work.get(tx, tree.root), Status.CANCELLED, "The person it is for was deactivated."
        )
        _end_as_called_off(house, tx, tree, row)
        return None
    guards = agent.guards or house.settings.guards
    if row.turn >= guards.turns:
        work.end(
            house, tx, tree, row, Status.STOPPED, f"It had {row.turn} turns, which is all a piece of its work gets."
        )
        return None
    if guards.wall_clock is not None and tx.now - row.opened_at > guards.wall_clock.total_seconds() * 1_000_000:
        work.end(
            house,
            tx,
            tree,
            row,
            Status.STOPPED,
            f"It took longer than {guards.wall_clock}, which is all a piece of its work gets.",
        )
        return None
    tools = offer(house, row, agents, skill)
    model = house.model_of(agent)
    assert model.price is not None
    cost = model.price.micros(tools.tokens + row.tokens, model.max_output_tokens)
    no_room = money.reserve(tx, tree, row.branch.split("/"), cost)
    if no_room is None:
        return Ask(model.name, tools, cost, said)
    if no_room.passing:
        return Room(said)
    own = no_room.whose == row.id
    why = no_room.sentence(house.settings.currency, own)
    if own:
        work.end(house, tx, tree, row, Status.STOPPED, why)
        return None
    above = work.get(tx, no_room.whose if no_room.agent else tree.root)
    work.call_off(house, tx, tree, above, Status.STOPPED, why)
    _end_as_called_off(house, tx, tree, row)
    return None


def _end_as_called_off(house: House, tx: Tx, tree: Tree, row: Any) -> None:
    """The piece this run holds has been called off with others: this is its next step."""
    now = work.get(tx, row.id)
    if now.ended_at is None:
        work.end(house, tx, tree, now, Status(now.closing), now.closing_why)


def try_again(house: House, tx: Tx, held: Held) -> Next:
    """Ask once more for room."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    found = _declared(house, tx, tree, row)
    return prepare(house, tx, tree, row, found[0], found[1], ()) if found else None


# After it has answered


@dataclass(slots=True)
class _Turn:
    """What the calls of one answer came to, in their order."""

    row: Any
    calls: list[dict[str, Any]] = field(default_factory=list)
    handed_on: int = 0
    went_well: bool = False

    def add(
        self,
        call: ModelCall,
        kind: str,
        *,
        answer: str | None = None,
        ok: bool = False,
        state: str = "",
        subject: str | None = None,
    ) -> None:
        self.calls.append(
            {
                "piece": self.row.id,
                "position": len(self.calls),
                "call_id": call.id,
                "name": call.name,
                "kind": kind,
                "state": state or ("open" if answer is None else "answered"),
                "subject": subject,
                "arguments": call.arguments_text,
                "answer": answer,
                "ok": ok,
            }
        )
        self.went_well = self.went_well or ok


def with_ids(calls: Sequence[ModelCall], turn: int) -> list[ModelCall]:
    """The calls, each with an id of its own: none, or one that came twice, is replaced (rule H6)."""
    seen: set[str] = set()
    fresh = []
    for n, call in enumerate(calls):
        id = call.id
        if not id or id in seen or len(id) > 200:
            id = f"call-{turn + 1}-{n + 1}"
        seen.add(id)
        fresh.append(ModelCall(id, call.name[:200], call.arguments_text or "{}"))
    return fresh


def take_in(house: House, tx: Tx, held: Held, ask: Ask, answer: ModelAnswer) -> Next:
    """Charge and record an answer, and do what it asks for. An answer for a piece this run no longer holds is charged
    and goes on the record, and nothing else comes of it (rule E9)."""
    tree = house.tree(tx, held.root)
    row = work.get(tx, held.piece)
    late = row.fence != held.fence or row.run != "held"
    row = _charge(house, tx, tree, held, row, ask, answer, late)
    if late:
        return None
    calls = with_ids(answer.calls, row.turn)
    as_json = (
        json.dumps([[call.id, call.name, call.arguments_text] for call in calls], ensure_ascii=False) if calls else None
    )
    work.say(tx, row.id, row.messages + 1, "assistant", answer.text, as_json)
    said = Message("assistant", answer.text, tuple(calls))
    size = len(answer.text.encode()) + (len(as_json.encode()) if as_json else 0)
    row = row._replace(turn=row.turn + 1, messages=row.messages + 1, tokens=row.tokens + money.tokens_of(size))
    found = _declared(house, tx, tree, row)
    if found is None:
        return None
    agents, skill = found
    if row.closing is not None:
        work.end(house, tx, tree, row, Status(row.closing), row.closing_why)
        return None
    again = hashlib.sha256(canonical([[call.name, call.arguments_text] for call in calls]).encode()).hexdigest()
    row = row._replace(same_calls=row.same_calls + 1 if again == row.last_calls else 1, last_calls=again)
    guards = agents[-1].guards or house.settings.guards
    if calls and row.same_calls >= guards.same_call:
        _progress(tx, row)
        why = f"It asked for the same {row.same_calls} times in a row: {', '.join(call.name for call in calls)}."
        work.end(house, tx, tree, row, Status.STOPPED, why)
        return None
    if not calls:
        told = f"Nothing was called. When the work is done, call {HAND_BACK} with the result."
        return _failed_attempt(house, tx, tree, row, agents, skill, ModelCall("", "", ""), told, said)
    if len(calls) == 1 and calls[0].name == HAND_BACK:
        return _hand_back(house, tx, tree, row, agents, skill, calls[0], said)
    turn = _Turn(row)
    for call in calls:
        _do(house, tx, tree, turn, agents, skill, call, answer.text)
    return _after_calls(house, tx, tree, turn, agents, skill, said)


def _charge(house: House, tx: Tx, tree: Tree, held: Held, row: Any, ask: Ask, answer: ModelAnswer, late: bool) -> Any:
    model = house.models[ask.model]
    estimated = answer.tokens_in is None or answer.tokens_out is None
    tokens = (answer.tokens_in or 0, answer.tokens_out or 0, answer.tokens_cached)
    assert model.price is not None
    cost = ask.reserved if estimated else model.price.micros(*tokens)
    reserved = 0 if late else ask.reserved
    money.settle(tx, tree, held.branch, reserved, cost)
    money.meter(tx, tree, row.id, row.model_calls + 1, model.name, "work", tokens, cost, estimated)
    counted = (
        "an unknown number of tokens, charged as reserved" if estimated else f"{tokens[0]} tokens in, {tokens[1]} out"
    )
    label = house.label(row.agent)
    tree.append(
        tx.now,
        row.id,
        TraceKind.LATE_ANSWER if late else TraceKind.MODEL_ANSWERED,
        f"{label} had an answer from {model.name}{' too late' if late else ''}: {counted}.",
        {
            "model": model.name,
            "micros": cost,
            "tokens_in": tokens[0],
            "tokens_out": tokens[1],
            "tokens_cached": tokens[2],
            "said": answer.text,
            "calls": [[call.name, call.arguments_text] for call in answer.calls],
        },
    )
    return row._replace(
        own_micros=row.own_micros + cost, call_micros=row.call_micros - reserved, model_calls=row.model_calls + 1
    )


def _hand_back(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agents: Sequence[Agent],
    skill: Skill[Any, Any],
    call: ModelCall,
    said: Message,
) -> Next:
    try:
        value = skill.hands_back.read(call.arguments_text)
        wrong = skill.check(value)
    except BadInput as error:
        wrong = str(error)
    except Exception as error:
        acting.log.exception("a check failed", skill=skill.name)
        wrong = f"It could not be checked: {type(error).__name__}: {error}"
    if wrong is None:
        _progress(tx, row, failed_in_row=0)
        work.end(house, tx, tree, row, Status.DONE, "", skill.hands_back.write(value))
        return None
    return _failed_attempt(house, tx, tree, row, agents, skill, call, f"That does not fit. {wrong}", said)


def _failed_attempt(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agents: Sequence[Agent],
    skill: Skill[Any, Any],
    call: ModelCall,
    told: str,
    said: Message,
) -> Next:
    """Rule E6: told why; so many in a row, and a model is consulted once, or the piece fails."""
    agent = agents[-1]
    row = row._replace(failed_in_row=row.failed_in_row + 1)
    stuck = row.failed_in_row >= agent.stuck_after
    turn = _Turn(row)
    if stuck and agent.consults and not row.consulted_stuck:
        row = row._replace(consulted_stuck=True)
        turn.row = row
        words = {
            "question": f"This failed {row.failed_in_row} times in a row. What would be right? {told}",
            "told": told,
        }
        words |= {
            "context": f"The work: {skill.description}\nThe last attempt: {call.arguments_text}",
            "why": str(HelpReason.STUCK),
        }
        turn.add(ModelCall(call.id, call.name, canonical(words)), "consult", state="to_run")
        return _after_calls(house, tx, tree, turn, agents, skill, said)
    if stuck:
        _progress(tx, row)
        work.end(house, tx, tree, row, Status.FAILED, f"It failed {row.failed_in_row} times in a row. {told}")
        return None
    turn.add(call, "tool", answer=told)
    return _after_calls(house, tx, tree, turn, agents, skill, said)


def _do(
    house: House,
    tx: Tx,
    tree: Tree,
    turn: _Turn,
    agents: Sequence[Agent],
    skill: Skill[Any, Any],
    call: ModelCall,
    said: str,
) -> None:
    """One call of an answer: done, opened, put to somebody, or answered with what is wrong with it."""
    agent, row = agents[-1], turn.row
    try:
        if call.name == HAND_BACK:
            turn.add(call, "tool", answer="Not taken: hand back alone, once you have read the answers of this turn.")
        elif call.name == ASK_PERSON and agent.asks_people:
            asked = read_object(call.arguments_text)
            question = str(asked.get("question") or "").strip()
            choices = asked.get("choices") or []
            if not question or not isinstance(choices, list):
                raise BadInput({"question": "Write the question; choices are a list of texts."})
            id = asking.ask(
                house, tx, tree, row, agent, question, str(asked.get("context") or ""), [str(c) for c in choices]
            )
            turn.add(call, "question", subject=id)
        elif call.name == CONSULT and agent.consults:
            asked = read_object(call.arguments_text)
            if not str(asked.get("question") or "").strip():
                raise BadInput({"question": "Write the question."})
            turn.add(call, "consult", state="to_run")
        else:
            _use(house, tx, tree, turn, agents, skill, call, said)
    except HandonError as error:
        told = str(error)
        label = agent.shown_as
        tree.append(
            tx.now,
            row.id,
            TraceKind.TOOL_RAN,
            f"{label} asked for {call.name}, which was not done.",
            {"tool": call.name, "arguments": call.arguments_text, "answer": told, "ok": False},
        )
        turn.add(call, "tool", answer=told)


def _use(
    house: House,
    tx: Tx,
    tree: Tree,
    turn: _Turn,
    agents: Sequence[Agent],
    skill: Skill[Any, Any],
    call: ModelCall,
    said: str,
) -> None:
    agent, row = agents[-1], turn.row
    action = next((tool for tool in skill.tools if tool.name == call.name), None)
    if action is None:
        if call.name.startswith("hand_to"):
            id = handing_on.hand_on(
                house, tx, tree, row, agent, call.name, call.arguments_text, row.handed_on + turn.handed_on
            )
            turn.handed_on += 1
            turn.add(call, "leg", subject=id)
            return
        raise HandonError(f"There is no tool {call.name}. There are: {offer(house, row, agents, skill).names()}.")
    ruling = gate.strictest(agents, action)
    if ruling.gate is Gate.NEVER:
        raise HandonError(ruling.why_never(action))
    values = action.read(call.arguments_text)
    if ruling.gate is not Gate.ALONE:
        turn.add(call, "proposal", subject=asking.propose(house, tx, tree, row, agent, action, values, said))
    elif action.awaited:
        turn.add(call, "tool", state="to_run")
    else:
        key = f"{row.id}-{row.turn}-{len(turn.calls)}"
        ran = acting.run_plain(house, tx, action, values, agent.account, _person(tx, tree, action), row.id, key)
        asking.tool_ran(tx, tree, row, agent, action, action.plain(values), ran)
        turn.add(call, "tool", answer=ran.text, ok=ran.ok)


def _person(tx: Tx, tree: Tree, action: Action) -> Any:
    touches = action.takes_context or any(parameter.row for parameter in action.parameters)
    return people.principal(tx, tree.person) if touches else None


def _after_calls(
    house: House, tx: Tx, tree: Tree, turn: _Turn, agents: Sequence[Agent], skill: Skill[Any, Any], said: Message
) -> Next:
    row = turn.row._replace(handed_on=turn.row.handed_on + turn.handed_on)
    if turn.went_well:
        row = row._replace(failed_in_row=0)
    if all(call["state"] == "answered" for call in turn.calls):
        results = [(call["call_id"], call["name"], call["answer"]) for call in turn.calls]
        row, told = _tell(tx, row, results)
        return prepare(house, tx, tree, row, agents, skill, (said, told))
    row = _progress(tx, row)
    work.keep_calls(tx, turn.calls)
    to_run = tuple(
        OutsideCall(call["position"], call["name"], call["arguments"], call["subject"], call["kind"], call["state"])
        for call in turn.calls
        if call["state"] == "to_run"
    )
    if to_run:
        return Outside(to_run, (said,))
    work.park(house, tx, tree, row)
    return None


def _tell(tx: Tx, row: Any, results: list[tuple[str, str, str]]) -> tuple[Any, Message]:
    """Give a turn's answers to the model, together and in the order it asked (rule H1)."""
    n = row.messages + 1
    if [id for id, _, _ in results] == [""]:  # nothing had been called, so there is no call to answer
        text = results[0][2]
        work.say(tx, row.id, n, "user", text)
        told, size = Message("user", text), len(text.encode())
    else:
        as_json = json.dumps(results, ensure_ascii=False)
        work.say(tx, row.id, n, "tool", "", None, as_json)
        told, size = Message("tool", "", (), tuple(ToolResult(*result) for result in results)), len(as_json.encode())
    return _progress(tx, row, messages=n, tokens=row.tokens + money.tokens_of(size)), told


def gather(house: House, tx: Tx, tree: Tree, row: Any, agents: Sequence[Agent], skill: Skill[Any, Any]) -> Next:
    """All calls of the turn that this run awaited are answered: go on, or park on those that others answer."""
    calls = tx.all(_CALLS, piece=row.id)
    if any(call.state != "answered" for call in calls):
        work.park(house, tx, tree, row)
        return None
    tx.run(work.FORGET_CALLS, piece=row.id)
    if any(call.ok for call in calls):
        row = row._replace(failed_in_row=0)
    row, told = _tell(tx, row, [(call.call_id, call.name, call.answer) for call in calls])
    return prepare(house, tx, tree, row, agents, skill, (told,))


def after_outside(house: House, tx: Tx, held: Held) -> Next:
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    found = _declared(house, tx, tree, row)
    if found is None:
        return None
    if row.closing is not None:
        work.end(house, tx, tree, row, Status(row.closing), row.closing_why)
        return None
    return gather(house, tx, tree, row, found[0], found[1])


def call_begun(house: House, tx: Tx, held: Held, call: OutsideCall, action: Action, plain: dict[str, Any]) -> None:
    """An outside change is about to be made: its begun line. From here on its outcome is unknown until it ended."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    tx.run(_BEGUN, of=held.piece, at=call.position)
    label = house.label(row.agent)
    tree.append(
        tx.now, row.id, TraceKind.BEGUN, f"{label} began: {action.label}.", {"tool": action.name, "arguments": plain}
    )


def call_ended(
    house: House, tx: Tx, held: Held, call: OutsideCall, action: Action, plain: dict[str, Any], ran: acting.Ran
) -> None:
    """An awaited call came back: its line, and its answer on the turn."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    agent = asking.agents_of(house, row)[-1]
    asking.tool_ran(tx, tree, row, agent, action, plain, ran)
    told = ran.text
    if call.kind == "proposal" and call.subject is not None:
        told = asking.outside_done(house, tx, tree, row, call.subject, ran)
    answer_call(tx, held, call, told, ran.ok)


def answer_call(tx: Tx, held: Held, call: OutsideCall, text: str, ok: bool) -> None:
    tx.run(_ANSWERED, of=held.piece, at=call.position, text=text, went_well=ok)


# Letting go


def give_back(house: House, tx: Tx, held: Held, reserved: int) -> None:
    """This process leaves: the piece is due for the next one, and nothing is held for it (rule A8)."""
    tree = house.tree(tx, held.root)
    work.mine(tx, held.piece, held.fence)
    if reserved:
        money.release(tx, tree, held.branch, reserved)
    tx.run(_BACK, piece_id=held.piece, none=None)


def charge_unanswered(house: House, tx: Tx, held: Held, ask: Ask) -> None:
    """A call that left and was cut off is charged its whole reservation (rule M10)."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    money.settle(tx, tree, held.branch, ask.reserved, ask.reserved)
    money.meter(tx, tree, row.id, row.model_calls + 1, ask.model, "work", (0, 0, 0), ask.reserved, True)


def not_reached(house: House, tx: Tx, held: Held, ask: Ask, *, left: bool, why: str) -> None:
    """Its model gave no answer. `left`: the request may have got there, so it is charged its reservation (M10)."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    if left:
        charge_unanswered(house, tx, held, ask)
    else:
        money.release(tx, tree, held.branch, ask.reserved)
    row = work.get(tx, row.id)
    if row.closing is not None:
        work.end(house, tx, tree, row, Status(row.closing), row.closing_why)
    else:
        work.end(house, tx, tree, row, Status.FAILED, why)


def broke(house: House, tx: Tx, held: Held, why: str) -> None:
    """Something in the app or in Handon went wrong in a way nobody foresaw: the piece fails, saying so."""
    tree = house.tree(tx, held.root)
    row = work.mine(tx, held.piece, held.fence)
    work.end(house, tx, tree, row, Status.FAILED, why)
