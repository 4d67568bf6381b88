"""Deciding: each act is a form of its own, posted from the card and answered with a redirect to its receipt.

A decision names the fingerprint of what was shown. When it comes too late, or what waits has changed, nothing happens
and the card says who decided, when, or what is different.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import AlreadyDecided, BadInput, HandonError, NotAllowed, NotWaiting, Stale
from core.values import Proposal, RuleOffer
from web.bounding import Sentence, bounds_from, choices_of, tried
from web.deps import Visit, go, today
from web.forms import fields_of
from web.posted import changed, values_of
from web.waiting import Request, Sieve, begun_of, masked_of, request_of, what_waits

Answer = Response[str] | Redirect


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a decision did nothing, for the head of the card."""

    kind: str  # "decided", "stale", "over", "wrong"
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
    visit: Visit, item: UUID, act: Callable[[], Awaitable[object]], mode: str = "card", wrote: str = "", **kept: Any
) -> Answer:
    """Do it and go to the receipt; or show the card again with why nothing was done, and what was written."""
    try:
        await act()
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
        return go(f"/inbox/{item}{Sieve.of(visit.request.query_params).keep}")
    return await _show(visit, await request_of(visit.desk, item), "card", 409, trouble=trouble)


@post("/inbox/{item:uuid}/approval")
async def approval(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Answer:
    """Approve exactly what was shown."""
    form = await visit.form()
    return await _decide(visit, item, lambda: visit.desk.approve(item, fingerprint=form.get("fingerprint") or None))


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
        visit, item, lambda: visit.desk.refuse(item, said, fingerprint=mark), "refuse", said, reason=said
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
        visit, item, lambda: visit.desk.approve(item, args=given, fingerprint=mark), "edit", fields=fields
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
        return await _decide(visit, item, lambda: visit.desk.approve(item))
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
        lambda: visit.desk.approve(item, fingerprint=mark, from_now_on=whose, bounds=bounds),
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
    return await _decide(visit, item, lambda: visit.desk.answer(item, said), wrote=said)


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
    return await _decide(visit, item, lambda: visit.desk.decline(item, reason=said), "decline", said, reason=said)


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
    *(answer, cannot_say, decline),
)
