"""Which pages there are pictures of: a page is one line. {waits} is work that waits for Mia, {done} one that has ended,
{part} the collator's piece in the first, {item} what that asks her. Those of HOUSES are of another app, which has more
agents than a picture holds."""

from __future__ import annotations

PAGES: dict[str, tuple[str, str]] = {
    "inbox": ("Mia", "/inbox"),
    "card": ("Mia", "/inbox/{item}"),
    "edit": ("Mia", "/inbox/{item}/edit"),
    "refuse": ("Mia", "/inbox/{item}/refusal"),
    "rule": ("Mia", "/inbox/{item}/rule"),
    "aside": ("Mia", "/inbox/{item}/aside"),
    "hand-over": ("Mia", "/inbox/{item}/hand-over"),
    "together": ("Mia", "/inbox/batch?in={many}&agent=Collator&action=note_on_volume"),
    "answered": ("Mia", "/inbox/answered"),
    "standing": ("Mia", "/inbox/standing"),
    "work": ("Mia", "/work/{waits}?piece={part}"),
    "timeline": ("Mia", "/work/{waits}/timeline"),
    "plain": ("Mia", "/work/{waits}/list"),
    "done": ("Mia", "/work/{done}"),
    "record": ("Mia", "/work/{done}/record"),
    "works": ("Mia", "/work?show=all"),
    "give": ("Mia", "/work/new?agent=Planner&skill=PlanRebinding"),
    "stop": ("Mia", "/work/{waits}/stop"),
    "keys": ("Mia", "/help/keys"),
    "start": ("Mia", "/start"),
    "settings": ("Mia", "/settings"),
    "own-keys": ("Mia", "/settings/keys"),
    "now": ("Noor", "/now"),
    "waits": ("Noor", "/waits"),
    "abandoned": ("Noor", "/abandoned"),
    "stop-everything": ("Noor", "/stop"),
    "money": ("Noor", "/money"),
    "calls": ("Noor", "/money/calls"),
    "limit": ("Noor", "/money/limit?of=agent:Buyer"),
    "map": ("Noor", "/map?chosen=Planner.Collator.CountLeaves"),
    "neighbours": ("Noor", "/map?agent=Collator&chosen=Collator"),
    "map-list": ("Noor", "/map?view=list"),
    "reach": ("Noor", "/map/ask?agent=Planner&tool=note_on_volume"),
    "compare": ("Noor", "/map/compare"),
    "then": ("Noor", "/map?at=1"),
    "audit": ("Noor", "/audit"),
    "line": ("Noor", "/audit/{done}/2"),
    "agent": ("Noor", "/agents/Collator"),
    "health": ("Noor", "/health"),
    "sign-in": ("", "/sign-in"),
}

HOUSES: dict[str, tuple[str, str]] = {
    "map-groups": ("Noor", "/map?view=picture"),
    "map-group": ("Noor", "/map?open=LeidenHouse"),
}
