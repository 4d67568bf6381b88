"""The first tables"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("key", sa.String(length=250), nullable=False),
        sa.Column("limit_micros", sa.BigInteger(), nullable=True),
        sa.Column("spent_micros", sa.BigInteger(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("spent_micros >= 0 and reserved_micros >= 0", name=op.f("ck_account_money")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_account")),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.Column("deactivated_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("email", name=op.f("uq_person_email")),
    )
    op.create_table(
        "secret",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secret")),
    )
    op.create_table(
        "skill_version",
        sa.Column("version", sa.String(length=16), nullable=False),
        sa.Column("skill", sa.String(length=200), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("first_used_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_skill_version")),
    )
    op.create_table(
        "role_grant",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("role", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_role_grant_person")),
        sa.PrimaryKeyConstraint("person", "role", name=op.f("pk_role_grant")),
    )
    op.create_table(
        "seat",
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.Column("sponsor", sa.String(length=32), nullable=True),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["sponsor"], ["person.id"], name=op.f("fk_seat_sponsor")),
        sa.PrimaryKeyConstraint("agent", name=op.f("pk_seat")),
    )
    op.create_table(
        "sign_in",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind in ('link', 'session')", name=op.f("ck_sign_in_kind")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_sign_in_person")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sign_in")),
    )
    with op.batch_alter_table("sign_in", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_in_person"), ["person"], unique=False)

    op.create_table(
        "stand_in",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("for_person", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["for_person"], ["person.id"], name=op.f("fk_stand_in_for_person")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_stand_in_person")),
        sa.PrimaryKeyConstraint("person", "for_person", name=op.f("pk_stand_in")),
    )
    op.create_table(
        "standing_rule",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=200), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=True),
        sa.Column("given_by", sa.String(length=32), nullable=False),
        sa.Column("given_at", sa.BigInteger(), nullable=False),
        sa.Column("conditions", sa.Text(), nullable=False),
        sa.Column("max_uses", sa.Integer(), nullable=True),
        sa.Column("sum_of", sa.String(length=200), nullable=True),
        sa.Column("max_sum", sa.String(length=60), nullable=True),
        sa.Column("used_sum", sa.String(length=60), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_by", sa.String(length=32), nullable=True),
        sa.CheckConstraint("(sum_of is null) = (max_sum is null)", name=op.f("ck_standing_rule_sum")),
        sa.CheckConstraint("uses >= 0 and (max_uses is null or uses <= max_uses)", name=op.f("ck_standing_rule_uses")),
        sa.ForeignKeyConstraint(["given_by"], ["person.id"], name=op.f("fk_standing_rule_given_by")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_standing_rule_person")),
        sa.ForeignKeyConstraint(["revoked_by"], ["person.id"], name=op.f("fk_standing_rule_revoked_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_standing_rule")),
    )
    with op.batch_alter_table("standing_rule", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_standing_rule_agent_action"), ["agent", "action"], unique=False)
        batch_op.create_index(batch_op.f("ix_standing_rule_person"), ["person"], unique=False)

    op.create_table(
        "whole",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=True),
        sa.Column("given_by", sa.String(length=32), nullable=True),
        sa.Column("sponsor", sa.String(length=32), nullable=True),
        sa.Column("accounts", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("given_key", sa.String(length=100), nullable=True),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("signature", sa.String(length=128), nullable=True),
        sa.Column("signed_by", sa.String(length=64), nullable=True),
        sa.Column("last_line_at", sa.BigInteger(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("lines >= 0", name=op.f("ck_whole_lines")),
        sa.ForeignKeyConstraint(["given_by"], ["person.id"], name=op.f("fk_whole_given_by")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_whole_person")),
        sa.ForeignKeyConstraint(["sponsor"], ["person.id"], name=op.f("fk_whole_sponsor")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_whole")),
        sa.UniqueConstraint("given_by", "given_key", name=op.f("uq_whole_given_by_given_key")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("whole", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_whole_ended_at_last_line_at"), ["ended_at", "last_line_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_whole_given_by"), ["given_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_whole_opened_at"), ["opened_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_whole_person_opened_at"), ["person", "opened_at"], unique=False)

    op.create_table(
        "line",
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("before", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_line_root")),
        sa.PrimaryKeyConstraint("root", "n", name=op.f("pk_line")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "piece",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("parent", sa.String(length=32), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("agents", sa.Text(), nullable=False),
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.Column("skill", sa.String(length=200), nullable=False),
        sa.Column("skill_version", sa.String(length=16), nullable=False),
        sa.Column("helper", sa.Boolean(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("run", sa.String(length=6), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("held_since", sa.BigInteger(), nullable=True),
        sa.Column("let_go", sa.Boolean(), nullable=False),
        sa.Column("closing", sa.String(length=10), nullable=True),
        sa.Column("closing_why", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), nullable=False),
        sa.Column("waits_since", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("abandoned", sa.Boolean(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("model_calls", sa.Integer(), nullable=False),
        sa.Column("handed_on", sa.Integer(), nullable=False),
        sa.Column("levels_left", sa.Integer(), nullable=False),
        sa.Column("failed_in_row", sa.Integer(), nullable=False),
        sa.Column("consulted_stuck", sa.Boolean(), nullable=False),
        sa.Column("same_calls", sa.Integer(), nullable=False),
        sa.Column("last_calls", sa.String(length=64), nullable=False),
        sa.Column("limit_micros", sa.BigInteger(), nullable=False),
        sa.Column("own_micros", sa.BigInteger(), nullable=False),
        sa.Column("tree_micros", sa.BigInteger(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=False),
        sa.Column("call_micros", sa.BigInteger(), nullable=False),
        sa.Column("day_account", sa.String(length=250), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(run = 'ended') = (ended_at is not null)", name=op.f("ck_piece_ended")),
        sa.CheckConstraint(
            "(run = 'ended') = (status in ('Done','Failed','Stopped','Cancelled'))", name=op.f("ck_piece_final")
        ),
        sa.CheckConstraint("run <> 'ended' or call_micros = 0", name=op.f("ck_piece_nothing_left")),
        sa.CheckConstraint("run in ('due','held','parked','ended')", name=op.f("ck_piece_run")),
        sa.CheckConstraint(
            "status in ('Working','Waiting','Done','Failed','Stopped','Cancelled')", name=op.f("ck_piece_status")
        ),
        sa.CheckConstraint("limit_micros >= 0 and own_micros >= 0", name=op.f("ck_piece_money")),
        sa.CheckConstraint("reserved_micros >= call_micros and call_micros >= 0", name=op.f("ck_piece_reserved")),
        sa.CheckConstraint("tree_micros >= own_micros", name=op.f("ck_piece_tree_money")),
        sa.ForeignKeyConstraint(["parent"], ["piece.id"], name=op.f("fk_piece_parent")),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_piece_root")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_piece")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("piece", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_piece_parent"), ["parent"], unique=False)
        batch_op.create_index(batch_op.f("ix_piece_root"), ["root"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_piece_run_opened_at"),
            ["run", "opened_at"],
            unique=False,
            sqlite_where=sa.text("run = 'due'"),
            postgresql_where=sa.text("run = 'due'"),
        )

    op.create_table(
        "help",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("agent", sa.String(length=200), nullable=False),
        sa.Column("help_from", sa.String(length=10), nullable=False),
        sa.Column("why", sa.String(length=20), nullable=False),
        sa.Column("asked_model", sa.String(length=200), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("choices", sa.Text(), nullable=False),
        sa.Column("through", sa.Text(), nullable=False),
        sa.Column("asked_of", sa.String(length=32), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("declined", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("answered_by", sa.String(length=32), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("help_from in ('Model','Person')", name=op.f("ck_help_help_from")),
        sa.CheckConstraint(
            "status in ('Waiting','Answered','Refused','Unavailable','Closed')", name=op.f("ck_help_status")
        ),
        sa.CheckConstraint("cost_micros >= 0", name=op.f("ck_help_cost")),
        sa.ForeignKeyConstraint(["answered_by"], ["person.id"], name=op.f("fk_help_answered_by")),
        sa.ForeignKeyConstraint(["asked_of"], ["person.id"], name=op.f("fk_help_asked_of")),
        sa.ForeignKeyConstraint(["piece"], ["piece.id"], name=op.f("fk_help_piece")),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_help_root")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_help")),
    )
    with op.batch_alter_table("help", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_help_asked_of_status_asked_at"), ["asked_of", "status", "asked_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_help_piece"), ["piece"], unique=False)
        batch_op.create_index(batch_op.f("ix_help_root"), ["root"], unique=False)

    op.create_table(
        "message",
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("calls", sa.Text(), nullable=True),
        sa.Column("results", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["piece"], ["piece.id"], name=op.f("fk_message_piece")),
        sa.PrimaryKeyConstraint("piece", "n", name=op.f("pk_message")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "metered_call",
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("purpose", sa.String(length=10), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("tokens_cached", sa.Integer(), nullable=False),
        sa.Column("micros", sa.BigInteger(), nullable=False),
        sa.Column("estimated", sa.Boolean(), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("micros >= 0", name=op.f("ck_metered_call_micros")),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_metered_call_person")),
        sa.ForeignKeyConstraint(["piece"], ["piece.id"], name=op.f("fk_metered_call_piece")),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_metered_call_root")),
        sa.PrimaryKeyConstraint("piece", "n", name=op.f("pk_metered_call")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("metered_call", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_metered_call_at"), ["at"], unique=False)

    op.create_table(
        "proposal",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("action", sa.String(length=200), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("through", sa.Text(), nullable=False),
        sa.Column("asked_of", sa.String(length=32), nullable=True),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("decided_by", sa.String(length=32), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("edited", sa.Text(), nullable=True),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status in ('Waiting','Done','Failed','Refused','Withdrawn','Expired')", name=op.f("ck_proposal_status")
        ),
        sa.ForeignKeyConstraint(["asked_of"], ["person.id"], name=op.f("fk_proposal_asked_of")),
        sa.ForeignKeyConstraint(["decided_by"], ["person.id"], name=op.f("fk_proposal_decided_by")),
        sa.ForeignKeyConstraint(["piece"], ["piece.id"], name=op.f("fk_proposal_piece")),
        sa.ForeignKeyConstraint(["root"], ["whole.id"], name=op.f("fk_proposal_root")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposal")),
    )
    with op.batch_alter_table("proposal", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_proposal_asked_of_status_asked_at"), ["asked_of", "status", "asked_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_proposal_piece"), ["piece"], unique=False)
        batch_op.create_index(batch_op.f("ix_proposal_root"), ["root"], unique=False)

    op.create_table(
        "turn_call",
        sa.Column("piece", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("subject", sa.String(length=32), nullable=True),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("ok", sa.Boolean(), nullable=False),
        sa.CheckConstraint("(state = 'answered') = (answer is not null)", name=op.f("ck_turn_call_answer")),
        sa.CheckConstraint("state in ('open','to_run','begun','answered')", name=op.f("ck_turn_call_state")),
        sa.ForeignKeyConstraint(["piece"], ["piece.id"], name=op.f("fk_turn_call_piece")),
        sa.PrimaryKeyConstraint("piece", "position", name=op.f("pk_turn_call")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("turn_call", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_turn_call_subject"), ["subject"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("turn_call", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_turn_call_subject"))

    op.drop_table("turn_call")
    with op.batch_alter_table("proposal", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_proposal_root"))
        batch_op.drop_index(batch_op.f("ix_proposal_piece"))
        batch_op.drop_index(batch_op.f("ix_proposal_asked_of_status_asked_at"))

    op.drop_table("proposal")
    with op.batch_alter_table("metered_call", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_metered_call_at"))

    op.drop_table("metered_call")
    op.drop_table("message")
    with op.batch_alter_table("help", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_help_root"))
        batch_op.drop_index(batch_op.f("ix_help_piece"))
        batch_op.drop_index(batch_op.f("ix_help_asked_of_status_asked_at"))

    op.drop_table("help")
    with op.batch_alter_table("piece", schema=None) as batch_op:
        batch_op.drop_index(
            batch_op.f("ix_piece_run_opened_at"),
            sqlite_where=sa.text("run = 'due'"),
            postgresql_where=sa.text("run = 'due'"),
        )
        batch_op.drop_index(batch_op.f("ix_piece_root"))
        batch_op.drop_index(batch_op.f("ix_piece_parent"))

    op.drop_table("piece")
    op.drop_table("line")
    with op.batch_alter_table("whole", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_whole_person_opened_at"))
        batch_op.drop_index(batch_op.f("ix_whole_opened_at"))
        batch_op.drop_index(batch_op.f("ix_whole_given_by"))
        batch_op.drop_index(batch_op.f("ix_whole_ended_at_last_line_at"))

    op.drop_table("whole")
    with op.batch_alter_table("standing_rule", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_standing_rule_person"))
        batch_op.drop_index(batch_op.f("ix_standing_rule_agent_action"))

    op.drop_table("standing_rule")
    op.drop_table("stand_in")
    with op.batch_alter_table("sign_in", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_in_person"))

    op.drop_table("sign_in")
    op.drop_table("seat")
    op.drop_table("role_grant")
    op.drop_table("skill_version")
    op.drop_table("secret")
    op.drop_table("person")
    op.drop_table("account")
