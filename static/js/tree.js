// The tree from the keyboard, rows first, as the ARIA practices have it; and rows that close and stay closed.
const closed = new Set();

const rows = (tree) => [...tree.querySelectorAll("[role=row][data-piece]")];
const seen = (tree) => rows(tree).filter((row) => !row.hidden);
const level = (row) => Number(row.getAttribute("aria-level"));

function fold(tree) {
  let under = Infinity;
  for (const row of rows(tree)) {
    if (level(row) <= under) under = Infinity;
    row.hidden = under !== Infinity;
    if (!row.hasAttribute("aria-expanded")) continue;
    const shut = closed.has(row.dataset.piece);
    row.setAttribute("aria-expanded", String(!shut));
    if (shut && !row.hidden) under = level(row);
  }
}

function choose(tree, row) {
  for (const other of rows(tree)) {
    const chosen = other === row;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
  }
  tree.dataset.chosen = row.dataset.piece;
}

function turn(tree, row, shut) {
  closed[shut ? "add" : "delete"](row.dataset.piece);
  fold(tree);
}

function move(tree, row) {
  if (!row) return;
  for (const other of rows(tree)) other.tabIndex = other === row ? 0 : -1;
  row.focus();
}

function key(event) {
  const tree = event.currentTarget, row = event.target.closest("[role=row][data-piece]");
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = seen(tree), at = all.indexOf(row), open = row.getAttribute("aria-expanded");
  const acts = {
    ArrowDown: () => move(tree, all[at + 1]),
    ArrowUp: () => move(tree, all[at - 1]),
    Home: () => move(tree, all[0]),
    End: () => move(tree, all.at(-1)),
    ArrowRight: () => (open === "false" ? turn(tree, row, false) : open && move(tree, all[at + 1])),
    ArrowLeft: () => (open === "true" ? turn(tree, row, true) : move(tree, all.slice(0, at).findLast((other) => level(other) < level(row)))),
    Enter: () => row.querySelector("[data-choose]").click(),
    "*": () => { for (const other of rows(tree)) if (level(other) === level(row)) closed.delete(other.dataset.piece); fold(tree); },
    "-": () => { for (const other of rows(tree)) if (other.matches("[aria-expanded]:has([data-is=good]):not(:has([data-is=progress], [data-is=attention]))")) closed.add(other.dataset.piece); fold(tree); },
  };
  if (!acts[event.key] || event.target.matches("a, button") && event.key === "Enter") return;
  event.preventDefault();
  acts[event.key]();
}

function click(event) {
  const tree = event.currentTarget, row = event.target.closest("[role=row][data-piece]");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("[data-fold]")) {
    event.preventDefault();
    turn(tree, row, row.getAttribute("aria-expanded") === "true");
  } else if (event.target.closest("[data-choose]")) {
    choose(tree, row);
  } else if (!getSelection().toString()) {
    row.querySelector("[data-choose]").click();
  }
}

export function tree(root) {
  for (const found of root.querySelectorAll("[data-tree]")) {
    if (!found.dataset.ready) {
      found.dataset.ready = "yes";
      for (const row of rows(found)) if (row.getAttribute("aria-expanded") === "false") closed.add(row.dataset.piece);
      found.addEventListener("keydown", key);
      found.addEventListener("click", click);
      found.dataset.chosen ||= found.querySelector("[aria-selected=true]")?.dataset.piece ?? "";
    }
    fold(found);
    const all = rows(found), chosen = all.find((row) => row.dataset.piece === found.dataset.chosen) ?? all[0];
    if (!chosen) continue;
    const focused = all.find((row) => row.contains(document.activeElement));
    choose(found, chosen);
    for (const row of all) row.tabIndex = row === (focused ?? chosen) ? 0 : -1;
  }
}
