"""Who limited an account, and when.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # By hand: SQLite takes a key with a column, and none afterwards.
    op.execute("alter table account add column set_by varchar(32) constraint fk_account_set_by references person (id)")
    op.add_column("account", sa.Column("set_at", sa.BigInteger(), nullable=True))
