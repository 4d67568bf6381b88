"""A provider on 127.0.0.1 that does what a test says: it answers, refuses, hangs, or drops the connection midway.

`Wire` is one way that providers speak (Chat Completions, Responses, Messages): it writes an answer as they do, and
reads back what was asked. Everything goes over a real socket.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from socket import create_server
from typing import Any

from handon import LlmModel, Price
from tests.staging import until

KEY = "sk-a-key-that-nobody-may-read"
USED = (100, 20, 0)  # tokens in (those from the cache with them), out, from the cache
Call = tuple[str, Any]  # a tool's name, and its arguments: a dict, or text as it is written


@dataclass(frozen=True)
class Reply:
    """What is answered: a status, a body, headers. `hangs`: nothing, for ever; `drops`: half of it, and no more;
    `after`: not before a test says so."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    drops: bool = False
    after: asyncio.Event | None = None

    def raw(self) -> bytes:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body))} | self.headers
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        whole = f"HTTP/1.1 {self.status} Said\r\n{head}\r\n".encode() + body
        return whole[: -len(body) // 2] if self.drops else whole


HANGS = Reply(hangs=True)
FAILS = Reply({"error": {"message": "Something broke."}}, 500)


class Provider:
    """Gives its replies in order, the last one again and again, and keeps every request."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[str] = []
        self.connected = 0
        self.url = ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        try:
            while await self._answer_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.connected -= 1
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = next(int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:"))
        self.paths.append(head.split()[1])
        self.headers.append(head)
        self.asked.append(json.loads(await reader.readexactly(size)))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if reply.hangs:
            await reader.read(1)  # comes back when the other side has gone
            return False
        if reply.after is not None:
            await reply.after.wait()
        writer.write(reply.raw())
        await writer.drain()
        return not reply.drops

    async def has(self, requests: int) -> None:
        """Wait until so many requests have come."""
        await until(lambda: len(self.asked) == requests)

    async def is_left(self) -> None:
        """Wait until nobody is connected any more."""
        await until(lambda: self.connected == 0)


@asynccontextmanager
async def provider(*replies: Reply) -> AsyncIterator[Provider]:
    stand_in = Provider(replies)
    server = await asyncio.start_server(stand_in._serve, "127.0.0.1", 0)
    stand_in.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield stand_in
    finally:
        server.close()


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nobody listens."""
    with create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    yield url


class Wire:
    """One way to speak. `cut` is an answer that reached its limit; `used=None`, one without counts."""

    prefix = ""
    path = "/v1"
    most = "max_tokens"  # what the limit is called

    def model(self, url: str, name: str = "Everyday", **more: Any) -> LlmModel:
        """1 micro a token in, 5 out, and 1,000 tokens an answer at most, as tests' models are."""
        given = {"price": Price(input=1, output=5), "max_output_tokens": 1000, "api_key": KEY} | more
        return LlmModel(name, f"{self.prefix}:some-model", base_url=url + self.path, **given)

    def says(self, text: str = "", *calls: Call, cut: bool = False, used: tuple[int, int, int] | None = USED) -> Reply:
        return Reply(self._body(text, calls, cut, used))

    def _body(self, text: str, calls: Sequence[Call], cut: bool, used: Any) -> dict[str, Any]:
        raise NotImplementedError

    def results(self, asked: dict[str, Any]) -> list[str]:
        """The results of tools that a request carries, in order."""
        raise NotImplementedError

    def called(self, asked: dict[str, Any]) -> list[tuple[str, str]]:
        """The calls of the conversation that a request carries: name and arguments."""
        raise NotImplementedError

    def tools(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The tools that a request offers, with their schemas."""
        raise NotImplementedError


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class Chat(Wire):
    prefix = "openai-chat"

    def _body(self, text: str, calls: Sequence[Call], cut: bool, used: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
                for n, (name, arguments) in enumerate(calls)
            ]
        finish = "length" if cut else "tool_calls" if calls else "stop"
        body: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "some-model",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if used is not None:
            body["usage"] = {
                "prompt_tokens": used[0],
                "completion_tokens": used[1],
                "total_tokens": used[0] + used[1],
                "prompt_tokens_details": {"cached_tokens": used[2]},
            }
        return body

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [message["content"] for message in asked["messages"] if message["role"] == "tool"]

    def called(self, asked: dict[str, Any]) -> list[tuple[str, str]]:
        return [
            (call["function"]["name"], call["function"]["arguments"])
            for message in asked["messages"]
            for call in message.get("tool_calls") or ()
        ]

    def tools(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {tool["function"]["name"]: tool["function"]["parameters"] for tool in asked.get("tools", ())}


class Messages(Wire):
    prefix = "anthropic"
    path = ""

    def _body(self, text: str, calls: Sequence[Call], cut: bool, used: Any) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        for n, (name, arguments) in enumerate(calls):
            content.append({"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": arguments})
        body: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "some-model",
            "content": content,
            "stop_reason": "max_tokens" if cut else "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        if used is not None:
            counts = {"input_tokens": used[0] - used[2], "output_tokens": used[1], "cache_read_input_tokens": used[2]}
            body["usage"] = counts
        return body

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [_plain(block["content"]) for block in self._blocks(asked) if block["type"] == "tool_result"]

    def called(self, asked: dict[str, Any]) -> list[tuple[str, str]]:
        blocks = self._blocks(asked)
        return [(block["name"], json.dumps(block["input"])) for block in blocks if block["type"] == "tool_use"]

    def tools(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {tool["name"]: tool["input_schema"] for tool in asked.get("tools", ())}

    @staticmethod
    def _blocks(asked: dict[str, Any]) -> list[dict[str, Any]]:
        contents = [message["content"] for message in asked["messages"]]
        return [block for content in contents if isinstance(content, list) for block in content]


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


class Responses(Wire):
    prefix = "openai"
    most = "max_output_tokens"

    def _body(self, text: str, calls: Sequence[Call], cut: bool, used: Any) -> dict[str, Any]:
        output: list[dict[str, Any]] = []
        if text:
            part = {"type": "output_text", "text": text, "annotations": []}
            output.append(
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
            )
        for n, (name, arguments) in enumerate(calls):
            written = _text(arguments)
            output.append(
                {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": name, "arguments": written}
            )
        body: dict[str, Any] = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "some-model",
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        if used is not None:
            body["usage"] = {
                "input_tokens": used[0],
                "input_tokens_details": {"cached_tokens": used[2]},
                "output_tokens": used[1],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": used[0] + used[1],
            }
        return body

    def results(self, asked: dict[str, Any]) -> list[str]:
        return [_plain(item["output"]) for item in asked["input"] if item.get("type") == "function_call_output"]

    def called(self, asked: dict[str, Any]) -> list[tuple[str, str]]:
        return [(item["name"], item["arguments"]) for item in asked["input"] if item.get("type") == "function_call"]

    def tools(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {tool["name"]: tool["parameters"] for tool in asked.get("tools", ())}


CHAT, MESSAGES, RESPONSES = Chat(), Messages(), Responses()
WIRES = [CHAT, MESSAGES, RESPONSES]
