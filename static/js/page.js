// Everything that each page needs from script. Without it every page works; with it the page is live and knows your clock.
import { dress } from "./dress.js";
import "./times.js";
import "./keys.js";
import "./palette.js";
import { live } from "./live.js";

live();
document.addEventListener("htmx:after:swap", dress);

// On a wide page the next request opens after a decision that can be taken back; on a narrow one its receipt stays.
const wide = matchMedia("(min-width: 60rem)");
document.addEventListener("submit", (event) => {
  const then = event.target.querySelector?.('input[name="_then"]');
  if (then) then.value = wide.matches ? "next" : "";
}, true);

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
