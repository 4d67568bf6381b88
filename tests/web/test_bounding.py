"""The sentence of a standing rule as a form: what its controls begin with, and what they come to."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any, Literal

import pytest

from core.declare.bounds import Bounds, Where
from core.values import Proposal, RuleOffer
from handon import BadInput, action
from web.bounding import ANY, bounds_from, choices_of

TODAY = date(2031, 4, 2)


@action("Order cloth", says="Order {metres} m of {colour}")
def order(colour: Literal["red", "blue"], metres: Decimal, count: int, express: bool, parts: list[str], to: str) -> str:
    return "Ordered."


OFFER = RuleOffer("Buyer", "Buyer", "order", "Order cloth", order.schema, (), True, True)


def proposal(**arguments: Any) -> Proposal:
    """A proposal of which only the call is looked at."""
    found: Proposal = object.__new__(Proposal)
    object.__setattr__(found, "arguments", arguments)
    object.__setattr__(found, "shown", ())
    return found


CALL = proposal(colour="red", metres="3.5", count=2, express=True, parts=["a", "b"], to="mill@wookey.example")


# R12
def test_the_controls_begin_as_narrow_as_the_call() -> None:
    bounds = bounds_from(choices_of(OFFER, TODAY, CALL), TODAY)
    assert bounds.where == (
        Where("colour", "equals", "red"),
        Where("metres", "at most", "3.5"),
        Where("count", "at most", "2"),
        Where("express", "equals", "true"),
        Where("parts", "equals", '["a","b"]'),
        Where("to", "equals", "mill@wookey.example"),
    )
    assert all(condition.holds(CALL.arguments) for condition in bounds.where)
    assert (bounds.uses, bounds.sum_of, bounds.until) == (10, None, date(2031, 5, 2))
    assert bounds.checked(order.schema) == bounds


# R12
def test_what_is_posted_is_read_as_a_person_writes_it() -> None:
    form = {
        **{"how.colour": ANY, "how.metres": "at most", "value.metres": "1 000,5", "how.count": ANY},
        **{"how.express": "equals", "value.express": "false", "how.parts": ANY},
        **{"how.to": "one of", "value.to": " a@x.example \r\n\r\nb@x.example"},
        **{"whose": "for_everybody", "uses": "", "sum_of": "metres", "most": "20", "until": ""},
    }
    asked = choices_of(OFFER, TODAY, CALL, form)
    assert asked.whose == "for_everybody"
    assert bounds_from(asked, TODAY) == Bounds(
        (
            Where("metres", "at most", "1000.5"),
            Where("express", "equals", "false"),
            Where("to", "one of", ("a@x.example", "b@x.example")),
        ),
        None,
        ("metres", "20"),
        None,
    )


# R12
@pytest.mark.parametrize(
    ("field", "text", "named"),
    [("uses", "0", "uses"), ("uses", "²", "uses"), ("until", "soon", "until"), ("until", "2031-04-01", "until")],
)
def test_what_cannot_be_read_is_named(field: str, text: str, named: str) -> None:
    with pytest.raises(BadInput) as caught:
        bounds_from(choices_of(OFFER, TODAY, CALL, {field: text}), TODAY)
    assert list(caught.value.fields) == [named]


# R12
def test_a_way_to_bind_that_an_argument_does_not_have_is_none() -> None:
    asked = choices_of(OFFER, TODAY, CALL, {"how.metres": "starts with", "value.metres": "3"})
    assert bounds_from(asked, TODAY).where == ()


# R12
def test_a_rule_for_everybody_is_not_read_from_somebody_who_may_not_give_it() -> None:
    mine = RuleOffer("Buyer", "Buyer", "order", "Order cloth", order.schema, (), True, False)
    assert choices_of(mine, TODAY, CALL, {"whose": "for_everybody"}).whose == "for_me"
