"""Whom a request was handed over to.

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "handed_over",
        sa.Column("request", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("put_by", sa.String(length=32), nullable=False),
        sa.Column("put_from", sa.String(length=32), nullable=True),
        sa.Column("put_to", sa.String(length=32), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_handed_over_root")),
        sa.ForeignKeyConstraint(["put_by"], ["person.id"], name=op.f("fk_handed_over_put_by")),
        sa.ForeignKeyConstraint(["put_from"], ["person.id"], name=op.f("fk_handed_over_put_from")),
        sa.ForeignKeyConstraint(["put_to"], ["person.id"], name=op.f("fk_handed_over_put_to")),
        sa.PrimaryKeyConstraint("request", name=op.f("pk_handed_over")),
    )
    op.create_index(op.f("ix_handed_over_put_by"), "handed_over", ["put_by"])
