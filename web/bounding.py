"""The bounds of a standing rule as a form: a sentence with a control for each argument, and what it comes to.

`choices_of` makes the controls, at first as narrow as the call they are made from; `bounds_from` reads them back;
`tried` says which of a person's last decisions such a rule would have covered (rule R12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from core.declare.bounds import HOWS, Bounds, How, Where, text_of
from core.desk import Desk
from core.errors import BadInput
from core.values import Proposal, ProposalStatus, RuleOffer
from core.words import label_of
from web.forms import Kind, kind_of

Form = Mapping[str, Any]
ANY = "any"
DAYS = 30  # how long a rule holds where nobody says otherwise
USES = 10
WORDS = {ANY: "may be anything", "equals": "is", "one of": "is one of", "starts with": "starts with"}
AT_MOST = {"at most": "is at most"}
NUMBERS = ("integer", "number", "decimal")


@dataclass(frozen=True, slots=True)
class Bound:
    """The control of one argument: how it is bound, and by which value."""

    name: str
    label: str
    hows: tuple[tuple[str, str], ...]
    how: str
    value: str
    control: str  # number, text, row, choice
    shown: str = ""  # a row, by its label
    choices: tuple[tuple[str, str], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """All controls of one rule, as they stand."""

    bounds: tuple[Bound, ...]
    whose: str  # for_me, for_everybody
    uses: str
    sum_of: str
    sums: tuple[tuple[str, str], ...]  # the arguments that can be added up: name, label
    most: str
    until: str
    errors: Mapping[str, str]

    def marked(self, errors: Mapping[str, str]) -> Sentence:
        """The same with what is wrong with it."""
        bounds = tuple(replace(bound, error=errors.get(bound.name, "")) for bound in self.bounds)
        return replace(self, bounds=bounds, errors=dict(errors))


@dataclass(frozen=True, slots=True)
class Trial:
    """What a rule would have done with a person's last decisions, the newest first."""

    sentence: str
    covered: tuple[Proposal, ...]
    asks: tuple[Proposal, ...]

    @property
    def refused(self) -> tuple[Proposal, ...]:
        """Those it would have done that a person refused."""
        return tuple(proposal for proposal in self.covered if proposal.status is ProposalStatus.REFUSED)

    @property
    def changed(self) -> tuple[Proposal, ...]:
        """Those it would have done as they were, which a person changed first."""
        return tuple(proposal for proposal in self.covered if proposal.edited is not None)


def choices_of(offer: RuleOffer, today: date, proposal: Proposal | None = None, form: Form | None = None) -> Sentence:
    """The controls: as posted, else as narrow as the proposal's own call, else wide but for number and time."""
    bounds = []
    for name, part in offer.schema.get("properties", {}).items():
        bound = _bound(offer, name, kind_of(part, offer.schema), proposal)
        if form is not None:
            how = str(form.get(f"how.{name}", ANY))
            value = bound.value if bound.control == "row" else str(form.get(f"value.{name}", ""))
            bound = replace(bound, how=how if how in dict(bound.hows) else ANY, value=value)
        bounds.append(bound)
    posted = form if form is not None else {}
    return Sentence(
        bounds=tuple(bounds),
        whose=_whose(offer, str(posted.get("whose", ""))),
        uses=str(posted.get("uses", USES if form is None else "")),
        sum_of=str(posted.get("sum_of", "")),
        sums=tuple((bound.name, bound.label) for bound in bounds if bound.control == "number"),
        most=str(posted.get("most", "")),
        until=str(posted.get("until", today + timedelta(days=DAYS) if form is None else "")),
        errors={},
    )


def _whose(offer: RuleOffer, said: str) -> str:
    if said == "for_everybody" and offer.for_everybody:
        return said
    return "for_me" if offer.for_me else "for_everybody"


def _bound(offer: RuleOffer, name: str, kind: Kind, proposal: Proposal | None) -> Bound:
    known = proposal is not None and proposal.arguments.get(name) is not None
    value = text_of(proposal.arguments[name]) if proposal is not None and known else ""
    label = label_of(name)
    if name in offer.rows:
        shown = dict(proposal.shown).get(label, value) if proposal is not None else ""
        hows = _hows("equals") if known else _hows()
        return Bound(name, label, hows, "equals" if known else ANY, value, "row", shown)
    if kind.control in NUMBERS:
        return Bound(name, label, _hows("at most", "equals"), "at most" if known else ANY, value, "number")
    how = "equals" if known else ANY
    if kind.control in ("choice", "check"):
        entries = kind.schema.get("enum", (True, False))
        choices = tuple((text_of(entry), _said(entry)) for entry in entries)
        return Bound(name, label, _hows("equals"), how, value, "choice", choices=choices)
    hows = _hows("equals", "one of", "starts with") if kind.schema.get("type") == "string" else _hows("equals")
    return Bound(name, label, hows, how, value, "text")


def _said(entry: Any) -> str:
    return ("yes" if entry else "no") if isinstance(entry, bool) else str(entry)


def _hows(*hows: How) -> tuple[tuple[str, str], ...]:
    words = WORDS | AT_MOST
    return tuple((how, words[how]) for how in (ANY, *hows))


def bounds_from(sentence: Sentence, today: date) -> Bounds:
    """What the controls say. Raises BadInput by argument, "uses", "sum_of" and "until"."""
    wrong: dict[str, str] = {}
    where = []
    for bound in sentence.bounds:
        if bound.how == ANY:
            continue
        if not bound.value.strip() and bound.how != "equals":
            wrong[bound.name] = "Say what it is bound to, or let it be anything."
            continue
        how = next(known for known in HOWS if known == bound.how)
        where.append(Where(bound.name, how, _value(bound)))
    uses = _whole(sentence.uses, wrong)
    sum_of = None
    if sentence.most.strip():
        sum_of = (sentence.sum_of or next((name for name, _ in sentence.sums), ""), _number(sentence.most))
    until = _until(sentence.until, today, wrong)
    if wrong:
        raise BadInput(wrong)
    return Bounds(tuple(where), uses, sum_of, until)


def _value(bound: Bound) -> str | tuple[str, ...]:
    if bound.how == "one of":
        return tuple(line.strip() for line in bound.value.splitlines() if line.strip())
    if bound.control == "number":
        return _number(bound.value)
    return bound.value.replace("\r\n", "\n")


def _number(text: str) -> str:
    plain = "".join(text.split())
    return plain.replace(",", ".") if "," in plain and "." not in plain else plain


def _whole(text: str, wrong: dict[str, str]) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or not 0 < int(text) < 10**9:
        wrong["uses"] = "Write a whole number of 1 or more, or leave it empty."
        return None
    return int(text)


def _until(text: str, today: date, wrong: dict[str, str]) -> date | None:
    if not text.strip():
        return None
    try:
        found = date.fromisoformat(text.strip())
    except ValueError:
        wrong["until"] = "Write a day, such as 2031-04-02, or leave it empty."
        return None
    if found < today:
        wrong["until"] = "That day is over."
    return found


async def tried(desk: Desk, offer: RuleOffer, bounds: Bounds, whose: str) -> Trial:
    """The rule in words, and what it would have done (rule R12)."""
    found = await desk.rule_would_have_covered(offer.agent, offer.action, bounds)
    words = await desk.bounds_in_words(offer.agent, offer.action, bounds)
    whom = "everybody" if whose == "for_everybody" else "you"
    sentence = f"{offer.agent_label} may do this alone in work for {whom}: {offer.action_label}"
    return Trial(
        sentence=f"{sentence}{f', {words}' if words else ', without any bound'}.",
        covered=tuple(proposal for proposal, fits in found if fits),
        asks=tuple(proposal for proposal, fits in found if not fits),
    )
