"""Calls that a run awaits: what the app reaches outside, and models that are consulted (rules A7, C)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, update

from core import acting, consulting, receipts, work
from core import scene as scenes
from core.asking import proposals
from core.declare.actions import Action
from core.declare.schemas import read_object
from core.errors import BadInput
from core.house import House
from core.models.messages import ModelAnswer
from core.offer import offer
from core.scene import Scene
from core.sql import Statement
from core.store import Tx
from core.tables import turn_call
from core.turn import Held, Next, OutsideCall, answer_call, gather
from core.values import HelpReason, Status, TraceKind

_BEGUN = Statement(
    update(turn_call)
    .where(turn_call.c.piece == bindparam("of"), turn_call.c.position == bindparam("at"))
    .values(state="begun")
)


def after_outside(house: House, tx: Tx, held: Held) -> Next:
    """All that this run awaited has come back. A decision may have ended with it."""
    if receipts.get(tx, held.piece).ended_at is not None:
        return None
    scene = scenes.of(house, tx, house.tree(tx, held.root), work.mine(tx, held.piece, held.fence))
    return None if scene is None or scene.end_closing() else gather(scene)


def call_begun(house: House, tx: Tx, held: Held, call: OutsideCall, action: Action, plain: dict[str, Any]) -> None:
    """An outside change is about to be made: its begun line. From here on its outcome is unknown until it ended."""
    tree = house.tree(tx, held.root)
    receipt = work.mine(tx, held.piece, held.fence)
    tx.run(_BEGUN, of=held.piece, at=call.position)
    summary = f"{house.label(receipt.agent)} began: {action.label}."
    tree.append(tx.now, receipt.id, TraceKind.BEGUN, summary, {"tool": action.name, "arguments": plain})


def call_ended(
    house: House, tx: Tx, held: Held, call: OutsideCall, action: Action, plain: dict[str, Any], ran: acting.Ran
) -> None:
    """An awaited call came back: its line, and its answer on the turn."""
    tree = house.tree(tx, held.root)
    receipt = work.mine(tx, held.piece, held.fence)
    proposals.tool_ran(tx, tree, receipt, house.agents[receipt.agent], action, plain, ran)
    told = ran.text
    if call.kind == "proposal" and call.subject is not None:
        told = proposals.ran_outside(tx, call.subject, ran)
    answer_call(tx, held.piece, call.position, told, ran.ok)


# Why a model is consulted, by the kind of the call that stands for it.
CONSULTS = {"consult": HelpReason.CHOSEN, "stuck": HelpReason.STUCK, "unsure": HelpReason.LOW_CONFIDENCE}


def consult(house: House, tx: Tx, held: Held, call: OutsideCall) -> consulting.Consult | None:
    """Hold the money for a consult; None where it is refused, which is told."""
    scene = scenes.of(house, tx, house.tree(tx, held.root), work.mine(tx, held.piece, held.fence))
    if scene is None:
        return None
    asked = read_object(call.arguments)
    question, context = str(asked["question"]), str(asked.get("context") or "")
    tools = offer(house, scene.receipt, scene.agents, scene.skill).tools if call.kind == "unsure" else []
    args = (house, tx, scene.tree, scene.receipt, scene.agent, question, context, CONSULTS[call.kind], tools)
    begun = consulting.begin(*args)
    if isinstance(begun, consulting.Consult):
        return begun
    _after_consult(scene, call, begun, None)
    return None


def consulted(
    house: House,
    tx: Tx,
    held: Held,
    call: OutsideCall,
    begun: consulting.Consult,
    answer: ModelAnswer | None,
    *,
    left: bool,
) -> None:
    """Charge and record a consult, and pass its advice on. None: the model gave no help. What comes back for a piece
    that this run no longer holds is charged and recorded, and nothing else comes of it (rule E9)."""
    if _late(house, tx, held, begun, answer, left=left):
        return
    scene = scenes.of(house, tx, house.tree(tx, held.root), work.mine(tx, held.piece, held.fence))
    if scene is None:
        return
    told = consulting.came_back(house, tx, scene.tree, scene.receipt, begun, answer, left=left)
    _after_consult(scene, call, told, answer)


def consult_cut_off(house: House, tx: Tx, held: Held, begun: consulting.Consult) -> None:
    """A consult that left and was cut off is charged and on the record; whoever takes the piece next asks again."""
    if not _late(house, tx, held, begun, None, left=True):
        tree = house.tree(tx, held.root)
        consulting.came_back(house, tx, tree, work.mine(tx, held.piece, held.fence), begun, None, left=True)


def _late(
    house: House, tx: Tx, held: Held, begun: consulting.Consult, answer: ModelAnswer | None, *, left: bool
) -> bool:
    """Whether the piece is this run's no more; a consult that left is then charged and recorded here."""
    tree = house.tree(tx, held.root)
    receipt = receipts.get(tx, held.piece)
    if receipt.fence == held.fence and receipt.run == "held":
        return False
    if left:
        consulting.came_back(house, tx, tree, receipt, begun, answer, left=left, late=True)
    return True


def _after_consult(scene: Scene, call: OutsideCall, told: str, answer: ModelAnswer | None) -> None:
    asked = read_object(call.arguments)
    if call.kind == "unsure":
        # What the consulted model chose is the decision; where it chose nothing that fits, the agent's own stands.
        shape = scene.skill.hands_back
        value = shape.read(str(asked["told"]))
        for choice in answer.calls if answer is not None else ():
            try:
                value = shape.read(choice.arguments_text)
            except BadInput:
                continue
        if not scene.end_closing():
            scene.end(Status.DONE, "", shape.write(value))
        return
    text = f"{asked['told']}\nAdvice: {told}" if call.kind == "stuck" else told
    answer_call(scene.tx, scene.receipt.id, call.position, text, answer is not None and call.kind == "consult")
