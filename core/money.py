"""Money: reserving room up a whole branch before a call leaves, charging it after, and the meter.

All of it is integer micros, changed only under the tree's lock. A branch is the piece and every piece above it; each
of those rows keeps what was spent there and below (`tree_micros`) and what is held for calls under way there and below
(`reserved_micros`). `spent + reserved <= limit` holds for each at every moment, so no number of pieces running at
once can overrun any of them (rule M4). Accounts (`on=`) are locked after the tree, in the order of their keys.

How it fails: a process that dies in a call leaves its reservation on the branch until its piece is closed (M3).
The estimate of what goes in is no proof: an answer that cost more than was reserved is charged in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select, update

from core import spending
from core.amounts import exact
from core.receipts import Receipt
from core.record import Tree
from core.settings import Settings
from core.spending import Cap
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import account, metered_call

BYTES_PER_TOKEN = 3  # an estimate on the high side: most text takes four and more

_ACCOUNT = Statement(select(account).where(account.c.key == bindparam("account_key")).with_for_update())
_NEW_ACCOUNT = insert_into(account, or_ignore=True)
_SET_LIMIT = Statement(
    update(account)
    .where(account.c.key == bindparam("account_key"))
    .values(limit_micros=bindparam("micros"), set_by=bindparam("who"), set_at=bindparam("at"))
)
_MOVE_ACCOUNT = Statement(
    update(account)
    .where(account.c.key == bindparam("account_key"))
    .values(
        spent_micros=account.c.spent_micros + bindparam("spent"),
        reserved_micros=account.c.reserved_micros + bindparam("reserved"),
    )
)
_METER = insert_into(metered_call)


def tokens_of(size: int) -> int:
    """How many tokens so many bytes are reckoned at before anybody has counted."""
    return -(-size // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Why a call does not leave. `whose` is the piece above (or this one) or the account whose limit it is;
    `passing`, that only calls under way take the room and some of it may come back."""

    whose: str
    agent: str  # of that piece; empty for an account
    cap: Cap | None  # the limit of a day or a month, where it is one
    need: int
    left: int
    limit: int
    passing: bool

    def sentence(self, currency: str, own: Receipt) -> str:
        """Rule M11: which limit, what the call could have cost, what was left."""
        if self.whose == own.id:
            whose = "its own limit"
        elif self.cap is not None:
            whose = self.cap.words
        else:
            whose = f"the limit of {self.agent} above it" if self.agent else f"the limit of {self.whose}"
        return (
            f"Its money ran out: a call could have cost {exact(self.need, currency)}, and {whose} of "
            f"{exact(self.limit, currency)} had {exact(max(self.left, 0), currency)} left."
        )


def _accounts(tree: Tree, own: Receipt) -> tuple[str, ...]:
    """What a piece's calls are charged to besides the branch, in the order they are locked."""
    if not own.period_accounts:
        return tree.accounts
    return tuple(sorted({*tree.accounts, *own.period_accounts.split("\n")}))


def reserve(
    tx: Tx, settings: Settings, tree: Tree, branch: Sequence[Receipt], micros: int, caps: Sequence[Cap]
) -> NoRoom | None:
    """Hold `micros` against the piece (last of `branch`), every piece above it, the tree's accounts and the days' and
    months' limits that hold, or against none of them and say where there is no room (rules M2, M7)."""
    own = branch[-1]
    if own.call_micros == 0:  # calls of one turn are charged to the periods of the first
        accounts = "\n".join(cap.account for cap in caps)
        if accounts != own.period_accounts:
            own.set(period_accounts=accounts)
    for cap in caps:
        spending.open_account(tx, settings, cap)
    for receipt in reversed(branch):
        if micros > receipt.left:
            passing = micros <= receipt.limit_micros - receipt.tree_micros
            return NoRoom(receipt.id, receipt.agent, None, micros, receipt.left, receipt.limit_micros, passing)
    limits = {cap.account: cap for cap in caps}
    for key in _accounts(tree, own):
        kept, whose = tx.one(_ACCOUNT, account_key=key), limits.get(key)
        limit = whose.micros if whose is not None else kept.limit_micros
        if limit is not None and micros > limit - kept.spent_micros - kept.reserved_micros:
            left = limit - kept.spent_micros - kept.reserved_micros
            return NoRoom(key, "", whose, micros, left, limit, micros <= limit - kept.spent_micros)
    _move(tx, tree, branch, spent=0, reserved=micros)
    return None


def _move(tx: Tx, tree: Tree, branch: Sequence[Receipt], *, spent: int, reserved: int) -> None:
    for receipt in branch:
        receipt.set(tree_micros=receipt.tree_micros + spent, reserved_micros=receipt.reserved_micros + reserved)
    own = branch[-1]
    own.set(own_micros=own.own_micros + spent, call_micros=own.call_micros + reserved)
    for key in _accounts(tree, own):
        tx.run(_MOVE_ACCOUNT, account_key=key, spent=spent, reserved=reserved)


def settle(tx: Tx, tree: Tree, branch: Sequence[Receipt], reserved: int, spent: int) -> None:
    """Charge what a call cost to all it was reserved against, and give the reservation back (rule M3)."""
    _move(tx, tree, branch, spent=spent, reserved=-reserved)
    branch[-1].set(model_calls=branch[-1].model_calls + 1)


def release(tx: Tx, tree: Tree, branch: Sequence[Receipt], reserved: int) -> None:
    """Give a reservation back, unused."""
    _move(tx, tree, branch, spent=0, reserved=-reserved)


def left_of(branch: Sequence[Receipt]) -> int:
    """What a branch leaves to a piece opened under its last one at this moment (rule M1)."""
    return min(receipt.left for receipt in branch)


def meter(
    tx: Tx,
    tree: Tree,
    receipt: Receipt,
    model: str,
    purpose: str,
    tokens: tuple[int, int, int],
    micros: int,
    *,
    estimated: bool,
) -> None:
    """Put the call that was just settled on the meter (rule M8)."""
    tx.later(
        _METER,
        piece=receipt.id,
        n=receipt.model_calls,
        root=tree.root,
        model=model,
        purpose=purpose,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        tokens_cached=tokens[2],
        micros=micros,
        estimated=estimated,
        person=tree.person,
        at=tx.now,
    )


def open_account(tx: Tx, key: str) -> None:
    """Make an account where there is none."""
    tx.run(_NEW_ACCOUNT, key=key, limit_micros=None, spent_micros=0, reserved_micros=0, set_by=None, set_at=None)


def limit_account(tx: Tx, key: str, limit: int | None, by: str | None) -> bool:
    """Limit an account, in micros, from the next call on; None takes the limit away. Answers whether there is one."""
    return tx.run(_SET_LIMIT, account_key=key, micros=limit, who=by, at=tx.now) == 1
