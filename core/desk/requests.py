"""What waits for this person: proposals and questions, and deciding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from core import (
    aside,
    drafts,
    ids,
    people,
    reading,
)
from core.asking import handing_over, holding, proposals, questions
from core.clock import to_micros
from core.declare.bounds import Bounds
from core.desk.rules import Rules
from core.errors import BadInput, NotAllowed, NotWaiting
from core.reading import Reader
from core.store import Tx
from core.values import (
    Batch,
    Draft,
    DraftAct,
    Person,
    Proposal,
    Question,
    Waiting,
)
from core.words import clean


class Decides(Rules):
    async def waiting_count(self) -> int:
        """How many requests wait for this person: what `proposals` and `questions` list, by the same condition, without
        what they have set aside."""
        return await self._read(lambda tx, reader: len(reading.for_you(tx, reader)))

    async def waiting(
        self,
        *,
        kind: Literal["", "proposal", "question"] = "",
        agent: str = "",
        work: UUID | None = None,
        but_agent: str = "",
        but_work: UUID | None = None,
        after: str = "",
        item: UUID | None = None,
    ) -> Waiting:
        """What waits for this person as the inbox lists it, a page at a time: by whole, what is due first on top.

        Narrowed to a kind, an agent's name and a whole where given, or to all but an agent's or a whole's; `after` is
        the mark of the page before. With `item` it is the page that holds that request, and says its place.
        """
        sieve = {"kind": kind, "agent": agent, "but_agent": but_agent}
        sieve |= {"whole": work.hex if work else "", "but_whole": but_work.hex if but_work else ""}
        one = item.hex if item else None
        return await self._read(
            lambda tx, reader: reading.waiting(self._house, tx, reader, **sieve, after=after, item=one)
        )

    async def batch(self, work: UUID, agent: str, action: str) -> Batch:
        """What waits for this person in that work of that agent and action, to be looked at together: each in full, at
        most 50, what is due first on top. Raises NotFound where nothing does."""
        root = work.hex
        return await self._read(lambda tx, reader: reading.batch_of_kind(self._house, tx, reader, root, agent, action))

    async def batch_of(self, ids: Sequence[UUID]) -> Batch:
        """Those of these proposals that are of the work of the first, whatever became of them: at most 50. What this
        person may not open is left out; raises NotFound where nothing is left."""
        keys = [id.hex for id in ids]
        return await self._read(lambda tx, reader: reading.batch_of(self._house, tx, reader, keys))

    async def proposals(self) -> list[Proposal]:
        """What waits for this person's decision, the oldest first."""
        return await self._read(lambda tx, reader: reading.proposals_for(self._house, tx, reader))

    async def questions(self) -> list[Question]:
        return await self._read(lambda tx, reader: reading.questions_for(self._house, tx, reader))

    async def proposal(self, id: UUID) -> Proposal:
        return await self._read(lambda tx, reader: reading.one_proposal(self._house, tx, reader, ids.stored(id)))

    async def question(self, id: UUID) -> Question:
        return await self._read(lambda tx, reader: reading.one_question(self._house, tx, reader, ids.stored(id)))

    async def answered(
        self, limit: int = 50, before: datetime | None = None, id: UUID | None = None, by: reading.Decider = ""
    ) -> list[Proposal | Question]:
        """What this person or whoever decides beside them has decided and answered, the newest first, also what ended
        by a rule or by its time. `before` goes on after a time, with `id` after that entry of a time. `by` narrows it
        to what they decided themselves ("me"), what somebody else did ("others"), or what nobody did ("nobody")."""
        place = (to_micros(before), ids.stored(id) if id else "") if before else None
        return await self._read(lambda tx, reader: reading.answered(self._house, tx, reader, limit, place, by))

    async def take_over(self, id: UUID) -> Proposal | Question:
        """Have a proposal or question put to this person, the sponsor of the agent at the top, because whoever was
        asked was deactivated, or there was nobody (rule R10). Deciding it without saying so first does the same.

        Raises NotFound, also to everybody who is not that sponsor; NotAllowed where whoever was asked is still there;
        AlreadyDecided, NotWaiting. Writes one line.
        """

        def take(tx: Tx, reader: Reader) -> Proposal | Question:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself takes nothing over: a person does.")
            if reading.is_question(tx, key):
                reading.one_question(self._house, tx, reader, key)
                questions.take_over(self._house, tx, key, reader.id)
                return reading.one_question(self._house, tx, reader, key)
            reading.one_proposal(self._house, tx, reader, key)
            proposals.take_over(self._house, tx, key, reader.id)
            return reading.one_proposal(self._house, tx, reader, key)

        return await self._write(take)

    async def hand_over(self, id: UUID, to: Person | UUID, note: str = "") -> None:
        """Have a proposal or question put to somebody else, who decides it in this person's place; the note goes with
        it. While it waits this person may have it put back (`put_back`). Decides nothing; the agent is told nothing.

        Raises NotFound; NotAllowed where it is not theirs to decide; AlreadyDecided, also while a decision is held;
        NotWaiting; BadInput for somebody who is not there, was deactivated, is asked already, or may not read what a
        proposal names, since a yes runs as whoever says it (rule P5), and for a note of more than 2,000 letters. Writes
        one line.
        """
        receiver = to.id if isinstance(to, Person) else to

        def hand(tx: Tx, reader: Reader) -> None:
            if reader.id is None:
                raise NotAllowed("The app itself hands nothing over: a person does.")
            self._visible(tx, reader, key := ids.stored(id))
            handing_over.hand_over(self._house, tx, key, reader.id, ids.stored(receiver), clean(note))

        await self._write(hand)

    async def put_back(self, id: UUID) -> None:
        """Have what this person handed over put to whom it was put before. Raises NotFound where they have handed over
        nothing here, AlreadyDecided, NotWaiting. Writes one line."""

        def back(tx: Tx, reader: Reader) -> None:
            handing_over.put_back(self._house, tx, ids.stored(id), reader.id or "")

        await self._write(back)

    async def could_take(self, id: UUID) -> list[Person]:
        """To whom a request can be handed over: everybody active but whom it is put to, by name. Empty for whoever may
        not decide it. Raises NotFound."""

        def read(tx: Tx, reader: Reader) -> list[Person]:
            found = self._visible(tx, reader, ids.stored(id))
            theirs = found.may_decide if isinstance(found, Proposal) else found.may_answer
            return [one for one in people.everybody(tx) if theirs and one.id != found.asked_of]

        return await self._read(read)

    def _visible(self, tx: Tx, reader: Reader, key: str) -> Proposal | Question:
        one = reading.one_question if reading.is_question(tx, key) else reading.one_proposal
        return one(self._house, tx, reader, key)

    async def drafts(self, id: UUID) -> list[Draft]:
        """What this person has begun to write to a proposal or question and not sent, the latest first; nobody else
        is shown it."""
        return await self._read(lambda tx, reader: drafts.of(tx, reader.id, ids.stored(id)) if reader.id else [])

    async def keep_draft(self, id: UUID, act: DraftAct, fields: Mapping[str, str]) -> None:
        """Keep what this person has written so far; empty fields drop it. Decides nothing, and writes no line.

        Raises NotFound, NotAllowed where it is not theirs to decide, NotWaiting where nothing is left to, BadInput.
        """

        def keep(tx: Tx, reader: Reader) -> None:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself writes no drafts: a person does.")
            if reading.is_question(tx, key):
                question = reading.one_question(self._house, tx, reader, key)
                waits, theirs = question.waits, question.may_answer
            else:
                proposal = reading.one_proposal(self._house, tx, reader, key)
                waits, theirs = proposal.waits, proposal.may_decide
            if not waits:
                raise NotWaiting("Nothing is left to decide, so no draft is kept.")
            if not theirs:
                raise NotAllowed("A draft is kept for whoever decides.")
            drafts.keep(tx, reader.id, key, act, {name: clean(text) for name, text in fields.items()})

        await self._write(keep)

    async def set_aside(self, id: UUID, until: datetime | None) -> None:
        """Have a request off this person's list, badge and counts until then; None: on it again. Decides nothing,
        writes no line, and changes nothing for anybody else: the agent waits all the same.

        Raises NotFound, NotAllowed where it is not theirs to decide, NotWaiting where nothing is left to, and BadInput
        for a time that has passed, or at which nobody may decide it any more.
        """

        def put(tx: Tx, reader: Reader) -> None:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself sets nothing aside: a person does.")
            found: Proposal | Question
            if reading.is_question(tx, key):
                found = question = reading.one_question(self._house, tx, reader, key)
                theirs = question.may_answer
            else:
                found = proposal = reading.one_proposal(self._house, tx, reader, key)
                theirs = proposal.may_decide
            if not found.waits:
                raise NotWaiting("Nothing is left to decide, so it is not set aside.")
            if not theirs:
                raise NotAllowed("It is set aside by whoever decides it.")
            if until is None:
                aside.take(tx, reader.id, key)
                return
            if to_micros(until) <= tx.now:
                raise BadInput({"until": "That time has passed."})
            if found.deadline is not None and until >= found.deadline:
                raise BadInput({"until": f"It can be decided until {found.deadline:%-d %B %Y, %H:%M} UTC only."})
            aside.put(tx, reader.id, key, to_micros(until))

        await self._write(put)

    async def approve(
        self,
        id: UUID,
        *,
        args: Mapping[str, Any] | None = None,
        note: str = "",
        fingerprint: str | None = None,
        from_now_on: Literal["for_me", "for_everybody"] | None = None,
        bounds: Bounds | None = None,
        hold: timedelta | None = None,
    ) -> Proposal:
        """Run the proposed call exactly as shown, or with `args` changed, once (rules P5, P7, P12).

        With `hold` the decision is made now and carried out after that time, unless `take_back` comes first; what can
        be refused is refused now. A yes that gives a standing rule is not held.

        Raises NotFound, NotAllowed, AlreadyDecided, NotWaiting, Stale, BadInput. Answers the proposal as it is after:
        Done or Failed with what came of it, or Refused by a rule that forbids it since (R11). A call that reaches
        outside runs in the piece's own run: it is Waiting, decided, until it has come back.
        """

        def approve(tx: Tx, reader: Reader) -> Proposal:
            key, who = self._deciding(tx, reader, id)
            rule = None
            if from_now_on is not None:
                shown = reading.one_proposal(self._house, tx, reader, key)
                rule = self._rule(tx, reader, shown.agent, shown.action, from_now_on == "for_everybody", bounds)
            told = clean(note)
            if hold and rule is None:
                holding.approve(self._house, tx, key, who, args=args, note=told, fingerprint=fingerprint, lasts=hold)
            else:
                proposals.approve(self._house, tx, key, who, args=args, note=told, fingerprint=fingerprint, rule=rule)
                drafts.drop(tx, who, key)
            return reading.one_proposal(self._house, tx, reader, key)

        return await self._write(approve)

    async def refuse(
        self, id: UUID, reason: str = "", *, fingerprint: str | None = None, hold: timedelta | None = None
    ) -> Proposal:
        """Say no; the reason reaches the agent, which goes on (rule P6). `hold` as for `approve`."""

        def refuse(tx: Tx, reader: Reader) -> Proposal:
            key, who = self._deciding(tx, reader, id)
            told = clean(reason)
            if hold:
                holding.refuse(self._house, tx, key, who, reason=told, fingerprint=fingerprint, lasts=hold)
            else:
                proposals.refuse(self._house, tx, key, who, reason=told, fingerprint=fingerprint)
                drafts.drop(tx, who, key)
            return reading.one_proposal(self._house, tx, reader, key)

        return await self._write(refuse)

    def _deciding(self, tx: Tx, reader: Reader, id: UUID) -> tuple[str, str]:
        key = ids.stored(id)
        if reader.id is None:
            raise NotAllowed("The app itself decides nothing: a person does.")
        reading.one_proposal(self._house, tx, reader, key)
        return key, reader.id

    async def answer(self, id: UUID, text: str, *, hold: timedelta | None = None) -> Question:
        """Answer a question in own words or with one of its choices; it goes to the agent (rule P8). `hold` as for
        `approve`."""
        return await self._answer(id, text, declines=False, hold=hold)

    async def decline(self, id: UUID, reason: str = "", *, hold: timedelta | None = None) -> Question:
        """Say that it cannot be answered; the agent is told, with the reason."""
        return await self._answer(id, reason, declines=True, hold=hold)

    async def take_back(self, id: UUID) -> Proposal | Question:
        """Take back what this person decided and is held still: it waits again, as if nothing had been decided.

        Raises NotFound where they decided nothing there, NotWaiting where it is too late, with what came of it.
        """

        def take(tx: Tx, reader: Reader) -> Proposal | Question:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself decides nothing: a person does.")
            one = reading.one_question if reading.is_question(tx, key) else reading.one_proposal
            one(self._house, tx, reader, key)
            holding.take_back(self._house, tx, key, reader.id)
            return one(self._house, tx, reader, key)

        return await self._write(take)

    async def last_held(self) -> Proposal | Question | None:
        """What this person decided last, where that can be taken back still."""
        return await self._read(lambda tx, reader: reading.last_held(self._house, tx, reader))

    async def _answer(self, id: UUID, text: str, *, declines: bool, hold: timedelta | None) -> Question:
        def answer(tx: Tx, reader: Reader) -> Question:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself answers nothing: a person does.")
            reading.one_question(self._house, tx, reader, key)
            if hold:
                holding.answer(self._house, tx, key, reader.id, clean(text), declines=declines, lasts=hold)
            else:
                questions.answer(self._house, tx, key, reader.id, clean(text), declines=declines)
                drafts.drop(tx, reader.id, key)
            return reading.one_question(self._house, tx, reader, key)

        return await self._write(answer)
