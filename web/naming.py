"""What addresses and forms name things by."""

from __future__ import annotations

from uuid import UUID


def uuid_in(text: str) -> UUID | None:
    """The id that an address or a form names; None where it names none."""
    try:
        return UUID(text)
    except ValueError:
        return None
