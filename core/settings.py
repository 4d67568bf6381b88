"""What an agency is set to. Each value has a default that suits one server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Literal

from core.declare.agents import Guards


@dataclass(frozen=True)
class Settings:
    name: str = "Handon"  # what people call this app
    currency: str = "EUR"  # of every price and limit; ISO 4217
    time_zone: str = "UTC"  # in which days and months of limits begin; a name of the IANA database
    task_budget: Decimal = Decimal("1")  # of a top piece where nothing names a limit (M7)
    person_per_month: Decimal | None = None  # of all work for one person in a month, where none is set for them (M7)
    when_abandoned: Literal["close", "resume"] = "close"  # what becomes of work whose process is gone (A2, A7)
    takeovers: int = 3  # how often one piece is taken up again before it is closed (A7)
    database: str = "sqlite:///handon.db"
    abandoned_after: timedelta = timedelta(minutes=30)  # quiet this long, and nobody is doing it; zero: never
    abandoned_check_every: timedelta = timedelta(minutes=10)  # zero: only when asked to
    sweep_every: timedelta = timedelta(seconds=2)  # how often due pieces nobody was told of are looked for
    concurrency: int = 64  # pieces run at once in this process
    stop_grace: timedelta = timedelta(seconds=10)  # how long running steps may take to end when the agency leaves
    undo_for: timedelta = timedelta(seconds=5)  # how long a decision made on a page can be taken back; zero: never
    guards: Guards = Guards()  # noqa: RUF009 - frozen
    model_tries: int = 5  # of a model that cannot be reached
    model_pause: timedelta = timedelta(milliseconds=200)  # before the second try; it grows from there
    create_rows: bool = True  # make tables of the app's rows that are missing
