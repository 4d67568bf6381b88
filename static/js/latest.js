// A part of the page asked for anew. Of several askings for one part the last counts, whatever comes back first: the
// library would else let the second wait for the first and forget the third.
export function latest(part, address, how) {
  part.setAttribute("hx-sync", "replace");
  return htmx.ajax("GET", address, { source: part, target: part, ...how });
}
