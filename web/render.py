"""The one Jinja environment: pages, fragments and messages of the live stream are made here, from the same templates.

A name that a template uses and nobody gave is an error, and everything is escaped: what an agent or a person wrote
never becomes markup, and what cannot be seen in it is shown as a mark. What goes back into a form is written with
`| e`, which leaves it to the letter as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from litestar.connection import ASGIConnection
from litestar.template.base import csrf_token
from markupsafe import Markup, escape

from core.agency import Agency
from core.declare.schemas import to_json
from core.values import Line
from web import outline, words
from web.assets import Assets
from web.fitting import fits
from web.waiting import changes_of, stands

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
Connection = ASGIConnection[Any, Any, Any, Any]


class Renderer:
    """Makes HTML for one agency: its name, currency and clock are known to every template."""

    def __init__(self, agency: Agency, assets: Assets) -> None:
        self.agency = agency
        self.env = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            finalize=shown,
        )
        self.env.globals.update(
            app_name=agency.name,
            currency=words.SYMBOLS.get(agency.currency, agency.currency),
            static=assets.url,
            sheets=assets.sheets,
            scripts=assets.scripts,
            look_of_node=words.look_of_node,
            look_of_work=words.look_of_work,
            look_of_active=words.look_of_active,
            look_of_status=words.look_of_status,
            look_of_request=words.look_of_request,
            look_of_row=outline.look_of_row,
            most_urgent=outline.most_urgent,
            is_rest=outline.is_rest,
            row_id=outline.row_id,
            below_in_words=outline.in_words,
            shape_of=outline.SHAPES,
            tree_filters=outline.FILTERS,
            short_key=outline.short,
            fits=fits,
            gate_icon=words.gate_icon,
            sentence=sentence,
            changes_of=changes_of,
            stands=stands,
            hold_words=words.HOLDS,
        )
        self.env.filters.update(
            money=lambda micros: words.money(micros, agency.currency),
            amount=words.amount,
            price=words.price,
            count=words.count,
            duration=words.duration,
            when=when,
            ago=ago,
            past=past,
            age=age,
            since=since,
            short_id=lambda value: str(value)[-8:],
            to_json=to_json,
            fingerprint=lambda value: f"{value[:4]} {value[4:8]}",
        )

    def html(self, template: str, connection: Connection | None, **context: Any) -> str:
        """One template as text. Forms in it carry the token of this connection's reader."""
        token = csrf_token({"request": connection}) if connection is not None else ""
        now: datetime = self.agency.clock.now()
        return self.env.get_template(template).render(csrf=token, now=now, **context)


def shown(value: object) -> object:
    """What a template writes: text as `words.visible` has it, and markup of our own as it is."""
    return words.visible(value) if type(value) is str else value


def sentence(line: Line) -> Markup:
    """A line of a record, with the agent's name set off where the sentence begins with it."""
    summary = words.visible(line.summary)
    if summary.startswith(line.agent_label):
        name, rest = line.agent_label, summary[len(line.agent_label) :]
        return Markup('<span class="who">{}</span>{}').format(name, rest)
    return escape(summary)


def _time(moment: datetime, kind: str, text: str) -> Markup:
    exact = moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{}" title="{}" data-t="{}">{}</time>').format(exact, words.utc(moment), kind, text)


@pass_context
def when(context: Context, moment: datetime, kind: str = "minute") -> Markup:
    """A point in time: "minute" or "second". The page's script writes it in the reader's zone."""
    likes = context.get("likes")
    zone = likes.time_zone if likes else ""
    return _time(moment, kind, words.clock(moment, context["now"], seconds=kind == "second", zone=zone))


@pass_context
def ago(context: Context, moment: datetime) -> Markup:
    """How long ago, for a glance. The script keeps it up to date."""
    return _time(moment, "ago", words.ago(context["now"] - moment))


@pass_context
def past(context: Context, moment: datetime) -> Markup:
    """The same after a verb: "asked just now", "asked 6 min ago"."""
    return _time(moment, "past", words.past(context["now"] - moment))


@pass_context
def age(context: Context, moment: datetime) -> Markup:
    """The same in one short unit, for a narrow column."""
    return _time(moment, "age", words.age(context["now"] - moment))


@pass_context
def since(context: Context, moment: datetime) -> Markup:
    """How long something has gone on. The script keeps it up to date."""
    return _time(moment, "since", words.duration(context["now"] - moment))
