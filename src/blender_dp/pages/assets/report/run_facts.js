// Cards about the run: settings, groups, input, certificate and known flaws.

const GROUP_NAMES = {
  opt_in: "Opt-in",
  opt_in_discovery: "Opt-in, discovery",
  opt_in_estimation: "Opt-in, estimation",
  clients: "Clients",
  relay_clients: "Relay clients",
};

const SETTING_NAMES = {
  epsilon: "ε", delta: "δ", head_list_size: "Most queries on the list, M", preset: "Preset",
  head_list_user_fraction: "Opt-in share for discovery",
  query_budget_fraction: "Budget for the query",
  records_per_optin_user: "Records per opt-in user", records_per_client: "Records per client",
  one_record_each: "One record per user declared",
  project: "Projected to sum to 1", seed: "Seed", opt_in: "Opt-in share of users",
  format: "Format", files: "Files",
  candidate_queries: "Candidate queries", candidate_records: "Candidate records",
  get queries() { return capitalised(NOUNS.queries[1]); }, records: "Records", cells: "Cells",
  python: "Python",
  duckdb: "DuckDB", numpy: "NumPy", "blender-dp": "blender-dp",
};

const PERCENT_SETTINGS = new Set(["head_list_user_fraction", "query_budget_fraction", "opt_in"]);

/** Fill the cards about the run; a part that is not there has no card. */
function showFacts({ release, run, users }) {
  byId("facts").replaceChildren(...[
    usersCard(users),
    settingsCard("Parameters", ownKnobs(run.parameters)),
    settingsCard("Campaign", run.campaign),
    settingsCard("Input", run.input),
    settingsCard("Head list", run.head_list),
    methodCard(run.method),
    certificateCard(run.certificate, release.relay_batch),
    flawsCard(run.flaws, release.preset),
    settingsCard("Software", run.software),
  ].filter(Boolean));
}

/** Return the parameters without those that only another preset uses. */
function ownKnobs(parameters) {
  if (!isObject(parameters)) return parameters;
  const { unused } = presetOf(parameters.preset);
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !unused.includes(name)));
}

function card(title, ...content) {
  return html("section", { class: "card fact-card" }, html("h3", {}, title), content);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function settingsCard(title, settings) {
  const entries = isObject(settings) ? flattened(settings) : [];
  if (entries.length === 0) return null;
  return card(title, html("dl", { class: "settings" }, entries.map(([name, value]) => [
    html("dt", {}, settingName(name)), html("dd", {}, settingValue(name, value))])));
}

/** Return name and value of every setting, those of inner objects with both names. */
function flattened(settings, prefix = "") {
  return Object.entries(settings).flatMap(([name, value]) => (isObject(value)
    ? flattened(value, `${prefix}${name} · `) : [[prefix + name, value]]));
}

function settingName(name) {
  if (Object.hasOwn(SETTING_NAMES, name)) return SETTING_NAMES[name];
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function settingValue(name, value) {
  if (value === null || value === undefined) return html("span", { class: "quiet" }, "not set");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return firstFew(value);
  if (name === "seed") return String(value);
  if (isNumber(value)) {
    return PERCENT_SETTINGS.has(name) ? `${plain(value * 100)}${SPACE}%` : plain(value);
  }
  return visible(String(value));
}

/** Write the first few of a list and how many more there are. */
function firstFew(values) {
  const most = 4;
  const first = values.slice(0, most).map((value) => (isObject(value) ? JSON.stringify(value)
    : visible(String(value ?? ABSENT)))).join(", ");
  const more = values.length - most;
  return more > 0 ? `${first} and ${count(more)} more` : first || ABSENT;
}

const BRANCHES = {
  gauss: "Many records per user are counted, with Gaussian noise, because records then pass the "
    + "threshold more easily.",
  laplace: "One record per user is counted, with Laplace noise.",
};

/** Say what was chosen on the way and why, and what each release of the opt-in users' data spent. */
function methodCard(method) {
  if (!isObject(method)) return null;
  const parts = [method.discovery, method.clients].filter(isObject);
  const branch = BRANCHES[method.discovery?.branch];
  const reasons = branch
    ? [html("p", {}, branch), method.clients?.reason ? html("p", {}, method.clients.reason) : null]
    : parts.filter((part) => part.reason).map((part) => html("p", {}, part.reason));
  const details = branch && method.discovery.reason ? html("details", {},
    html("summary", {}, "Details"), html("p", {}, method.discovery.reason)) : null;
  const spent = parts.flatMap((part) => (Array.isArray(part.spent) ? part.spent : []))
    .filter(isObject).map(({ on, epsilon, delta }) => [
      html("dt", {}, on.charAt(0).toUpperCase() + on.slice(1)),
      html("dd", {}, `ε ${plain(epsilon)}${delta > 0 ? `, δ ${plain(delta)}` : ""}`)]);
  const threshold = method.discovery?.count_threshold;
  const passed = isNumber(threshold)
    ? html("p", {}, `A record's noisy count must pass ${plain(threshold)}.`) : null;
  if (reasons.length + spent.length === 0 && !passed) return null;
  return card("Method", reasons, passed,
    spent.length > 0 ? html("dl", { class: "settings" }, spent) : null, details);
}

/** Show the exact privacy cost for each group. */
function certificateCard(certificate, relayBatch) {
  if (!isObject(certificate) || !Array.isArray(certificate.accounts)) return null;
  const accounts = accountsInResult(certificate.accounts.filter(isObject), relayBatch);
  const lines = accounts.map(({ to, tight_epsilon: tight, add_remove_epsilon: presence, spent }) => {
    const epsilon = tight === null ? "far above the promise" : decimal(tight);
    const delta = decimal(spent?.delta);
    const other = typeof presence === "string" && presence !== tight
      ? `; ε ${decimal(presence)} if data are added or removed, not exchanged` : "";
    return [html("dt", {}, settingName(promisedTo(String(to)))),
      html("dd", {}, `ε ${epsilon}${delta === "0" ? "" : `, δ ${delta}`}${other}`)];
  });
  const absent = absentRelay(relayBatch);
  return card("Certificate", html("p", {}, certificate.sentence ?? ""),
    html("dl", { class: "settings" }, lines), absent === null ? null : html("p", {}, absent));
}

/** Write a number that travels as a text. */
function decimal(text) {
  return plain(Number(text));
}

function usersCard({ groups, total: all }) {
  if (all === 0) return null;
  const bar = html("div", { class: "stack", "aria-hidden": "true" }, groups.map(([id, size]) => {
    const part = html("span", { class: `stack-part group-${id}` });
    part.style.flexGrow = size / all;
    return part;
  }));
  const legend = html("ul", { class: "stack-legend" }, groups.map(([id, size]) => html("li", {},
    html("span", { class: `swatch group-${id}`, "aria-hidden": "true" }),
    html("span", {}, GROUP_NAMES[id] ?? settingName(id)),
    html("span", { class: "stack-count" }, count(size)),
    html("span", { class: "quiet" }, percent(size / all)))));
  return card("Users", html("p", { class: "big" }, count(all)), bar, legend);
}

function shareBar(share) {
  const bar = html("span", { class: "bar", "aria-hidden": "true" }, html("span"));
  bar.firstChild.style.width = `${clamp(share, 0, 1) * 100}%`;
  return bar;
}

function flawsCard(flaws, preset) {
  if (!Array.isArray(flaws) || flaws.length === 0) return null;
  const whose = preset ? ` of the preset “${preset}”` : "";
  return card(`Known flaws${whose}`, html("ul", { class: "flaws" }, flaws.filter(isObject)
    .map(({ id, sentence: words }) => html("li", {},
      id ? html("span", { class: "badge" }, id) : null, html("span", {}, words ?? "")))));
}
