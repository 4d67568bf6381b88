"""Handon: what an app imports. Names only; each is documented where it is defined."""

from core.agency import Agency
from core.declare import hand_on
from core.declare.actions import Action, Context, action, query
from core.declare.agents import Agent, AgentLimits, Guards, Permits
from core.declare.delegation import Delegation, Specialist
from core.declare.rights import Policies, Policy, Principal, Row, allow, anybody, deny, has_role
from core.declare.skills import Retry, Skill
from core.desk import Desk, Outcome
from core.errors import (
    AlreadyDecided,
    BadDeclaration,
    BadInput,
    HandonError,
    NotAllowed,
    NotFound,
    NotWaiting,
    OutOfMoney,
    Stale,
    Unreachable,
)
from core.models.llm import LlmModel, Price
from core.models.messages import Message, ModelAnswer, ModelCall, ModelClient, ModelRequest, ToolOffer, ToolResult
from core.values import (
    Gate,
    Help,
    HelpFrom,
    HelpReason,
    HelpStatus,
    Line,
    Person,
    Piece,
    Proposal,
    ProposalStatus,
    Question,
    Status,
    TraceKind,
    Verdict,
    Work,
    WorkNode,
)

__all__ = [
    "Action", "Agency", "Agent", "AgentLimits", "AlreadyDecided", "BadDeclaration", "BadInput", "Context", "Delegation",
    "Desk", "Gate", "Guards", "HandonError", "Help", "HelpFrom", "HelpReason", "HelpStatus", "Line", "LlmModel", "Message",
    "ModelAnswer", "ModelCall", "ModelClient", "ModelRequest", "NotAllowed", "NotFound", "NotWaiting", "OutOfMoney", "Outcome",
    "Permits", "Person", "Piece", "Policies", "Policy", "Price", "Principal", "Proposal", "ProposalStatus", "Question", "Retry",
    "Row", "Skill", "Specialist", "Stale", "Status", "ToolOffer", "ToolResult", "TraceKind", "Unreachable", "Verdict", "Work",
    "WorkNode", "action", "allow", "anybody", "deny", "hand_on", "has_role", "query",
]
