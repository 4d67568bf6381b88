"""An index for the lines of one piece, of a record that may be long.

Revision ID: 0010
Revises: 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_line_piece_n"), "line", ["piece", "n"])
