"""Naming a model: what an agency takes and refuses when it is made, whose key is used, and what a model costs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from handon import BadDeclaration, LlmModel, Price
from tests.builders import make, model
from tests.wire import KEY, WIRES, Wire, provider

PRICE = Price(input=1, output=5)
NOWHERE = "http://127.0.0.1:9/v1"

each_wire = pytest.mark.parametrize("wire", WIRES, ids=[wire.prefix for wire in WIRES])


def made(*models: LlmModel, **settings: Any) -> LlmModel:
    """The first of the models, as an agency has it."""
    agency = make("sqlite:///never-opened.db", models=list(models), default_model=models[0].name, **settings)
    return agency._house.models[models[0].name]


def python(program: str, **environment: str) -> str:
    """What a program of its own prints, with no key in the environment but those given."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=inherited | environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# D8, M9
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"model": ""}, "has no client to ask it through: name its provider and model"),
        ({"model": "claude-opus-5"}, "which names no provider: anthropic:..., openai:..., openai-chat:..."),
        ({"model": "anthropic:"}, "names no provider"),
        ({"model": "cohere:command"}, "is called 'cohere:command', which names no provider"),
        ({"model": "openai-chat:x", "base_url": "127.0.0.1:8000"}, "which is no http"),
        ({"model": "openai-chat:x", "base_url": NOWHERE, "price": None}, "has no price: give it one"),
        ({"model": "openai:gpt-unheard-of", "price": None}, "none is known for openai:gpt-unheard-of"),
        ({"model": "anthropic:x", "price": None}, "none is known for anthropic:x"),
        ({"model": "openai:gpt-5", "price": None}, "known in USD only while the agency counts in EUR"),
        ({"model": "openai:whisper-1", "price": None}, "none is known for openai:whisper-1"),
        ({"model": "openai:gpt-5", "api_key": "sk-\u00e4"}, "characters in it that no key has"),
        ({"model": "openai:gpt-5", "max_output_tokens": 0}, "may not answer anything"),
        ({"model": "openai:gpt-5", "timeout": timedelta(0)}, "has no time to answer"),
    ],
)
def test_a_model_that_could_not_be_asked_or_paid_is_refused_in_words_that_say_what_to_do(
    given: dict[str, Any], says: str
) -> None:
    named = LlmModel("Odd", **{"api_key": KEY, "price": PRICE} | given)
    with pytest.raises(BadDeclaration) as refused:
        made(named)
    assert says in str(refused.value)
    assert "The model Odd" in str(refused.value)
    assert KEY not in str(refused.value)


MISSING = """
import sys
sys.modules[{module!r}] = None
from handon import BadDeclaration, LlmModel, Price
from tests.builders import make
try:
    make("sqlite:///never-opened.db", models=[LlmModel("Everyday", {model!r}, price={price})], currency="USD")
    print("made")
except BadDeclaration as refused:
    print(refused)
"""


# D8, M9
@pytest.mark.parametrize(
    ("module", "model", "price", "environment", "says"),
    [
        ("nothing", "anthropic:x", "Price(1, 5)", {}, "has no key: set ANTHROPIC_API_KEY, or give it api_key=."),
        ("nothing", "anthropic:x", "Price(1, 5)", {"ANTHROPIC_API_KEY": " "}, "has no key: set ANTHROPIC_API_KEY"),
        ("nothing", "anthropic:x", "Price(1, 5)", {"ANTHROPIC_API_KEY": KEY}, "made"),
        ("nothing", "openai:x", "Price(1, 5)", {"ANTHROPIC_API_KEY": KEY}, "has no key: set OPENAI_API_KEY"),
        ("nothing", "openai-chat:x", "Price(1, 5)", {"OPENAI_API_KEY": KEY}, "made"),
        ("nothing", "anthropic:claude-opus-5", "None", {"ANTHROPIC_API_KEY": KEY}, "made"),
        ("anthropic", "anthropic:x", "Price(1, 5)", {"ANTHROPIC_API_KEY": KEY}, "pydantic-ai-slim[anthropic]"),
        ("openai", "openai-chat:x", "Price(1, 5)", {"OPENAI_API_KEY": KEY}, "pydantic-ai-slim[openai]"),
        ("pydantic_ai", "openai:x", "Price(1, 5)", {"OPENAI_API_KEY": KEY}, "needs a package that is not there"),
    ],
)
def test_a_missing_key_or_package_is_found_when_the_agency_is_made(
    module: str, model: str, price: str, environment: dict[str, str], says: str
) -> None:
    printed = python(MISSING.format(module=module, model=model, price=price), **environment)
    assert says in printed
    assert KEY not in printed


# A library takes a second or two to load: nobody who uses none waits for it.
LOADS = """
import sys
import handon
from handon import LlmModel, Price
from tests.builders import make
make("sqlite:///never-opened.db")
LlmModel("Everyday", "anthropic:claude-opus-5")
print([name for name in ("anthropic", "openai", "pydantic_ai", "genai_prices", "httpx2") if name in sys.modules])
"""


# D8
def test_no_providers_library_is_loaded_before_an_agency_is_made_with_such_a_model() -> None:
    assert python(LOADS) == "[]\n"


# M9, D8
def test_where_the_agency_counts_in_dollars_a_known_model_needs_no_price() -> None:
    named = made(LlmModel("Everyday", "anthropic:claude-opus-4-8", api_key=KEY), currency="USD")
    assert named.price is not None
    assert named.price.micros(1_000_000, 0) == 5_000_000
    assert named.price.micros(0, 1_000_000) == 25_000_000
    assert named.price.micros(1_000_000, 0, 1_000_000) == 500_000


# M9
def test_a_price_that_is_given_is_the_one_that_is_used_in_any_currency() -> None:
    for currency in ("EUR", "USD"):
        assert made(LlmModel("Everyday", "openai:gpt-5", price=PRICE, api_key=KEY), currency=currency).price is PRICE


# M2, M9
def test_a_long_call_is_reserved_and_charged_at_the_price_of_long_calls() -> None:
    named = made(LlmModel("Everyday", "openai:gpt-5.4", api_key=KEY), currency="USD")
    assert named.price is not None
    for tokens_in, input, cached, output in ((272_000, "2.5", "0.25", 15), (272_001, 5, "0.5", "22.5")):
        flat = Price(input=input, output=output, cached=cached)
        assert named.price.micros(tokens_in, 1000) == flat.micros(tokens_in, 1000)
        assert named.price.micros(tokens_in, 1000, 1000) == flat.micros(tokens_in, 1000, 1000)


# M2
def test_a_price_over_so_many_tokens_holds_for_the_whole_call() -> None:
    price = Price(input=1, output=5, over={1000: Price(input=2, output=10), 5000: Price(input=3, output=10)})
    costs = [price.micros(tokens_in, 100) for tokens_in in (1000, 1001, 5000, 5001)]
    assert costs == [1000 + 500, 2002 + 1000, 10_000 + 1000, 15_003 + 1000]


# M9
def test_a_model_with_a_client_of_its_own_is_taken_as_it_is() -> None:
    given = model()
    taken = made(given)
    assert (taken.client, taken.price) == (given.client, given.price)


ASKS = """
import asyncio
from uuid import uuid4
from handon import LlmModel, Message, ModelRequest, Price
from tests.builders import make

async def main():
    given = LlmModel("Everyday", {model!r}, price=Price(1, 5), base_url={base_url!r})
    client = make("sqlite:///never-opened.db", models=[given])._house.models["Everyday"].client
    request = ModelRequest("Everyday", "Clerk", uuid4(), "work", [Message("user", "Hello?")], [], 100)
    print((await client.ask(request)).text)
    await client.aclose()

asyncio.run(main())
"""


async def asked(wire: Wire, base_url: str | None, environment: dict[str, str]) -> str:
    """What a program of its own is told by its model."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        ASKS.format(model=f"{wire.prefix}:some-model", base_url=base_url),
        env=os.environ | environment,
        stdout=subprocess.PIPE,
    )
    out, _ = await running.communicate()
    return out.decode()


def keys(url: str) -> dict[str, str]:
    """An environment with both providers' keys, and with another address for each where one is given."""
    there = {"OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url} if url else {}
    return {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": KEY} | there


# D8
@each_wire
async def test_the_environments_key_is_not_sent_to_another_address(wire: Wire) -> None:
    async with provider(wire.says("Hello.")) as there:
        assert await asked(wire, there.url + wire.path, keys("")) == "Hello.\n"
        assert len(there.headers) == 1
        assert KEY not in there.headers[0]


# D8
@each_wire
async def test_the_environments_address_is_kept_to_where_the_model_names_none(wire: Wire) -> None:
    async with provider(wire.says("Hello.")) as there:
        assert await asked(wire, None, keys(there.url)) == "Hello.\n"
        assert KEY in there.headers[0]
