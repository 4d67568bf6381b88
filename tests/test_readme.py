"""The docs say what is so: the README's program runs, links lead somewhere, and what they tell one to run exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from llmock.testing import LLMockServer

ROOT = Path(__file__).resolve().parent.parent
DOCS = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")]
DOCS += sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """Without blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def anchors(text: str) -> set[str]:
    """The headings as a link names them, in the way of GitHub."""
    heads = re.findall(r"^#+ (.+)$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def named(doc: Path) -> str:
    return str(doc.relative_to(ROOT))


def test_the_first_agent_of_the_readme_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```", readme, re.S | re.M)
    [printed] = re.findall(r"^It prints\n\n```text\n(.*?)^```", readme, re.S | re.M)
    (tmp_path / "first.py").write_text(program, "utf-8")
    ran = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.stdout, ran.stderr) == (printed, "")


@pytest.mark.parametrize("doc", DOCS, ids=named)
def test_every_link_leads_to_a_file_that_is_there_and_a_heading_that_is_in_it(doc: Path) -> None:
    text = doc.read_text("utf-8")
    wrong = []
    for link in LINK.findall(prose(text)):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (doc.parent / path).resolve() if path else doc
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("doc", DOCS, ids=named)
def test_every_target_of_make_that_is_named_is_there(doc: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    told = set(re.findall(r"(?:^|`)make ([a-z-]+)", doc.read_text("utf-8"), re.M))
    assert told <= targets


def test_make_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    [phony] = re.findall(r"^\.PHONY: (.+)$", text, re.M)
    told = set(re.findall(r'@echo "make ([\w-]+)', text))
    assert told == set(phony.split()) - {"help"}


@pytest.mark.parametrize("doc", DOCS, ids=named)
def test_every_path_that_is_named_in_code_is_there(doc: Path) -> None:
    told = re.findall(
        r"`((?:\.ci|core|web|handon|examples|docs|tests|bench|alembic)/[\w./-]*)`", doc.read_text("utf-8")
    )
    assert [path for path in told if not (ROOT / path).exists()] == []


def test_the_program_of_the_models_page_is_done_by_the_server_it_names() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    program = re.findall(r"^```python\n(import .*?)^```", page, re.S | re.M)[0]
    with LLMockServer() as server:
        at = program.replace("http://127.0.0.1:8008", server.url)
        assert at != program
        ran = subprocess.run(
            [sys.executable, "-c", at], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
    assert (ran.stdout, ran.stderr) == ("Done True\n", "")


# K1, K2, K4
async def test_the_ten_lines_of_the_testing_page_test_the_readmes_clerk(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    [program] = re.findall(r"^```python\n(.*?)^async def main", readme, re.S | re.M)
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    test = re.findall(r"^```python\n(async def .*?)^```", page, re.S | re.M)[0]
    app: dict[str, object] = {}
    declared = program.replace("agency = Agency(\n", "def office(**settings): return Agency(**settings | dict(\n", 1)
    declared = declared.replace('    database=f"sqlite:///{tempfile.mkdtemp()}/first.db",\n)', "))")
    exec(f"from handon.testing import TestClock\n{declared}\nLETTER = letter\n{test}", app)
    await app["test_the_clerk_posts_what_mia_approves"](tmp_path)  # type: ignore[operator]
