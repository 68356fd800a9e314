// What was promised to whom, in words.

/** Fill the promises and what ε and δ mean at their values. */
function showPromises({ run, promise }) {
  const promises = Array.isArray(run.promises) ? run.promises : [];
  byId("promise-list").replaceChildren(...promises.filter(isObject).map(promiseCard));
  byId("epsilon-meaning").textContent = epsilonMeaning(promise.epsilon);
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

function epsilonMeaning(epsilon) {
  const meaning = "ε limits how much anyone can learn about one person from everything that was "
    + "published: 0 would be nothing at all, and smaller is safer.";
  if (!isNumber(epsilon)) return meaning;
  const factor = Math.exp(epsilon);
  return `${meaning} With ε${SPACE}=${SPACE}${plain(epsilon)}, nothing seen is more than `
    + `${plain(factor)} times as likely `
    + " with this person's data as with anybody else's in its place. Leaving δ aside, "
    + "someone who thought it even odds whether this person did a certain search can be at most "
    + `${certainty(factor / (1 + factor))} sure afterwards.`;
}

/** Write a bound on a certainty: rounded up, and with digits enough not to reach 100 %. */
function certainty(probability) {
  if (probability > 1 - 1e-9) return "almost entirely";
  const decimals = Math.ceil(-Math.log10(1 - probability));
  const scale = 10 ** (decimals + 2);
  return percent(Math.ceil(probability * scale) / scale, decimals);
}

function deltaMeaning(delta) {
  const meaning = "δ is a small allowance on top: the probability by which anything seen may "
    + "exceed that limit.";
  if (!isNumber(delta)) return meaning;
  if (delta === 0) return `${meaning} Here it is zero: the limit holds as it stands.`;
  return `${meaning} Here it is at most ${oneIn(delta)}.`;
}
