"""Deciding: each act is a form of its own, posted from the card and answered with a redirect to its receipt.

A decision names the fingerprint of what was shown. When it comes too late, or what waits has changed, nothing happens
and the card says who decided, when, or what is different. A decision is held for the agency's `undo_for`, and can be
taken back until then: what was written with it is kept as a draft meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import AlreadyDecided, BadInput, HandonError, NotAllowed, NotFound, NotWaiting, Stale
from core.values import DraftAct, Proposal, RuleOffer
from web.bounding import Sentence, bounds_from, choices_of, tried
from web.deps import Visit, go, today
from web.forms import fields_of
from web.posted import changed, values_of
from web.waiting import Request, Sieve, begun_of, masked_of, request_of, what_waits, written_in

Answer = Response[str] | Redirect
Draft = tuple[DraftAct, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a decision did nothing, for the head of the card."""

    kind: str  # "decided", "stale", "over", "late", "wrong"
    text: str
    error: HandonError | None = None
    wrote: str = ""  # what the person wrote, where it was not sent


async def _show(visit: Visit, opened: Request, mode: str, status: int = 200, **context: Any) -> Response[str]:
    begun = await begun_of(visit.desk, opened.id) if mode == "card" else {}
    context = {"trouble": None, "begun": begun} | context
    sieve = Sieve.of(visit.request.query_params)
    waits = await what_waits(visit.desk, sieve, opened.id)
    return await visit.page(
        "inbox/index.html",
        nav="inbox",
        status=status,
        waits=waits,
        sieve=sieve,
        item=opened.id,
        opened=opened,
        mode=mode,
        **context,
    )


async def _decide(
    visit: Visit,
    item: UUID,
    act: Callable[[timedelta | None], Awaitable[object]],
    mode: str = "card",
    wrote: str = "",
    draft: Draft | None = None,
    **kept: Any,
) -> Answer:
    """Do it and go on, to the receipt or to the next request; or show the card again with why nothing was done, and
    what was written. `act` is given how long to hold it."""
    hold = visit.agency.settings.undo_for or None
    sieve = Sieve.of(visit.request.query_params)
    after = await _after(visit, item, sieve) if hold and (await visit.form()).get("_then") == "next" else None
    if hold and draft is not None:
        with suppress(HandonError):  # where none is kept the decision itself says why
            await visit.desk.keep_draft(item, *draft)
    try:
        await act(hold)
    except AlreadyDecided as error:
        trouble = Trouble("decided", str(error), error, wrote)
    except NotWaiting as error:
        trouble = Trouble("over", str(error), error, wrote)
    except Stale as error:
        trouble = Trouble("stale", error.changed, error)
    except BadInput as error:
        if "fields" in kept:
            kept["fields"] = [field.marked(error.fields) for field in kept["fields"]]
        if "asked" in kept:
            kept["asked"] = kept["asked"].marked(error.fields)
        return await _show(visit, await request_of(visit.desk, item), mode, 422, trouble=_count(error.fields), **kept)
    except NotAllowed as error:
        trouble = Trouble("wrong", str(error), error)
        return await _show(visit, await request_of(visit.desk, item), mode, 403, trouble=trouble, **kept)
    else:
        return go(f"/inbox/{item}{sieve.keep}") if after is None else _on_to(f"/inbox/{after}{sieve.keep}")
    return await _show(visit, await request_of(visit.desk, item), "card", 409, trouble=trouble)


async def _after(visit: Visit, item: UUID, sieve: Sieve) -> UUID | None:
    """What is opened once this is decided: the one below it, else the first of the list, if there is another."""
    waits = await what_waits(visit.desk, sieve, item)
    if waits.place is None:
        return None
    first = next((request.id for group in waits.groups for request in group.requests if request.id != item), None)
    return waits.place.after or first


def _on_to(address: str) -> Response[str]:
    """Have the page's script open the next request. Only the script asks for that; a plain form never does."""
    oob = "#badge:outerMorph,#held:outerMorph"
    where = {"path": address, "target": "#main", "select": "#main", "swap": "outerMorph", "selectOOB": oob}
    return Response("", media_type="text/html", headers={"HX-Location": json.dumps(where)})


@post("/inbox/{item:uuid}/undo")
async def undo(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Take back what was decided and is held still; where it is too late the card says what came of it."""
    try:
        await visit.desk.take_back(item)
    except (NotFound, NotWaiting) as error:
        opened = await request_of(visit.desk, item)
        return await _show(visit, opened, "card", 409, trouble=Trouble("late", str(error), error))
    return go(f"/inbox/{item}")


@get("/inbox/{item:uuid}/held")
async def held(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The line over the page about what was decided last, as it stands now; also where it may not be seen any more."""
    try:
        found = await request_of(visit.desk, item)
    except NotFound:
        found = None
    return visit.fragment("_fragments/held_line.html", request=found)


@post("/inbox/{item:uuid}/approval")
async def approval(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Approve exactly what was shown."""
    form = await visit.form()
    mark = form.get("fingerprint") or None
    return await _decide(visit, item, lambda hold: visit.desk.approve(item, fingerprint=mark, hold=hold))


@get("/inbox/{item:uuid}/refusal")
async def reason(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The card with room for a reason."""
    opened = await visit.desk.proposal(item)
    begun = (await begun_of(visit.desk, item)).get("refuse", {})
    return await _show(visit, opened, "refuse" if opened.may_decide else "card", reason=begun.get("reason", ""))


@post("/inbox/{item:uuid}/refusal")
async def refusal(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Refuse; the reason is told to the agent with the decision."""
    form = await visit.form()
    said = form.get("reason", "").strip()
    mark = form.get("fingerprint") or None
    return await _decide(
        visit,
        item,
        lambda hold: visit.desk.refuse(item, said, fingerprint=mark, hold=hold),
        "refuse",
        said,
        ("refuse", written_in(form)),
        reason=said,
    )


@get("/inbox/{item:uuid}/edit")
async def editing(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The card as a form: the arguments, each with a control for its type."""
    opened = await visit.desk.proposal(item)
    begun = (await begun_of(visit.desk, item)).get("edit")
    fields = fields_of(opened.schema, _open_arguments(opened), posted=begun, labels=opened.shown)
    return await _show(visit, opened, "edit" if opened.may_decide else "card", fields=fields)


@post("/inbox/{item:uuid}/edit")
async def edited(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Approve with what the person wrote. What they left alone keeps its value and type to the letter."""
    opened = await visit.desk.proposal(item)
    form = await visit.request.form()
    known = _open_arguments(opened)
    args, wrong = values_of(opened.schema, form, known)
    fields = fields_of(opened.schema, known, posted=form, errors=wrong, labels=opened.shown)
    if wrong:
        return await _show(visit, opened, "edit", 422, fields=fields, trouble=_count(wrong))
    given = {**opened.arguments, **args} if changed(args, known) else None
    mark = str(form.get("fingerprint") or "") or None
    return await _decide(
        visit,
        item,
        lambda hold: visit.desk.approve(item, args=given, fingerprint=mark, hold=hold),
        "edit",
        draft=("edit", written_in({name: str(value) for name, value in form.multi_items()})) if given else None,
        fields=fields,
    )


@get("/inbox/{item:uuid}/rule")
async def from_now_on(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The second step of an approval: which rule goes with it, and what such a rule would have done before."""
    opened = await visit.desk.proposal(item)
    if not opened.may_decide:
        return await _show(visit, opened, "card")
    offer = await visit.desk.rule_offer_with(item)
    asked = choices_of(offer, today(visit), opened)
    return await _show(visit, opened, "rule", **await _rule_step(visit, offer, asked))


@post("/inbox/{item:uuid}/rule/trial", status_code=200)
async def rule_trial(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """What the rule as it is written would have covered. Decides nothing."""
    opened = await visit.desk.proposal(item)
    offer = await visit.desk.rule_offer_with(item)
    asked = choices_of(offer, today(visit), opened, await visit.form())
    step = await _rule_step(visit, offer, asked)
    if visit.wants_part:
        return visit.fragment("_fragments/trial.html", **step)
    return await _show(visit, opened, "rule", **step)


@post("/inbox/{item:uuid}/rule")
async def approval_with_rule(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Approve exactly what was shown, and let the agent do such things alone from now on, within the bounds."""
    opened = await visit.desk.proposal(item)
    if not opened.may_decide:  # somebody was first: the decision says so itself
        return await _decide(visit, item, lambda hold: visit.desk.approve(item))
    form = await visit.form()
    offer = await visit.desk.rule_offer_with(item)
    asked = choices_of(offer, today(visit), opened, form)
    step = await _rule_step(visit, offer, asked)
    if step["asked"].errors:
        return await _show(visit, opened, "rule", 422, trouble=_count(dict(step["asked"].errors)), **step)
    bounds = bounds_from(asked, today(visit))
    whose: Literal["for_me", "for_everybody"] = "for_everybody" if asked.whose == "for_everybody" else "for_me"
    mark = form.get("fingerprint") or None
    return await _decide(
        visit,
        item,
        lambda hold: visit.desk.approve(item, fingerprint=mark, from_now_on=whose, bounds=bounds),
        "rule",
        **step,
    )


async def _rule_step(visit: Visit, offer: RuleOffer, asked: Sentence) -> dict[str, Any]:
    """What the step shows; where the bounds do not fit, they say so and nothing is tried."""
    try:
        trial = await tried(visit.desk, offer, bounds_from(asked, today(visit)).checked(offer.schema), asked.whose)
    except BadInput as error:
        return {"offer": offer, "asked": asked.marked(error.fields), "trial": None}
    return {"offer": offer, "asked": asked, "trial": trial}


@post("/inbox/{item:uuid}/answer")
async def answer(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Answer a question: a choice, the person's own words, or both where they chose and wrote."""
    form = await visit.form()
    own, choice = form.get("own", "").strip(), form.get("choice", "")
    said = "\n\n".join(part for part in ("" if choice == "own" else choice, own) if part)
    opened = await visit.desk.question(item)
    if not said:
        trouble = Trouble("wrong", "Choose one, or write your own words. Nothing was sent.")
        return await _show(visit, opened, "card", 422, trouble=trouble)
    return await _decide(
        visit,
        item,
        lambda hold: visit.desk.answer(item, said, hold=hold),
        wrote=said,
        draft=("answer", written_in(form)),
    )


@get("/inbox/{item:uuid}/decline")
async def cannot_say(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The question with room for why it cannot be answered."""
    opened = await visit.desk.question(item)
    begun = (await begun_of(visit.desk, item)).get("decline", {})
    return await _show(visit, opened, "decline" if opened.may_answer else "card", reason=begun.get("reason", ""))


@post("/inbox/{item:uuid}/decline")
async def decline(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Say that one cannot answer; the agent is told, and goes on."""
    form = await visit.form()
    said = form.get("reason", "").strip()
    return await _decide(
        visit,
        item,
        lambda hold: visit.desk.decline(item, reason=said, hold=hold),
        "decline",
        said,
        ("decline", written_in(form)),
        reason=said,
    )


def _open_arguments(proposal: Proposal) -> dict[str, Any]:
    """The arguments without those that no page may show: they cannot be changed either."""
    masked = masked_of(proposal)
    return {name: value for name, value in proposal.arguments.items() if name not in masked}


def _count(wrong: dict[str, str]) -> Trouble:
    if "" in wrong:
        return Trouble("wrong", f"{wrong['']} Nothing was decided yet.")
    fields = "1 field needs you." if len(wrong) == 1 else f"{len(wrong)} fields need you."
    return Trouble("wrong", f"{fields} Nothing was decided yet.")


handlers = (
    *(approval, reason, refusal, editing, edited, from_now_on, rule_trial, approval_with_rule),
    *(answer, cannot_say, decline, undo, held),
)
