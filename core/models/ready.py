"""Making a declared model ready: the client that its name stands for, its key and its price (rules D8, M9).

The libraries of providers are loaded here, when an agency is made with such a model, and not before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from core.errors import BadDeclaration
from core.models.llm import LlmModel, Price
from core.models.messages import ModelClient

# What a model's name may begin with: the environment variable of its key, and whose list price it has.
PROVIDERS = {
    "anthropic": ("ANTHROPIC_API_KEY", "anthropic"),
    "openai": ("OPENAI_API_KEY", "openai"),
    "openai-chat": ("OPENAI_API_KEY", "openai"),
}

_KEY = re.compile(r"[!-~]+\Z")


def ready(model: LlmModel, currency: str) -> LlmModel:
    """The model with a client and a price, or BadDeclaration, which says what to do about it."""
    if model.max_output_tokens <= 0:
        raise BadDeclaration(
            f"The model {model.name} may not answer anything: max_output_tokens is {model.max_output_tokens}."
        )
    if model.timeout <= timedelta(0):
        raise BadDeclaration(f"The model {model.name} has no time to answer: timeout is {model.timeout}.")
    client = model.client or _client(model)
    return replace(model, client=client, price=model.price or _price(model, currency))


async def close(models: Iterable[LlmModel]) -> None:
    """Close what the models' clients hold open, of those that can be closed."""
    for model in models:
        aclose = getattr(model.client, "aclose", None)
        if aclose is not None:
            await aclose()


def _client(model: LlmModel) -> ModelClient:
    provider, _, called = model.model.partition(":")
    if not model.model:
        raise BadDeclaration(
            f"The model {model.name} has no client to ask it through: name its provider and model, as in "
            f"LlmModel({model.name!r}, 'anthropic:...'), or give it client=."
        )
    if provider not in PROVIDERS or not called:
        known = ", ".join(f"{name}:..." for name in PROVIDERS)
        raise BadDeclaration(
            f"The model {model.name} is called {model.model!r}, which names no provider: {known}. Another provider "
            "that speaks like OpenAI is openai-chat:... with base_url=; any other needs client=."
        )
    if model.base_url is not None and not model.base_url.startswith(("http://", "https://")):
        raise BadDeclaration(f"The model {model.name}: base_url is {model.base_url!r}, which is no http(s) address.")
    key = _key(model, provider)
    try:
        from core.models.providers import Provided

        return Provided(model, provider, called, key)
    except ImportError:
        package = provider.partition("-")[0]
        raise BadDeclaration(
            f"The model {model.name} needs a package that is not there: pip install 'pydantic-ai-slim[{package}]'."
        ) from None


def _key(model: LlmModel, provider: str) -> str | None:
    """The key to send: the model's own, else the environment's. Another address is never sent the environment's."""
    variable, _ = PROVIDERS[provider]
    key = model.api_key if model.base_url is not None else model.api_key or os.environ.get(variable)
    key = (key or "").strip()
    if not key and model.base_url is None:
        raise BadDeclaration(f"The model {model.name} has no key: set {variable}, or give it api_key=.")
    if key and not _KEY.match(key):
        raise BadDeclaration(f"The model {model.name}: its key has characters in it that no key has.")
    return key or None


def _price(model: LlmModel, currency: str) -> Price:
    provider, _, called = model.model.partition(":")
    ask = "give it one, Price(input=..., output=...) a million tokens"
    if provider not in PROVIDERS or model.base_url is not None:
        raise BadDeclaration(f"The model {model.name} has no price: {ask}.")
    from core.models import prices

    found = prices.known_price(PROVIDERS[provider][1], called)
    if found is None:
        raise BadDeclaration(f"The model {model.name} has no price, and none is known for {model.model}: {ask}.")
    if currency != prices.CURRENCY:
        raise BadDeclaration(
            f"The model {model.name} has no price, and that of {model.model} is known in {prices.CURRENCY} only while "
            f"the agency counts in {currency}: {ask} in {currency}, or make the agency with currency='USD'."
        )
    return found
