"""The filter of lines in an address: read, and written again for links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from core.values import LineSieve, TraceKind
from web.moments import span, zone_of

FIELDS = ("work", "agent", "kind", "person", "since", "until", "q")
MOST = 200  # letters that are looked for


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for: the filter as it was written, what it comes to, and what in it cannot be read."""

    written: Mapping[str, str]
    sieve: LineSieve
    zone: str
    wrong: Mapping[str, str]

    @classmethod
    def of(cls, query: Mapping[str, str], zone: str) -> Asked:
        """`zone` is the reader's, for times that name none; an address may name another."""
        zone = zone_of(query.get("zone", ""), zone)
        written = {name: query[name].strip() for name in FIELDS if query.get(name, "").strip()}
        wrong: dict[str, str] = {}
        since = until = None
        try:
            since = span(written["since"], zone).begins if "since" in written else None
        except ValueError as error:
            wrong["since"] = str(error)
        try:
            until = span(written["until"], zone).ends if "until" in written else None
        except ValueError as error:
            wrong["until"] = str(error)
        sieve = LineSieve(
            work=_id(written, "work", wrong),
            agent=written.get("agent", ""),
            kind=next((kind for kind in TraceKind if kind == written.get("kind")), None),
            person=_id(written, "person", wrong),
            since=since,
            until=until,
            text=written.get("q", "")[:MOST],
        )
        if "kind" in written and sieve.kind is None:
            wrong["kind"] = "There is no such kind of line."
        return cls(written, sieve, zone, wrong)

    def query(self, **more: str) -> str:
        """The filter as a query, with more in it: "?kind=decided&before=...", or nothing."""
        fields = dict(self.written)
        if {"since", "until"} & fields.keys():
            fields["zone"] = self.zone
        fields |= more
        return f"?{urlencode(fields)}" if fields else ""

    def without(self, name: str) -> str:
        """The query without one of its conditions."""
        kept = {field: text for field, text in self.written.items() if field != name}
        return Asked(kept, self.sieve, self.zone, {}).query()


def _id(written: Mapping[str, str], name: str, wrong: dict[str, str]) -> UUID | None:
    try:
        return UUID(written[name]) if name in written else None
    except ValueError:
        wrong[name] = f"There is no such {name}."
        return None
