// What is written to a request is kept on the server while it is written: `data-draft` names the act and the address.
const REST = 700; // milliseconds without a letter
let timer = 0, waiting = null, round = 0;

function say(text) {
  const told = document.querySelector("[data-kept]");
  if (told) told.textContent = text;
}

function send() {
  clearTimeout(timer);
  const form = waiting;
  waiting = null;
  if (!form?.isConnected) return;
  const body = new URLSearchParams(new FormData(form));
  body.set("act", form.dataset.draft);
  const mine = round;
  const answered = (text) => { if (mine === round) say(text); }; // else more was written since
  fetch(form.dataset.draftTo, { method: "POST", body, headers: { "x-draft": "yes" }, keepalive: true })
    .then((answer) => answered(answer.ok ? "Kept as a draft." : "The draft was not kept."), () => answered("The draft was not kept."));
}

function written(event) {
  const form = event.target.form;
  if (!form?.dataset.draft) return;
  waiting = form;
  round++;
  say("");
  clearTimeout(timer);
  timer = setTimeout(send, REST);
}

document.addEventListener("input", written);
document.addEventListener("change", written);
document.addEventListener("submit", () => { clearTimeout(timer); waiting = null; }, true);
document.addEventListener("visibilitychange", () => { if (document.hidden && waiting) send(); });
addEventListener("pagehide", () => { if (waiting) send(); });
