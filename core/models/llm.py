"""A model the agency may ask, with its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from core.models.messages import ModelClient

_SCALE = 1_000_000


def _scaled(per_million: Decimal | int | float | str) -> int:
    return int((Decimal(str(per_million)) * _SCALE).to_integral_value())


class Price:
    """What a model costs per million tokens, in the currency unit: so many micros a token.

    Cached input is charged at `cached`, or like other input where that is not given. `over` is for models whose long
    calls cost more: a call with more than so many tokens in is charged all of it at that price. Costs are rounded up to
    a whole micro: a sum is never short.
    """

    def __init__(
        self,
        input: Decimal | int | float | str,
        output: Decimal | int | float | str,
        cached: Decimal | int | float | str | None = None,
        over: Mapping[int, Price] | None = None,
    ) -> None:
        self.input, self.output = Decimal(str(input)), Decimal(str(output))
        self.cached = self.input if cached is None else Decimal(str(cached))
        if min(self.input, self.output, self.cached) < 0:
            raise ValueError("A price is not negative.")
        self.over = dict(sorted((over or {}).items()))
        self._input, self._output, self._cached = _scaled(input), _scaled(output), _scaled(self.cached)

    def micros(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> int:
        """The cost in micros. `tokens_cached` are those of `tokens_in` that came from the provider's cache."""
        for more_than, price in reversed(self.over.items()):
            if tokens_in > more_than:
                return price.micros(tokens_in, tokens_out, tokens_cached)
        fresh = tokens_in - tokens_cached
        return -(-(fresh * self._input + tokens_cached * self._cached + tokens_out * self._output) // _SCALE)

    def __repr__(self) -> str:
        return f"Price(input={self.input}, output={self.output})"


@dataclass(frozen=True, slots=True)
class LlmModel:
    """One of the agency's models: `name` is what agents and pages call it, `model` what the provider calls it.

    Without a `client` of its own, `model` says whom to ask and for which model, "anthropic:claude-...", and the key is
    `api_key` or comes from the environment; `base_url` names another address that speaks like that provider. Without a
    `price`, the provider's list price is used where it is known (rule M9). An answer that is not whole after `timeout`
    is given up, and charged its reservation (rule M10).
    """

    name: str
    model: str = ""
    client: ModelClient | None = None
    price: Price | None = None
    max_output_tokens: int = 4096
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: timedelta = timedelta(minutes=10)
