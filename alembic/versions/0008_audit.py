"""All records verified, one after the other.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verification",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("asked_by", sa.String(length=32), nullable=True),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("after_at", sa.BigInteger(), nullable=False),
        sa.Column("after_root", sa.String(length=32), nullable=False),
        sa.Column("of_works", sa.Integer(), nullable=False),
        sa.Column("works", sa.Integer(), nullable=False),
        sa.Column("lines", sa.BigInteger(), nullable=False),
        sa.Column("signed", sa.Integer(), nullable=False),
        sa.Column("by_other_key", sa.Integer(), nullable=False),
        sa.Column("keys", sa.Text(), nullable=False),
        sa.Column("broken", sa.Integer(), nullable=False),
        sa.Column("first_root", sa.String(length=32), nullable=True),
        sa.Column("first_line", sa.Integer(), nullable=True),
        sa.Column("first_why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["asked_by"], ["person.id"], name=op.f("fk_verification_asked_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification")),
    )
    op.create_index(op.f("ix_verification_begun_at"), "verification", ["begun_at"])
