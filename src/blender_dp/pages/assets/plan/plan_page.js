// Page of a plan: reads the figures in the page and fills its parts.

function showPlan(plan) {
  const relayed = plan.relay > 0 ? `, ${percent(plan.relay)} of the clients behind a relay` : "";
  byId("made").textContent = `${count(plan.users)} users, ${percent(plan.opt_in)} opt in${relayed}, `
    + `ε = ${plain(plan.epsilon)}, preset ${plan.parameters.preset}`;
  byId("lead").textContent = `If records are like ${plan.like === "release" ? "those of the release" : plan.like}, the list would hold about `
    + `${measured("queries", plan.measures.queries.mean)} queries; `
    + `${count(plan.known_queries)} of them would be known to within half their probability.`;
  byId("tiles").replaceChildren(...Object.entries(plan.measures).map(([name, one]) => (
    html("div", { class: "tile" }, html("dt", {}, MEASURE_NAMES[name]),
      html("dd", {}, measured(name, one.mean)),
      html("dd", { class: "tile-error" }, `± ${measured(name, one.error)}`),
      plan.without_relay ? html("dd", { class: "tile-error" },
        `without relay ${measured(name, plan.without_relay.measures[name].mean)}`) : null))));
  byId("notes").replaceChildren(...[sayRelay(plan), ...plan.remarks, ...plan.answers.map(sayAnswer)]
    .filter(Boolean)
    .map((note) => html("p", { class: "callout" }, note)));
  byId("reading-source").textContent = `The algorithm was run ${plan.draws} times on simulated users. `
    + "The number after ± is the error of the mean at 95 %: two standard errors and an allowance for "
    + "the model, which was checked against simulations.";
  byId("reading-choices").textContent = sayChoices(plan.choices);
}

/** Say what relay clients would be promised. */
function sayRelay({ relay_sentence: sentence }) {
  return sentence ? `Relay: ${sentence}` : "";
}

function sayAnswer(answer) {
  const knob = { epsilon: `ε = ${plain(answer.nearest)}`,
    opt_in: `${percent(answer.nearest)} opted in (${count(answer.opt_in_users)} users)`,
    relay: `${percent(answer.nearest)} of the clients behind a relay` }[answer.varied];
  const start = answer.value === null ? "The target is not reached; nearest" : "The target is reached";
  return `${start} with ${knob}: ${measured("queries", answer.queries)} queries, NDCG `
    + `${measured("ndcg", answer.ndcg)}, query L1 ${measured("query_l1", answer.query_l1)}.`;
}

function sayChoices(choices) {
  const parts = [`Records are found by ${choices.discovery}. Clients report by `
    + `${choices.client_mechanism}`];
  if (choices.query_share > 0) {
    parts.push(`; ${percent(choices.query_share)} of them report only the query, not the page they clicked`);
  }
  if (isNumber(choices.head_list_user_fraction)) {
    parts.push(`; f_O ${plain(choices.head_list_user_fraction)}, `
      + `f_C ${plain(choices.query_budget_fraction)}`);
  }
  const kept = isNumber(choices.head_list_size) ? count(choices.head_list_size) : "all";
  return `${parts.join("")}. Queries worth keeping: ${kept}.`;
}

function startPlan() {
  startTheme();
  startTooltips();
  const { plan } = JSON.parse(byId("figures").textContent);
  showPlan(plan);
  startPlanCurve(plan);
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = byId(link.getAttribute("href").slice(1)).hidden;
  }
}

startPlan();
