"""List prices of providers' models, in US dollars, from genai-prices: as its installed version knows them today."""

from __future__ import annotations

from decimal import Decimal
from typing import TypeGuard

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice, TieredPrices

from core.models.llm import Price

CURRENCY = "USD"


def known_price(provider: str, model: str) -> Price | None:
    """What the provider asks for the model today; None where that is not known, or is not a matter of text alone."""
    try:
        found = calc_price(Usage(), model, provider_id=provider).model_price
    except LookupError:
        return None
    if not found.input_mtok or not found.output_mtok or found.requests_kcount:
        return None
    tiered = [rate for rate in (found.input_mtok, found.output_mtok, found.cache_read_mtok) if _is_tiered(rate)]
    starts = {tier.start for rate in tiered for tier in rate.tiers}
    return _price(found, 0, {start: _price(found, start + 1, {}) for start in starts})


def _is_tiered(rate: Decimal | TieredPrices | None) -> TypeGuard[TieredPrices]:
    return isinstance(rate, TieredPrices)


def _price(found: ModelPrice, tokens_in: int, over: dict[int, Price]) -> Price:
    input, output = _rate(found.input_mtok, tokens_in), _rate(found.output_mtok, tokens_in)
    assert input is not None and output is not None
    return Price(input, output, _rate(found.cache_read_mtok, tokens_in), over)


def _rate(rate: Decimal | TieredPrices | None, tokens_in: int) -> Decimal | None:
    """The dearest rate up to so many tokens in: were a long call ever cheaper, no less than that may be reserved."""
    if rate is None or isinstance(rate, Decimal):
        return rate
    return max([rate.base, *(tier.price for tier in rate.tiers if tokens_in > tier.start)])
