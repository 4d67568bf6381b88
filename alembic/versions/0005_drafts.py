"""What a person has begun to write to a request and not sent.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "draft",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("request", sa.String(length=32), nullable=False),
        sa.Column("act", sa.String(length=10), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("act in ('refuse','edit','answer','decline')", name=op.f("ck_draft_act")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_draft_person")),
        sa.PrimaryKeyConstraint("person", "request", "act", name=op.f("pk_draft")),
    )
