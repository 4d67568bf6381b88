"""Who somebody that a provider names is here, and what roles they hold from then on."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from core.values import Identity
from handon import NotAllowed
from handon.testing import TestClock
from tests.builders import Shop, shop

HERE, ELSEWHERE = "https://login.test", "https://other.test"


def who(subject: str = "s-1", email: str = "mia@bindery.test", **other: object) -> Identity:
    return Identity(**{"issuer": HERE, "subject": subject, "email": email, "email_verified": True, "name": "M"} | other)  # type: ignore[arg-type]


async def roles_of(at: Shop, name: str = "Mia") -> set[str]:
    return {role for person in await at.agency.people() if person.name == name for role in person.roles}


async def test_the_first_time_a_verified_address_counts_and_from_then_on_the_subject(database: str) -> None:
    async with shop(database) as at:
        first = await at.agency.sign_in_as(who(email=" MIA@bindery.test "))
        later = await at.agency.sign_in_as(who(email="noor@bindery.test", email_verified=False))
        for session in (first, later):
            person = await at.agency.signed_in(session)
            assert person is not None and person.id == at.mia.id


async def test_somebody_who_signs_in_for_the_first_time_in_many_tabs_at_once_is_added_once(database: str) -> None:
    async with shop(database) as at:
        ada = who("s-9", "ada@bindery.test", name="Ada", roles=frozenset({"binder"}))
        sessions = await asyncio.gather(*(at.agency.sign_in_as(ada) for _ in range(8)))
        people = [await at.agency.signed_in(session) for session in sessions]
        assert len({person.id for person in people if person is not None}) == 1
        assert [person.name for person in await at.agency.people()] == ["Ada", "Mia", "Noor"]
        assert await roles_of(at, "Ada") == {"binder"}


async def test_two_accounts_of_the_provider_with_one_address_are_not_one_person(database: str) -> None:
    async with shop(database) as at:
        came = await asyncio.gather(
            *(at.agency.sign_in_as(who(subject)) for subject in ("s-1", "s-2")), return_exceptions=True
        )
        assert sorted(type(answer).__name__ for answer in came) == ["NotAllowed", "str"]


async def test_an_address_that_nobody_verified_finds_and_adds_nobody(database: str) -> None:
    async with shop(database) as at:
        for claimed in (who(email_verified=False), who(email=""), who("s-9", "ada@bindery.test", email_verified=False)):
            with pytest.raises(NotAllowed):
                await at.agency.sign_in_as(claimed)
        assert [person.name for person in await at.agency.people()] == ["Mia", "Noor"]


# R10
async def test_a_deactivated_person_is_refused_and_keeps_no_trace_of_it(database: str) -> None:
    async with shop(database) as at:
        await at.agency.deactivate(at.mia)
        with pytest.raises(NotAllowed, match="deactivated"):
            await at.agency.sign_in_as(who(roles=frozenset({"master"})))
        rows = await at.agency.store.read(
            lambda tx: tx.connection.exec_driver_sql("select count(*) from identity").scalar()
        )
        assert rows == 0


# R10
async def test_somebody_known_is_refused_from_the_moment_they_are_deactivated(database: str) -> None:
    async with shop(database) as at:
        await at.agency.sign_in_as(who())
        await at.agency.deactivate(at.mia)
        with pytest.raises(NotAllowed, match="deactivated"):
            await at.agency.sign_in_as(who())


async def test_roles_that_a_claim_gave_go_with_it_also_when_it_is_another_providers(database: str) -> None:
    async with shop(database) as at:
        await at.agency.sign_in_as(who(roles=frozenset({"binder", "master"})))
        assert await roles_of(at) == {"binder", "master"}
        await at.agency.sign_in_as(who(roles=None))  # no claim is asked: they stay
        assert await roles_of(at) == {"binder", "master"}
        await at.agency.sign_in_as(who("e-1", issuer=ELSEWHERE, roles=frozenset({"helper"})))
        assert await roles_of(at) == {"binder", "helper"}  # binder by hand
        await at.agency.sign_in_as(who("e-1", issuer=ELSEWHERE, roles=frozenset()))
        assert await roles_of(at) == {"binder"}


async def test_forgetting_who_somebody_is_there_takes_away_what_the_claim_gave(database: str) -> None:
    async with shop(database) as at:
        await at.agency.sign_in_as(who(roles=frozenset({"binder", "master"})))
        await at.agency.forget_identities(at.mia)
        assert await roles_of(at) == {"binder"}
        await at.agency.sign_in_as(who("s-2", roles=frozenset({"master"})))
        assert await roles_of(at) == {"binder", "master"}


async def test_a_state_counts_once_also_when_it_comes_back_twice_at_once(database: str, clock: TestClock) -> None:
    async with shop(database, clock=clock) as at:
        lasts = timedelta(minutes=10)
        came = await asyncio.gather(*(at.agency.use_state("a-state", lasts) for _ in range(8)))
        assert sorted(came) == [False] * 7 + [True]
        await clock.advance(timedelta(minutes=11))
        assert await at.agency.use_state("another", lasts)
        kept = await at.agency.store.read(
            lambda tx: tx.connection.exec_driver_sql("select count(*) from used_state").scalar()
        )
        assert kept == 1  # what is too old in any case is not kept
