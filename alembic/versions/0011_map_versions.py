"""What the app declared, version by version.

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "map_version",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), nullable=False),
        sa.Column("agents", sa.Integer(), nullable=False),
        sa.Column("ways", sa.Integer(), nullable=False),
        sa.Column("tools", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_map_version")),
    )
