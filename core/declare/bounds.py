"""Bounds of a standing rule: the arguments, the number and the time within which an agent goes alone (rule R12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from core.declare.schemas import canonical
from core.errors import BadInput

How = Literal["equals", "one of", "starts with", "at most"]
HOWS: tuple[How, ...] = ("equals", "one of", "starts with", "at most")


def number(value: Any) -> Decimal | None:
    """A number an argument stands for, exactly; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def text_of(value: Any) -> str:
    """An argument as a condition has it: text as it is, everything else as canonical JSON."""
    return value if isinstance(value, str) else canonical(value)


@dataclass(frozen=True, slots=True)
class Where:
    """One condition on an argument: `Where("price", "at most", "50")`, `Where("to", "one of", ("a", "b"))`."""

    argument: str
    how: How
    value: str | tuple[str, ...]

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call's arguments meet it. An argument that is not there meets nothing."""
        if self.argument not in arguments or arguments[self.argument] is None:
            return False
        given = arguments[self.argument]
        if self.how == "at most":
            most, value = number(self.value), number(given)
            return most is not None and value is not None and value <= most
        if self.how == "one of":
            return text_of(given) in self.value
        if self.how == "starts with":
            return isinstance(given, str) and given.startswith(str(self.value))
        return text_of(given) == self.value

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """ "price is at most 50". `names` says how a value reads that is an id."""
        named = names or {}
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        value = " or ".join(named.get(value, value) for value in values)
        words = {"equals": "is", "one of": "is", "starts with": "starts with", "at most": "is at most"}
        return f"{self.argument.replace('_', ' ')} {words[self.how]} {value}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """`where` all hold, at most `uses` times, the `sum_of` a numeric argument at most so much, `until` a day (its end
    in UTC) or a moment. A call outside them is proposed as before."""

    where: tuple[Where, ...] = ()
    uses: int | None = None
    sum_of: tuple[str, str] | None = None
    until: date | datetime | None = None

    def checked(self, schema: Mapping[str, Any]) -> Bounds:
        """These bounds, or BadInput naming what does not fit the action's arguments."""
        known = schema.get("properties", {})
        wrong: dict[str, str] = {}
        for condition in self.where:
            if condition.argument not in known:
                wrong[condition.argument] = f"There is no such argument; there are {', '.join(known) or 'none'}."
            elif condition.how not in HOWS:
                wrong[condition.argument] = f"{condition.how!r} is none of {', '.join(HOWS)}."
            elif condition.how == "at most" and number(condition.value) is None:
                wrong[condition.argument] = "Say at most which number."
            elif condition.how == "one of" and (isinstance(condition.value, str) or not condition.value):
                wrong[condition.argument] = "Say one of which."
        if self.uses is not None and self.uses < 1:
            wrong["uses"] = "It is at least 1."
        if self.sum_of is not None:
            argument, most = self.sum_of
            amount = number(most)
            if argument not in known:
                wrong["sum_of"] = f"There is no argument {argument}; there are {', '.join(known) or 'none'}."
            elif amount is None or amount <= 0:
                wrong["sum_of"] = "Say up to which sum, more than 0."
        if wrong:
            raise BadInput(wrong)
        return self

    def ends_at(self) -> datetime | None:
        """The first moment at which they no longer hold."""
        if self.until is None or isinstance(self.until, datetime):
            return self.until
        return datetime.combine(self.until + timedelta(days=1), time(), UTC)

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """ "where price is at most 50, 20 times, up to 500 in price, through 2031-04-02"; empty without bounds."""
        said = " and ".join(condition.sentence(names) for condition in self.where)
        parts = [f"where {said}"] if self.where else []
        parts += [f"{self.uses} {'time' if self.uses == 1 else 'times'}"] if self.uses else []
        parts += [f"up to {self.sum_of[1]} in {self.sum_of[0].replace('_', ' ')}"] if self.sum_of else []
        end = self.ends_at()
        parts += [f"through {end - timedelta(microseconds=1):%Y-%m-%d}"] if end else []
        return ", ".join(parts)
