"""Decisions that are held for a moment, so that they can be taken back.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "held_decision",
        sa.Column("request", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("act", sa.String(length=7), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("release_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("why_not", sa.Text(), nullable=False),
        sa.CheckConstraint("act in ('approve','refuse','answer','decline')", name=op.f("ck_held_decision_act")),
        sa.CheckConstraint("release_at > made_at", name=op.f("ck_held_decision_times")),
        sa.CheckConstraint("why_not = '' or ended_at is not null", name=op.f("ck_held_decision_why_not")),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_held_decision_root")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_held_decision_person")),
        sa.PrimaryKeyConstraint("request", name=op.f("pk_held_decision")),
    )
    held = sa.text("ended_at is null")
    for columns in (["release_at"], ["person", "made_at"]):
        op.create_index(
            op.f(f"ix_held_decision_{'_'.join(columns)}"),
            "held_decision",
            columns,
            sqlite_where=held,
            postgresql_where=held,
        )
