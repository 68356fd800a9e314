// The promises to each group, and what their numbers mean.

/** Fill the promises and what ε and δ mean at their values. */
function showPromises({ run, promise }) {
  const promises = Array.isArray(run.promises) ? run.promises : [];
  byId("promise-list").replaceChildren(...promises.filter(isObject).map(promiseCard));
  byId("relay-meaning").hidden = !promises.some((one) => one?.model === "relay");
  byId("epsilon-meaning").textContent = epsilonMeaning(promise.epsilon).join(" ");
  byId("delta-meaning").textContent = deltaMeaning(promise.delta);
}

function promiseCard({ to, model, epsilon, delta, sentence: words }) {
  const badge = (name, value) => (isNumber(value)
    ? html("span", { class: "badge" }, `${name} = ${plain(value)}`) : null);
  return html("article", { class: "promise" },
    html("h3", {}, to ?? "All users"),
    html("p", { class: "badges" },
      model ? html("span", { class: "badge badge-model" }, model) : null,
      badge("ε", epsilon), badge("δ", delta)),
    words ? html("p", {}, words) : null);
}
