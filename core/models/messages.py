"""A model's request and its answer, in the engine's own terms. An adapter translates them for a provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import UUID

Role = Literal["system", "user", "assistant", "tool"]
Purpose = Literal["work", "consult", "decide"]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as the model wrote it. A provider that sends no id leaves it None; the engine gives one (H6)."""

    id: str | None
    name: str
    arguments_text: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told about one of its calls."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation: `calls` go with an assistant's message, `results` with a tool's."""

    role: Role
    text: str = ""
    calls: tuple[ModelCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool the model may call in this turn."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked. `messages` is the engine's own list: it is read, never changed."""

    model: str  # the agency's name for it, "Everyday"
    agent: str  # the class's name
    piece: UUID
    purpose: Purpose
    messages: Sequence[Message]
    tools: Sequence[ToolOffer]
    max_output_tokens: int
    turn: int = 0  # which of the piece's answers it will be, from 1, over all its conversations; a consult has none


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What it said. Without token counts an answer is charged its whole reservation (rule M9)."""

    text: str = ""
    calls: tuple[ModelCall, ...] = field(default=())
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int = 0


class ModelClient(Protocol):
    """A way to a model. Raises `Unreachable` where the request did not get there, `Rejected` where it was turned down
    for good, `AnswerLost` where it left and nothing whole came back; anything else is an answer that cannot be used.

    What it holds open, it closes in an `async def aclose()`, where it has one, when the agency leaves.
    """

    async def ask(self, request: ModelRequest) -> ModelAnswer: ...
