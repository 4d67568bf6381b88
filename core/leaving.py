"""How a run lets go of its piece other than by an answer: it leaves, gets none, or breaks (rules A8, E8, M10)."""

from __future__ import annotations

from core import handing_on, money, receipts, work
from core import scene as scenes
from core.house import House
from core.models.messages import ModelAnswer
from core.receipts import Receipt
from core.record import Tree
from core.store import Tx
from core.turn import Ask, Held, charge, stopped_by_guard, too_long
from core.values import Status, TraceKind

ROOM_LATER = 5_000_000  # microseconds until room is asked for again


def give_back(house: House, tx: Tx, held: Held) -> None:
    """This process leaves: the piece is due for the next one, and nothing is held for it (rule A8)."""
    tree = house.tree(tx, held.root)
    receipt = work.mine(tx, held.piece, held.fence)
    if receipt.closing is not None:
        work.end(house, tx, tree, receipt, Status(receipt.closing), receipt.closing_why)
    else:
        work.make_due_again(house, tx, tree, receipt)


def wait_for_room(house: House, tx: Tx, held: Held) -> None:
    """Calls under way take all the room there is, for long: the piece is let go, and due again a little later. So it
    does not look abandoned, whoever holds the room (rules A1, M6)."""
    tree = house.tree(tx, held.root)
    receipt = work.mine(tx, held.piece, held.fence)
    work.make_due_again(house, tx, tree, receipt, due_at=tx.now + ROOM_LATER)


def charge_unanswered(house: House, tx: Tx, held: Held, ask: Ask) -> bool:
    """A call that left and was cut off or lost is charged its whole reservation, also where its piece has been closed
    meanwhile and nothing is held any more (rules M10, E9). Writes one line. Answers whether the piece is still this
    run's."""
    tree = house.tree(tx, held.root)
    receipt = receipts.get(tx, held.piece)
    late = receipt.fence != held.fence or receipt.run != "held"
    money.settle(tx, tree, receipts.branch(tx, receipt), 0 if late else ask.reserved, ask.reserved)
    money.meter(tx, tree, receipt, ask.model, ask.purpose, (0, 0, 0), ask.reserved, estimated=True)
    words = (
        f"{house.label(receipt.agent)} had no answer from {ask.model}{', too late' if late else ''}: charged as held."
    )
    kind = TraceKind.LATE_ANSWER if late else TraceKind.ANSWER_LOST
    tree.append(tx.now, held.piece, kind, words, {"model": ask.model, "micros": ask.reserved})
    return not late


def not_reached(house: House, tx: Tx, held: Held, ask: Ask, *, left: bool, why: str) -> None:
    """Its model gave no answer. `left`: the request may have got there, so it is charged its reservation (M10)."""
    tree = house.tree(tx, held.root)
    if left and not charge_unanswered(house, tx, held, ask):
        return
    receipt = work.mine(tx, held.piece, held.fence)
    if not left:
        money.release(tx, tree, receipts.branch(tx, receipt), ask.reserved)
    scene = scenes.of(house, tx, tree, receipt)
    if scene is None or scene.end_closing():
        return
    guard = stopped_by_guard(scene)
    if guard:
        scene.end(Status.STOPPED, guard)
    else:
        scene.fail(why)


def holds(tx: Tx, held: Held) -> bool:
    """Whether the piece is still this run's."""
    receipt = receipts.get(tx, held.piece)
    return receipt.fence == held.fence and receipt.run == "held"


def wanted(house: House, tx: Tx, held: Held) -> bool:
    """Whether a piece whose model cannot be reached is still this run's, not called off, and within its guards."""
    receipt = receipts.get(tx, held.piece)
    if not holds(tx, held) or receipt.closing is not None:
        return False
    agent = house.agents[held.agent]
    return not too_long(tx, receipt, agent.guards or house.settings.guards)


def charged_and_broke(house: House, tx: Tx, held: Held, ask: Ask, answer: ModelAnswer, why: str) -> None:
    """An answer came, and what followed from it broke: it is charged and on the record, and the piece fails."""
    tree = house.tree(tx, held.root)
    receipt = receipts.get(tx, held.piece)
    late = receipt.fence != held.fence or receipt.run != "held"
    charge(house, tx, tree, receipt, ask, answer, late)
    if not late:
        _fail(house, tx, tree, receipt, why)


def broke(house: House, tx: Tx, held: Held, why: str) -> None:
    """Something in the app or in Handon went wrong in a way nobody foresaw: the piece fails, saying so."""
    tree = house.tree(tx, held.root)
    _fail(house, tx, tree, work.mine(tx, held.piece, held.fence), why)


def _fail(house: House, tx: Tx, tree: Tree, receipt: Receipt, why: str) -> None:
    """Whatever broke, the piece ends or is tried again, also where it is the app's declarations that break."""
    try:
        skill = handing_on.find_skill(house.agents[receipt.agent], receipt.skill, receipt.helper)
        retry = skill.retry if skill else None
    except Exception:
        retry = None
    work.fail(house, tx, tree, receipt, why, retry)
