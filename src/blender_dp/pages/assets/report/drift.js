// The comparison of opt-in users and clients, with a bar for each query that differs much.

/** Fill the comparison of the groups; a release without one has no such part. */
function showDrift({ release }) {
  const { drift } = release;
  if (!isObject(drift) || !isNumber(drift.p_value)) return;
  byId("groups").hidden = false;
  byId("drift-title").textContent = driftTitle(drift);
  byId("drift-caption").textContent = driftSentence(drift);
  const widest = widestDifferences(drift);
  byId("drift-rows").replaceChildren(...widest.map(driftRow));
  byId("drift-footnote").textContent = widest.length === 0 ? ""
    : `The ${NOUNS.queries[1]} that differ most, in standard errors. Bars to the right: more popular with `
      + "opt-in users; to the left: with clients. Chance alone goes beyond the shaded part for "
      + `one ${NOUNS.queries[0]} in twenty.`;
}

function driftRow({ name, z }) {
  const { left, length } = driftBar(z);
  const bar = html("span", { class: z < 0 ? "drift-bar drift-clients" : "drift-bar drift-opt-in" });
  bar.style.width = `${length}%`;
  bar.style.left = `${left}%`;
  const track = html("span", { class: "drift-track", "aria-hidden": "true" }, bar);
  return html("li", {}, html("span", { class: "drift-name" }, typed(name)), track,
    html("span", { class: "drift-z" }, `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(1)}`));
}
