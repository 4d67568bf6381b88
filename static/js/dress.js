// What is done to a page once it is there, and again after each change of it. Each module says what is its own.
const parts = [];

export function dressed(part) {
  parts.push(part);
  part(document);
}

export function dress() {
  for (const part of parts) part(document);
}
