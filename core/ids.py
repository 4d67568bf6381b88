"""Ids: UUIDs of version 7, in order of their making within a process. In the tables they are 32 hex digits."""

from __future__ import annotations

import os
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """A new id, as stored. Later ids of one process sort after earlier ones."""
    global _last
    with _lock:
        # 48 bits of milliseconds and 12 of their fraction, never twice the same.
        stamp = max(_last + 1, time.time_ns() * 4096 // 1_000_000)
        _last = stamp
    random = int.from_bytes(os.urandom(8), "big") & 0x3FFFFFFFFFFFFFFF
    return f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{random | 0x8000000000000000:016x}"


def to_uuid(stored: str) -> UUID:
    return UUID(hex=stored)


def stored(id: UUID | str) -> str:
    """The stored form of an id that came from outside. Anything that is no UUID raises ValueError."""
    return id.hex if isinstance(id, UUID) else UUID(id).hex
