"""Amounts of money: integer micros, and how they are read and written."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from core.errors import BadInput

MICROS = 1_000_000
MOST = 10**18  # micros: what is more than that is a slip of somebody's hand, and no database keeps it


def to_micros(amount: Decimal | int | str) -> int:
    """An amount of the currency unit in micros. Raises BadInput for what is none, is negative, too much, or finer."""
    try:
        micros = Decimal(str(amount)) * MICROS
        whole = int(micros)
    except (InvalidOperation, ValueError, OverflowError):
        raise BadInput({"limit": f"{amount} is not an amount of money."}) from None
    if whole != micros or whole < 0:
        raise BadInput({"limit": f"{amount} is not an amount: no less than 0, and no finer than a millionth."})
    if whole > MOST:
        raise BadInput({"limit": f"{amount} is more than can be counted."})
    return whole


def exact(micros: int, currency: str) -> str:
    """Micros as an amount for a person, exact to the micro: "EUR 0.0051"."""
    amount = Decimal(micros) / MICROS
    text = f"{amount:f}"
    whole, _, rest = text.partition(".")
    return f"{currency} {whole}.{rest.rstrip('0').ljust(2, '0')}"
