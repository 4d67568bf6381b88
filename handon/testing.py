"""What an app's tests import. Names only; each is documented in `core.testing`."""

from core.models.messages import ModelAnswer, ModelCall, ModelRequest, ToolResult
from core.testing import (
    AgentCast,
    AgentScript,
    ProcessDied,
    Says,
    ScriptedModel,
    ScriptError,
    TestClock,
    Trajectory,
    Unreachable,
)

__all__ = [
    "AgentCast",
    "AgentScript",
    "ModelAnswer",
    "ModelCall",
    "ModelRequest",
    "ProcessDied",
    "Says",
    "ScriptError",
    "ScriptedModel",
    "TestClock",
    "ToolResult",
    "Trajectory",
    "Unreachable",
]
