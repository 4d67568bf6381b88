"""How wide a line of text is, guessed letter by letter: the server draws the map and cannot measure.

The guess is of a wide face, so that a narrower one leaves some room; what no table says is taken for wide.
"""

from __future__ import annotations

import unicodedata

# In hundredths of the size of the letters.
_KNOWN = {
    letter: hundredths
    for letters, hundredths in (
        (" iljI.,:;'|·", 34),
        ("rft!()[]/-’‘J", 42),
        ("acekosvxyz", 62),
        ("wCDGHNOQ", 82),
        ("mMW@%&—…⇒↺", 102),
    )
    for letter in letters
}


def width(text: str, size: float) -> float:
    """In the unit of the size."""
    return sum(_hundredths(letter) for letter in text) * size / 100


def fits(text: str, room: float, size: float = 12) -> str:
    """The text, cut where it would be wider than the room."""
    if width(text, size) <= room:
        return text
    left = room - width("…", size)
    for n, letter in enumerate(text):
        left -= width(letter, size)
        if left < 0:
            return text[: max(1, n)].rstrip(" ,·") + "…"
    return text


def _hundredths(letter: str) -> int:
    if letter in _KNOWN:
        return _KNOWN[letter]
    if letter.isascii():
        return 76 if letter.isupper() else 64
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn"):
        return 0
    return 105 if unicodedata.east_asian_width(letter) in "WF" else 86
