// Everything a page needs from script. Without it every page works; with it the page is live and knows your clock.
import { localise } from "./times.js";
import { live } from "./live.js";
import { tree } from "./tree.js";
import { edits } from "./edits.js";
import { drafts } from "./drafts.js";
import { keys } from "./keys.js";
import { held } from "./held.js";
import { batch } from "./batch.js";
import { map } from "./map.js";
import { palette } from "./palette.js";
import { proof } from "./proof.js";

function dress(root = document) {
  localise(root);
  tree(root);
  edits(root);
  keys(root);
  map(root);
  proof(root);
  batch(root);
}

dress();
live(dress);
drafts();
held();
palette();
document.addEventListener("htmx:after:swap", () => dress());

// A menu closes when something else is pressed, and on Escape, which gives the focus back to what opened it.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// A form is sent once: the button says so, and cannot be pressed again while it is on its way.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button || !button.matches(".btn") || event.target.method !== "post") return;
  const words = [...button.childNodes];
  setTimeout(() => { button.disabled = true; button.textContent = "Sending…"; });
  const again = () => { if (button.isConnected) { button.disabled = false; button.replaceChildren(...words); } };
  addEventListener("pageshow", again, { once: true });
  event.target.addEventListener("htmx:finally:request", again, { once: true });
});
