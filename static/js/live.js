// The word in the bar: Live, Paused, Catching up, Not connected since. It never says Live when it is not.
import { dress } from "./dress.js";

const SILENT = 40000; // the server says something every 15 s
const TRIES = [1000, 2000, 5000, 10000, 30000];

let state = "off", held = 0, heard = 0, lostAt = null, tries = 0, waits = null, said = 0;

const clock = () => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(lostAt);
const words = {
  live: () => ["dot", "Live", "Pause"],
  paused: () => ["pause", held ? `Paused, ${held} change${held === 1 ? "" : "s"} held` : "Paused", "Go on"],
  behind: () => ["working", "Catching up", ""],
  lost: () => ["abandoned", `Not connected since ${clock()}`, "Refresh"],
  out: () => ["key", "You were signed out", "Sign in"],
};

function show(next) {
  if (state === "paused" && next !== "paused" && next !== "go on" && next !== "out") return;
  if (next === "go on") next = "live";
  if (next === "out") document.querySelectorAll("[data-stream]").forEach((stream) => stream.remove());
  if (next === "lost" && state !== "lost") lostAt = new Date();
  state = next;
  const bar = document.getElementById("live");
  if (!bar) return;
  const [icon, word, act] = words[state]();
  const use = bar.querySelector("use"), button = bar.querySelector("[data-act]");
  bar.hidden = false;
  bar.dataset.is = state === "out" ? "lost" : state;
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${icon}`));
  bar.querySelector("[data-word]").textContent = word;
  button.textContent = act;
  button.hidden = !act;
}

// A part of the page asked for anew. Of several askings for one part the last counts, whatever comes back first: the
// library would else let the second wait for the first and forget the third.
export function latest(part, address, how) {
  part.setAttribute("hx-sync", "replace");
  return htmx.ajax("GET", address, { source: part, target: part, ...how });
}

// The whole page once more, put over what is there: nothing that stays the same is touched.
const here = () => location.pathname + location.search;
let asked = "";

export function again() {
  asked = here();
  return latest(document.getElementById("main"), location.href, { select: "#main", swap: "outerMorph", selectOOB: "#badge:outerMorph" });
}

function press() {
  if (state === "live") { held = 0; show("paused"); }
  else if (state === "paused") { show("go on"); if (held) again(); held = 0; }
  else if (state === "lost") location.reload();
  else if (state === "out") location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

// A first connection that fails is not tried again by the library, so it is tried again here.
function retry(stream) {
  show("lost");
  const wait = TRIES[Math.min(tries++, TRIES.length - 1)];
  setTimeout(() => { if (stream.isConnected && !stream._htmx?.sse) htmx.ajax("GET", stream.getAttribute("hx-sse:connect"), { source: stream, swap: "none" }); }, wait);
}

// The library lets go of a stream when its tab is hidden, and takes it up again; but a tab that was opened behind others
// is never told that it is. Each stream would keep one of the six connections that a browser has for a server.
function behind() {
  if (document.hidden) document.dispatchEvent(new Event("visibilitychange"));
}

// At most one announcement in ten seconds, and only of what waits.
function tell() {
  const badge = document.getElementById("badge"), n = badge ? Number(badge.textContent) : 0;
  if (waits === null) { waits = n; return; }
  if (n === waits) return;
  const title = document.title.replace(/Inbox( \d+)?/, n ? `Inbox ${n}` : "Inbox");
  if (document.title !== title) document.title = title;
  if (Date.now() - said > 10000) {
    document.getElementById("say").textContent = n ? `${n} ${n === 1 ? "waits" : "wait"} for you.` : "Nothing waits for you.";
    said = Date.now();
  }
  waits = n;
}

// A row that somebody has the focus in, or has marked words in, stays as it is: it says that it has changed, and is put
// right once they have left it.
const kept = new Map();

const touched = (row) => row.contains(document.activeElement) || !getSelection().isCollapsed && getSelection().containsNode(row, true);

function keep(message) {
  if (!message.data?.includes('role="row"')) return;
  const parts = document.createElement("template");
  parts.innerHTML = message.data;
  for (const part of parts.content.querySelectorAll("hx-partial")) {
    const row = document.querySelector(part.getAttribute("hx-target")), made = part.querySelector("[role=row]");
    if (!made || !row?.matches("[role=row]")) continue;
    kept.delete(row.id); // what was kept is older
    if (!touched(row)) continue;
    kept.set(row.id, made);
    row.dataset.changed = "";
    part.remove();
  }
  if (kept.size) message.data = parts.innerHTML;
}

function letGo() {
  for (const [id, made] of kept) {
    const row = document.getElementById(id);
    if (row && touched(row)) continue;
    kept.delete(id);
    if (!row) continue;
    for (const name of ["aria-expanded", "aria-posinset", "aria-setsize"]) if (made.hasAttribute(name)) row.setAttribute(name, made.getAttribute(name));
    row.replaceChildren(...made.childNodes);
    dress();
  }
}

// What is new is shown by itself where nothing that is read would move: it comes after the last row, which is in view.
let shown = 0;

function follow() {
  const link = document.querySelector("[data-fresh][data-at-end]"), last = document.querySelector("#rows > [role=row]:last-child");
  if (!link || !last || state === "paused") return;
  const rest = shown + 500 - Date.now();
  if (rest > 0) { setTimeout(follow, rest); return; }
  const box = last.getBoundingClientRect(), foot = document.querySelector(".rec")?.getBoundingClientRect().top ?? innerHeight;
  if (box.bottom > Math.min(innerHeight, foot) + 1 || box.bottom < 0) return;
  shown = Date.now();
  const made = document.querySelector("template[data-new]");
  for (const row of made?.content.children ?? []) if (!document.getElementById(row.id)) last.parentElement.append(document.importNode(row, true));
  dress();
  again();
}

// The pane beside the tree is asked for again when its piece has changed, unless somebody is writing in it. Where
// another piece was chosen meanwhile, it is that one that counts.
function pane(list) {
  const inner = document.querySelector("[data-pane]"), part = document.getElementById("pane");
  const piece = part?.dataset.wanted ?? inner?.dataset.pane;
  if (!inner || !part || !list.includes(piece) || inner.querySelector(":focus")) return;
  const same = piece === inner.dataset.pane;
  latest(part, `/work/${inner.dataset.root}/piece/${piece}`, { swap: same ? "innerMorph" : "innerHTML" });
}

// Begins once the page is dressed for the first time.
export function live() {
  const on = (name, act) => document.addEventListener(name, (event) => { if (event.target.matches?.("[data-stream]")) act(event); });
  on("htmx:sse:after:connection", () => { heard = Date.now(); tries = 0; show("live"); setTimeout(behind); });
  on("htmx:sse:before:connection", (event) => { if (event.detail.connection.attempt > 0 && state !== "lost") show("behind"); });
  on("htmx:sse:error", (event) => show(event.detail.status === 401 ? "out" : "lost"));
  on("htmx:sse:before:message", (event) => {
    heard = Date.now();
    if (state === "paused" && !["beat", "bye", "signed-out"].includes(event.detail.message.event)) {
      if ([undefined, "", "resync"].includes(event.detail.message.event)) { held++; show("paused"); }
      event.preventDefault();
    } else if (state === "lost" || state === "behind") show("live");
    if (!event.defaultPrevented && !event.detail.message.event) keep(event.detail.message);
  });
  on("htmx:sse:after:message", (event) => {
    if (event.detail.message.event) return;
    dress();
    tell();
    follow();
    setTimeout(() => document.querySelectorAll("[data-changed]").forEach((row) => kept.has(row.id) || row.removeAttribute("data-changed")), 5000);
  });
  on("htmx:error", (event) => { if (!event.target._htmx?.sse) retry(event.target); });
  on("htmx:response:error", (event) => { if (event.detail.ctx.response.status === 401) show("out"); else retry(event.target); });
  // An answer for an address that is not the page's any more would take back what was pressed meanwhile.
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.target.id !== "main" || event.detail.ctx.request.method !== "GET" || asked === here()) return;
    event.preventDefault();
    again();
  });
  on("pieces", (event) => pane(event.detail.data));
  on("resync", again);
  on("bye", () => show("behind"));
  on("signed-out", () => show("out"));
  document.addEventListener("click", (event) => { if (event.target.closest("#live [data-act]")) press(); });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-fresh]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    again();
  });
  document.addEventListener("focusout", () => setTimeout(letGo));
  document.addEventListener("selectionchange", () => { if (kept.size) letGo(); });
  setInterval(() => { if (state === "live" && !document.hidden && Date.now() - heard > SILENT) show("lost"); }, 5000);
  const badge = document.getElementById("badge");
  if (badge) waits = Number(badge.textContent);
  // The library may have connected before this was loaded, which nobody heard.
  if ([...document.querySelectorAll("[data-stream]")].some((stream) => stream._htmx?.sse)) { heard = Date.now(); show("live"); }
  behind();
}
