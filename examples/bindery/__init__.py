"""The Bindery: the app that `make run` shows, and the one the README and the tour speak of.

`app` is the app as a user of Handon writes one; `demo` plays it: people, books, and a model that is a script.
"""

from examples.bindery.app import (
    BinderyRole,
    Buyer,
    ClothAsk,
    ClothPrice,
    Collator,
    CountLeaves,
    LeafCount,
    Plan,
    Planner,
    PlanRebinding,
    PriceCloth,
    Volume,
    bindery,
    note_on_volume,
    price_per_metre,
)
from examples.bindery.demo import open_demo

__all__ = [
    "BinderyRole",
    "Buyer",
    "ClothAsk",
    "ClothPrice",
    "Collator",
    "CountLeaves",
    "LeafCount",
    "Plan",
    "PlanRebinding",
    "Planner",
    "PriceCloth",
    "Volume",
    "bindery",
    "note_on_volume",
    "open_demo",
    "price_per_metre",
]
