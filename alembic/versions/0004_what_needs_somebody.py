"""Indexes for what needs a supervisor: what waits for people, and what was closed as abandoned.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    waiting = sa.text("status = 'Waiting'")
    for table in ("proposal", "help"):
        op.create_index(
            op.f(f"ix_{table}_asked_at"), table, ["asked_at"], sqlite_where=waiting, postgresql_where=waiting
        )
    op.create_index(
        op.f("ix_piece_ended_at"),
        "piece",
        ["ended_at"],
        sqlite_where=sa.text("abandoned = 1"),
        postgresql_where=sa.text("abandoned"),
    )
