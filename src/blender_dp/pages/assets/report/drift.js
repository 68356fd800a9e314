// The comparison of opt-in users and clients, with a bar for each query that differs much.

/** Fill the comparison of the groups; a release without one has no such part. */
function showDrift({ release }) {
  const { drift } = release;
  if (!isObject(drift) || !isNumber(drift.p_value)) return;
  byId("groups").hidden = false;
  byId("drift-title").textContent = driftTitle(drift, "relay_drift" in release);
  byId("drift-caption").textContent = driftSentence(drift);
  const widest = widestDifferences(drift);
  byId("drift-rows").replaceChildren(...widest.map((row) => driftRow(row)));
  byId("drift-footnote").textContent = widest.length === 0 ? ""
    : `The ${NOUNS.queries[1]} that differ most, in standard errors. Bars to the right: more popular with `
      + "opt-in users; to the left: with clients. Chance alone goes beyond the shaded part for "
      + `one ${NOUNS.queries[0]} in twenty.`;
  showRelayDrift(release.relay_drift);
}

/** Fill the comparison of relay clients with local clients; bars to the right: relay clients. */
function showRelayDrift(drift) {
  if (!isObject(drift) || !isNumber(drift.p_value)) return;
  byId("relay-drift").hidden = false;
  byId("relay-drift-title").textContent = relayDriftTitle(drift);
  byId("relay-drift-caption").textContent = driftSentence(drift);
  byId("relay-drift-rows").replaceChildren(
    ...widestDifferences(drift).map((row) => driftRow(row, "drift-relay")));
}

function driftRow({ name, z }, first = "drift-opt-in") {
  const { left, length } = driftBar(z);
  const bar = html("span", { class: z < 0 ? "drift-bar drift-clients" : `drift-bar ${first}` });
  bar.style.width = `${length}%`;
  bar.style.left = `${left}%`;
  const track = html("span", { class: "drift-track", "aria-hidden": "true" }, bar);
  return html("li", {}, html("span", { class: "drift-name" }, typed(name)), track,
    html("span", { class: "drift-z" }, `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(1)}`));
}
