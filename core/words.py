"""Names of classes and functions as a person reads them."""

from __future__ import annotations

import re
from functools import cache

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def label_of(name: str) -> str:
    """`PlanRebinding` is "Plan rebinding", `price_per_metre` "Price per metre"."""
    words = _HUMP.sub(" ", name.replace("_", " ")).split()
    if not words:
        return name
    first = words[0]
    rest = [word if word.isupper() and len(word) > 1 else word.lower() for word in words[1:]]
    return " ".join([first[:1].upper() + first[1:], *rest])


def clean(text: str) -> str:
    """Text that every database, hash and page takes: NUL and half surrogate pairs, which a model may write, become the
    replacement character."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def listed(words: list[str] | tuple[str, ...], last: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
