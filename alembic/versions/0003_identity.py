"""Who people are at an OpenID Connect provider.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "identity",
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_identity_person")),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_identity")),
        sa.UniqueConstraint("person", "issuer", name=op.f("uq_identity_person_issuer")),
    )
    op.create_table(
        "used_state",
        sa.Column("state_hash", sa.String(length=64), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name=op.f("pk_used_state")),
    )
