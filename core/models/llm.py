"""A model the agency may ask, with its price."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from core.models.messages import ModelClient

_SCALE = 1_000_000


def _scaled(per_million: Decimal | int | float | str) -> int:
    return int((Decimal(str(per_million)) * _SCALE).to_integral_value())


class Price:
    """What a model costs per million tokens, in the currency unit: so many micros a token.

    Cached input is charged at `cached`, or like other input where that is not given. Costs are rounded up to a
    whole micro: a sum is never short.
    """

    def __init__(
        self,
        input: Decimal | int | float | str,
        output: Decimal | int | float | str,
        cached: Decimal | int | float | str | None = None,
    ) -> None:
        self.input, self.output = Decimal(str(input)), Decimal(str(output))
        self.cached = self.input if cached is None else Decimal(str(cached))
        if min(self.input, self.output, self.cached) < 0:
            raise ValueError("A price is not negative.")
        self._input, self._output, self._cached = _scaled(input), _scaled(output), _scaled(self.cached)

    def micros(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> int:
        """The cost in micros. `tokens_cached` are those of `tokens_in` that came from the provider's cache."""
        fresh = tokens_in - tokens_cached
        return -(-(fresh * self._input + tokens_cached * self._cached + tokens_out * self._output) // _SCALE)

    def __repr__(self) -> str:
        return f"Price(input={self.input}, output={self.output})"


@dataclass(frozen=True, slots=True)
class LlmModel:
    """One of the agency's models: `name` is what agents and pages call it, `model` what the provider calls it."""

    name: str
    model: str = ""
    client: ModelClient | None = None
    price: Price | None = None
    max_output_tokens: int = 4096
