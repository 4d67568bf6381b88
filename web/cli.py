"""The command line: `handon serve DOTTED:FACTORY` runs an app's agency and its pages in one process.

Whatever can be wrong from outside (the path, the port, the database) is said in words, without a traceback.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import ipaddress
import logging
import os
import re
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TextIO

import click
import uvicorn
from rich.console import Console
from sqlalchemy.exc import ArgumentError

from core.agency import Agency
from core.errors import HandonError
from core.record import verify_export
from web import oidc, proxies
from web.app import create_app
from web.callback import BACK

GRACE = 5  # seconds that open requests are given when the server is told to stop


@dataclass(frozen=True, slots=True)
class App:
    """What a dotted path names: a factory, and the module it stands in."""

    module: ModuleType
    factory: Callable[..., object]

    def agency(self, database: str | None) -> Agency:
        settings: dict[str, Any] = {"database": database} if database else {}
        if database:
            os.environ["HANDON_DATABASE"] = database  # which an agency prefers: what was asked for here comes first
        try:
            made = self.factory(**settings)
        except HandonError as error:
            raise click.ClickException(f"The agency cannot be made as it is declared. {error}") from None
        except ArgumentError:
            hint = "Write it as sqlite:///file.db or postgresql://user@host/name."
            raise click.ClickException(f"{database!r} is no address of a database. {hint}") from None
        except TypeError as error:
            raise click.ClickException(f"{self.factory.__name__} cannot be called as a factory: {error}.") from error
        if not isinstance(made, Agency):
            raise click.ClickException(f"{self.factory.__name__} made a {type(made).__name__}, and no agency.")
        return made


def app_at(path: str) -> App:
    """Import "package.module:factory". Says which half of it is wrong."""
    name, _, attribute = path.partition(":")
    if not name or not attribute:
        raise click.ClickException(
            f"{path!r} is no factory. Write it as package.module:function, such as examples.bindery:bindery."
        )
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise click.ClickException(
                f"There is no module {name!r} here. Start Handon in the folder it stands in."
            ) from None
        raise click.ClickException(
            f"{name!r} cannot be imported: it needs {error.name!r}, which is not installed."
        ) from None
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise click.ClickException(f"{name!r} has no function {attribute!r}.")
    return App(module, factory)


def loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A listening socket, made before anything else so that a port in use is said at once. It names its protocol:
    asyncio sends what is small at once (TCP_NODELAY) only on connections that do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # whoever follows a printed link too soon waits, and is served
    except OSError as error:
        listener.close()
        reason = (
            "another program answers there" if error.errno == 98 else (error.strerror or "it cannot be used").lower()
        )
        raise click.ClickException(
            f"Port {port} of {host} cannot be had: {reason}. Choose another with --port."
        ) from None
    listener.set_inheritable(True)
    return listener


def provider_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of the provider that people sign in at, each also a variable of the environment. The client's secret
    is only that: a command line can be read by everybody on the machine."""
    options = (
        ("issuer", "HANDON_OIDC_ISSUER", "The OpenID Connect provider that people sign in at."),
        (
            "client_id",
            "HANDON_OIDC_CLIENT_ID",
            "What Handon is there; its secret is HANDON_OIDC_CLIENT_SECRET.",
        ),
        ("scopes", "HANDON_OIDC_SCOPES", "What is asked for besides openid.  [default: email profile]"),
        ("roles_claim", "HANDON_OIDC_ROLES_CLAIM", "The claim that says what roles somebody has."),
        ("roles", "HANDON_OIDC_ROLES", "Which value of it gives which role: value=role,value=role."),
    )
    for name, variable, help in reversed(options):
        option = f"--oidc-{name.replace('_', '-')}"
        command = click.option(option, name, envvar=variable, show_envvar=True, help=help)(command)
    return command


@click.group()
@click.version_option(package_name="handon")
def main() -> None:
    """Handon: AI agents hand typed pieces of work on to other agents, and people stay in charge of it."""


@main.command()
@click.argument("app", metavar="DOTTED:FACTORY")
@click.option("--demo", is_flag=True, help="Open the app's demonstration and print a sign-in link for each person.")
@click.option("--host", default="127.0.0.1", show_default=True, envvar="HANDON_HOST")
@click.option("--port", default=8100, show_default=True, type=click.IntRange(0, 65535), envvar=["HANDON_PORT", "PORT"])
@click.option("--database", envvar="HANDON_DATABASE", help="URL of the database, instead of the app's own.")
@click.option(
    "--trusted-proxies",
    envvar="HANDON_TRUSTED_PROXIES",
    show_envvar=True,
    help="Addresses or networks whose X-Forwarded-Proto and -Host are believed.  [default: none]",
)
@provider_options
def serve(
    app: str,
    demo: bool,
    host: str,
    port: int,
    database: str | None,
    trusted_proxies: str | None,
    **provider: str | None,
) -> None:
    """Serve the pages of an app, and do its agents' work."""
    if demo and not loopback(host):
        raise click.ClickException(
            "The demonstration signs in whoever has its links, so it is only for this machine. "
            f"Leave --host at 127.0.0.1, or leave --demo out to serve on {host}."
        )
    try:
        trusted = proxies.networks(trusted_proxies)
        signs_in = oidc.configured(client_secret=os.environ.get("HANDON_OIDC_CLIENT_SECRET"), **provider)
    except HandonError as error:
        raise click.ClickException(str(error)) from None
    found = app_at(app)
    agency = found.agency(database)
    listener = bound(host, port)
    try:
        _run(agency, found.module, demo, host, listener, signs_in, trusted)
    finally:
        listener.close()


@main.command()
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--key", help="The public key, in hex, that is known to sign this agency's records.")
def verify(file: TextIO, key: str | None) -> None:
    """Check an exported record with nothing but FILE and, where given, the public key.

    Prints what was proven, and exits with 1 where the record does not hold together or another key signed it.
    """
    try:
        verdict, signed_by = verify_export(file.read())
    except HandonError as error:
        raise click.ClickException(str(error)) from None
    if not verdict.intact:
        raise click.ClickException(f"{verdict.proven} {verdict.why}")
    if key is not None and signed_by != key.strip().lower():
        raise click.ClickException(
            f"The chain holds, but it is signed by {signed_by or 'nobody'}, not by the key you gave."
        )
    click.echo(f"Unbroken: {verdict.proven}")
    if signed_by and key is None:
        click.echo("Compare that key with the agency's own, which /health shows; or pass it as --key.")


def _run(
    agency: Agency,
    module: ModuleType,
    demo: bool,
    host: str,
    listener: socket.socket,
    signs_in: oidc.Configured | None,
    trusted: tuple[proxies.Network, ...],
) -> None:
    port = listener.getsockname()[1]
    base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    failed: list[Exception] = []

    async def opened(agency: Agency) -> None:
        if demo:
            await _open_demo(module, agency)
        await _greet(agency, base, demo, signs_in)

    web = create_app(agency, demo=demo, oidc=signs_in, opened=opened, failed=failed.append)
    config = uvicorn.Config(
        proxies.BehindProxies(web, trusted),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="on",
        server_header=False,
        proxy_headers=False,  # which would believe whoever asks from this machine
    )
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what fails at the start is said below, in words
    server = uvicorn.Server(config)
    try:
        asyncio.run(server.serve(sockets=[listener]))
    except (KeyboardInterrupt, SystemExit):
        pass  # told to stop, or it never began: that is said next
    if failed:
        raise _in_words(failed[0])


async def _open_demo(module: ModuleType, agency: Agency) -> None:
    opening = getattr(module, "open_demo", None)
    if opening is None:
        raise click.ClickException(f"{module.__name__!r} has no demonstration: it has no function open_demo(agency).")
    done = opening(agency)
    if inspect.isawaitable(done):
        await done


async def _greet(agency: Agency, base: str, demo: bool, signs_in: oidc.Configured | None) -> None:
    """Print where it is, and how people get in."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"\n[bold]{agency.name}[/] at [link={base}]{base}[/link]\n")
    if demo:
        for person in await agency.people():
            address = f"{base}/sign-in/link/{await agency.sign_in_link(person.id)}"
            console.print(f"  Sign in as [bold]{person.name}[/]:", f"[link={address}]{address}[/link]")
        console.print("\n  [dim]Each link is good once, for 15 minutes. Stop with Ctrl+C.[/]\n")
    if signs_in is not None:
        console.print(f"  People sign in at {signs_in.issuer}, which sends them back to {base}{BACK},")
        console.print("  or to the same path where a proxy answers for Handon.\n")
    elif not demo:
        console.print("  Nobody can sign in yet: no provider is configured (docs/signing-in.md).\n")


def _in_words(error: Exception) -> click.ClickException:
    if isinstance(error, click.ClickException):
        return error
    if isinstance(error, HandonError):
        return click.ClickException(str(error))
    cause = re.sub(r"^\([\w.]+\) ", "", str(error).strip()).splitlines() or [type(error).__name__]
    return click.ClickException(
        f"The agency could not be opened: {cause[0]}. Is the database there, and may Handon write to it?"
    )


if __name__ == "__main__":
    main()
