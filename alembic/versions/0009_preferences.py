"""How a person likes their pages.

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "preference",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("home", sa.String(length=20), nullable=False),
        sa.Column("theme", sa.String(length=10), nullable=False),
        sa.Column("time_zone", sa.String(length=60), nullable=False),
        sa.Column("single_keys", sa.Boolean(), nullable=False),
        sa.Column("keys", sa.Text(), nullable=False),
        sa.Column("chosen_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("theme in ('','light','dark')", name=op.f("ck_preference_theme")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_preference_person")),
        sa.PrimaryKeyConstraint("person", name=op.f("pk_preference")),
    )
