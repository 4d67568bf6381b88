import { dressed } from "./dress.js";

// A line's hash made anew in this browser, from the text that stands on the page. It proves what it says and no more:
// that these words give this hash. Browsers hash only on https and on this machine.
async function check(box, word) {
  const said = box.querySelector("#said").textContent, own = document.getElementById("own").textContent;
  if (!globalThis.crypto?.subtle) {
    word.textContent = "This browser makes no hashes on an address without https. Use the command below.";
    return;
  }
  const bytes = new TextEncoder().encode(said);
  const made = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  box.dataset.is = made === own ? "good" : "bad";
  word.textContent = made === own
    ? `It fits: SHA-256 of these ${bytes.length} bytes, made in this browser, is the hash of the line.`
    : `It does not fit: SHA-256 of these ${bytes.length} bytes, made in this browser, is ${made}.`;
}

function proof(root) {
  for (const box of root.querySelectorAll("[data-proof]")) {
    const row = box.querySelector(".acts-in");
    if (!row || box.dataset.ready) continue;
    box.dataset.ready = "yes";
    row.hidden = false;
    row.querySelector("button").addEventListener("click", () => check(box, row.querySelector("[role=status]")));
  }
  if (new URLSearchParams(location.search).has("zone")) return; // the times that stand there are in that one
  const zone = document.documentElement.dataset.zoneIs || Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const field of root.querySelectorAll("[data-my-zone]")) field.value = zone;
  for (const word of root.querySelectorAll("[data-zone-word]")) word.textContent = zone;
}

dressed(proof);
