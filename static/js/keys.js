// Single keys, made so that none decides by accident: `a` only arms, and Enter decides within five seconds.
// Whoever types without looking presses keys in quick order; so a key counts only after half a second without any.
import { dressed } from "./dress.js";

const CALM = 500; // milliseconds: also dead for so long after a card opens, and longer while typing goes on
const ARMED = 5000;
const SOON = 250; // an Enter that follows sooner belongs to what is being typed
const KEPT = "handon-keys";

const PLACES = { i: "/inbox", n: "/now", w: "/work", m: "/map", a: "/audit" }; // after g
const GOING = 1500;

let last = 0, lastKey = "", card = null, armed = null, armedAt = 0, timer = 0, going = -GOING;

const chosen = document.documentElement.dataset.keys ?? ""; // what the person has chosen: "off", or [[usual, theirs], ...]
const mine = new Map(chosen && chosen !== "off" ? JSON.parse(chosen) : []);
const theirs = new Map([...mine].map(([was, is]) => [is, was]));
const usual = (key) => theirs.get(key) ?? (mine.has(key) ? "" : key); // a key that was given another place does nothing in its old one

const now = () => performance.now();
const writes = (node) => node?.closest?.("input:not([type=radio],[type=checkbox]), textarea, select, [contenteditable]");
const say = (text) => { const region = document.getElementById("say"); if (region) region.textContent = text; };
const press = (key) => { const found = document.querySelector(`#main [data-key="${key}"]`); found?.click(); return Boolean(found); };

function disarm() {
  clearTimeout(timer);
  if (armed) { delete armed.dataset.armed; armed = null; }
}

function arm() {
  const button = document.querySelector("#main [data-arms]:enabled");
  if (!button) return;
  armed = button;
  armedAt = now();
  button.dataset.armed = "yes";
  say("Press Enter to approve, any other key not to.");
  timer = setTimeout(() => { disarm(); say("Not approved."); }, ARMED);
}

// The rows of the list, or the cards beside each other.
function step(by) {
  if (press(by > 0 ? "j" : "k")) return;
  if (document.querySelector("#main[data-open]")) return;
  const rows = [...document.querySelectorAll("#main :is(.req, .many)")].filter((row) => row.checkVisibility());
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

function next() {
  if (press("n") || press("j")) return;
  const row = document.querySelector("#main .req:not([aria-current])");
  if (row && !document.querySelector("#main[data-open]")) row.click();
  else location.assign("/inbox/next");
}

function choose(number) {
  const choice = document.querySelectorAll("#main .opts input[type=radio]:not([value=own])")[number - 1];
  if (choice) { choice.checked = true; choice.dispatchEvent(new Event("change", { bubbles: true })); }
}

function own(event) {
  const field = document.querySelector("#main textarea[name=own]");
  if (!field) return;
  event.preventDefault();
  const radio = document.getElementById("own");
  if (radio?.type === "radio") radio.checked = true;
  field.focus();
}

async function list() {
  let dialog = document.getElementById("keys-dialog");
  if (!dialog) {
    const answer = await fetch("/help/keys");
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog = document.createElement("dialog");
    dialog.id = "keys-dialog";
    dialog.setAttribute("aria-label", "Keys");
    dialog.append(page.getElementById("keys"));
    const close = document.createElement("button");
    close.className = "btn";
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.append(close);
    document.body.append(dialog);
    switches(dialog);
  }
  if (!dialog.open) dialog.showModal();
}

// From any page: what was decided last, while it is held.
function undo() {
  const button = document.querySelector('[data-key="z"]');
  if (button) button.click();
  else say("There is nothing to take back.");
}

const ACTS = {
  a: arm, n: next, o: () => document.activeElement?.matches?.(".req, .many") && document.activeElement.click(),
  ".": () => press("."), p: () => document.querySelector("#live [data-act]:not([hidden])")?.click(), "/": () => document.querySelector('#main [data-key="/"]')?.focus(),
  z: undo, s: () => press("s"), h: () => press("h"), r: () => press("r"), e: () => press("e"), A: () => press("A"), u: () => press("u"), "?": list,
};

// Whether the person has switched single keys off, for good or in this browser.
export function off() {
  if (chosen === "off") return true;
  try { return localStorage.getItem(KEPT) === "off"; } catch { return false; }
}

// A key that only some pages know, said by the module that knows what it does.
export function acts(key, act) {
  ACTS[key] = act;
}

function onKey(event) {
  const since = now() - last, before = lastKey;
  if (["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return;
  last = now();
  const key = usual(event.key);
  lastKey = key;
  const quiet = since < CALM || now() - (card?.at ?? 0) < CALM; // somebody is typing, or the card has only just come
  const wasArmed = armed;
  if (armed && event.key !== "Enter") {
    disarm();
    say("Not approved.");
    if (!writes(event.target) && event.key !== "Tab" && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); return; }
  }
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const send = document.querySelector("#main [data-send]:enabled");
    if (send && !event.repeat) { event.preventDefault(); send.form.requestSubmit(send); }
    return;
  }
  if (event.key === "Enter" && wasArmed) {
    const sure = wasArmed.isConnected && !event.repeat && now() - armedAt > SOON;
    disarm();
    event.preventDefault();
    if (sure) wasArmed.form.requestSubmit(wasArmed);
    return;
  }
  if (["Enter", " "].includes(event.key) && event.target.closest?.("article.card .acts") && (quiet || event.repeat)) event.preventDefault();
  if (event.key === "Enter" && event.target.matches?.("input") && event.target.form?.matches("[data-deliberate]")) event.preventDefault();
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !["j", "k"].includes(key)) return;
  if (event.key === "Escape" && writes(event.target)) { event.target.blur(); return; }
  if (writes(event.target) || off()) return;
  const goes = now() - going < GOING;
  going = -GOING;
  if (goes && PLACES[event.key]) {
    event.preventDefault();
    document.querySelector(`.nav a[href="${PLACES[event.key]}"]`)?.click();
    return;
  }
  const moves = { j: 1, k: -1 }[key];
  if (moves && (!quiet || before === "j" || before === "k")) { event.preventDefault(); step(moves); return; }
  if (quiet) return;
  if (key === "g") going = now();
  else if (/^[1-9]$/.test(event.key)) choose(Number(event.key));
  else if (key === "w") own(event);
  else if (Object.hasOwn(ACTS, key)) { event.preventDefault(); ACTS[key](); }
}

// A card that comes into view makes keys dead for a moment, and no button of the one before keeps the focus.
function look() {
  const found = document.querySelector("#main article.card");
  const id = found ? `${found.id} ${location.pathname}` : "";
  if (id === (card?.id ?? "")) return;
  if (card && document.activeElement?.closest?.(".acts")) document.activeElement.blur();
  for (const menu of card ? document.querySelectorAll("#main details.menu[open]") : []) menu.open = false; // the last one's
  disarm();
  card = { id, at: now() };
}

function switches(root) {
  for (const box of chosen === "off" ? [] : root.querySelectorAll("[data-keys-switch]")) {
    if (box.dataset.ready) continue;
    box.dataset.ready = "yes";
    box.hidden = false;
    const button = box.querySelector("button"), word = box.querySelector("span");
    const show = () => { word.textContent = off() ? "Single keys are off in this browser." : "Single keys are on in this browser."; button.textContent = off() ? "Switch them on" : "Switch them off"; };
    button.addEventListener("click", () => { try { localStorage.setItem(KEPT, off() ? "on" : "off"); } catch { /* no store: they stay on */ } show(); });
    show();
  }
}

// The hints on buttons name the keys that the person has.
function hints(root) {
  for (const hint of root.querySelectorAll("[data-key-is]")) {
    if (off()) hint.hidden = true;
    else if (mine.has(hint.dataset.keyIs)) hint.textContent = mine.get(hint.dataset.keyIs);
  }
  for (const named of root.querySelectorAll("[aria-keyshortcuts]")) {
    const was = named.getAttribute("aria-keyshortcuts").replace("Shift+", "");
    if (chosen === "off") named.removeAttribute("aria-keyshortcuts");
    else if (mine.has(was) && !named.dataset.named) { named.dataset.named = "yes"; named.setAttribute("aria-keyshortcuts", mine.get(was)); }
  }
}

function keys(root) {
  look();
  if (chosen || off()) hints(root);
  switches(root);
}

addEventListener("keydown", onKey, true);
addEventListener("pointerdown", disarm, true);
dressed(keys);
