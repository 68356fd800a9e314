// Summary at the top of the page: the result in one sentence, and warnings.

/** Fill the summary. */
function showSummary(report) {
  const { release, run } = report;
  byId("banners").replaceChildren(...banners(release, run));
  byId("made").textContent = [longDay(release.created ?? run.created),
    release.preset ? `preset “${release.preset}”` : ABSENT].filter((part) => part !== ABSENT).join(" · ");
  byId("lead").replaceChildren(...lead(report));
  byId("tiles").replaceChildren(...tiles(report));
  byId("notes").replaceChildren(...callouts(report));
}

/** Warn unless the files say that this is private. */
function banners(release, run) {
  const danger = (text) => html("p", { class: "banner banner-danger", role: "note" }, text);
  const says = [release.private, run.private];
  const found = [];
  if (says.includes(false)) {
    found.push(danger("Experiment: made with a seed, not private, do not publish."));
    document.title = `Not private: ${document.title}`;
  } else if (!says.includes(true)) {
    found.push(danger("The files do not say whether this is private: treat it as not private."));
  }
  if (run.synthetic === true) {
    found.push(html("p", { class: "banner banner-info", role: "note" },
      "Synthetic data: no real person's searches are in this report."));
  }
  return found;
}

function isPrivate({ release, run }) {
  return ![release.private, run.private].includes(false);
}

/** Say in one sentence what was found, for whom, at which privacy. */
function lead(report) {
  const { listed, covered, users, promise } = report;
  const strong = (text) => html("b", {}, text);
  const among = users.total > 0 ? ["Among ", strong(`${count(users.total)} users`), ", "] : [];
  const at = privacyClause(report, promise, strong);
  if (listed.queries.length + listed.records.length === 0) {
    return sentence([...among, `no ${NOUNS.queries[0]} was popular enough to be found`, ...at, "."]);
  }
  const records = listed.records.length > 0
    ? [" and ", strong(plural(listed.records.length, ...NOUNS.records)), ` (${NOUNS.record})`] : [];
  return sentence([...among, strong(plural(listed.queries.length, ...NOUNS.queries)), ...records,
    " were found to be popular; together they cover ", strong(percent(covered)),
    ` of ${NOUNS.all}`, ...at, "."]);
}

function sentence(parts) {
  const [first, ...rest] = parts;
  return typeof first === "string"
    ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : parts;
}

function privacyClause(report, promise, strong) {
  if (!isNumber(promise.epsilon)) return [];
  const verb = isPrivate(report) ? ", with every user promised " : ", computed with ";
  const value = (sign, number) => strong(`${sign}${SPACE}=${SPACE}${plain(number)}`);
  const delta = isNumber(promise.delta) ? [" and ", value("δ", promise.delta)] : [];
  return [verb, value("ε", promise.epsilon), ...delta];
}

function tiles({ listed, covered, users, promise }) {
  const facts = [
    [`${capitalised(NOUNS.queries[1])} found`, count(listed.queries.length)],
    listed.records.length > 0 ? ["Records found", count(listed.records.length)] : null,
    [`${capitalised(NOUNS.all.split(" ")[1])} covered`, percent(covered)],
    users.total > 0 ? ["Users", count(users.total)] : null,
    isNumber(promise.epsilon) ? ["Privacy ε", plain(promise.epsilon)] : null,
    isNumber(promise.delta) ? ["Privacy δ", plain(promise.delta)] : null,
  ];
  return facts.filter(Boolean).map(([name, value]) => html("div", { class: "tile" },
    html("dt", {}, name), html("dd", {}, value)));
}

function callouts({ listed, release, run }) {
  const written = Array.isArray(run.notes) ? run.notes : [];
  const notes = written.filter((note) => typeof note === "string");
  if (listed.queries.length + listed.records.length === 0) {
    notes.unshift("The head list is empty: too few opt-in users shared any one record for it to be "
      + "found. More opt-in users, a larger ε or a larger δ would help.");
  }
  const absent = absentRelay(release.relay_batch);
  if (absent !== null) notes.push(absent);
  return notes.map((note) => html("p", { class: "callout" }, note));
}
