"""Small modules of script, served as few files.

Each module is put into a function, so that its names stay its own, after those it needs. What another file holds is
taken from there: a module is on a page once. Only three forms are known, `import { a, b } from "./x.js";`,
`import "./x.js";` and `export function f`. Anything else, a circle, or a name that is not exported is refused when the
app is made.
Lines that hold only a comment are left out, and so is what lines are set in with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{ ([\w, ]+) \} from )?"\./(\w+)\.js";$')
_EXPORT = re.compile(r"^export ((?:async )?function (\w+))")
_OTHER = re.compile(r"^\s*(import|export)\b(?!\()")


@dataclass(frozen=True)
class Module:
    name: str
    needs: tuple[tuple[str, tuple[str, ...]], ...]  # of each module that it imports: which names
    exports: tuple[str, ...]
    body: str


def read(folder: Path, name: str) -> Module:
    """The module of that name. ValueError where it is written in a form that is not known."""
    needs, exports, body = [], [], []
    for n, line in enumerate((folder / f"{name}.js").read_text("utf-8").splitlines(), 1):
        if taken := _IMPORT.match(line):
            needs.append((taken[2], tuple(taken[1].split(", ")) if taken[1] else ()))
        elif given := _EXPORT.match(line):
            exports.append(given[2])
            body.append(line.removeprefix("export "))
        elif _OTHER.match(line):
            raise ValueError(f"{name}.js, line {n}: only `import {{ a }} from` and `export function` are known")
        elif (bare := line.strip()) and not bare.startswith("//"):
            body.append(bare)
    return Module(name, tuple(needs), tuple(exports), "\n".join(body))


def ordered(folder: Path, names: Sequence[str]) -> list[Module]:
    """These modules and all that they need, each after what it needs itself. ValueError where they need each other."""
    found: dict[str, Module] = {}

    def take(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"{' needs '.join([*above[above.index(name) :], name])}: a circle")
        if name in found:
            return
        module = read(folder, name)
        for needed, parts in module.needs:
            take(needed, (*above, name))
            if missing := set(parts) - set(found[needed].exports):
                raise ValueError(f"{name}.js imports {', '.join(sorted(missing))}, which {needed}.js does not export")
        found[name] = module

    for name in names:
        take(name, ())
    return list(found.values())


def join(modules: Sequence[Module], elsewhere: Mapping[str, str]) -> str:
    """One file of these modules, which exports each under its name. `elsewhere` says which file holds another."""
    own = [module for module in modules if module.name not in elsewhere]
    taken = sorted({name for module in own for name, parts in module.needs if parts and name in elsewhere})
    lines = [f'import {{ {name} as _{name} }} from "./{elsewhere[name]}.js";' for name in taken]
    for module in own:
        lines.append(f"const _{module.name} = (() => {{")
        lines += [f"const {{ {', '.join(parts)} }} = _{needed};" for needed, parts in module.needs if parts]
        lines += [module.body, f"return {{ {', '.join(module.exports)} }};", "})();"]
    lines.append(f"export {{ {', '.join(f'_{module.name} as {module.name}' for module in own)} }};")
    return "\n".join(lines) + "\n"
