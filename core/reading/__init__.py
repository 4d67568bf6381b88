"""What people are shown: frozen answers, each narrowed to its reader (rule R8).

A `Reader` is a person with the app's answers about them, or the app itself (person None), which sees all. Every list,
count and badge of one thing is made from the same statement.
"""

from core.reading.abandoned import abandoned, closed_as_abandoned
from core.reading.agents import DAYS as USED_DAYS
from core.reading.agents import Used, going_of, last_of, seats, sees_all, spent_of, used
from core.reading.answered import Decider, answered
from core.reading.audit import audit, recorded, verification_last
from core.reading.audit import opened as line_opened
from core.reading.batch import MOST as BATCH_MOST
from core.reading.batch import of as batch_of
from core.reading.batch import of_kind as batch_of_kind
from core.reading.beginning import beginning, begun
from core.reading.calling_off import may_stop, to_stop_branch
from core.reading.decided import decided
from core.reading.following import Followed
from core.reading.lines import lines
from core.reading.meter import account_of, accounts, calls, meter, prices
from core.reading.needs import check, going, near, now, stopping, to_stop
from core.reading.offers import offer, offers
from core.reading.open_waits import open_waits
from core.reading.pane import pane, whole_text
from core.reading.reader import ALL, Reader, abilities, whole_of
from core.reading.requests import (
    for_you,
    helps,
    is_question,
    last_held,
    one_proposal,
    one_question,
    proposals_for,
    questions_for,
    rule_offer,
)
from core.reading.rows import tree_page
from core.reading.rules import covered, in_words, rules
from core.reading.search import search
from core.reading.spending import limitable, spend_limits
from core.reading.times import spans
from core.reading.waiting import waiting
from core.reading.works import handed_on_by, my_work, one_piece, one_work, tree, works

__all__ = [
    "ALL",
    "BATCH_MOST",
    "USED_DAYS",
    "Decider",
    "Followed",
    "Reader",
    "Used",
    "abandoned",
    "abilities",
    "account_of",
    "accounts",
    "answered",
    "audit",
    "batch_of",
    "batch_of_kind",
    "beginning",
    "begun",
    "calls",
    "check",
    "closed_as_abandoned",
    "covered",
    "decided",
    "for_you",
    "going",
    "going_of",
    "handed_on_by",
    "helps",
    "in_words",
    "is_question",
    "last_held",
    "last_of",
    "limitable",
    "line_opened",
    "lines",
    "may_stop",
    "meter",
    "my_work",
    "near",
    "now",
    "offer",
    "offers",
    "one_piece",
    "one_proposal",
    "one_question",
    "one_work",
    "open_waits",
    "pane",
    "prices",
    "proposals_for",
    "questions_for",
    "recorded",
    "rule_offer",
    "rules",
    "search",
    "seats",
    "sees_all",
    "spans",
    "spend_limits",
    "spent_of",
    "stopping",
    "to_stop",
    "to_stop_branch",
    "tree",
    "tree_page",
    "used",
    "verification_last",
    "waiting",
    "whole_of",
    "whole_text",
    "works",
]
