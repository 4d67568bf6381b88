// The palette: the page /search over the page that is read. A combobox keeps the focus and names its option; Enter
// follows the option's link and does nothing else. Closing gives the focus back to where it was.
const REST = 120; // milliseconds without a letter
let dialog, field, list, told, timer = 0, asked = 0, back = null;

function make() {
  dialog = document.createElement("dialog");
  dialog.id = "palette";
  dialog.setAttribute("aria-label", "Find");
  field = Object.assign(document.createElement("input"), { type: "text", autocomplete: "off", spellcheck: false, maxLength: 200, placeholder: "a page, an agent, a work, a request" });
  for (const [name, value] of Object.entries({ role: "combobox", "aria-label": "Find", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list" })) field.setAttribute(name, value);
  list = document.createElement("div");
  list.id = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  told = Object.assign(document.createElement("p"), { className: "vh" });
  told.setAttribute("role", "status");
  dialog.append(field, list, told);
  document.body.append(dialog);
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, REST); });
  field.addEventListener("keydown", key);
  list.addEventListener("click", (event) => { const option = event.target.closest("[role=option]"); if (option) follow(option, event); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => { clearTimeout(timer); back?.focus?.(); });
}

const options = () => [...list.querySelectorAll("[role=option]")];
const selected = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  selected()?.setAttribute("aria-selected", "false");
  if (!option) { field.removeAttribute("aria-activedescendant"); return; }
  option.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function follow(option, event) {
  if (event.ctrlKey || event.metaKey) open(option.dataset.href, "_blank", "noopener");
  else location.assign(option.dataset.href);
}

async function ask() {
  const round = ++asked;
  const answer = await fetch(`/search?q=${encodeURIComponent(field.value)}`).catch(() => null);
  if (round !== asked) return; // more was written since
  if (!answer?.ok || answer.redirected) {
    list.replaceChildren(Object.assign(document.createElement("p"), { className: "none", textContent: "Nothing could be looked for just now." }));
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (round !== asked) return;
  const found = page.getElementById("found"), parts = [];
  let n = 0;
  for (const section of found.querySelectorAll("section")) {
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    const title = section.querySelector("h2");
    title.id = `p-${title.id}`;
    title.setAttribute("role", "presentation");
    group.setAttribute("aria-labelledby", title.id);
    group.append(title);
    for (const link of section.querySelectorAll("a")) {
      const option = document.createElement("div");
      option.id = `palette-${n++}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.href = link.getAttribute("href");
      option.append(...link.childNodes);
      group.append(option);
    }
    parts.push(group);
  }
  list.replaceChildren(...(parts.length ? parts : found.childNodes));
  choose(options()[0]);
  told.textContent = n ? `${n} found.` : "Nothing found.";
}

function key(event) {
  const all = options(), at = all.indexOf(selected());
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, all.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    choose(all[(to + all.length) % all.length]);
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    if (!event.repeat && selected()) follow(selected(), event);
  }
}

function show() {
  if (!dialog) make();
  if (dialog.open) { field.select(); return; }
  if (document.querySelector("dialog[open]")) return;
  back = document.activeElement;
  field.value = "";
  list.replaceChildren();
  dialog.showModal();
  field.focus();
  ask();
}

addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (!document.querySelector("[data-find]")) return;
  event.preventDefault();
  if (!event.repeat) show();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-find]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show();
});
