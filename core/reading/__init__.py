"""What people are shown: frozen answers, each narrowed to its reader (rule R8).

A `Reader` is a person with the app's answers about them, or the app itself (person None), which sees all. Every list,
count and badge of one thing is made from the same statement.
"""

from core.reading.agents import DAYS as USED_DAYS
from core.reading.agents import Used, going_of, last_of, seats, sees_all, used
from core.reading.lines import lines
from core.reading.pane import pane
from core.reading.reader import ALL, Reader, abilities, whole_of
from core.reading.requests import (
    answered,
    for_you,
    helps,
    is_question,
    one_proposal,
    one_question,
    proposals_for,
    questions_for,
)
from core.reading.rules import covered, rules
from core.reading.spending import spend_limits
from core.reading.works import handed_on_by, my_work, one_piece, one_work, some_nodes, tree, works

__all__ = [
    "ALL",
    "USED_DAYS",
    "Reader",
    "Used",
    "abilities",
    "answered",
    "covered",
    "for_you",
    "going_of",
    "handed_on_by",
    "helps",
    "is_question",
    "last_of",
    "lines",
    "my_work",
    "one_piece",
    "one_proposal",
    "one_question",
    "one_work",
    "pane",
    "proposals_for",
    "questions_for",
    "rules",
    "seats",
    "sees_all",
    "some_nodes",
    "spend_limits",
    "tree",
    "used",
    "whole_of",
    "works",
]
