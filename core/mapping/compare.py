"""What differs between two versions of the map, one sentence for each thing, and whether agents may do more by it.

Each thing that content (`declared`) holds is told in exactly one place: nothing differs without a sentence. More than
before is a new agent, way, skill, tool or role, a looser gate, a higher limit, and a tool that reaches outside;
words, shapes and models are neither. Where amounts are counted in another currency, no one of them is more or less.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

from core import amounts
from core.gate import STRICTNESS
from core.mapping.declared import Content
from core.mapping.graph import names_in
from core.values import Gate, MapChange, MapWords, Widens
from core.words import label_of, listed

ORDER = (Widens.MORE, Widens.LESS, Widens.NEITHER)
LONGEST = 160  # letters of a text that is told
_SAYS = {
    Gate.ALONE: "alone",
    Gate.PROPOSE: "proposes",
    Gate.PROPOSE_EVERY_TIME: "proposes every time",
    Gate.NEVER: "never",
}
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))

Kind = Literal["added", "removed", "changed"]
Words = str | MapWords


def compare(before: Content, after: Content) -> tuple[MapChange, ...]:
    """Every change from one to the other: what lets agents do more, what lets them do less, the rest; nothing where
    they are the same. The other way round, added and removed, and more and less, change places."""
    return _Comparison(before, after).all()


class _Comparison:
    def __init__(self, before: Content, after: Content) -> None:
        self._before, self._after = before, after
        self._same_money = before["app"]["currency"] == after["app"]["currency"]
        self._found: list[MapChange] = []

    def all(self) -> tuple[MapChange, ...]:
        self._app()
        self._models()
        for name in _names(self._before["agents"], self._after["agents"]):
            self._agent(name, self._before["agents"].get(name), self._after["agents"].get(name))
        for key in _names(self._before["ways"], self._after["ways"]):
            self._way(key, self._before["ways"].get(key), self._after["ways"].get(key))
        return tuple(sorted(self._found, key=lambda change: (ORDER.index(change.widens), change.key)))

    # How a change is told

    def _add(self, kind: Kind, key: str, widens: Widens, *words: Words, before: str = "", after: str = "") -> None:
        told = tuple(word if isinstance(word, MapWords) else MapWords(word) for word in words)
        self._found.append(MapChange(key, kind, widens, told, before, after))

    def _turn(self, key: str, widens: Widens, about: Iterable[Words], before: str, after: str) -> None:
        self._add("changed", key, widens, *about, f": {before} → {after}", before=before, after=after)

    def _value(self, key: str, about: Iterable[Words], before: Any, after: Any, none: str = "nothing") -> None:
        """Something that is neither more nor less."""
        if before != after:
            one, other = (none if value is None or value == "" else _cut(_text(value)) for value in (before, after))
            self._turn(key, Widens.NEITHER, about, one, other if one != other else f"{other} (further on)")

    def _limit(
        self, key: str, about: Iterable[Words], before: Any, after: Any, none: str = "no limit", plain: str = ""
    ) -> None:
        """A limit in money, or with `plain`, another number; None limits nothing."""
        if before == after:
            return
        widens = _more(_bound(before), _bound(after)) if plain or self._same_money else Widens.NEITHER
        words = []
        for content, value in ((self._before, before), (self._after, after)):
            if value is None:
                words.append(none)
            elif plain == "seconds":
                words.append(_time(value) or none)
            else:
                words.append(str(value) if plain else amounts.exact(value, content["app"]["currency"]))
        self._turn(key, widens, about, *words)

    def _shape(self, key: str, about: Iterable[Words], what: str, before: str, after: str) -> None:
        """What is taken or handed back, by the marks of the schemas."""
        if before == after:
            return
        one, other = (
            ", ".join(names_in(content["schemas"][mark])) or "nothing"
            for content, mark in ((self._before, before), (self._after, after))
        )
        if one == other:
            words = (*about, f": what it {what} is described otherwise ({one})")
            self._add("changed", key, Widens.NEITHER, *words)
        else:
            self._turn(key, Widens.NEITHER, (*about, f" {what}"), one, other)

    # What is compared

    def _app(self) -> None:
        one, other = self._before["app"], self._after["app"]
        self._value("app.currency", ("Amounts are counted in",), one["currency"], other["currency"])
        self._value("app.default_model", ("The default model",), one["default_model"], other["default_model"])
        self._limit(
            "app.task_budget", ("A task, where nothing names a limit",), one["task_budget"], other["task_budget"]
        )
        self._limit(
            "app.person_per_month", ("A person’s work in a month",), one["person_per_month"], other["person_per_month"]
        )
        self._guards("app.guards", ("Every agent",), one["guards"], other["guards"])

    def _models(self) -> None:
        one, other = self._before["models"], self._after["models"]
        for name in _names(one, other):
            about, key = (f"The model “{name}”",), f"model.{name}"
            if name not in one:
                self._add("added", key, Widens.NEITHER, *about, f" is new: {other[name]['called'] or name}")
            elif name not in other:
                self._add("removed", key, Widens.NEITHER, *about, " is gone")
            else:
                a, b = one[name], other[name]
                self._value(f"{key}.called", (*about, " is asked for as"), a["called"], b["called"])
                self._value(f"{key}.price", (*about, " costs for a million tokens"), _price(a), _price(b), "not known")
                tokens = (a["max_output_tokens"], b["max_output_tokens"])
                self._value(f"{key}.tokens", (*about, " answers with at most so many tokens"), *tokens)
                self._value(f"{key}.timeout", (*about, " is waited for"), _time(a["timeout"]), _time(b["timeout"]))

    def _agent(self, name: str, one: Content | None, other: Content | None) -> None:
        key = f"agent.{name}"
        if one is None or other is None:
            held = one or other or {}
            tools = listed([_with_gate(tool) for tool in sorted(held["tools"].values(), key=lambda of: of["label"])])
            who = MapWords(held["label"], name)
            if one is None:
                self._add("added", key, Widens.MORE, who, f" is new. It holds {tools or 'no tool'}.")
            else:
                self._add("removed", key, Widens.LESS, who, f" is gone. It held {tools or 'no tool'}.")
            return
        who = MapWords(other["label"], name)
        self._value(f"{key}.label", (who, " is called"), one["label"], other["label"])
        self._value(f"{key}.purpose", (who, "’s purpose"), one["purpose"], other["purpose"])
        for role in sorted({*one["roles"], *other["roles"]}):
            if role not in one["roles"]:
                self._add("added", f"{key}.role.{role}", Widens.MORE, who, f"’s account holds the role “{role}” now")
            elif role not in other["roles"]:
                self._add(
                    "removed", f"{key}.role.{role}", Widens.LESS, who, f"’s account holds the role “{role}” no longer"
                )
        self._value(f"{key}.model", (who, " works with the model"), one["model"], other["model"], "the default one")
        self._value(f"{key}.consults", (who, " consults the model"), one["consults"], other["consults"], "none")
        self._value(f"{key}.stuck_after", (who, " is stuck after"), one["stuck_after"], other["stuck_after"])
        floors = one["confidence_floor"], other["confidence_floor"]
        self._value(f"{key}.floor", (who, "’s decisions are asked again below a confidence of"), *floors, none="none")
        self._value(f"{key}.asks", (who, " asks people"), one["asks_people"], other["asks_people"])
        waits = (_time(one["requests_wait"]), _time(other["requests_wait"]))
        self._value(f"{key}.requests_wait", (who, "’s requests wait for a person"), *waits, none="for ever")
        gates = one["gate"], other["gate"]
        if gates[0] != gates[1]:
            self._turn(f"{key}.gate", _looser(*gates), (who, "’s changes"), *map(_says, gates))
        self._limit(f"{key}.per_task", (who, " may spend for a task"), one["per_task"], other["per_task"])
        self._limit(f"{key}.per_day", (who, " may spend in a day"), one["per_day"], other["per_day"])
        self._guards(f"{key}.guards", (who,), one["guards"], other["guards"])
        for field, word in (("max_depth", "depth"), ("max_pieces", "pieces for one piece of work")):
            if one[field] is not None and other[field] is not None:
                self._limit(f"{key}.{field}", (who, f" hands on, {word}"), one[field], other[field], plain="number")
        self._skills(name, who, one, other)
        self._tools(name, who, one, other)

    def _guards(self, key: str, about: tuple[Words, ...], one: Content | None, other: Content | None) -> None:
        if one == other:
            return
        a, b = one or self._before["app"]["guards"], other or self._after["app"]["guards"]
        if a == b:
            words = [
                "as for every agent" if guards is None else "its own, which are the same" for guards in (one, other)
            ]
            self._turn(key, Widens.NEITHER, (*about, " is guarded"), *words)
        limits = (
            ("turns", " may take turns of its model for one piece", "number"),
            ("same_call", " may make the same calls in a row", "number"),
            ("wall_clock", " may work on one piece", "seconds"),
        )
        for field, may, plain in limits:
            self._limit(f"{key}.{field}", (*about, may), a[field], b[field], plain=plain)

    def _skills(self, name: str, who: MapWords, one: Content, other: Content) -> None:
        for skill in _names(one["skills"], other["skills"]):
            key = f"skill.{name}.{skill}"
            a, b = one["skills"].get(skill), other["skills"].get(skill)
            if a is None or b is None:
                agent, held = (other, b) if a is None else (one, a)
                tools = listed([_with_gate(agent["tools"][tool]) for tool in held["tools"]])
                does = f" can do “{held['label']}” {'now' if a is None else 'no longer'}"
                does += f", with {tools}" if tools else ""
                if a is None:
                    self._add("added", key, Widens.MORE, who, does)
                else:
                    self._add("removed", key, Widens.LESS, who, does)
                continue
            about = (who, f"’s “{b['label']}”")
            self._value(f"{key}.label", (*about, " is called"), a["label"], b["label"])
            self._value(f"{key}.description", (*about, " is described as"), a["description"], b["description"])
            self._limit(f"{key}.budget", (*about, " may cost"), a["budget"], b["budget"], none="no limit of its own")
            self._shape(f"{key}.takes", about, "takes", a["takes"], b["takes"])
            self._shape(f"{key}.hands_back", about, "hands back", a["hands_back"], b["hands_back"])
            self._held(key, about, one, other, a["tools"], b["tools"])

    def _held(
        self,
        key: str,
        about: tuple[Words, ...],
        one: Content,
        other: Content,
        a: list[str],
        b: list[str],
    ) -> None:
        """Tools that a skill holds in one of the two versions only."""
        for name in sorted({*a, *b}):
            if name in a and name in b:
                continue
            kind: Kind = "added" if name in b else "removed"
            tool = (other if name in b else one)["tools"][name]
            widens = Widens.MORE if name in b else Widens.LESS
            if tool["gate"] == Gate.NEVER:
                widens = Widens.NEITHER
            holds = f" {'holds' if name in b else 'no longer holds'} “{tool['label']}”: {_gate_words(tool)}"
            self._add(kind, f"{key}.tool.{name}", widens, *about, holds)

    def _tools(self, name: str, who: MapWords, one: Content, other: Content) -> None:
        held = {*one["tools"], *other["tools"]}
        for tool in sorted({*one["tools"]} & {*other["tools"]}):
            a, b = one["tools"][tool], other["tools"][tool]
            key, about = f"tool.{name}.{tool}", (who, f"’s “{b['label']}”")
            if (a["reads"], a["gate"]) != (b["reads"], b["gate"]):
                self._turn(f"{key}.gate", _more(_width(a), _width(b)), about, _gate_words(a), _gate_words(b))
            if a["outside"] != b["outside"]:
                words = ["reaches outside" if of["outside"] else "stays inside" for of in (a, b)]
                self._turn(f"{key}.outside", _more(a["outside"], b["outside"]), about, *words)
            if a["reversible"] != b["reversible"]:
                words = ["can be taken back" if of["reversible"] else "cannot be taken back" for of in (a, b)]
                self._turn(f"{key}.reversible", Widens.NEITHER, about, *words)
            self._value(f"{key}.label", (*about, " is called"), a["label"], b["label"])
            self._shape(f"{key}.takes", about, "takes", a["takes"], b["takes"])
            waits = (_time(a["decide_within"]), _time(b["decide_within"]))
            self._value(f"{key}.decide_within", (*about, " waits for a person"), *waits, none="as its agent says")
        for tool in sorted({*one["under"], *other["under"]} - held):
            gates = [content["under"].get(tool, content["gate"]) for content in (one, other)]
            words = [
                _says(gate) if tool in content["under"] else f"{_says(gate)}, as any change"
                for gate, content in zip(gates, (one, other), strict=True)
            ]
            if words[0] != words[1]:
                under = ("Under ", who, f", “{self._label(tool)}”")
                self._turn(f"under.{name}.{tool}", _looser(*gates), under, *words)

    def _label(self, tool: str) -> str:
        """The label of a tool that somebody holds."""
        for content in (self._after, self._before):
            for agent in content["agents"].values():
                if tool in agent["tools"]:
                    return str(agent["tools"][tool]["label"])
        return label_of(tool)

    def _way(self, key: str, one: Content | None, other: Content | None) -> None:
        way = other or one or {}
        content = self._after if other is not None else self._before
        origin = MapWords(content["agents"][way["origin"]]["label"], way["origin"])
        to: Words = (
            "a helper of its own" if way["helper"] else MapWords(content["agents"][way["to"]]["label"], way["to"])
        )
        if one is None or other is None:
            depth = content["agents"][way["origin"]]["max_depth"]
            share = (
                "no share said"
                if way["share"] is None
                else f"share {amounts.exact(way['share'], content['app']['currency'])}"
            )
            if one is None:
                words = (f" may hand “{way['label']}” on to ", to, f" now: depth {depth}, {share}")
                self._add("added", f"way.{key}", Widens.MORE, origin, *words)
            else:
                self._add(
                    "removed", f"way.{key}", Widens.LESS, origin, f" may no longer hand “{way['label']}” on to ", to
                )
            return
        about = (origin, f" hands “{way['label']}” on to ", to)
        key, told = f"way.{key}", self._told_with(one, other)
        self._limit(f"{key}.share", (*about, ", share"), one["share"], other["share"], none="none said")
        if one.get("budget", -1) != other.get("budget", -1):
            self._budget(f"{key}.budget", (*about, ", which may cost"), one, other)
        if "label" not in told:
            self._value(f"{key}.label", (*about, " is called"), one["label"], other["label"])
        for field, what in (("takes", "takes"), ("hands_back", "hands back")):
            if field not in told:
                self._shape(f"{key}.{field}", about, what, one[field], other[field])
        if "tools" not in told and one["tools"] is not None and other["tools"] is not None:
            agents = self._before["agents"][way["origin"]], self._after["agents"][way["origin"]]
            self._held(key, about, *agents, one["tools"], other["tools"])

    def _budget(self, key: str, about: tuple[Words, ...], one: Content, other: Content) -> None:
        """What a way says of the cost of its skill, where that is not what the agent it goes to says."""
        words, bounds = [], []
        for content, way in ((self._before, one), (self._after, other)):
            skill = content["agents"][way["to"]]["skills"].get(way["skill"], {})
            micros = way["budget"] if "budget" in way else skill.get("budget")
            amount = "no limit of its own" if micros is None else amounts.exact(micros, content["app"]["currency"])
            words.append(amount if "budget" in way or not skill else f"{amount}, as its agent says")
            bounds.append(_bound(micros))
        self._turn(key, _more(*bounds) if self._same_money else Widens.NEITHER, about, *words)

    def _told_with(self, one: Content, other: Content) -> set[str]:
        """What of a way is what the agent it goes to says of its skill: that is told there, once."""
        skills = [
            content["agents"][way["to"]]["skills"].get(way["skill"])
            for content, way in ((self._before, one), (self._after, other))
        ]
        return {
            field
            for field in ("label", "takes", "hands_back", "tools")
            if all(
                skill is not None and skill[field] == way[field]
                for skill, way in zip(skills, (one, other), strict=True)
            )
        }


def _names(one: Iterable[str], other: Iterable[str]) -> list[str]:
    return sorted({*one, *other})


def _more(one: Any, other: Any) -> Widens:
    return Widens.NEITHER if one == other else Widens.MORE if other > one else Widens.LESS


def _bound(value: Any) -> Decimal:
    return Decimal("Infinity") if value is None else Decimal(str(value))


def _looser(one: str, other: str) -> Widens:
    return _more(STRICTNESS.index(Gate(other)), STRICTNESS.index(Gate(one)))


def _width(tool: Content) -> int:
    """How much a tool may be used: not at all, to read, or to change with ever less asking."""
    strict = len(STRICTNESS) - 1 - STRICTNESS.index(Gate(tool["gate"]))
    return strict and (1 if tool["reads"] else 1 + strict)


def _says(gate: str) -> str:
    return _SAYS[Gate(gate)]


def _gate_words(tool: Content) -> str:
    return "reads" if tool["reads"] and tool["gate"] == Gate.ALONE else _says(tool["gate"])


def _with_gate(tool: Content) -> str:
    return f"“{tool['label']}” ({_gate_words(tool)})"


def _price(model: Content) -> str | None:
    price = model["price"]
    if price is None:
        return None
    above = "".join(f"; above {more_than} tokens {_price({'price': of})}" for more_than, of in price["over"].items())
    return f"{price['input']} in, {price['output']} out, {price['cached']} cached{above}"


def _time(seconds: str | None) -> str | None:
    """A time in the largest unit that it is a whole number of: "2 hours"."""
    if seconds is None:
        return None
    value = Decimal(seconds)
    for size, unit in _UNITS:
        if value and value % size == 0:
            return f"{value // size} {unit}{'' if value == size else 's'}"
    return f"{seconds} second{'' if value == 1 else 's'}"


def _text(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
