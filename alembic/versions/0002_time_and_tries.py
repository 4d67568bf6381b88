"""Deadlines, tries, take-overs, and what may be spent in a day or a month.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

OPEN = sa.text("deadline is not null and status = 'Waiting'")


def upgrade() -> None:
    op.add_column("piece", sa.Column("skill_version_now", sa.String(length=16), server_default="", nullable=False))
    op.add_column("piece", sa.Column("due_at", sa.BigInteger(), nullable=True))
    op.add_column("piece", sa.Column("takeovers", sa.Integer(), server_default="0", nullable=False))
    op.add_column("piece", sa.Column("tries", sa.Integer(), server_default="0", nullable=False))
    op.add_column("piece", sa.Column("begins_after", sa.Integer(), server_default="0", nullable=False))
    op.add_column("piece", sa.Column("waited", sa.BigInteger(), server_default="0", nullable=False))
    op.execute("update piece set skill_version_now = skill_version")
    # By hand: a table that Alembic makes anew for SQLite would keep a second key.
    op.execute("alter table piece rename column day_account to period_accounts")
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("piece", "period_accounts", type_=sa.Text())
    for table in ("proposal", "help"):
        op.add_column(table, sa.Column("deadline", sa.BigInteger(), nullable=True))
        op.create_index(op.f(f"ix_{table}_deadline"), table, ["deadline"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index(op.f("ix_metered_call_person_at"), "metered_call", ["person", "at"])
    op.create_table(
        "spend_limit",
        sa.Column("subject", sa.String(length=250), nullable=False),
        sa.Column("period", sa.String(length=5), nullable=False),
        sa.Column("limit_micros", sa.BigInteger(), nullable=False),
        sa.Column("set_by", sa.String(length=32), nullable=True),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("period in ('day','month')", name=op.f("ck_spend_limit_period")),
        sa.CheckConstraint("limit_micros >= 0", name=op.f("ck_spend_limit_limit")),
        sa.ForeignKeyConstraint(["set_by"], ["person.id"], name=op.f("fk_spend_limit_set_by")),
        sa.PrimaryKeyConstraint("subject", "period", name=op.f("pk_spend_limit")),
    )
