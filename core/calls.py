"""The calls of one answer: each is done now, opened as a leg, put to a person, left to be awaited, or answered with
what is wrong with it (rules D4, H4, H5, R4, R5). Ordinary tools do not wait for the legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core import acting, gate, handing_on, standing
from core.asking import proposals, questions
from core.declare.schemas import read_object
from core.errors import BadInput, HandonError
from core.models.messages import ModelCall
from core.offer import ASK_PERSON, CONSULT, HAND_BACK, offer
from core.scene import Scene
from core.values import Gate, TraceKind

NO_CHOICES = "Choices are a list; each is a text, or has a choice and its consequence."


@dataclass(slots=True)
class Calls:
    """What the calls came to, in their order, as rows of `turn_call`."""

    piece: str
    rows: list[dict[str, Any]] = field(default_factory=list)
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
        self.rows.append(
            {
                "piece": self.piece,
                "position": len(self.rows),
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
    """The calls, each with an id that no other call of the conversation has (rule H6).

    Always our own: a provider may send none, or the same in every turn, and takes any in the history it is sent.
    """
    return [
        ModelCall(f"call-{turn}-{n}", call.name[:200], call.arguments_text or "{}") for n, call in enumerate(calls, 1)
    ]


def do(scene: Scene, calls: Calls, call: ModelCall, said: str) -> None:
    """One call. What it may not do is told to the model, and stands on the record."""
    try:
        if call.name == HAND_BACK:
            calls.add(call, "tool", answer="Not taken: hand back alone, once you have read the answers of this turn.")
        elif call.name == ASK_PERSON and scene.agent.asks_people:
            _ask(scene, calls, call)
        elif call.name == CONSULT and scene.agent.consults:
            _question(read_object(call.arguments_text))
            calls.add(call, "consult", state="to_run")
        else:
            _use(scene, calls, call, said)
    except HandonError as error:
        told = str(error)
        summary = f"{scene.agent.shown_as} asked for {call.name}, which was not done."
        payload = {"tool": call.name, "arguments": call.arguments_text, "answer": told, "ok": False}
        scene.line(TraceKind.TOOL_RAN, summary, payload)
        calls.add(call, "tool", answer=told)


def _question(asked: dict[str, Any]) -> tuple[str, str]:
    """The question and its context. Raises BadInput where either is no text, or there is no question."""
    question, context = asked.get("question"), asked.get("context") or ""
    if not isinstance(question, str) or not question.strip():
        raise BadInput({"question": "Write the question."})
    if not isinstance(context, str):
        raise BadInput({"context": "The context is text."})
    return question.strip(), context


def _ask(scene: Scene, calls: Calls, call: ModelCall) -> None:
    asked = read_object(call.arguments_text)
    question, context = _question(asked)
    choices = asked.get("choices") or []
    if not isinstance(choices, list):
        raise BadInput({"choices": NO_CHOICES})
    read = [_choice(choice) for choice in choices]
    id = questions.ask(scene.house, scene.tx, scene.tree, scene.receipt, scene.agent, question, context, read)
    calls.add(call, "question", subject=id)


def _choice(given: Any) -> tuple[str, str]:
    """A choice, and what follows if it is chosen; empty where the model does not say. Raises BadInput."""
    if isinstance(given, dict):
        choice, consequence = given.get("choice"), given.get("consequence") or ""
        if isinstance(choice, str | int | float) and isinstance(consequence, str):
            return str(choice), consequence.strip()
    elif isinstance(given, str | int | float):
        return str(given), ""
    raise BadInput({"choices": NO_CHOICES})


def _use(scene: Scene, calls: Calls, call: ModelCall, said: str) -> None:
    house, tx, tree, receipt, agent = scene.house, scene.tx, scene.tree, scene.receipt, scene.agent
    action = next((tool for tool in scene.skill.tools if tool.name == call.name), None)
    if action is None:
        if call.name.startswith("hand_to"):
            calls.add(
                call, "leg", subject=handing_on.hand_on(house, tx, tree, receipt, agent, call.name, call.arguments_text)
            )
            return
        names = ", ".join(tool.name for tool in offer(house, receipt, scene.agents, scene.skill).tools)
        raise HandonError(f"There is no tool {call.name}. There are: {names}.")
    if gate.strictest(scene.agents, action).gate is Gate.NEVER:
        raise HandonError(gate.strictest(scene.agents, action).why_never(action))
    values = action.read(call.arguments_text)
    plain = action.plain(values)
    lifted = standing.ruling(tx, tree, scene.agents, action, plain)
    if lifted.ruling.gate is Gate.ALONE and lifted.rules:
        standing.use(tx, tree, receipt.id, lifted.rules, plain, action.label)
    if lifted.ruling.gate is not Gate.ALONE:
        calls.add(call, "proposal", subject=proposals.propose(house, tx, tree, receipt, agent, action, values, said))
    elif action.awaited:
        calls.add(call, "tool", state="to_run")
    else:
        key = f"{receipt.id}-{receipt.turn}-{len(calls.rows)}"
        ran = acting.run_plain(house, tx, action, values, agent.account, tree.person, receipt.id, key)
        proposals.tool_ran(tx, tree, receipt, agent, action, plain, ran)
        calls.add(call, "tool", answer=ran.text, ok=ran.ok)
