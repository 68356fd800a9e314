// CSV file of the rows that the table shows.

const CSV_FIELDS = ["cell", "query", "url", "probability", "std_error", "low", "high",
  "opt_in_probability", "client_probability", "opt_in_weight", "raw_probability",
  "opt_in_std_error", "client_std_error", "opt_in_noisy_count", "client_report_count",
  "relay_probability", "relay_weight", "relay_std_error", "relay_report_count",
  "all_clients_probability", "all_clients_std_error"];

/** Write one field. A spreadsheet would run a text that starts like a formula, so it gets a '. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(rows) {
  const fields = CSV_FIELDS.filter((field) => rows.some((row) => row[field] !== undefined));
  const lines = rows.map((row) => fields.map((field) => csvField(row[field])).join(","));
  // The mark at the start tells spreadsheets that this is UTF-8.
  return `\ufeff${[fields.join(","), ...lines].join("\r\n")}\r\n`;
}

function saveCsv(rows, name) {
  saveFile(new Blob([csvOf(rows)], { type: "text/csv" }), name);
}

function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
