"""Money: limits of a day or a month, for agents and for people (rule M7), the meter (M8), accounts and prices."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal
from uuid import UUID

from core import (
    amounts,
    money,
    people,
    reading,
    spending,
)
from core.clock import to_micros
from core.declare.agents import Agent
from core.desk.base import Part
from core.errors import BadInput, NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import (
    Account,
    Limitable,
    Meter,
    MeterCall,
    ModelPrice,
    Person,
    SpendLimit,
)

FIRST_YEAR, LAST_YEAR = 2000, 2999  # of days that may be asked for


def _may_see(reader: Reader) -> None:
    """Raises NotAllowed unless the app says that this person reads model usage or manages model spend (rule R9)."""
    if not (reader.may.reads_model_usage or reader.may.manages_model_spend):
        raise NotAllowed("What is spent on models is seen by those who read model usage or manage model spend.")


def _may_set(reader: Reader) -> None:
    if not reader.may.manages_model_spend:
        raise NotAllowed("Limits are set by those who manage model spend.")


class Spending(Part):
    def today(self) -> date:
        """The day that it is in the agency's time zone."""
        return spending.today(self._house.settings, to_micros(self._house.clock.now()))

    async def meter(self, first: date, last: date, *, models_only: bool = False) -> Meter:
        """What was spent from the first day to the last, both included, by model, agent, person and whole (rule M8);
        with `models_only`, which is cheaper, by model alone.

        Raises NotAllowed unless the app says that this person reads model usage or manages model spend (rule R9), and
        BadInput for days in the wrong order. A whole this person may not see has no name.
        """
        if first > last:
            raise BadInput({"last": "The last day comes before the first."})
        if not FIRST_YEAR <= first.year <= last.year <= LAST_YEAR:
            raise BadInput({"first": f"Choose days of the years {FIRST_YEAR} to {LAST_YEAR}."})

        def read(tx: Tx, reader: Reader) -> Meter:
            _may_see(reader)
            return reading.meter(self._house, tx, reader, first, last, models_only=models_only)

        return await self._read(read)

    async def metered_calls(self, limit: int = 50, before: MeterCall | None = None) -> list[MeterCall]:
        """Calls on the meter, the newest first; `before`: the last one shown, of which time, piece and number count.

        Raises NotAllowed, as `meter` does.
        """
        place = (to_micros(before.at), before.piece.hex, before.n) if before else None

        def read(tx: Tx, reader: Reader) -> list[MeterCall]:
            _may_see(reader)
            return reading.calls(self._house, tx, reader, limit, place)

        return await self._read(read)

    async def accounts(self, limit: int = 50, after: str = "") -> list[Account]:
        """What wholes are charged to together (`on=`), by key; `after`: the last one shown. Raises NotAllowed."""

        def read(tx: Tx, reader: Reader) -> list[Account]:
            _may_see(reader)
            return reading.accounts(tx, limit, after)

        return await self._read(read)

    async def limitable_account(self, key: str) -> Account:
        """One of them, for whoever may limit it. Raises NotFound, NotAllowed."""

        def read(tx: Tx, reader: Reader) -> Account:
            _may_set(reader)
            return reading.account_of(tx, key)

        return await self._read(read)

    async def set_account_limit(self, key: str, amount: Decimal | None) -> Account:
        """Limit what may be charged to an account (`on=`) in all, in the currency unit; None takes the limit away. It
        holds from the next call on; what is spent or held already stays.

        Raises NotAllowed unless the app says that this person manages model spend, NotFound for an account that no
        work was charged to and the app has not limited, BadInput for what is no amount.
        """
        micros = amounts.to_micros(amount) if amount is not None else None

        def write(tx: Tx, reader: Reader) -> Account:
            _may_set(reader)
            reading.account_of(tx, key)
            money.limit_account(tx, key, micros, self._id)
            return reading.account_of(tx, key)

        return await self._write(write)

    async def prices(self) -> list[ModelPrice]:
        """What each model costs, and who works with it. Raises NotAllowed."""

        def read(tx: Tx, reader: Reader) -> list[ModelPrice]:
            _may_see(reader)
            return reading.prices(self._house)

        return await self._read(read)

    async def spend_limits(self) -> list[SpendLimit]:
        """Every limit of a day or a month that holds, declared or set, with what is spent and held in the running one.

        Raises NotAllowed unless the app says that this person reads model usage or manages model spend (rule R9).
        """

        def read(tx: Tx, reader: Reader) -> list[SpendLimit]:
            _may_see(reader)
            return reading.spend_limits(self._house, tx)

        return await self._read(read)

    async def limitable(self) -> list[Limitable]:
        """Every agent, then everybody who is active: whose work this person may limit. Raises NotAllowed."""

        def read(tx: Tx, reader: Reader) -> list[Limitable]:
            _may_set(reader)
            return reading.limitable(self._house, tx)

        return await self._read(read)

    async def set_spend_limit(
        self,
        amount: Decimal | None,
        *,
        agent: type[Agent] | str | None = None,
        person: Person | UUID | None = None,
        period: Literal["day", "month"],
    ) -> None:
        """Limit what the work of an agent, or the work for a person, may cost in each day or month from now on, in the
        currency unit; None takes away what was set. It holds from the next call on. An agent's declared limit stays:
        the least of both holds. A person's stands instead of the agency's `person_per_month`.

        Raises NotAllowed unless the app says that this person manages model spend, NotFound for an agent or person
        who is not there, BadInput for what is no amount or where not exactly one of the two is named.
        """
        micros = amounts.to_micros(amount) if amount is not None else None
        if (agent is None) == (person is None):
            raise BadInput({"limit": "Name an agent or a person, and not both."})
        if period not in ("day", "month"):
            raise BadInput({"period": f"{period!r} is neither day nor month."})

        def write(tx: Tx, reader: Reader) -> None:
            _may_set(reader)
            if person is not None:
                id = (person.id if isinstance(person, Person) else person).hex
                subject = spending.of_person(people.row(tx, id).id)
            else:
                subject = spending.of_agent(self._agent(agent or "").name)
            spending.set_limit(tx, subject, period, micros, self._id)

        await self._write(write)
