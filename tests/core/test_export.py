"""An exported record is checked with nothing but its text and the public key."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from core import signing
from core.record import _SIGN, GENESIS, hash_of, head_of, verify_export
from handon import BadInput, NotAllowed, Policies
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Find, is_binder, is_master, shop
from web.cli import main


async def exported(database: str, clock: TestClock) -> tuple[str, str]:
    async with shop(database, clock=clock) as it:
        it.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text="x", number=1)))))
        desk = it.agency.desk(it.mia)
        outcome = await desk.of(Clerk).do(Find(), "leaves")
        return await desk.export_trace(outcome.task), it.agency.public_key


# T6
async def test_a_finished_record_is_exported_and_proven_by_its_text_and_the_public_key(database, clock):
    text, key = await exported(database, clock)
    verdict, signed_by = verify_export(text)
    assert verdict.intact
    assert signed_by == key
    assert key[:16] in verdict.proven


def changed(n: int, **fields: object) -> Callable[[list[dict]], list[dict]]:
    return lambda rows: [row | fields if row.get("n") == n else row for row in rows]


# T3, T6
@pytest.mark.parametrize(
    ("tamper", "at"),
    [
        (changed(2, summary="something else"), 2),
        (changed(2, payload="{}"), 2),
        (lambda rows: [row for row in rows if row.get("n") != 2], 2),
        (lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], 1),
        (lambda rows: rows[:-1], 3),
        (lambda rows: [rows[0] | {"lines": 2, "head": rows[2]["hash"]}, *rows[1:3]], 2),
        (lambda rows: [rows[0] | {"signature": "00" * 64}, *rows[1:]], 3),
    ],
    ids=[
        "a sentence",
        "a payload",
        "a line gone",
        "two swapped",
        "the end cut off",
        "cut off with its head",
        "signature",
    ],
)
async def test_whatever_is_changed_in_an_exported_record_is_found_and_named(database, clock, tamper, at):
    text, _ = await exported(database, clock)
    rows = tamper([json.loads(row) for row in text.splitlines()])
    verdict, _ = verify_export("\n".join(json.dumps(row) for row in rows))
    assert not verdict.intact
    assert verdict.broken_at == at
    assert verdict.why


# T6
@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"format": "handon record 2"}', "[]"])
def test_a_file_that_is_no_record_is_refused_in_words(text):
    with pytest.raises(BadInput, match="not a record as Handon exports it"):
        verify_export(text)


# T6
async def test_the_command_line_says_what_was_proven_and_fails_where_nothing_is(sqlite_database, clock, tmp_path):
    text, key = await exported(sqlite_database, clock)
    file = tmp_path / "record.jsonl"
    file.write_text(text)
    run = CliRunner().invoke
    assert run(main, ["verify", str(file), "--key", key]).output.startswith("Unbroken: 3 lines")
    assert run(main, ["verify", str(file), "--key", "ab" * 32]).exit_code == 1
    file.write_text(text.replace("is done", "was done"))
    broken = run(main, ["verify", str(file)])
    assert broken.exit_code == 1
    assert "Line 3 was changed" in broken.output


# T6
@pytest.mark.parametrize("unfinished", [False, True])
async def test_the_key_proves_nothing_of_a_file_whose_signature_was_taken_away(database, clock, tmp_path, unfinished):
    """Whoever knows how it is done writes a whole new chain, names the key that signed the old one, and signs nothing.
    As if the work had not ended, too: of that an unsigned file is right, and proves nothing to whoever has the key."""
    text, key = await exported(database, clock)
    first, *rows = [json.loads(row) for row in text.splitlines()]
    if unfinished:
        rows.pop()
    rows[0]["summary"], before = "Clerk was given other work", GENESIS
    for row in rows:
        row["before"] = before
        row["hash"] = before = hash_of(row)
    first |= {"lines": len(rows), "head": before, "signature": None}
    file = tmp_path / "record.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [first, *rows]))
    with_key = CliRunner().invoke(main, ["verify", str(file), "--key", key])
    assert with_key.exit_code == 1
    assert ("signed by nobody" if unfinished else "signature of its head is gone") in with_key.output
    without = CliRunner().invoke(main, ["verify", str(file)])
    assert (without.exit_code, "The head is not signed" in without.output) == ((0, True) if unfinished else (1, False))


# T6
async def test_a_head_that_another_key_signed_is_told_as_such(database, clock):
    """Whoever may write to the database, and not read the key kept elsewhere, signs anew with a key of theirs."""
    async with shop(database, clock=clock) as it:
        it.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer()))))
        desk = it.agency.desk(it.mia)
        task = (await desk.of(Clerk).do(Find(), "leaves")).task
        assert "not the key" not in (await desk.verify_trace(task)).proven
        other = signing.Signer(Ed25519PrivateKey.generate())
        await it.agency.store.write(lambda tx: sign_anew(tx, task.hex, other))
        verdict = await desk.verify_trace(task)
        assert verdict.intact and verdict.proven.endswith("That is not the key this agency signs with now.")


def sign_anew(tx, root, signer):
    kept = head_of(tx, root)
    tx.run(_SIGN, root=root, mark=signer.sign(root, kept.lines, kept.head), key=signer.public)


# R8, T6
async def test_a_record_is_exported_only_to_who_may_read_its_content(sqlite_database, clock):
    supervises_only = Policies(
        uses_agents=is_binder, supervises_agents=is_master, audits_agents=is_binder & is_master,
        reads_model_usage=is_master, manages_model_spend=is_master,
    )  # fmt: skip
    async with shop(sqlite_database, clock=clock, policies=supervises_only) as it:
        it.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer()))))
        outcome = await it.agency.desk(it.mia).of(Clerk).do(Find(), "leaves")
        assert await it.agency.desk(it.mia).export_trace(outcome.task)
        with pytest.raises(NotAllowed):
            await it.agency.desk(it.noor).export_trace(outcome.task)
