"""The model of the bindery: a script that answers as a model would, at a person's pace, with no key and no network.

It keeps nothing in memory. What has happened so far is read from the conversation it is shown, and which book it is
about from the brief, so a server that is started again goes on where it stood. How a book's story goes stands in
`STORIES`; a book that is not listed there gives no trouble.

    MS-12, MS-15   all goes well
    MS-13, MS-14   leaves are missing: a note waits for a decision, and a refusal is taken as one
    MS-16          the pricing talks its money away, and the plan is made without it
    MS-17          two notes, one after the other
    MS-18          the collator first hands back something that does not fit
    MS-19          six notes at once, which are looked at together

HANDON_DEMO_PACE stretches the pauses between answers; 0 leaves them out.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from handon import ModelAnswer, ModelCall, ModelRequest

COUNT = "hand_to_Collator_CountLeaves"
PRICE = "hand_to_Buyer_PriceCloth"
NOTE = "note_on_volume"
LOOK_UP = "price_per_metre"
HAND_BACK = "hand_back"

_VOLUME = re.compile(r"Volume (?P<shelfmark>\S+)\. Its id is (?P<id>[0-9a-fA-F-]{32,36})\.")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Note:
    """A note the collator would like on the volume, and what it says to the person who decides."""

    text: str
    said: str


@dataclass(frozen=True, slots=True)
class Story:
    leaves: int = 188
    finding: str = "Complete, and in order."
    colour: str = "natural linen"
    metres: str = "1.5"
    notes: tuple[Note, ...] = ()
    at_once: bool = False  # all notes are asked for in one turn
    slips: bool = False  # the first count handed back is words where a number belongs


STORIES: Mapping[str, Story] = {
    "MS-12": Story(leaves=212, colour="oxblood", metres="2"),
    "MS-13": Story(
        leaves=146,
        finding="One leaf missing.",
        colour="forest green",
        metres="1.5",
        notes=(Note("Leaf 77 missing", "Leaf 77 has been cut out; the stub is still there."),),
    ),
    "MS-14": Story(
        leaves=210,
        finding="Two leaves missing.",
        colour="oxblood",
        metres="2",
        notes=(Note("Leaves 40-41 missing", "Leaves 40 and 41 are missing. The numbering jumps from 39 to 42."),),
    ),
    "MS-15": Story(leaves=98, finding="Complete. Thin, so one metre will do.", colour="forest green", metres="1"),
    "MS-16": Story(leaves=304, colour="ultramarine", metres="2.5"),
    "MS-17": Story(
        leaves=171,
        finding="Leaf 3 is torn, and one gathering is bound upside down.",
        colour="oxblood",
        metres="1.5",
        notes=(
            Note("Leaf 3 torn, lower corner", "Leaf 3 is torn at the lower corner, but nothing of the text is lost."),
            Note(
                "Leaves 81-88 bound upside down", "The gathering of leaves 81 to 88 was bound in upside down last time."
            ),
        ),
    ),
    "MS-18": Story(leaves=206, finding="Complete. Leaves 9 and 10 stick together.", metres="2", slips=True),
    "MS-19": Story(
        leaves=158,
        finding="Six leaves are damaged.",
        colour="natural linen",
        metres="1.5",
        notes=tuple(
            Note(text, "The water came in from below, and six leaves have suffered. Each wants a note of its own.")
            for text in (
                "Leaf 12 stained, lower edge",
                "Leaf 13 stained, lower edge",
                "Leaf 14 cockled",
                "Leaf 60 torn at the fold",
                "Leaf 61 torn at the fold",
                "Leaf 158 loose",
            )
        ),
        at_once=True,
    ),
}

# What the buyer compares before it settles on a price; asked for in one turn.
COMPARED: Mapping[str, tuple[str, ...]] = {
    "oxblood": ("oxblood", "natural linen"),
    "forest green": ("forest green", "oxblood", "natural linen"),
}

# Asked for this colour, the buyer cannot stop talking, and its share of the money is soon gone.
TALKED_AWAY = "ultramarine"
TALK = (
    "Ultramarine is a question in itself. There is the true one, ground from the stone, which no cloth on the market "
    "is dyed with any more, although two mills still say so in their sample books. Then there is the synthetic one, "
    "which is fast to light but not to damp, and a volume that is handled will mark the shelf it stands on. One could "
    "take indigo over a white ground, which comes close by daylight and turns green under a lamp. Or a cobalt buckram, "
    "heavier, hard to turn in at the corners, and sold by the roll only. The width matters too: at ninety centimetres "
    "two and a half metres leave hardly any waste, at a hundred and forty they leave a third. I would first look at "
    "what the mills ask by the metre, then at what they ask by the roll, then weigh carriage against waste, and then "
    "come back to the colour once more. To begin with, the price of the plain cloth by the metre."
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool call that was made and what came of it."""

    name: str
    arguments: str
    text: str


class Conversation:
    """What the script reads from a request: the brief, the calls made so far with their answers, and the offer."""

    def __init__(self, request: ModelRequest) -> None:
        self.turn = sum(message.role == "assistant" for message in request.messages)
        self.brief = "\n".join(message.text for message in request.messages if message.role == "user")
        self.offered = {tool.name for tool in request.tools}
        self.length = sum(len(message.text) for message in request.messages)
        results = {result.call_id: result.text for message in request.messages for result in message.results}
        self.answered = [
            Answered(call.name, call.arguments_text, results[call.id])
            for message in request.messages
            for call in message.calls
            if call.id in results
        ]
        found = _VOLUME.search(self.brief)
        self.shelfmark = found["shelfmark"] if found else "the volume"
        self.volume = found["id"] if found else ""
        self.story = STORIES.get(self.shelfmark, Story())

    def of(self, name: str) -> list[Answered]:
        return [call for call in self.answered if call.name == name]

    def says(self, text: str, *calls: tuple[str, Mapping[str, Any]], tokens: tuple[int, int]) -> ModelAnswer:
        return ModelAnswer(
            text=text,
            calls=tuple(
                ModelCall(f"call-{self.turn + 1}-{n}", name, json.dumps(arguments, ensure_ascii=False))
                for n, (name, arguments) in enumerate(calls, start=1)
            ),
            tokens_in=tokens[0],
            tokens_out=tokens[1],
        )

    def tokens(self, out: int) -> tuple[int, int]:
        """About what a model would count: four letters to a token."""
        return 120 + self.length // 4, out


def _object(text: str) -> dict[str, Any]:
    """The JSON object in a text; empty where it holds none: then it tells how a piece ended instead."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _decimal(text: object) -> Decimal | None:
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return None


def _euros(amount: Decimal) -> str:
    return f"{amount.quantize(Decimal('0.01'))} euros"


def _metres(metres: object) -> str:
    return "1 metre" if str(metres) == "1" else f"{metres} metres"


def planner(talk: Conversation) -> ModelAnswer:
    """Hands both pieces on in one turn; then makes the plan from what came back, or did not."""
    story, book = talk.story, talk.shelfmark
    asked_for = [
        (name, what)
        for name, what in (
            (COUNT, {"id": talk.volume}),
            (PRICE, {"colour": story.colour, "metres": story.metres}),
        )
        if name in talk.offered and not talk.of(name)
    ]
    if asked_for and not talk.of(HAND_BACK):
        return talk.says(
            f"For {book} I need two things: the number of its leaves, and the price of {_metres(story.metres)} of "
            f"{story.colour} cloth. I have both done at once.",
            *asked_for,
            tokens=talk.tokens(96),
        )
    count = _object(talk.of(COUNT)[-1].text) if talk.of(COUNT) else {}
    price = _object(talk.of(PRICE)[-1].text) if talk.of(PRICE) else {}
    leaves, cloth = count.get("leaves"), _decimal(price.get("euros"))
    sentences = [f"{leaves} leaves." if isinstance(leaves, int) else "The leaves could not be counted."]
    if count.get("finding"):
        sentences.append(str(count["finding"]))
    if cloth is None:
        sentences.append("The cloth could not be priced.")
    else:
        sentences.append(f"{_metres(story.metres).capitalize()} of {story.colour}: {_euros(cloth)}.")
    plan = {
        "leaves": leaves if isinstance(leaves, int) else 0,
        "cloth": str(cloth if cloth is not None else 0),
        "summary": " ".join(sentences),
    }
    return talk.says(f"Both have come back, so here is the plan for {book}.", (HAND_BACK, plan), tokens=talk.tokens(74))


def collator(talk: Conversation) -> ModelAnswer:
    """Counts; wants each thing it found written down; hands back the count, and says so where a note was refused."""
    story, notes = talk.story, talk.of(NOTE)
    if len(notes) < len(story.notes) and NOTE in talk.offered:
        wanted = story.notes if story.at_once else story.notes[len(notes) :][:1]
        calls = [(NOTE, {"volume": talk.volume, "note": note.text}) for note in wanted]
        said = wanted[0].said
        return talk.says(said, *calls, tokens=talk.tokens(28 + 20 * len(calls) + len(said) // 4))
    if story.slips and not talk.of(HAND_BACK):
        slip = {"leaves": "two hundred and six", "finding": story.finding}
        return talk.says("Counted twice, with the same result.", (HAND_BACK, slip), tokens=talk.tokens(41))
    refused = sum("Noted on" not in note.text for note in notes)
    finding = story.finding
    if refused:
        finding += " It was not noted on the volume." if refused == len(notes) else " Not all of it was noted."
    if refused == len(notes) > 0:
        said = "It is not to be written down, so I leave the volume as it is and hand back the count alone."
    elif notes:
        said = "That much is written down. Here is the count."
    else:
        said = "Words were no number. Once more, with one." if story.slips else "The count is done."
    return talk.says(said, (HAND_BACK, {"leaves": story.leaves, "finding": finding}), tokens=talk.tokens(52))


def buyer(talk: Conversation) -> ModelAnswer:
    """Looks prices up, then multiplies. Its share is small, so it is brief; but for one colour."""
    ask = next((found for line in talk.brief.splitlines() if "colour" in (found := _object(line))), {})
    colour, metres = str(ask.get("colour", "natural linen")), _decimal(ask.get("metres", 1)) or Decimal(1)
    looked_up = talk.of(LOOK_UP)
    if not looked_up and LOOK_UP in talk.offered:
        colours = COMPARED.get(colour, (colour,))
        calls = [(LOOK_UP, {"colour": each}) for each in colours]
        if colour == TALKED_AWAY:
            return talk.says(TALK, *calls, tokens=(1000, 600))
        return talk.says(f"{_metres(metres).capitalize()} of {colour}. The price first.", *calls, tokens=(140, 30))
    per_metre = next(
        (_decimal(number[0]) for call in looked_up if (number := _NUMBER.search(call.text))),
        None,
    )
    euros = (per_metre or Decimal(11)) * metres
    return talk.says(f"That makes {_euros(euros)}.", (HAND_BACK, {"euros": str(euros)}), tokens=(180, 36))


_PARTS = {"Planner": planner, "Collator": collator, "Buyer": buyer}


async def answer(model: str, request: ModelRequest) -> ModelAnswer:
    """What the model called `model` says to this request, after a pause."""
    pace = float(os.environ.get("HANDON_DEMO_PACE", "1"))
    if pace > 0:
        await asyncio.sleep(pace * random.uniform(0.7, 2.5))
    part = _PARTS.get(request.agent)
    if part is None or request.purpose != "work":
        return ModelAnswer(text="I have nothing to add.", tokens_in=60, tokens_out=8)
    return part(Conversation(request))
