import { dressed } from "./dress.js";
import { off } from "./keys.js";

// The map from the keyboard, while something in it has the focus: arrows go along the ways, [ and ] from one to the
// next beside it, l to the list, f fits it in, + - 0 make it larger, smaller and as it was. Nothing is ever dragged.
const STEP = 1.25, LEAST = 0.4, MOST = 2.5;

let kept = { at: "", size: 1 };

const by = (one, other) => Number(one.dataset.y) - Number(other.dataset.y);
const ways = (map, test) => [...map.querySelectorAll(".edge")].filter(test).sort(by);
const box = (map, name) => [...map.querySelectorAll(".agent")].find((one) => one.dataset.agent === name);

function along(map, at, forward) {
  if (!at) return map.querySelector(".agent");
  if (at.dataset.agent !== undefined) {
    return ways(map, (way) => (forward ? way.dataset.from : way.dataset.to) === at.dataset.agent)[0];
  }
  return box(map, forward ? at.dataset.to : at.dataset.from);
}

function beside(map, at, step) {
  if (!at) return map.querySelector(".agent");
  const all = at.dataset.agent !== undefined
    ? [...map.querySelectorAll(".agent")].filter((one) => one.dataset.layer === at.dataset.layer).sort(by)
    : ways(map, (way) => way.dataset.from === at.dataset.from);
  return all[all.indexOf(at) + step];
}

function zoom(map, how) {
  const picture = map.querySelector(".picture"), [, , width] = picture.getAttribute("viewBox").split(" ").map(Number);
  const style = getComputedStyle(map), room = map.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const now = Number(picture.getAttribute("width")) / width;
  const wanted = { in: now * STEP, out: now / STEP, fit: Math.min(1, room / width), as: 1 }[how];
  kept = { at: location.href, size: Math.min(MOST, Math.max(LEAST, wanted)) };
  resize(picture, kept.size);
}

function resize(picture, size) {
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  picture.setAttribute("width", Math.round(width * size));
  picture.setAttribute("height", Math.round(height * size));
}

function key(event) {
  const map = event.currentTarget, at = event.target.closest(".agent, .edge");
  if (event.ctrlKey || event.metaKey || event.altKey || event.key.length === 1 && off()) return;
  const go = (to) => { to?.focus(); to?.scrollIntoView({ block: "nearest", inline: "nearest" }); };
  const acts = {
    ArrowRight: () => go(along(map, at, true)),
    ArrowLeft: () => go(along(map, at, false)),
    ArrowDown: () => go(beside(map, at, 1)),
    ArrowUp: () => go(beside(map, at, -1)),
    "]": () => go(beside(map, at, 1)),
    "[": () => go(beside(map, at, -1)),
    l: () => document.querySelector("[data-list]")?.click(),
    f: () => zoom(map, "fit"),
    "+": () => zoom(map, "in"),
    "-": () => zoom(map, "out"),
    0: () => zoom(map, "as"),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

function press(event) {
  const button = event.target.closest("[data-zoom]"), found = document.querySelector("[data-map]");
  if (button && found) zoom(found, button.dataset.zoom);
}

// A page that was put over an older one of the same address keeps the size that its reader has given the picture.
function map(root) {
  for (const found of root.querySelectorAll("[data-map]")) {
    found.addEventListener("keydown", key);
    const buttons = document.querySelector("[data-zooms]");
    buttons.hidden = false;
    buttons.addEventListener("click", press);
    if (kept.at === location.href) resize(found.querySelector(".picture"), kept.size);
  }
}

dressed(map);
