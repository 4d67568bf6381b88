"""One run of one piece: take it, ask its model, act, and go on until it parks or ends. The only caller of models.

A run is a task of this process and holds nothing but a fence and a conversation it has read; everything true is in
the database, so a run may vanish at any await and nothing is lost but the call under way.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import stamina

from core import acting, consulting, leaving, outside, turn, work
from core.asking.proposals import decider
from core.declare.actions import Action, Context
from core.declare.schemas import text_of
from core.errors import Abort, AnswerLost, AnswerUnusable, HandonError, Rejected, Superseded, Unreachable
from core.house import House
from core.models.messages import ModelAnswer, ModelCall, ModelRequest
from core.store import Store, Tx
from core.turn import Ask, Held, Next, Outside, OutsideCall, Room
from core.words import clean

log = logging.getLogger(__name__)

T = TypeVar("T")

UNFORESEEN = "Something went wrong that was not foreseen: {}."
ROOM_PAUSE = 0.02  # seconds before room is asked for again; it doubles up to half a second
ROOM_HELD = 30.0  # seconds, at most, that a run waits for room with its piece in hand
# After so many seconds a run looks again before it reaches out, or a tenth of `abandoned_after` where that is less:
# nobody takes its piece from it sooner.
LATE = 1.0
LONGEST_WAIT = 300  # seconds that a provider may ask to be left alone; asked for longer, it cannot be reached


class CutOff(asyncio.CancelledError):
    """Cancelled while a model was being asked: the call had left, and is charged its whole reservation (rule M10)."""


class NoLongerWanted(Exception):
    """The piece ended, was called off or ran out of time while its model could not be reached."""


class Loop:
    def __init__(self, house: House, store: Store) -> None:
        self._house = house
        self._store = store
        # What is held and quiet for `abandoned_after` looks abandoned: what waits for room is let go well before.
        abandoned_after = house.settings.abandoned_after.total_seconds()
        self._patience = min(abandoned_after / 4, ROOM_HELD)
        self._late = min(abandoned_after / 10 or LATE, LATE)

    async def run(self, piece: str) -> None:
        """Run a due piece as far as it goes. A piece that is not due is left alone; a run that is superseded ends."""
        begun = await self._store.write(partial(self._begin, piece=piece))
        if begun is None:
            return
        held, following = begun
        pause, waited = ROOM_PAUSE, 0.0
        try:
            while following is not None:
                held.messages.extend(following.said)
                if self._house.stopping:
                    await self._give_back(held)
                    return
                if isinstance(following, Room):
                    if self._patience and waited > self._patience:
                        await self._store.write(lambda tx: leaving.wait_for_room(self._house, tx, held))
                        return
                    await asyncio.sleep(pause)
                    waited += pause
                    pause = min(pause * 2, 0.5)
                    following = await self._go_on(held, self._try_again)
                    continue
                pause, waited = ROOM_PAUSE, 0.0
                following = await (
                    self._ask(held, following) if isinstance(following, Ask) else self._await(held, following)
                )
        except Superseded:
            log.info("piece %s is no longer this run's", piece)
        except asyncio.CancelledError:
            await self._give_back(held)
            raise
        except Exception as error:
            log.exception("the run of piece %s failed", piece)
            why = UNFORESEEN.format(type(error).__name__)
            try:
                await self._store.write(lambda tx: leaving.broke(self._house, tx, held, why))
            except Superseded:
                log.info("piece %s is no longer this run's", piece)

    def _begin(self, tx: Tx, piece: str) -> tuple[Held, Next] | None:
        at = time.monotonic()
        begun = turn.begin(self._house, tx, piece)
        if begun is not None:
            begun[0].seen = at
        return begun

    async def _give_back(self, held: Held) -> None:
        try:
            await self._store.write(lambda tx: leaving.give_back(self._house, tx, held))
        except Superseded:
            log.info("piece %s is no longer this run's", held.piece)

    def _try_again(self, tx: Tx, held: Held) -> Next:
        return turn.try_again(self._house, tx, held)

    async def _go_on(self, held: Held, fn: Callable[[Tx, Held], T]) -> T:
        """Write what looks first whether the piece is still this run's, and remember when it looked."""

        def look(tx: Tx) -> T:
            at = time.monotonic()  # here, so that waiting for the turn to write counts nothing
            done = fn(tx, held)
            held.seen = at
            return done

        return await self._store.write(look)

    async def _in_time(self, held: Held) -> None:
        """Before this run reaches out: where it was stopped or starved for a while since a transaction saw that the
        piece is its own, it looks again. Raises Superseded where it is not (rule A5)."""
        if time.monotonic() - held.seen > self._late and not await self._store.read(lambda tx: leaving.holds(tx, held)):
            raise Superseded(held.piece)

    # A model

    async def _ask(self, held: Held, ask: Ask, *, again: bool = False) -> Next:
        """One turn. `again`: an answer was lost before, and another is not asked for a third time."""
        await self._in_time(held)
        request = turn.request(self._house, held, ask)
        try:
            answer = await self._reach(held, request)
        except (Unreachable, NoLongerWanted) as error:
            log.warning("%s could not be reached: %s", ask.model, error)
            why, left = f"Its model could not be reached: {ask.model}.", False
        except Rejected as error:
            why, left = f"Its model could not be asked: {ask.model}: {error}.", False
        except AnswerLost as error:
            log.warning("an answer of %s was lost: %s", ask.model, error)
            if not again:
                return await self._ask_again(held, ask)
            why, left = f"Its model's answer was lost: {ask.model}: {error}.", True
        except AnswerUnusable as error:
            why, left = f"Its model's answer could not be used: {ask.model}: {error}.", True
        except CutOff:
            await self._store.write(lambda tx: leaving.charge_unanswered(self._house, tx, held, ask))
            raise
        except Exception as error:
            log.exception("an answer of %s could not be used", ask.model)
            why, left = f"Its model's answer could not be used: {type(error).__name__}.", True
        else:
            return await self._take_in(held, ask, answer)
        await self._store.write(lambda tx: leaving.not_reached(self._house, tx, held, ask, left=left, why=why))
        return None

    async def _take_in(self, held: Held, ask: Ask, answer: ModelAnswer) -> Next:
        try:
            return await self._go_on(held, lambda tx, held: turn.take_in(self._house, tx, held, ask, answer))
        except Superseded:
            raise
        except Exception as error:
            # What the answer asked for undid itself; the answer was had all the same, and is charged.
            log.exception("what %s asked for broke the run of piece %s", ask.model, held.piece)
            why = UNFORESEEN.format(type(error).__name__)
            await self._store.write(lambda tx: leaving.charged_and_broke(self._house, tx, held, ask, answer, why))
            return None

    async def _ask_again(self, held: Held, ask: Ask) -> Next:
        """Charge a call whose answer was lost (rule M10), and ask once more, with money held anew (rule M2)."""
        await self._store.write(lambda tx: leaving.charge_unanswered(self._house, tx, held, ask))
        if self._house.stopping:
            await self._give_back(held)
            return None
        await asyncio.sleep(self._house.settings.model_pause.total_seconds())
        following = await self._go_on(held, self._try_again)
        return await self._ask(held, following, again=True) if isinstance(following, Ask) else following

    async def _reach(self, held: Held, request: ModelRequest) -> ModelAnswer:
        """Ask; again, with growing pauses, where it cannot be reached and the piece is still wanted (rule E8)."""
        settings = self._house.settings
        pause = settings.model_pause.total_seconds()
        try:
            return await self._send(request)
        except Unreachable as error:
            if settings.model_tries < 2 or not _worth_another_try(error):
                raise
            await asyncio.sleep(max(pause, error.retry_after or 0))
        async for attempt in stamina.retry_context(
            on=_worth_another_try,
            attempts=settings.model_tries - 1,
            timeout=None,
            wait_initial=pause * 2,
            wait_max=60,
            wait_jitter=pause,
        ):
            with attempt:
                if not await self._store.read(lambda tx: leaving.wanted(self._house, tx, held)):
                    raise NoLongerWanted
                return await self._send(request)
        raise Unreachable(request.model)

    async def _send(self, request: ModelRequest) -> ModelAnswer:
        """One try. Raises `CutOff` where this run is cancelled after it left. A client that cancels itself, as
        libraries do at a time-out of their own, gave no answer that can be used."""
        client = self._house.models[request.model].client
        assert client is not None
        try:
            return _cleaned(await client.ask(request))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise CutOff from error
            raise ConnectionAbortedError("the client broke it off") from error

    # Calls that are awaited

    async def _await(self, held: Held, waiting: Outside) -> Next:
        outcomes = await asyncio.gather(*(self._one(held, call) for call in waiting.calls), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return await self._go_on(held, partial(outside.after_outside, self._house))

    async def _one(self, held: Held, call: OutsideCall) -> None:
        if call.kind in outside.CONSULTS:
            await self._consult(held, call)
        else:
            await self._outside(held, call)

    async def _outside(self, held: Held, call: OutsideCall) -> None:
        ready = await self._go_on(held, partial(self._ready, call=call))
        if ready is None:
            return
        await self._in_time(held)
        action, values, plain, context = ready
        try:
            answer = await (action(context, **values) if action.takes_context else action(**values))
            ran = acting.Ran(True, text_of(answer))
        except (Abort, asyncio.CancelledError):
            raise
        except Exception as error:
            ran = acting.Ran(False, acting.told(action, error))
        await self._store.write(lambda tx: outside.call_ended(self._house, tx, held, call, action, plain, ran))

    def _ready(
        self, tx: Tx, held: Held, call: OutsideCall
    ) -> tuple[Action, dict[str, Any], dict[str, Any], Context] | None:
        """What to await, its begun line written if it is a change; or None: it is answered already, being forbidden."""
        house = self._house
        tree = house.tree(tx, held.root)
        row = work.mine(tx, held.piece, held.fence)
        agents = house.agents_of(row.agents)
        action = acting.find(agents[-1], row.skill, call.name)
        if action is None:
            turn.answer_call(tx, held.piece, call.position, f"{call.name} is no longer a tool of this work.", False)
            return None
        account, person = agents[-1].account, decider(tx, call.subject) or tree.person
        key = f"{held.piece}-{call.subject or f'{row.turn}-{call.position}'}"
        try:
            values = action.read(call.arguments)
            with acting.guarded_context(house, tx, account, person, held.piece, key) as ctx:
                loaded, who = acting.load_rows(ctx, action, values), ctx.person
        except HandonError as error:
            turn.answer_call(tx, held.piece, call.position, str(error), False)
            return None
        plain = action.plain(values)
        if not action.query:
            outside.call_begun(house, tx, held, call, action, plain)
        return action, loaded, plain, acting.outside_context(house, account, who, held.piece, key)

    async def _consult(self, held: Held, call: OutsideCall) -> None:
        begun = await self._go_on(held, partial(self._begin_consult, call=call))
        if begun is None:
            return
        await self._in_time(held)
        answer: ModelAnswer | None = None
        left = True
        try:
            answer = await self._reach(held, begun.request)
        except (Unreachable, NoLongerWanted, Rejected) as error:
            log.warning("the consulted %s could not be asked: %s", begun.model.name, error)
            left = False
        except CutOff:
            await self._store.write(lambda tx: outside.consult_cut_off(self._house, tx, held, begun))
            raise
        except (AnswerLost, AnswerUnusable) as error:
            log.warning("the consulted %s gave no answer: %s", begun.model.name, error)
        except Exception:
            log.exception("the consulted %s failed", begun.model.name)
        await self._store.write(lambda tx: outside.consulted(self._house, tx, held, call, begun, answer, left=left))

    def _begin_consult(self, tx: Tx, held: Held, call: OutsideCall) -> consulting.Consult | None:
        return outside.consult(self._house, tx, held, call)


def _worth_another_try(error: Exception) -> bool | float:
    """Whether to try again: after a pause of our own (True), or after so many seconds as the provider asked for."""
    if not isinstance(error, Unreachable):
        return False
    if not error.retry_after:
        return True
    return error.retry_after if error.retry_after <= LONGEST_WAIT else False


def _cleaned(answer: ModelAnswer) -> ModelAnswer:
    """The answer with text that can be kept."""
    calls = tuple(
        ModelCall(call.id and clean(call.id), clean(call.name), clean(call.arguments_text)) for call in answer.calls
    )
    return replace(answer, text=clean(answer.text), calls=calls)
