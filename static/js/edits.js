import { dressed } from "./dress.js";

// Which fields of a proposal were changed: said under each, and counted on the button.
function count(form) {
  let changes = 0;
  for (const field of form.querySelectorAll("[data-was]")) {
    const value = field.type === "checkbox" ? (field.checked ? "yes" : "") : field.value;
    const differs = value.trim() !== field.dataset.was.trim();
    const line = field.closest("dd").querySelector("[data-was-line]");
    if (line) line.hidden = !differs;
    if (differs) changes++;
  }
  const act = document.querySelector("[data-edits-act]");
  if (act) act.textContent = changes === 0 ? "Approve as it is" : changes === 1 ? "Approve with 1 change" : `Approve with ${changes} changes`;
}

function edits(root) {
  for (const form of root.querySelectorAll("form[data-edits]")) {
    if (form.dataset.ready) continue;
    form.dataset.ready = "yes";
    form.addEventListener("input", () => count(form));
    count(form);
  }
}

dressed(edits);
