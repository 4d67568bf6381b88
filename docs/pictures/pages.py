"""Which pages there are pictures of: a page is one line. {waits} is work that waits for Mia, {done} one that has ended,
{part} the collator's piece in the first, {item} what that asks her."""

from __future__ import annotations

PAGES: dict[str, tuple[str, str]] = {
    "inbox": ("Mia", "/inbox"),
    "card": ("Mia", "/inbox/{item}"),
    "edit": ("Mia", "/inbox/{item}/edit"),
    "refuse": ("Mia", "/inbox/{item}/refusal"),
    "rule": ("Mia", "/inbox/{item}/rule"),
    "answered": ("Mia", "/inbox/answered"),
    "standing": ("Mia", "/inbox/standing"),
    "work": ("Mia", "/work/{waits}?piece={part}"),
    "done": ("Mia", "/work/{done}"),
    "record": ("Mia", "/work/{done}/record"),
    "works": ("Mia", "/work?show=all"),
    "give": ("Mia", "/work/new?agent=Planner&skill=PlanRebinding"),
    "stop": ("Mia", "/work/{waits}/stop"),
    "keys": ("Mia", "/help/keys"),
    "now": ("Noor", "/now"),
    "waits": ("Noor", "/waits"),
    "abandoned": ("Noor", "/abandoned"),
    "stop-everything": ("Noor", "/stop"),
    "money": ("Noor", "/money"),
    "calls": ("Noor", "/money/calls"),
    "limit": ("Noor", "/money/limit?of=agent:Buyer"),
    "map": ("Noor", "/map?chosen=Planner.Collator.CountLeaves"),
    "map-list": ("Noor", "/map?view=list"),
    "reach": ("Noor", "/map/ask?agent=Planner&tool=note_on_volume"),
    "agent": ("Noor", "/agents/Collator"),
    "health": ("Noor", "/health"),
    "sign-in": ("", "/sign-in"),
}
