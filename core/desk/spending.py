"""Limits of a day or a month, for agents and for people (rule M7)."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal
from uuid import UUID

from core import (
    amounts,
    people,
    reading,
    spending,
)
from core.declare.agents import Agent
from core.desk.base import Part
from core.errors import BadInput, NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import (
    Person,
    SpendLimit,
)


class Spending(Part):
    async def spend_limits(self) -> list[SpendLimit]:
        """Every limit of a day or a month that holds, declared or set, with what is spent and held in the running one.

        Raises NotAllowed unless the app says that this person reads model usage or manages model spend (rule R9).
        """

        def read(tx: Tx, reader: Reader) -> list[SpendLimit]:
            if not (reader.may.reads_model_usage or reader.may.manages_model_spend):
                raise NotAllowed("What may be spent is seen by those who read model usage or manage model spend.")
            return reading.spend_limits(self._house, tx)

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
            if not reader.may.manages_model_spend:
                raise NotAllowed("Limits are set by those who manage model spend.")
            if person is not None:
                id = (person.id if isinstance(person, Person) else person).hex
                subject = spending.of_person(people.row(tx, id).id)
            else:
                subject = spending.of_agent(self._agent(agent or "").name)
            spending.set_limit(tx, subject, period, micros, self._id)

        await self._write(write)
