"""Which tests hold which rule: `python -m tests.rules` prints them, and fails where a rule has none.

A rule is a line of docs/rules.md that is not marked *later*; a test names it in a comment on the lines above: `# M3`.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\* (\*later\*)?(.*)$", re.MULTILINE)
NAMED = re.compile(r"\b([DHRMPEATCK]\d{1,2})\b")
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)")


def rules() -> dict[str, str]:
    """Number and sentence of every rule that is to hold."""
    text = (HERE.parent / "docs" / "rules.md").read_text()
    return {number: said.strip() for number, later, said in RULE.findall(text) if not later}


def tests() -> dict[str, list[str]]:
    """The tests that name each rule, as file::test."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(HERE.rglob("test_*.py")):
        named: list[str] = []
        for line in file.read_text().splitlines():
            test = TEST.match(line)
            if test:
                for rule in dict.fromkeys(named):
                    found[rule].append(f"{file.relative_to(HERE.parent)}::{test[1]}")
                named = []
            elif line.lstrip().startswith("#"):
                named += NAMED.findall(line)
            elif (
                line.strip()
                and not line.lstrip().startswith(("@", ")", "]", "(", '"', "["))
                and not line.startswith("    ")
            ):
                named = []
    return found


def main() -> int:
    held = tests()
    missing = []
    for number, said in rules().items():
        print(f"{number}  {said}")
        for test in held.get(number, ()):
            print(f"      {test}")
        if number not in held:
            missing.append(number)
            print("      no test names it")
    print(f"\n{len(rules())} rules, {len(rules()) - len(missing)} held by tests.")
    if missing:
        print(f"Without a test: {', '.join(missing)}.", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
