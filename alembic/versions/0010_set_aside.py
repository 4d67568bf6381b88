"""What a person has set aside until a time.

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "set_aside",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("request", sa.String(length=32), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_set_aside_person")),
        sa.PrimaryKeyConstraint("person", "request", name=op.f("pk_set_aside")),
    )
