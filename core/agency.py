"""The composition root of an app: agents, models, policies, settings, store, dispatcher and clock, put together.

    async with Agency(agents=[...], models=[...], ...) as agency:
        outcome = await agency.desk(mia).of(Planner).do(PlanRebinding(), volume)

On entering it opens the store, migrates it, writes down what is declared where that is new, and starts the clock and
the dispatcher; on leaving it lets running steps end and gives their pieces back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from core import (
    abandonment,
    amounts,
    delegations,
    ids,
    mapping,
    migrations,
    money,
    people,
    receipts,
    signing,
    signing_in,
    vault,
    verifying,
    work,
)
from core.clock import Clock, WallClock, to_micros
from core.declare.agents import Agent, Guards
from core.declare.rights import Policies
from core.desk import Desk
from core.dispatch.bus import Bus
from core.dispatch.local import LocalDispatcher
from core.errors import Abort, BadDeclaration, HandonError, NotFound, ProcessDied
from core.house import Events, House
from core.loop import Loop
from core.models import ready
from core.models.llm import LlmModel
from core.models.scripted import Answerer, ScriptedModel
from core.rounds import Rounds
from core.settings import Settings
from core.sql import Statement
from core.store import Store, Tx
from core.tables import account
from core.values import Delegated, Identity, Person

T = TypeVar("T")

_ACCOUNT = Statement(select(account).where(account.c.key == bindparam("account_key")))


class Agency:
    """See the module. Raises BadDeclaration at once for what does not hold together (rule D8).

    `database` is a URL: `sqlite:///handon.db` or `postgresql://...`; the environment's HANDON_DATABASE is used instead
    where it is set. `{unique}` in that stands for a name made of `database`, and such a database is made where there
    is none: so an app's tests, each with a file of its own, run on PostgreSQL as they are.
    """

    def __init__(
        self,
        *,
        agents: Sequence[Agent],
        models: Sequence[LlmModel],
        default_model: str,
        policies: Policies,
        task_budget: Decimal = Settings.task_budget,
        name: str = Settings.name,
        currency: str = Settings.currency,
        time_zone: str = Settings.time_zone,
        person_per_month: Decimal | None = Settings.person_per_month,
        database: str = Settings.database,
        clock: Clock | None = None,
        abandoned_after: timedelta = Settings.abandoned_after,
        abandoned_check_every: timedelta = Settings.abandoned_check_every,
        when_abandoned: Literal["close", "resume"] = Settings.when_abandoned,
        takeovers: int = Settings.takeovers,
        sweep_every: timedelta = Settings.sweep_every,
        concurrency: int = Settings.concurrency,
        stop_grace: timedelta = Settings.stop_grace,
        undo_for: timedelta = Settings.undo_for,
        guards: Guards = Settings.guards,
        model_tries: int = Settings.model_tries,
        model_pause: timedelta = Settings.model_pause,
        create_rows: bool = Settings.create_rows,
    ) -> None:
        by_name, by_model = delegations.check(agents, models, default_model, currency)
        amounts.to_micros(task_budget)
        if person_per_month is not None:
            amounts.to_micros(person_per_month)
        if when_abandoned not in ("close", "resume"):
            raise BadDeclaration(f"when_abandoned is {when_abandoned!r}; it is 'close' or 'resume'.")
        if takeovers < 0:
            raise BadDeclaration(f"takeovers is {takeovers}; it is not negative.")
        if undo_for < timedelta(0):
            raise BadDeclaration(f"undo_for is {undo_for}; it is not negative.")
        settings = Settings(
            name=name,
            currency=currency,
            time_zone=_zone(time_zone),
            person_per_month=person_per_month,
            task_budget=task_budget,
            database=migrations.instead_of(database, os.environ.get("HANDON_DATABASE", "")),
            abandoned_after=abandoned_after,
            abandoned_check_every=abandoned_check_every,
            when_abandoned=when_abandoned,
            takeovers=takeovers,
            sweep_every=sweep_every,
            concurrency=concurrency,
            stop_grace=stop_grace,
            undo_for=undo_for,
            guards=guards,
            model_tries=model_tries,
            model_pause=model_pause,
            create_rows=create_rows,
        )
        self.clock: Clock = clock or WallClock()
        self.bus = Bus()
        self.events = Events()
        self._dispatcher = LocalDispatcher(concurrency)
        self._house = House(
            agents=by_name,
            models=by_model,
            default_model=default_model,
            policies=policies,
            settings=settings,
            clock=self.clock,
            dispatcher=self._dispatcher,
            bus=self.bus,
            events=self.events,
        )
        self.store = Store(settings.database, lambda: to_micros(self.clock.now()))
        self._loop = Loop(self._house, self.store)
        self._rounds = Rounds(self._house, self.store)
        self._aborted: Abort | None = None

    @property
    def settings(self) -> Settings:
        return self._house.settings

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def currency(self) -> str:
        return self.settings.currency

    @property
    def public_key(self) -> str:
        """The key that signs this agency's finished records, hex (rule T6)."""
        return self._house.signer.public if self._house.signer else ""

    @property
    def agents(self) -> dict[str, Agent]:
        """The app's agents by name."""
        return dict(self._house.agents)

    # Opening and leaving

    async def __aenter__(self) -> Agency:
        def prepare(connection: Any) -> None:
            migrations.upgrade(connection)
            if self.settings.create_rows:
                migrations.create_rows(connection)

        if "{unique}" in os.environ.get("HANDON_DATABASE", ""):
            migrations.create_database(self.settings.database)
        self.store.open(prepare)
        house = self._house
        declared = mapping.declared(house.agents, house.models, house.default_model, house.settings)
        house.signer, house.map_version = await self.store.write(
            lambda tx: (signing.load(tx), mapping.keep(tx, declared))
        )
        self._house.stopping = False
        self._house.alarm = partial(self._rounds.release_at, self.clock)
        self._dispatcher.aborted = self._on_abort
        self._dispatcher.start(self._loop.run)
        await self._rounds.begin(self.clock)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._house.stopping = True
        self.bus.close()
        await self.clock.stop()
        await self._dispatcher.stop(self.settings.stop_grace.total_seconds())
        await ready.close(self._house.models.values())
        await self.store.close()

    def _on_abort(self, piece: str, error: Abort) -> None:
        self._aborted = error

        async def tell() -> None:
            # The other runs come as far as they come, as those of other processes would.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._dispatcher.idle(), 1.0)
            root = await self.store.read(lambda tx: work.root_of(tx, piece))
            self.bus.died(root, error)

        self._dispatcher.also(tell())

    async def sweep(self) -> int:
        """Make a round: carry out held decisions whose time has come, end requests whose deadline has passed (rule
        P11), and tell the dispatcher of every due piece; answers how many of these there are. The agency's clock does
        so often."""
        return await self._rounds.sweep()

    async def release(self) -> int:
        """Carry out held decisions whose time has come, or drop what cannot be done any more; answers how many were
        carried out. The agency's clock does so on time."""
        return await self._rounds.release()

    async def settle(self) -> None:
        """Wait until nothing is due or running in this agency. Raises what ended a run on the spot, once: a script
        that ran out, say."""
        while True:
            await self._dispatcher.idle()
            if self._aborted is not None and not isinstance(self._aborted, ProcessDied):
                error, self._aborted = self._aborted, None
                raise error
            if await self.sweep() == 0 and not self._dispatcher.busy:
                return

    # Desks and people

    def desk(self, person: Person | UUID | None) -> Desk:
        """What this person sees and does; None for the app itself, whose work is for nobody."""
        id = person.id if isinstance(person, Person) else person
        return Desk(self._house, self.store, id.hex if id else None)

    async def desk_of(self, person: UUID) -> Desk:
        """A desk that has looked who its person is and what they may. Raises NotFound."""
        return await self.desk(person).look()

    async def add_person(self, email: str, name: str, roles: Sequence[str] = ()) -> Person:
        """Add somebody who signs in, or grant the one who has that address these roles too. Raises BadInput."""
        return await self.store.write(lambda tx: people.add(tx, email, name, list(roles)))

    async def people(self) -> list[Person]:
        """Everybody who is active, by name."""
        return await self.store.read(people.everybody)

    async def grant(self, person: Person | UUID, *roles: str) -> None:
        await self.store.write(lambda tx: people.grant(tx, _id(person), list(roles)))

    async def deactivate(self, person: Person | UUID) -> None:
        """They sign in no more and hold no role; their work is called off at its next step (rule R10)."""
        await self.store.write(lambda tx: people.deactivate(tx, _id(person)))

    async def stand_in(self, person: Person | UUID, for_: Person | UUID, *, ends: bool = False) -> None:
        """Let `person` decide and answer what waits for `for_`, or no more (rule P9)."""
        await self.store.write(lambda tx: people.set_stand_in(tx, _id(person), _id(for_), ends=ends))

    async def seat(self, agent: type[Agent] | str, sponsor: Person | UUID | None) -> None:
        """Say who answers for an agent."""
        name = self._known(agent)
        await self.store.write(lambda tx: people.set_seat(tx, name, _id(sponsor) if sponsor else None))

    async def pause(self, agent: type[Agent] | str) -> None:
        """The agent is given no work and handed none until `resume`; what it has begun goes on."""
        name = self._known(agent)
        await self.store.write(lambda tx: people.set_paused(tx, name, True))

    async def resume(self, agent: type[Agent] | str) -> None:
        name = self._known(agent)
        await self.store.write(lambda tx: people.set_paused(tx, name, False))

    def _known(self, agent: type[Agent] | str) -> str:
        name = agent if isinstance(agent, str) else agent.__name__
        if name not in self._house.agents:
            raise NotFound(f"There is no agent {name}; there are {', '.join(self._house.agents)}.")
        return name

    # The app's own rows, unguarded

    async def write(self, fn: Callable[[Session], T]) -> T:
        """Run the app's own function in one transaction, with an ORM session that asks nobody."""
        return await self.store.write(lambda tx: fn(tx.session))

    async def read(self, fn: Callable[[Session], T]) -> T:
        return await self.store.read(lambda tx: fn(tx.session))

    # Signing in

    async def sign_in_link(self, person: UUID, minutes: int = 15) -> str:
        """A token that signs the person in once. Raises NotFound, NotAllowed."""
        return await self.store.write(lambda tx: signing_in.new_link(tx, person.hex, minutes))

    async def use_link(self, token: str) -> str | None:
        """Use a link up; answers a session's token, or None where it is unknown, used or too old."""
        return await self.store.write(lambda tx: signing_in.use_link(tx, token))

    async def link_for(self, token: str) -> Person | None:
        """Whose link it is, without using it up; None where it is unknown, used or too old."""
        return await self.store.read(lambda tx: signing_in.link_for(tx, token))

    async def sign_in_as(self, who: Identity) -> str:
        """A session's token for whoever a provider says it is; who that is here, and what roles they hold from then
        on, is `signing_in.sign_in_as`. Raises NotAllowed."""
        return await self.store.write(lambda tx: signing_in.sign_in_as(tx, who))

    async def use_state(self, state: str, lasts: timedelta) -> bool:
        """Use the state of a sign-in at a provider up; answers whether this is the first time."""
        return await self.store.write(lambda tx: signing_in.use_state(tx, state, lasts))

    async def forget_identities(self, person: Person | UUID) -> None:
        """Let a person whose account at the provider is a new one be found by their e-mail again. Roles that the
        provider gave are taken away until then."""
        await self.store.write(lambda tx: signing_in.forget_identities(tx, _id(person)))

    async def secret(self, name: str) -> str:
        """A random secret of this database, made when first asked for: for signing what pages send out."""
        return await self.store.write(lambda tx: vault.secret(tx, name))

    async def signed_in(self, token: str) -> Person | None:
        return await self.store.read(lambda tx: signing_in.signed_in(tx, token))

    async def sign_out(self, token: str) -> None:
        await self.store.write(lambda tx: signing_in.sign_out(tx, token))

    # What agents may hand on

    def delegations_of(self, agent: type[Agent] | str) -> list[Delegated]:
        """What an agent may hand on (rule D7). Raises NotFound."""
        return delegations.delegations_of(self._house.agents, self._house.agents[self._known(agent)])

    def depth_of(self, agent: type[Agent] | str) -> int:
        """How many levels may hang under its work."""
        return delegations.depth_of(self._house.agents, self._house.agents[self._known(agent)])

    # Money

    async def set_limit(self, key: str, limit: Decimal) -> None:
        """Limit what may be charged to an account (`on=`), in the currency unit."""
        micros = amounts.to_micros(limit)

        def limit_so(tx: Tx) -> None:
            money.open_account(tx, key)
            money.limit_account(tx, key, micros, None)

        await self.store.write(limit_so)

    async def spent_against(self, key: str) -> Decimal:
        """What was charged to `task:<id>`, a piece with everything under it, or to an account, in the currency unit."""

        def spent(tx: Tx) -> int:
            kind, _, id = key.partition(":")
            if kind == "task":
                return int(receipts.get(tx, ids.stored(id)).tree_micros)
            found = tx.one(_ACCOUNT, account_key=key)
            return found.spent_micros if found else 0

        return Decimal(await self.store.read(spent)) / amounts.MICROS

    # Abandonment

    async def was_abandoned(self, id: UUID) -> bool:
        """Whether the whole that a piece belongs to is under way and has been quiet too long (rule A1)."""

        def look(tx: Tx) -> bool:
            return abandonment.was_abandoned(self._house, tx, work.root_of(tx, ids.stored(id)))

        return await self.store.read(look)

    async def close_abandoned_work(self) -> int:
        """Look for abandoned wholes and close them, or take them up again where `when_abandoned` is "resume"; answers
        how many (rules A4, A7). The agency's clock does so."""
        return await self._rounds.abandoned()

    # Records

    async def verify_on(self, within: timedelta | None = None, lines: int = verifying.STEP) -> None:
        """Go on with the verification of all records that is under way (`desk.verify_all`), to its end or for about so
        long; after so many lines it is written down how far it has come. The agency's clock does so."""
        await self._rounds.verify_on(within, lines)

    # Scripts

    def script(self, answer: Answerer | Any) -> None:
        """Let every scripted model of the agency answer so: a cast, or `answer(model, request)`, plain or async."""
        answerer: Answerer = answer if callable(answer) else answer.answer
        scripted = [model.client for model in self._house.models.values() if isinstance(model.client, ScriptedModel)]
        if not scripted:
            raise HandonError("None of the agency's models is scripted.")
        for client in scripted:
            client.answer = answerer


def _id(person: Person | UUID) -> str:
    return person.id.hex if isinstance(person, Person) else person.hex


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise BadDeclaration(f"There is no time zone {name!r}: name it as the IANA does, Europe/Vienna.") from None
    return name
