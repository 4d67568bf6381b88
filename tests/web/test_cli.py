"""`handon serve`: what is wrong from outside is said in words, and a server that is told to stop stops."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from web.cli import bound, loopback, main

APP = "examples.bindery:bindery"
PROVIDER = ("--oidc-issuer", "https://login.test", "--oidc-client-id", "handon")
TOKEN = re.compile(r'name="_csrf_token" value="([^"]+)"')


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no_such_module:make"], "There is no module 'no_such_module' here."),
        (["examples.bindery"], "is no factory"),
        (["examples.bindery:nothing"], "has no function 'nothing'"),
        (["json:dumps"], "cannot be called as a factory"),
        (["builtins:dict"], "made a dict, and no agency"),
        ([APP, "--demo", "--host", "0.0.0.0"], "it is only for this machine"),
        ([APP, "--database", "nonsense"], "'nonsense' is no address of a database"),
        ([APP, "--oidc-issuer", "https://login.test"], "needs both an issuer and a client id"),
        ([APP, "--oidc-issuer", "http://login.test", "--oidc-client-id", "x"], "'http://login.test' is no issuer"),
        ([APP, "--oidc-issuer", "https://[", "--oidc-client-id", "x"], "is no issuer"),
        ([APP, "--oidc-issuer", "https://l.test?a=b", "--oidc-client-id", "x"], "is no issuer"),
        ([APP, *PROVIDER, "--oidc-roles-claim", "groups"], "needs to be told which of its values gives which role"),
        ([APP, *PROVIDER, "--oidc-roles", "a=binder"], "needs to be told which of its values gives which role"),
        ([APP, *PROVIDER, "--oidc-roles-claim", "g", "--oidc-roles", "a=binder,b"], "'b' of the roles is no pair"),
        ([APP, "--trusted-proxies", "10.0.0.0/8, proxy.test"], "'proxy.test' is no address of a proxy"),
        ([APP, "--port", "0", "--database", "sqlite:////no/such/folder/handon.db"], "could not be opened"),
    ],
)
def test_what_is_wrong_is_said_in_words(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANDON_DATABASE", raising=False)
    answer = CliRunner().invoke(main, ["serve", *arguments], env={"HANDON_DATABASE": None})
    assert answer.exit_code == 1
    assert said in answer.output
    assert "Traceback" not in answer.output


def test_a_port_in_use_is_said_before_anything_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "handon.db"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = ["serve", APP, "--port", port, "--database", f"sqlite:///{file}"]
        answer = CliRunner().invoke(main, arguments, env={"HANDON_DATABASE": None})
    assert answer.exit_code == 1
    assert "another program answers there" in answer.output
    assert not file.exists()


def test_only_this_machines_own_addresses_are_loopback() -> None:
    assert all(loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost"))
    assert not any(loopback(host) for host in ("0.0.0.0", "::", "192.168.0.7", "handon.test"))


async def test_what_is_small_is_sent_at_once_on_each_connection() -> None:
    """A system holds a small part back until the one before was acknowledged."""
    found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def came(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bound("127.0.0.1", 0)
    async with await asyncio.start_server(came, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await found
        writer.close()


async def test_a_server_told_to_stop_ends_its_streams_with_a_word_and_leaves(tmp_path: Path) -> None:
    arguments = ["serve", APP, "--demo", "--port", "0", "--database", f"sqlite:///{tmp_path / 'handon.db'}"]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "web.cli", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert server.stdout is not None
    link = None
    while link is None:
        line = (await asyncio.wait_for(server.stdout.readline(), 20)).decode()
        assert line, "the server ended"
        link = re.search(r"Sign in as Mia: (\S+)", line)
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(link[1])
        token = TOKEN.search(page.text)
        assert token
        await browser.post(link[1], data={"_csrf_token": token[1]})
        async with browser.stream("GET", httpx.URL(link[1]).join("/live")) as stream:
            parts = stream.aiter_text()
            assert "beat" in await anext(parts)
            began = time.monotonic()
            server.send_signal(signal.SIGTERM)
            rest = "".join([part async for part in parts])  # ends cleanly, or this raises
    assert "event: bye" in rest
    await asyncio.wait_for(server.wait(), 10)
    assert time.monotonic() - began < 5
