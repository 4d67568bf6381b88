// On a wide page the next request opens after a decision that can be taken back; on a narrow one its receipt stays.
const wide = matchMedia("(min-width: 60rem)");

export function held() {
  document.addEventListener("submit", (event) => {
    const then = event.target.querySelector?.('input[name="_then"]');
    if (then) then.value = wide.matches ? "next" : "";
  }, true);
}
