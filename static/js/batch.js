import { dressed } from "./dress.js";
import { acts } from "./keys.js";

// Requests that are looked at together: chosen in the list by key, and how many are checked on their page.
const MOST = 50, ROW = "#waits .req[data-of]";
// A selection lasts as long as the tab, over all pages of the list: by person, of each request its work.
const KEPT = `handon-picked ${document.querySelector(".menu-line")?.textContent ?? ""}`;
const kept = () => { try { return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"); } catch { return []; } };
const keep = () => { try { sessionStorage.setItem(KEPT, JSON.stringify([...picked])); } catch { /* no store: it lasts for this page */ } };
const picked = new Map(kept());
const met = new Set(); // those that this page has shown

const say = (text) => { const region = document.getElementById("say"); if (region) region.textContent = text; };
const idOf = (row) => row.parentElement.id.slice(2);
const here = () => document.activeElement?.matches?.(ROW) ? document.activeElement : document.querySelector(`${ROW}[aria-current]`);

function whyNot(row) {
  if (row.dataset.kind !== "proposal") return "A question is answered on its own card.";
  if ([...picked.values()].some((work) => work !== row.dataset.of)) return "It belongs to another work: only requests of one work are looked at together.";
  return picked.size >= MOST ? `At most ${MOST} are looked at together.` : "";
}

function select(row) {
  const why = picked.has(idOf(row)) ? "" : whyNot(row);
  if (why) { say(why); show(why); return false; }
  picked.set(idOf(row), row.dataset.of);
  return true;
}

const told = () => say(picked.size ? `${picked.size} selected.` : "None selected.");

function pick() {
  const row = here();
  if (!row) { say("Go to a row first, with j."); return; }
  if (picked.has(idOf(row))) picked.delete(idOf(row));
  else if (!select(row)) return;
  show();
  told();
}

function extend(by) {
  const rows = [...document.querySelectorAll(ROW)].filter((row) => row.checkVisibility()), row = here();
  if (!row) { say("Go to a row first, with j."); return; }
  if (!select(row)) return;
  const next = rows[rows.indexOf(row) + by];
  if (next && !select(next)) return;
  next?.focus();
  show();
  told();
}

function show(why = "") {
  keep();
  for (const row of document.querySelectorAll(ROW)) {
    const is = picked.has(idOf(row)), mark = row.querySelector("[data-mark]");
    row.toggleAttribute("data-picked", is);
    if (is && !mark) row.insertAdjacentHTML("beforeend", '<span class="vh" data-mark>, selected</span>');
    if (!is) mark?.remove();
  }
  const bar = document.getElementById("picks");
  if (!bar) return;
  bar.hidden = !picked.size && !why;
  const away = [...picked.keys()].filter((id) => !document.getElementById(`r-${id}`)).length;
  bar.querySelector("b").textContent = why || `${picked.size} selected${away ? `, ${away} of them not on this page` : ""}`;
  const link = bar.querySelector("a");
  link.hidden = !picked.size;
  link.href = `/inbox/batch?ids=${[...picked.keys()].join(",")}`;
}

function count(form) {
  const number = form.querySelectorAll("input[name=item]:checked").length;
  for (const button of form.querySelectorAll("[data-counts]")) {
    const words = button.querySelector("[data-words]");
    if (!words) continue; // it is being sent, and stays as it is
    button.disabled = !number;
    words.textContent = number ? `${button.dataset.counts} ${number}` : `${button.dataset.counts} those checked`;
  }
}

// Morphing leaves folds as they are (`morphIgnore` in base.html). What was in view stays so when requests come to stand
// together, and the row whose card is open is always in view: their fold is opened then.
let seen = new Set();
const remember = () => { seen = new Set([...document.querySelectorAll(ROW)].filter((row) => row.checkVisibility()).map(idOf)); };

function unfold() {
  for (const fold of document.querySelectorAll("#waits .singles:not([open])")) {
    if ([...fold.querySelectorAll(ROW)].some((row) => seen.has(idOf(row)) || row.hasAttribute("aria-current"))) fold.open = true;
  }
  remember();
}

function batch(root) {
  unfold();
  for (const id of picked.keys()) {
    if (document.getElementById(`r-${id}`)) met.add(id);
    else if (met.has(id)) picked.delete(id); // it was here and is not any more: somebody has decided
  }
  if (picked.size || !document.getElementById("picks")?.hidden) show();
  for (const form of root.querySelectorAll("form[data-batch]")) {
    count(form);
    form.querySelector("[data-all]")?.removeAttribute("hidden");
  }
}

document.addEventListener("submit", (event) => { if (event.target.matches("form[data-batch]")) { picked.clear(); keep(); } });
document.addEventListener("change", (event) => { const form = event.target.closest("form[data-batch]"); if (form) count(form); });
document.addEventListener("click", (event) => {
  if (event.target.closest("#picks button")) { picked.clear(); show(); told(); }
  const form = event.target.closest("[data-all] button")?.form;
  if (!form) return;
  for (const box of form.querySelectorAll("input[name=item]")) box.checked = true;
  count(form);
  say(`${form.querySelectorAll("input[name=item]:checked").length} checked.`);
});
document.addEventListener("toggle", (event) => { if (event.target.matches?.(".singles")) remember(); }, true);

acts("x", pick);
acts("J", () => extend(1));
acts("K", () => extend(-1));
dressed(batch);
