import { dressed } from "./dress.js";

// Times in the zone the reader has chosen, else in the browser's, and in its language. The server writes them in UTC, and says so.
const chosen = document.documentElement.dataset.zoneIs;
const known = (name) => { try { return Boolean(Intl.DateTimeFormat(undefined, { timeZone: name })); } catch { return false; } };
const zone = chosen && known(chosen) ? chosen : Intl.DateTimeFormat().resolvedOptions().timeZone;
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone });
const second = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: zone });
const dated = new Intl.DateTimeFormat("en", { dateStyle: "short", timeZone: zone });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "long", timeZone: zone });

// The server's clock counts for "how long": a reader's clock that is wrong must not show a wrong age.
const skew = Date.parse(document.documentElement.dataset.now || "") - Date.now() || 0;
const now = () => Date.now() + skew;

function ago(ms) {
  const minutes = Math.max(0, Math.floor(ms / 60000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

function since(ms) {
  const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
  const two = (n) => String(n).padStart(2, "0");
  if (d) return `${d} d ${h % 24} h`;
  if (h) return `${h} h ${two(m % 60)} m`;
  if (m >= 10) return `${m} m`;
  if (m) return `${m} m ${two(s % 60)} s`;
  return `${s} s`;
}

function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "m"]]) if (s >= size) return `${Math.floor(s / size)} ${unit}`;
  return `${s} s`;
}

const kinds = {
  past: (at) => { const told = ago(now() - at); return told === "just now" ? told : `${told} ago`; },
  age: (at) => age(now() - at),
  ago: (at) => ago(now() - at),
  since: (at) => since(now() - at),
  minute: (at) => stand(at, minute),
  second: (at) => stand(at, second),
};

function stand(at, format) {
  const same = dated.format(now()) === dated.format(at);
  return same ? format.format(at) : `${day.format(at)} ${format.format(at)}`;
}

function write(time) {
  const at = new Date(time.dateTime);
  const text = kinds[time.dataset.t](at);
  if (time.textContent !== text) time.textContent = text;
}

const ticks = {
  day: (at) => day.format(at),
  minute: (at) => minute.format(at),
  second: (at) => second.format(at),
  part: (at) => `${second.format(at)}.${Math.floor(at.getMilliseconds() / 100)}`,
};

// The axis of a timeline, which says that it is in UTC until it is not.
function axis(root) {
  for (const text of root.querySelectorAll("text[data-at]")) text.textContent = ticks[text.dataset.told](new Date(text.dataset.at));
  for (const words of root.querySelectorAll("[data-axis]")) words.remove();
}

function localise(root) {
  axis(root);
  for (const time of root.querySelectorAll("time[data-t]")) {
    write(time);
    if (!time.dataset.told) {
      time.dataset.told = "";
      time.title = `${exact.format(new Date(time.dateTime))} (${time.title})`;
    }
  }
  for (const place of root.querySelectorAll("[data-zone]")) place.textContent = `Times: ${zone}`;
}

setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll('time:is([data-t="ago"], [data-t="past"], [data-t="age"], [data-t="since"])')) write(time);
}, 1000);

dressed(localise);
