"""The engine's tables. No behaviour: verbs write them, `reading` reads them, `alembic/` makes them.

Ids are 32 hex digits, times microseconds since 1970 in UTC, money micros; all three on both databases alike, so that
statements run below SQLAlchemy's type processing. A whole (tree) is known by the id of its top piece.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> String:
    return String(32)


def _deadlines() -> Index:
    """Open requests that have a deadline, by it."""
    open_ones = text("deadline is not null and status = 'Waiting'")
    return Index(None, "deadline", sqlite_where=open_ones, postgresql_where=open_ones)


def _open_ones() -> Index:
    """Open requests, by when they were asked."""
    waiting = text("status = 'Waiting'")
    return Index(None, "asked_at", sqlite_where=waiting, postgresql_where=waiting)


def _held(*columns: str) -> Index:
    """Decisions that are held now: few, whatever there was before."""
    held = text("ended_at is null")
    return Index(None, *columns, sqlite_where=held, postgresql_where=held)


person = Table(
    "person",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("email", String(320), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("added_at", BigInteger, nullable=False),
    Column("deactivated_at", BigInteger),
)

role_grant = Table(
    "role_grant",
    metadata,
    Column("person", _id(), ForeignKey("person.id"), primary_key=True),
    Column("role", String(100), primary_key=True),
)

# Who decides in somebody's place.
stand_in = Table(
    "stand_in",
    metadata,
    Column("person", _id(), ForeignKey("person.id"), primary_key=True),  # stands in ...
    Column("for_person", _id(), ForeignKey("person.id"), primary_key=True),  # ... for this one
)

# Who answers for an agent, and whether the agent is paused.
seat = Table(
    "seat",
    metadata,
    Column("agent", String(200), primary_key=True),
    Column("sponsor", _id(), ForeignKey("person.id")),
    Column("paused", Boolean, nullable=False),
)

# A one-time link (used_at) or a session; the token itself is never stored.
sign_in = Table(
    "sign_in",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("person", _id(), ForeignKey("person.id"), nullable=False),
    Column("kind", String(10), nullable=False),  # link, session
    Column("made_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    CheckConstraint("kind in ('link', 'session')", name="kind"),
    Index(None, "person"),
)

# Who somebody is at an OpenID Connect provider.
identity = Table(
    "identity",
    metadata,
    Column("issuer", String(500), primary_key=True),
    Column("subject", String(255), primary_key=True),
    Column("person", _id(), ForeignKey("person.id"), nullable=False),
    Column("roles", Text, nullable=False),  # that the provider's claim gave them, sorted, one a line
    Column("first_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    UniqueConstraint("person", "issuer"),
)

# A sign-in that came back from a provider: it does so once.
used_state = Table(
    "used_state",
    metadata,
    Column("state_hash", String(64), primary_key=True),
    Column("ends_at", BigInteger, nullable=False),  # from then on the state is too old in any case
)

# Random secrets of this database, for signing what pages send out.
secret = Table(
    "secret",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("value", String(200), nullable=False),
    Column("made_at", BigInteger, nullable=False),
)

# One row for a tree: its lock, its chain's head, and what its pieces share.
whole = Table(
    "whole",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("person", _id(), ForeignKey("person.id")),  # the work is for; null: for nobody
    Column("given_by", _id(), ForeignKey("person.id")),  # null: the app itself
    Column("sponsor", _id(), ForeignKey("person.id")),  # of the agent at the top, when it was given
    Column("accounts", Text, nullable=False),  # keys it is charged to besides itself, sorted, one a line
    Column("about", Text, nullable=False),
    Column("given_key", String(100)),  # of the form it was given with: the same form gives it once
    Column("lines", Integer, nullable=False),
    Column("head", String(64), nullable=False),
    Column("signature", String(128)),  # over the head, once the work has ended
    Column("signed_by", String(64)),  # the public key
    Column("last_line_at", BigInteger, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    CheckConstraint("lines >= 0", name="lines"),
    Index(None, "person", "opened_at"),
    UniqueConstraint("given_by", "given_key"),
    Index(None, "given_by"),
    Index(None, "ended_at", "last_line_at"),
    Index(None, "opened_at"),
    sqlite_with_rowid=False,
)

piece = Table(
    "piece",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("parent", _id(), ForeignKey("piece.id")),
    Column("depth", Integer, nullable=False),
    Column("branch", Text, nullable=False),  # ids from the top to here, both included, joined by "/"
    Column("agents", Text, nullable=False),  # their agents' names, joined likewise
    Column("agent", String(200), nullable=False),
    Column("skill", String(200), nullable=False),
    Column("skill_version", String(16), nullable=False),  # it was opened with
    Column("skill_version_now", String(16), nullable=False, server_default=""),  # its last run worked by
    Column("helper", Boolean, nullable=False),
    Column("input", Text, nullable=False),
    Column("status", String(10), nullable=False),
    Column("run", String(6), nullable=False),  # due, held, parked, ended
    Column("due_at", BigInteger),  # due, and not before this time
    Column("fence", Integer, nullable=False),
    Column("held_since", BigInteger),
    Column("let_go", Boolean, nullable=False),  # parked, and has waited for a person since: nobody is doing it
    Column("closing", String(10)),  # the final status it takes once nothing under it is held
    Column("closing_why", Text, nullable=False),
    Column("waiting_on", Text, nullable=False),
    Column("waits_since", BigInteger),
    Column(
        "waited", BigInteger, nullable=False, server_default="0"
    ),  # microseconds, for people, without the wait it is in
    Column("outcome", Text, nullable=False),
    Column("abandoned", Boolean, nullable=False),
    Column("takeovers", Integer, nullable=False, server_default="0"),  # how often another process took it up
    Column("tries", Integer, nullable=False, server_default="0"),  # how often it was tried again
    Column("result", Text),
    Column("turn", Integer, nullable=False),  # model answers, over all its conversations
    Column("messages", Integer, nullable=False),
    Column("begins_after", Integer, nullable=False, server_default="0"),  # the last message of the conversation before
    Column("tokens", Integer, nullable=False),  # what the conversation is estimated at, fixed parts apart
    Column("model_calls", Integer, nullable=False),
    Column("handed_on", Integer, nullable=False),  # over its whole life
    Column("levels_left", Integer, nullable=False),  # levels that may hang under it
    Column("failed_in_row", Integer, nullable=False),
    Column("consulted_stuck", Boolean, nullable=False),
    Column("same_calls", Integer, nullable=False),  # how often in a row the last calls were asked for
    Column("last_calls", String(64), nullable=False),  # their fingerprint
    Column("limit_micros", BigInteger, nullable=False),
    Column("own_micros", BigInteger, nullable=False),
    Column("tree_micros", BigInteger, nullable=False),
    Column("reserved_micros", BigInteger, nullable=False),  # here and below
    Column("call_micros", BigInteger, nullable=False),  # of it, for this piece's own call under way
    Column("period_accounts", Text, nullable=False),  # what that call is charged to for a day or month, one a line
    Column("opened_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    CheckConstraint("status in ('Working','Waiting','Done','Failed','Stopped','Cancelled')", name="status"),
    CheckConstraint("run in ('due','held','parked','ended')", name="run"),
    CheckConstraint("(run = 'ended') = (ended_at is not null)", name="ended"),
    CheckConstraint("(run = 'ended') = (status in ('Done','Failed','Stopped','Cancelled'))", name="final"),
    CheckConstraint("limit_micros >= 0 and own_micros >= 0", name="money"),
    CheckConstraint("tree_micros >= own_micros", name="tree_money"),
    CheckConstraint("reserved_micros >= call_micros and call_micros >= 0", name="reserved"),
    CheckConstraint("run <> 'ended' or call_micros = 0", name="nothing_left"),
    Index(None, "root"),
    Index(None, "parent"),
    Index(None, "run", "opened_at", sqlite_where=Column("run") == "due", postgresql_where=Column("run") == "due"),
    Index(None, "ended_at", sqlite_where=text("abandoned = 1"), postgresql_where=text("abandoned")),
    sqlite_with_rowid=False,
)

# A call of the turn under way, where the turn does not end in the transaction that began it.
turn_call = Table(
    "turn_call",
    metadata,
    Column("piece", _id(), ForeignKey("piece.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("call_id", String(200), nullable=False),
    Column("name", String(200), nullable=False),
    Column("kind", String(10), nullable=False),  # tool, leg, proposal, question, consult
    Column("state", String(8), nullable=False),  # open, to_run, begun, answered
    Column("subject", _id()),  # the leg's piece, the proposal or the question
    Column("arguments", Text, nullable=False),
    Column("answer", Text),
    Column("ok", Boolean, nullable=False),
    CheckConstraint("state in ('open','to_run','begun','answered')", name="state"),
    CheckConstraint("(state = 'answered') = (answer is not null)", name="answer"),
    Index(None, "subject"),
    sqlite_with_rowid=False,
)

message = Table(
    "message",
    metadata,
    Column("piece", _id(), ForeignKey("piece.id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("role", String(10), nullable=False),
    Column("text", Text, nullable=False),
    Column("calls", Text),  # JSON: [[id, name, arguments], ...]
    Column("results", Text),  # JSON: [[call id, name, text], ...]
    sqlite_with_rowid=False,
)

proposal = Table(
    "proposal",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("piece", _id(), ForeignKey("piece.id"), nullable=False),
    Column("action", String(200), nullable=False),
    Column("arguments", Text, nullable=False),  # canonical JSON
    Column("fingerprint", String(64), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("shown", Text, nullable=False),  # JSON: [[label, value], ...]
    Column("said", Text, nullable=False),
    Column("through", Text, nullable=False),  # agents' names from the asking one up, joined by "/"
    Column("asked_of", _id(), ForeignKey("person.id")),
    Column("status", String(10), nullable=False),
    Column("decided_by", _id(), ForeignKey("person.id")),
    Column("decided_at", BigInteger),
    Column("note", Text, nullable=False),
    Column("edited", Text),
    Column("result", Text, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("deadline", BigInteger),  # from then on nobody may decide it; null: it waits for ever
    CheckConstraint("status in ('Waiting','Done','Failed','Refused','Withdrawn','Expired')", name="status"),
    Index(None, "asked_of", "status", "asked_at"),
    _deadlines(),
    _open_ones(),
    Index(None, "root"),
    Index(None, "piece"),
)

# "From now on, alone": lifts one agent's own "propose" for one action.
standing_rule = Table(
    "standing_rule",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("agent", String(200), nullable=False),
    Column("action", String(200), nullable=False),
    Column("person", _id(), ForeignKey("person.id")),  # for the work done for them; null: for everybody
    Column("given_by", _id(), ForeignKey("person.id"), nullable=False),
    Column("given_at", BigInteger, nullable=False),
    Column("conditions", Text, nullable=False),  # JSON: [[argument, how, value], ...]
    Column("max_uses", Integer),
    Column("sum_of", String(200)),  # the numeric argument that is summed
    Column("max_sum", String(60)),  # decimal numbers as text: exact on both databases
    Column("used_sum", String(60), nullable=False),
    Column("until", BigInteger),
    Column("uses", Integer, nullable=False),
    Column("revoked_at", BigInteger),
    Column("revoked_by", _id(), ForeignKey("person.id")),
    CheckConstraint("uses >= 0 and (max_uses is null or uses <= max_uses)", name="uses"),
    CheckConstraint("(sum_of is null) = (max_sum is null)", name="sum"),
    Index(None, "agent", "action"),
    Index(None, "person"),
)

# A row for each question to a person and each consult of a model.
help = Table(
    "help",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("piece", _id(), ForeignKey("piece.id"), nullable=False),
    Column("agent", String(200), nullable=False),
    Column("help_from", String(10), nullable=False),
    Column("why", String(20), nullable=False),
    Column("asked_model", String(200), nullable=False),
    Column("question", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("choices", Text, nullable=False),  # JSON: [text or [text, what follows], ...]
    Column("through", Text, nullable=False),
    Column("asked_of", _id(), ForeignKey("person.id")),
    Column("answer", Text, nullable=False),
    Column("declined", Boolean, nullable=False),
    Column("status", String(12), nullable=False),
    Column("answered_by", _id(), ForeignKey("person.id")),
    Column("answered_at", BigInteger),
    Column("cost_micros", BigInteger, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("deadline", BigInteger),
    CheckConstraint("help_from in ('Model','Person')", name="help_from"),
    CheckConstraint("status in ('Waiting','Answered','Refused','Unavailable','Closed')", name="status"),
    CheckConstraint("cost_micros >= 0", name="cost"),
    Index(None, "asked_of", "status", "asked_at"),
    _deadlines(),
    _open_ones(),
    Index(None, "root"),
    Index(None, "piece"),
)

# What a person has begun to write to a proposal or question and not sent.
draft = Table(
    "draft",
    metadata,
    Column("person", _id(), ForeignKey("person.id"), primary_key=True),
    Column("request", _id(), primary_key=True),  # of a proposal or a question
    Column("act", String(10), primary_key=True),
    Column("fields", Text, nullable=False),  # JSON: {name: text}
    Column("kept_at", BigInteger, nullable=False),
    CheckConstraint("act in ('refuse','edit','answer','decline')", name="act"),
)

# A decision that was made and is held for a moment, so that whoever made it can take it back. What came of it stays.
held_decision = Table(
    "held_decision",
    metadata,
    Column("request", _id(), primary_key=True),  # of a proposal or a question
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("person", _id(), ForeignKey("person.id"), nullable=False),
    Column("act", String(7), nullable=False),
    Column("said", Text, nullable=False),  # the note, the reason or the answer
    Column("arguments", Text),  # JSON: the arguments as the person changed them
    Column("fingerprint", String(64), nullable=False),  # of the call that was shown; empty for a question
    Column("made_at", BigInteger, nullable=False),
    Column("release_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),  # carried out or dropped; null: it is held
    Column("why_not", Text, nullable=False),  # why it was not carried out
    CheckConstraint("act in ('approve','refuse','answer','decline')", name="act"),
    CheckConstraint("release_at > made_at", name="times"),
    CheckConstraint("why_not = '' or ended_at is not null", name="why_not"),
    _held("release_at"),
    _held("person", "made_at"),
)

# Whom a request was handed over to last, by whom, and whose it was before.
handed_over = Table(
    "handed_over",
    metadata,
    Column("request", _id(), primary_key=True),  # of a proposal or a question
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("put_by", _id(), ForeignKey("person.id"), nullable=False),
    Column("put_from", _id(), ForeignKey("person.id")),  # whom it was put to before; null: to nobody
    Column("put_to", _id(), ForeignKey("person.id"), nullable=False),
    Column("note", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index(None, "put_by"),
)

# How a person likes their pages; who has no row likes them as they are.
preference = Table(
    "preference",
    metadata,
    Column("person", _id(), ForeignKey("person.id"), primary_key=True),
    Column("home", String(20), nullable=False),
    Column("theme", String(10), nullable=False),
    Column("time_zone", String(60), nullable=False),
    Column("single_keys", Boolean, nullable=False),
    Column("keys", Text, nullable=False),  # JSON: [[usual, chosen], ...]
    Column("chosen_at", BigInteger, nullable=False),
    CheckConstraint("theme in ('','light','dark')", name="theme"),
)

# What a person has set aside until a time: off their list until then, and nobody else's.
set_aside = Table(
    "set_aside",
    metadata,
    Column("person", _id(), ForeignKey("person.id"), primary_key=True),
    Column("request", _id(), primary_key=True),  # of a proposal or a question
    Column("until", BigInteger, nullable=False),
)

# What a person's or an agent's work may cost in a day or a month, set by somebody who manages model spend.
spend_limit = Table(
    "spend_limit",
    metadata,
    Column("subject", String(250), primary_key=True),  # person:<id>, agent:<name>
    Column("period", String(5), primary_key=True),  # day, month
    Column("limit_micros", BigInteger, nullable=False),
    Column("set_by", _id(), ForeignKey("person.id")),  # null: the app itself
    Column("set_at", BigInteger, nullable=False),
    CheckConstraint("period in ('day','month')", name="period"),
    CheckConstraint("limit_micros >= 0", name="limit"),
)

# What several wholes are charged to: `on=` accounts, and what is counted in a period. limit_micros null: not limited.
account = Table(
    "account",
    metadata,
    Column("key", String(250), primary_key=True),
    Column("limit_micros", BigInteger),
    Column("spent_micros", BigInteger, nullable=False),
    Column("reserved_micros", BigInteger, nullable=False),
    Column("set_by", _id(), ForeignKey("person.id")),  # the limit, last; null with a time: the app itself
    Column("set_at", BigInteger),
    CheckConstraint("spent_micros >= 0 and reserved_micros >= 0", name="money"),
)

metered_call = Table(
    "metered_call",
    metadata,
    Column("piece", _id(), ForeignKey("piece.id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("root", _id(), ForeignKey("whole.id"), nullable=False),
    Column("model", String(200), nullable=False),
    Column("purpose", String(10), nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("tokens_cached", Integer, nullable=False),
    Column("micros", BigInteger, nullable=False),
    Column("estimated", Boolean, nullable=False),
    Column("person", _id(), ForeignKey("person.id")),
    Column("at", BigInteger, nullable=False),
    CheckConstraint("micros >= 0", name="micros"),
    Index(None, "at"),
    Index(None, "person", "at"),
    sqlite_with_rowid=False,
)

# The record. One chain per whole, numbered from 1 without gaps.
line = Table(
    "line",
    metadata,
    Column("root", _id(), ForeignKey("whole.id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("piece", _id(), nullable=False),
    Column("kind", String(30), nullable=False),
    Column("summary", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("before", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    sqlite_with_rowid=False,
)

# All records read again, one after the other: how far it has come, and what was found.
verification = Table(
    "verification",
    metadata,
    Column("id", _id(), primary_key=True),
    Column("asked_by", _id(), ForeignKey("person.id")),  # null: the app itself
    Column("begun_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("after_at", BigInteger, nullable=False),  # the place of the last whole that was read: when it was opened,
    Column("after_root", _id(), nullable=False),  # and its id
    Column("of_works", Integer, nullable=False),
    Column("works", Integer, nullable=False),
    Column("lines", BigInteger, nullable=False),
    Column("signed", Integer, nullable=False),
    Column("by_other_key", Integer, nullable=False),
    Column("keys", Text, nullable=False),  # that signed, one a line
    Column("broken", Integer, nullable=False),
    Column("first_root", _id()),  # the first that does not hold
    Column("first_line", Integer),
    Column("first_why", Text, nullable=False),
    Index(None, "begun_at"),
)

skill_version = Table(
    "skill_version",
    metadata,
    Column("version", String(16), primary_key=True),
    Column("skill", String(200), nullable=False),
    Column("definition", Text, nullable=False),
    Column("first_used_at", BigInteger, nullable=False),
)

# What the app declared, each time it was not what it had declared before. The same content may come back.
map_version = Table(
    "map_version",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1, in the order they were seen
    Column("fingerprint", String(64), nullable=False),
    Column("first_seen", BigInteger, nullable=False),
    Column("agents", Integer, nullable=False),
    Column("ways", Integer, nullable=False),
    Column("tools", Integer, nullable=False),
    Column("content", Text, nullable=False),
)
