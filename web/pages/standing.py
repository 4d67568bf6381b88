"""`/inbox/standing`: what agents do alone by a person's word, each rule as a sentence; giving one, and revoking it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from core.errors import BadInput, NotFound
from core.values import RuleOffer, StandingRule
from web.bounding import Sentence, bounds_from, choices_of, tried
from web.deps import Visit, go, today


@get("/inbox/standing")
async def rules(visit: NamedDependency[Visit]) -> Response[str]:
    """Rules that hold, and under them those that no longer do."""
    found = await visit.desk.standing_rules()
    return await visit.page(
        "inbox/standing.html",
        nav="inbox",
        holding=[rule for rule in found if rule.holds],
        ended=[rule for rule in found if not rule.holds],
        may_give=bool(await visit.desk.rule_offers()),
    )


@get("/inbox/standing/new")
async def new(visit: NamedDependency[Visit], of: FromQuery[str] = "") -> Response[str]:
    """Choose what an agent may do alone; then its bounds, with what such a rule would have done before."""
    if not of:
        return await visit.page(
            "inbox/rule_new.html", nav="inbox", offers=await visit.desk.rule_offers(), offer=None, asked=None
        )
    offer = await _offer(visit, of)
    return await _show(visit, offer, choices_of(offer, today(visit)))


@post("/inbox/standing/new/trial", status_code=200)
async def trial(visit: NamedDependency[Visit]) -> Response[str]:
    """What the rule as it is written would have covered. Gives nothing."""
    form = await visit.form()
    offer = await _offer(visit, form.get("of", ""))
    asked = choices_of(offer, today(visit), None, form)
    if visit.wants_part:
        return visit.fragment("_fragments/trial.html", **await _step(visit, offer, asked))
    return await _show(visit, offer, asked)


@post("/inbox/standing/new")
async def give(visit: NamedDependency[Visit]) -> Redirect | Response[str]:
    """Give the rule."""
    form = await visit.form()
    offer = await _offer(visit, form.get("of", ""))
    asked = choices_of(offer, today(visit), None, form)
    try:
        bounds = bounds_from(asked, today(visit))
        rule = await visit.desk.give_rule(
            offer.agent, offer.action, for_everybody=asked.whose == "for_everybody", bounds=bounds
        )
    except BadInput as error:
        return await _show(visit, offer, asked.marked(error.fields), 422)
    return go(f"/inbox/standing#s-{rule.id}")


@get("/inbox/standing/{rule:uuid}/revocation")
async def consequences(visit: NamedDependency[Visit], rule: FromPath[UUID]) -> Response[str]:
    """What revoking does, on a page of its own. Changes nothing."""
    return await visit.page("inbox/rule_revoke.html", nav="inbox", rule=await _rule(visit, rule))


@post("/inbox/standing/{rule:uuid}/revocation")
async def revocation(visit: NamedDependency[Visit], rule: FromPath[UUID]) -> Redirect:
    """From now on the agent asks as before."""
    await visit.desk.revoke_rule(rule)
    return go(f"/inbox/standing#s-{rule}")


async def _rule(visit: Visit, id: UUID) -> StandingRule:
    found = next((rule for rule in await visit.desk.standing_rules() if rule.id == id), None)
    if found is None:
        raise NotFound("There is no such standing rule.")
    return found


async def _offer(visit: Visit, of: str) -> RuleOffer:
    """`of` names agent and action, as the list of what may be given has them: "Collator.note_on_volume"."""
    agent, _, action = of.partition(".")
    return await visit.desk.rule_offer(agent, action)


async def _step(visit: Visit, offer: RuleOffer, asked: Sentence) -> dict[str, Any]:
    if not asked.errors:
        try:
            bounds = bounds_from(asked, today(visit)).checked(offer.schema)
        except BadInput as error:
            asked = asked.marked(error.fields)
        else:
            return {"offer": offer, "asked": asked, "trial": await tried(visit.desk, offer, bounds, asked.whose)}
    return {"offer": offer, "asked": asked, "trial": None}


async def _show(visit: Visit, offer: RuleOffer, asked: Sentence, status: int = 200) -> Response[str]:
    step = await _step(visit, offer, asked)
    return await visit.page("inbox/rule_new.html", nav="inbox", status=status, offers=(), **step)


handlers = (rules, new, trial, give, consequences, revocation)
