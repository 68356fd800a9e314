// The promises to each group, and what their numbers mean.

/** Fill the promises and what ε and δ mean at their values. */
function showPromises({ release, run, promise }) {
  const promises = Array.isArray(run.promises) ? run.promises : [];
  const absent = absentRelay(release.relay_batch);
  const shown = [...promises.filter(isObject),
    ...(absent === null ? [] : [{ to: "Relay clients", model: "relay", sentence: absent }])];
  byId("promise-list").replaceChildren(...shown.map(promiseCard));
  byId("relay-meaning").hidden = !shown.some(({ model }) => model === "relay");
  byId("epsilon-meaning").textContent = epsilonMeaning(promise.epsilon).join(" ");
  byId("delta-meaning").textContent = deltaMeaning(promise.delta);
}

function promiseCard({ to, model, epsilon, delta, sentence: words }) {
  const badge = (name, value) => (isNumber(value)
    ? html("span", { class: "badge" }, `${name} = ${plain(value)}`) : null);
  return html("article", { class: "promise" },
    html("h3", {}, promisedTo(to ?? "All users")),
    html("p", { class: "badges" },
      model ? html("span", { class: "badge badge-model" }, model) : null,
      badge("ε", epsilon), badge("δ", delta)),
    words ? html("p", {}, words) : null);
}
