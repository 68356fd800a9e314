// Whether opt-in users and clients behave alike, and where they differ most.

const WIDEST_Z = 4;

/** Fill the comparison of the groups; a release without one has no such part. */
function showDrift({ release }) {
  const { drift } = release;
  if (!isObject(drift) || !isNumber(drift.p_value)) return;
  byId("groups").hidden = false;
  byId("drift-title").textContent = drift.is_significant === true
    ? "Opt-in users and clients differ" : "The two groups agree, as far as can be seen";
  byId("drift-caption").textContent = drift.sentence ?? "";
  const widest = (Array.isArray(drift.widest) ? drift.widest : [])
    .filter((row) => isObject(row) && isNumber(row.z));
  byId("drift-rows").replaceChildren(...widest.map(driftRow));
  byId("drift-footnote").textContent = widest.length === 0 ? ""
    : "The queries that differ most, in standard errors: to the right the opt-in users say more, to "
      + "the left the clients. In one query of twenty, chance alone goes beyond the shaded part.";
}

function driftRow({ query, z }) {
  const reach = clamp(Math.abs(z) / WIDEST_Z, 0, 1) * 50;
  const bar = html("span", { class: z < 0 ? "drift-bar drift-clients" : "drift-bar drift-opt-in" });
  bar.style.width = `${reach}%`;
  bar.style.left = `${z < 0 ? 50 - reach : 50}%`;
  const track = html("span", { class: "drift-track", "aria-hidden": "true" }, bar);
  return html("li", {}, html("span", { class: "drift-name" }, typed(query ?? "")), track,
    html("span", { class: "drift-z" }, `${z < 0 ? "−" : "+"}${Math.abs(z).toFixed(1)}`));
}
