"""Asking a provider's model over HTTP, through pydantic-ai: one request, one answer, no stream, no tries of its own.

Everything that can go wrong is told in the engine's terms, by whether the request was carried out: `Unreachable` and
`Rejected` where it surely was not, `AnswerLost` where it may have been, `AnswerUnusable` where it was. What a provider
wrote about it goes to the log, without the key; a person is told the kind of trouble alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence

import httpx2
from pydantic_ai import exceptions as wrong
from pydantic_ai import messages as theirs
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_core import to_json

from core.errors import AnswerLost, AnswerUnusable, HandonError, Rejected, Unreachable
from core.models.llm import LlmModel
from core.models.messages import Message, ModelAnswer, ModelCall, ModelRequest, ToolOffer

log = logging.getLogger(__name__)

CONNECT = 10  # seconds for a connection to be made: nothing has left before it is
FOR_NOW = (408, 409, 425)  # turned away, but not for good
NO_KEY = "none"  # sent where an address needs no key: the libraries insist on one

# What turns a request down for good, and what a person is told of it.
_REJECTED: tuple[tuple[type[wrong.ModelAPIError], str], ...] = (
    (wrong.ModelAuthenticationError, "its provider does not take the key, or the key may not use it"),
    (wrong.ModelNotFoundError, "its provider knows no such model, or the address is wrong"),
    (wrong.ModelQuotaExceededError, "its provider says that the account has no credit left"),
    (wrong.ModelContextWindowExceededError, "the conversation has become longer than it takes"),
    (wrong.ModelRequestRejectedError, "its provider does not take the request"),
)


class Provided:
    """One model at one provider's. Its connections are opened when it is first asked, and closed by `aclose`."""

    def __init__(self, model: LlmModel, provider: str, called: str, key: str | None) -> None:
        self._name, self._provider, self._called = model.name, provider, called
        self._address, self._key = model.base_url, key
        self._seconds = model.timeout.total_seconds()
        self._open: tuple[httpx2.AsyncClient, Model] | None = None
        self._make = _anthropic() if provider == "anthropic" else _openai(responses=provider == "openai")

    def __repr__(self) -> str:
        return f"Provided({self._provider}:{self._called})"

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        if self._open is None:
            # As many connections as there are pieces: the agency's `concurrency` bounds those.
            http = httpx2.AsyncClient(timeout=self._timeout, limits=httpx2.Limits(max_connections=None))
            self._open = http, self._make(self._called, self._address, self._key, http)
        try:
            response = await model_request(
                self._open[1],
                list(_messages(request.messages)),
                model_settings=self._settings(request.max_output_tokens),
                model_request_parameters=ModelRequestParameters(function_tools=[_tool(one) for one in request.tools]),
                instrument=False,
            )
        except Exception as error:  # the libraries trip over some answers in ways of their own
            log.warning("%s (%s:%s): %s", self._name, self._provider, self._called, self._scrubbed(error))
            raise _told(error) from None
        return _answer(response, request.max_output_tokens)

    async def aclose(self) -> None:
        """Close its connections. It may be asked again afterwards."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened[0].aclose()

    @property
    def _timeout(self) -> httpx2.Timeout:
        return httpx2.Timeout(self._seconds, connect=min(CONNECT, self._seconds / 2))

    def _settings(self, most: int) -> ModelSettings:
        # `request_timeout` bounds the whole of it: a server that sends a byte now and then is given up too.
        return ModelSettings(
            max_tokens=most,
            timeout=self._timeout,  # type: ignore[typeddict-item]
            request_timeout=self._seconds,
            max_retries=0,
        )

    def _scrubbed(self, error: Exception) -> str:
        text = f"{type(error).__name__}: {error}"
        return text.replace(self._key, "***") if self._key else text


# The libraries' own models. They are loaded when an agency is made with one, so that no first call waits for it

Maker = Callable[[str, str | None, str | None, httpx2.AsyncClient], Model]


def _anthropic() -> Maker:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    def make(called: str, address: str | None, key: str | None, http: httpx2.AsyncClient) -> Model:
        there = AnthropicProvider(api_key=key or NO_KEY, base_url=address, http_client=http)
        return AnthropicModel(called, provider=there)

    return make


def _openai(*, responses: bool) -> Maker:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # What speaks like OpenAI knows the limit by its older name; one that is not understood would not be kept.
    older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    # The conversation is ours and sent whole each time: nothing of it is to be kept there.
    unkept = OpenAIResponsesModelSettings(openai_store=False)

    def make(called: str, address: str | None, key: str | None, http: httpx2.AsyncClient) -> Model:
        there: OpenAIProvider | OpenAICompatibleProvider
        if address is None:
            there = OpenAIProvider(api_key=key, http_client=http)
        else:
            there = OpenAICompatibleProvider(
                "elsewhere", base_url=address, api_key=key or NO_KEY, http_client=http, profile=older
            )
        if responses:
            return OpenAIResponsesModel(called, provider=there, settings=unkept)
        return OpenAIChatModel(called, provider=there)

    return make


# What is asked

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
NOTHING = "(nothing)"  # providers refuse a message without text


def _messages(messages: Sequence[Message]) -> Iterator[theirs.ModelMessage]:
    for message in messages:
        if message.role == "system":
            yield theirs.ModelRequest([theirs.SystemPromptPart(message.text)])
        elif message.role == "user":
            yield theirs.ModelRequest([theirs.UserPromptPart(_some(message.text))])
        elif message.role == "tool":
            yield theirs.ModelRequest(
                [theirs.ToolReturnPart(_name(one.name), _some(one.text), one.call_id) for one in message.results]
            )
        elif said := [*_said(message)]:  # one that said nothing is left out
            yield theirs.ModelResponse(said)


def _said(message: Message) -> Iterator[theirs.ModelResponsePart]:
    if message.text.strip():
        yield theirs.TextPart(message.text)
    for call in message.calls:
        yield theirs.ToolCallPart(_name(call.name), call.arguments_text, call.id or "")


def _some(text: str) -> str:
    return text if text.strip() else NOTHING


def _name(name: str) -> str:
    """A tool's name as every provider takes it back, also one that the model made up."""
    return _NAME.sub("_", name)[:64] or "_"


def _tool(offer: ToolOffer) -> ToolDefinition:
    return ToolDefinition(
        name=offer.name, description=offer.description, parameters_json_schema=offer.schema, strict=False
    )


# What is answered


def _answer(response: theirs.ModelResponse, most: int) -> ModelAnswer:
    text = "\n".join(part.content for part in response.parts if isinstance(part, theirs.TextPart))
    calls = [_call(part) for part in response.parts if isinstance(part, theirs.ToolCallPart)]
    note = _broken_off(response, most)
    if note:
        text = f"{text}\n{note}".strip()
        if response.parts and isinstance(response.parts[-1], theirs.ToolCallPart):
            # Its last call may be cut too, and half of its arguments may be fine JSON: this makes sure they are not.
            last = calls[-1]
            calls[-1] = ModelCall(last.id, last.name, f"{last.arguments_text} {note}")
    tokens_in, tokens_out, tokens_cached = _tokens(response.usage, said=bool(response.parts))
    return ModelAnswer(text, tuple(calls), tokens_in, tokens_out, tokens_cached)


def _call(part: theirs.ToolCallPart) -> ModelCall:
    written = part.args if isinstance(part.args, str) else to_json(part.args or {}).decode()
    return ModelCall(part.tool_call_id or None, part.tool_name, written)


def _broken_off(response: theirs.ModelResponse, most: int) -> str:
    """Why the answer is not whole; empty where it is."""
    if response.finish_reason == "length":
        return f"[Cut off here: an answer has at most {most} tokens.]"
    if response.finish_reason == "content_filter":
        why = (response.provider_details or {}).get("refusal")
        return f"[Broken off by the provider: {why}]" if why else "[Broken off by the provider.]"
    return ""


def _tokens(usage: RequestUsage, said: bool) -> tuple[int | None, int | None, int]:
    """Tokens in, out and cached. A count that cannot be true is none: the answer is charged its reservation (M9)."""
    tokens_in = usage.input_tokens if usage.input_tokens > 0 else None
    tokens_out = usage.output_tokens if usage.output_tokens > (0 if said else -1) else None
    return tokens_in, tokens_out, min(max(usage.cache_read_tokens, 0), tokens_in or 0)


# What can go wrong


def _told(error: Exception) -> HandonError:
    if isinstance(error, wrong.ModelConnectionError) and error.phase in ("pool", "connect"):
        return Unreachable("no connection to its provider can be made")
    status = error.status_code if isinstance(error, wrong.ModelHTTPError) else 0
    away = isinstance(error, wrong.ModelRateLimitError | wrong.ModelUnavailableError) or status in FOR_NOW
    if away and isinstance(error, wrong.ModelAPIError):
        return Unreachable("its provider turns requests away for now", error.retry_after)
    for kind, why in _REJECTED:
        if isinstance(error, kind) or (kind is wrong.ModelRequestRejectedError and 400 <= status < 500):
            return Rejected(f"{why} ({status})" if status else why)
    if isinstance(error, wrong.ModelRequestTimeout | wrong.ModelTimeoutError):
        return AnswerLost("it did not answer in time")
    if isinstance(error, wrong.ModelConnectionError):
        return AnswerLost("the connection broke before it had answered")
    if isinstance(error, wrong.ModelServerError):
        return AnswerLost("its provider failed while it answered")
    if isinstance(error, wrong.UserError):
        return Rejected("the request cannot be put to it")
    return AnswerUnusable("what came back is no answer")
