"""`/money`: what models cost and how much of each limit is used; every call; and setting a limit."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from core.errors import BadInput, NotFound
from core.values import Limitable, MeterCall, SpendLimit
from web.deps import Visit, aware, go
from web.posted import number

Period = Literal["today", "week", "month", "days"]
PAGE = 50
WHOLE_DAY = timedelta(days=1)


@get("/money")
async def money(
    visit: NamedDependency[Visit],
    show: FromQuery[Period] = "today",
    first: FromQuery[str] = "",
    last: FromQuery[str] = "",
    after: FromQuery[str] = "",
) -> Response[str]:
    """What was spent in some days, today where none are named; `after` is the last account of the page before."""
    desk = visit.desk
    today = desk.today()
    wrong: dict[str, str] = {}
    days = _days(show, first, last, today, wrong)
    try:
        meter = await desk.meter(*days)
    except BadInput as error:
        wrong |= error.fields
        days = (today, today)
        meter = await desk.meter(*days)
    accounts = await desk.accounts(limit=PAGE + 1, after=after)
    return await visit.page(
        "money/index.html",
        nav="money",
        status=422 if wrong else 200,
        show=show,
        today=today,
        meter=meter,
        limits=await desk.spend_limits(),
        near=await desk.near_limit(),
        accounts=accounts[:PAGE],
        more_accounts=len(accounts) > PAGE,
        prices=await desk.prices(),
        first=first or days[0].isoformat(),
        last=last or days[1].isoformat(),
        wrong=wrong,
    )


def _days(show: Period, first: str, last: str, today: date, wrong: dict[str, str]) -> tuple[date, date]:
    """The days that are asked for, both included. What is no day is said in `wrong`, and today is shown."""
    if show == "week":
        return today - 6 * WHOLE_DAY, today
    if show == "month":
        return today.replace(day=1), today
    found = [today, today]
    if show == "days":
        for place, (name, text) in enumerate((("first", first), ("last", last))):
            try:
                found[place] = date.fromisoformat(text.strip()) if text.strip() else today
            except ValueError:
                wrong[name] = "Write a day as 2031-03-14."
    return (today, today) if wrong else (found[0], found[1])


@get("/money/calls")
async def calls(
    visit: NamedDependency[Visit],
    before: FromQuery[datetime | None] = None,
    piece: FromQuery[UUID | None] = None,
    n: FromQuery[int] = 0,
) -> Response[str]:
    """Every call on the meter, the newest first; `before`, `piece` and `n` name the last one of the page before."""
    last = _place(aware(before), piece, n) if before is not None and piece is not None else None
    found = await visit.desk.metered_calls(limit=PAGE + 1, before=last)
    return await visit.page(
        "money/calls.html", nav="money", calls=found[:PAGE], more=len(found) > PAGE, first=last is None
    )


def _place(at: datetime, piece: UUID, n: int) -> MeterCall:
    """A place in the list of calls: what stands before it is older."""
    return MeterCall(
        piece=piece,
        n=n,
        at=at,
        model="",
        purpose="",
        agent_label="",
        skill_label="",
        person="",
        about="",
        root=None,
        tokens_in=0,
        tokens_out=0,
        tokens_cached=0,
        micros=0,
        estimated=False,
    )


@get("/money/limit")
async def limit(visit: NamedDependency[Visit], of: FromQuery[str] = "", period: FromQuery[str] = "") -> Response[str]:
    """The form for one limit. `of` is "agent:<name>" or "person:<id>"."""
    return await _form(visit, {"of": of, "period": period})


@post("/money/limit")
async def set_limit(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Set a limit, or take one away. What does not fit is said at its field, and nothing is changed."""
    posted = await visit.form()
    wrong: dict[str, str] = {}
    chosen = _chosen(await visit.desk.limitable(), posted.get("of", ""))
    if chosen is None:
        wrong["of"] = "Choose an agent or a person."
    period = posted.get("period", "")
    if period not in ("day", "month"):
        wrong["period"] = "Choose a day or a month."
    amount = None if posted.get("act") == "take away" else _amount(posted.get("limit", ""), wrong)
    if wrong or chosen is None:
        return await _form(visit, posted, wrong)
    named: Any = {"agent": chosen.agent} if chosen.agent is not None else {"person": chosen.person}
    try:
        await visit.desk.set_spend_limit(amount, period=period, **named)  # type: ignore[arg-type]
    except BadInput as error:
        return await _form(visit, posted, {"limit": error.fields.get("limit", str(error))})
    except NotFound:
        return await _form(visit, posted, {"of": "Nobody of that name is here any more."})
    return go("/money#limits")


@get("/money/account")
async def account(visit: NamedDependency[Visit], key: FromQuery[str]) -> Response[str]:
    """The form for the limit of what several works are charged to together."""
    return await _account_form(visit, key)


@post("/money/account")
async def limit_account(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Set its limit, or take it away. What does not fit is said at its field, and nothing is changed."""
    posted = await visit.form()
    key = posted.get("key", "")
    wrong: dict[str, str] = {}
    amount = None if posted.get("act") == "take away" else _amount(posted.get("limit", ""), wrong)
    if not wrong:
        try:
            await visit.desk.set_account_limit(key, amount)
        except BadInput as error:
            wrong["limit"] = error.fields.get("limit", str(error))
        else:
            return go("/money#accounts")
    return await _account_form(visit, key, posted.get("limit"), wrong)


async def _account_form(
    visit: Visit, key: str, written: str | None = None, wrong: dict[str, str] | None = None
) -> Response[str]:
    return await visit.page(
        "money/account.html",
        nav="money",
        status=422 if wrong else 200,
        account=await visit.desk.limitable_account(key),
        written=written,
        wrong=wrong or {},
    )


async def _form(visit: Visit, posted: dict[str, str], wrong: dict[str, str] | None = None) -> Response[str]:
    choices = await visit.desk.limitable()
    chosen = _chosen(choices, posted.get("of", ""))
    period = posted.get("period", "") or ("month" if chosen is not None and chosen.person is not None else "day")
    stands = _standing(await visit.desk.spend_limits(), chosen, period)
    return await visit.page(
        "money/limit.html",
        nav="money",
        status=422 if wrong else 200,
        choices=choices,
        chosen=chosen,
        period=period,
        stands=stands,
        written=posted.get("limit"),
        wrong=wrong or {},
    )


def _chosen(choices: list[Limitable], of: str) -> Limitable | None:
    return next((one for one in choices if key_of(one) == of), None)


def key_of(one: Limitable | SpendLimit) -> str:
    """How an agent or a person is named in the form."""
    return f"agent:{one.agent}" if one.agent is not None else f"person:{one.person}"


def _standing(limits: list[SpendLimit], chosen: Limitable | None, period: str) -> SpendLimit | None:
    """The limit that holds for them now."""
    if chosen is None:
        return None
    return next((one for one in limits if key_of(one) == key_of(chosen) and one.period == period), None)


def _amount(text: str, wrong: dict[str, str]) -> Decimal | None:
    if not text.strip():
        wrong["limit"] = "Write an amount, such as 3.50."
        return None
    try:
        amount = Decimal(number(text, as_text=True))
    except ValueError:
        wrong["limit"] = "Write an amount, such as 3.50."
        return None
    if amount < 0:
        wrong["limit"] = "Write no less than nothing."
    return amount


handlers = (money, calls, limit, set_limit, account, limit_account)
