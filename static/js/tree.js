// The tree from the keyboard, rows first, as the ARIA practices have it. Which rows there are is in the address: what is
// opened, closed or looked for is asked of the server, and put over what is there, so that nothing else moves.
import { dressed } from "./dress.js";
import { off } from "./keys.js";
import { again, latest } from "./live.js";

const PHONE = matchMedia("(max-width: 44rem)");
const KEPT = 50; // branches that an address names

const rows = (tree) => [...tree.querySelectorAll("#rows > [role=row]")];
const level = (row) => Number(row.getAttribute("aria-level"));

// Only what differs is written: each message of the stream comes through here, and a tree has hundreds of rows.
function tab(all, row) {
  for (const other of all) {
    const index = other === row ? 0 : -1;
    if (other.tabIndex !== index || !other.hasAttribute("tabindex")) other.tabIndex = index;
  }
}

function choose(tree, all, row) {
  for (const other of all) {
    const chosen = String(other === row);
    if ((other.getAttribute("aria-selected") ?? chosen) !== chosen) other.setAttribute("aria-selected", chosen);
  }
  tree.dataset.chosen = row.dataset.piece;
}

// The address keeps the chosen piece, whatever else changes in it.
function go(tree, address) {
  const url = new URL(address, location.href), here = new URL(location.href).searchParams.get("piece");
  if (here) url.searchParams.set("piece", here);
  history.replaceState(history.state, "", url.pathname + url.search.replaceAll("%2C", ",").replaceAll("%7E", "~"));
  tree.setAttribute("aria-busy", "true");
  return again();
}

const named = (url, name) => (url.searchParams.get(name) ?? "").split(",").filter(Boolean);

// Several branches at once: opened, or shut.
function turn(tree, some, open) {
  if (!some.length) return;
  const url = new URL(location.href), keys = new Set(some.map((row) => row.dataset.key));
  const rest = (name) => named(url, name).filter((one) => !keys.has(one.split("*")[0]));
  const lists = { open: rest("open"), shut: rest("shut") };
  lists[open ? "open" : "shut"].push(...keys);
  for (const [name, list] of Object.entries(lists)) {
    if (list.length) url.searchParams.set(name, list.slice(-KEPT).join(","));
    else url.searchParams.delete(name);
  }
  go(tree, url);
}

function show(tree, row) {
  const link = row.querySelector("[data-choose]");
  if (!link) return fold(tree, row);
  const pane = document.getElementById("pane"), root = document.querySelector("[data-pane]")?.dataset.root;
  const own = `/work/${root}/piece/${row.dataset.piece}`;
  if (!pane || !root) return location.assign(link.href);
  if (PHONE.matches) return location.assign(own);
  const all = rows(tree);
  choose(tree, all, row);
  tab(all, row);
  const url = new URL(location.href);
  url.searchParams.set("piece", row.dataset.piece);
  history.replaceState(history.state, "", url);
  pane.dataset.wanted = row.dataset.piece;
  latest(pane, own, { swap: "innerHTML" });
}

function fold(tree, row) {
  const link = row.querySelector("[data-fold]");
  if (link) go(tree, link.href);
}

function move(tree, row) {
  if (!row) return;
  tab(rows(tree), row);
  row.focus();
}

function key(event) {
  const tree = event.target.closest("[data-tree]"), row = event.target.closest("#rows > [role=row]");
  if (!tree || !row || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = rows(tree), at = all.indexOf(row), open = row.getAttribute("aria-expanded");
  const ended = "[aria-expanded=true]:has(.state [data-is=good])";
  const acts = {
    ArrowDown: () => move(tree, all[at + 1]),
    ArrowUp: () => move(tree, all[at - 1]),
    Home: () => move(tree, all[0]),
    End: () => move(tree, all.at(-1)),
    ArrowRight: () => (open === "false" ? fold(tree, row) : open && move(tree, all[at + 1])),
    ArrowLeft: () => (open === "true" ? fold(tree, row) : move(tree, all.slice(0, at).findLast((other) => level(other) < level(row)))),
    Enter: () => show(tree, row),
    "*": () => turn(tree, all.filter((other) => level(other) === level(row) && other.getAttribute("aria-expanded") === "false"), true),
    "-": () => turn(tree, all.filter((other) => other.matches(ended)), false),
  };
  if (!acts[event.key] || event.key.length === 1 && off() || event.target.matches("a, button") && event.key === "Enter") return;
  event.preventDefault();
  acts[event.key]();
}

function click(event) {
  const tree = event.target.closest("[data-tree]"), row = event.target.closest("#rows > [role=row]");
  if (!tree || !row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a");
  if (link?.matches("[data-fold]")) {
    event.preventDefault();
    go(tree, link.href);
  } else if (link?.matches("[data-choose]")) {
    event.preventDefault();
    show(tree, row);
  } else if (!link && !getSelection().toString()) {
    show(tree, row);
  }
}

function tree(root) {
  for (const found of root.querySelectorAll("[data-tree]")) {
    found.removeAttribute("aria-busy");
    const all = rows(found), chosen = all.find((row) => row.dataset.piece === found.dataset.chosen) ?? all[0];
    if (!chosen) continue;
    const focused = all.find((row) => row.contains(document.activeElement));
    choose(found, all, chosen);
    tab(all, focused ?? chosen);
  }
}

document.addEventListener("keydown", key);
document.addEventListener("click", click);
dressed(tree);
