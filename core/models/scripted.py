"""A model that answers from a script: for tests, for demos, and for trying an agency without a key."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from core.errors import Abort
from core.models.messages import ModelAnswer, ModelRequest

Answerer = Callable[[str, ModelRequest], "ModelAnswer | Awaitable[ModelAnswer]"]


class ScriptedModel:
    """Asks whatever `Agency.script` was given: `answer(model, request)`, plain or async."""

    def __init__(self, answer: Answerer | None = None) -> None:
        self.answer = answer

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if self.answer is None:
            raise Abort(f"{request.agent} was asked, and no script was given: call agency.script(...) first.")
        said = self.answer(request.model, request)
        return await said if inspect.isawaitable(said) else said
