"""Small modules of script are served as few files, and written in forms that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from web.assets import EVERY, SCRIPTS, SHEETS, STATIC, scripts
from web.joining import join, ordered


def write(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, "utf-8")
    return folder


def test_each_module_comes_after_what_it_needs_and_is_there_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        page='import { b } from "./two.js";\nimport "./one.js";\nb();\n',
        two='import { a } from "./one.js";\n// A comment.\nexport function b() { return a(); }\n',
        one="let n = 0; // counts\nexport async function a() { return n++; }\n",
    )
    modules = ordered(tmp_path, ["page", "two"])
    assert [module.name for module in modules] == ["one", "two", "page"]
    text = join(modules, {})
    assert text.count("let n = 0;") == 1
    assert "const { a } = _one;" in text
    assert "export { _one as one, _two as two, _page as page };" in text
    assert "A comment" not in text


def test_what_another_file_holds_is_taken_from_there(tmp_path: Path) -> None:
    write(tmp_path, page="export function a() {}\n", more='import { a } from "./page.js";\na();\n')
    files = scripts(tmp_path, {EVERY: ("page",), "more": ("more",)})
    assert 'import { page as _page } from "./handon.js";' in files["more"]
    assert "function a" not in files["more"]


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        ({"page": 'import all from "./one.js";\n'}, "page.js, line 1: only"),
        ({"page": 'import * as one from "./one.js";\n'}, "page.js, line 1: only"),
        ({"page": "\nexport const n = 1;\n"}, "page.js, line 2: only"),
        ({"page": "export default function a() {}\n"}, "page.js, line 1: only"),
        (
            {"page": 'import { b } from "./one.js";\n', "one": "export function a() {}\n"},
            "imports b, which one.js",
        ),
        ({"page": 'import "./one.js";\n', "one": 'import "./page.js";\n'}, "page needs one needs page: a circle"),
    ],
)
def test_a_form_that_is_not_known_a_missing_name_and_a_circle_are_refused(
    tmp_path: Path, modules: dict[str, str], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ordered(write(tmp_path, **modules), ["page"])


def test_every_module_is_in_one_file_and_no_name_is_declared_twice_there() -> None:
    held = [module for parts in SCRIPTS.values() for module in parts]
    assert len(held) == len(set(held))
    known = {module.name for parts in SCRIPTS.values() for module in ordered(STATIC / "js", parts)}
    assert known == {file.stem for file in (STATIC / "js").glob("*.js")}


def test_every_style_sheet_is_in_one_file() -> None:
    held = [part for parts in SHEETS.values() for part in parts]
    assert sorted(held) == sorted(file.stem for file in (STATIC / "css").glob("*.css"))
