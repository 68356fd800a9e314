// Nouns of the pages: what is counted is a query and a URL, unless the reader named it otherwise.

const USUAL = {
  queries: ["query", "queries"],
  records: ["record", "records"],
  url: "URL",
  all: "all searches",
  record: "a query and the page clicked for it",
  elsewhere: "any other page",
};

/** Singular and plural of the two levels, the name of the second part, and what a share is of. */
export const NOUNS = { ...USUAL };

/** @param {string} noun */
export function capitalised(noun) {
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

/**
 * Return singular and plural of the noun for queries, each with its verb.
 * @returns {[string, string]}
 */
export function nounsWith(one = "", many = "") {
  const [query = "", queries = ""] = NOUNS.queries;
  return [`${query} ${one}`.trim(), `${queries} ${many}`.trim()];
}

/** Return the English plural of a noun. @param {string} noun */
export function pluralNoun(noun) {
  if (/[^aeiou]y$/i.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/i.test(noun) ? `${noun}es` : `${noun}s`;
}

/**
 * Use the reader's own nouns from now on; the usual ones where there are none.
 * @param {{ query?: string | null, url?: string | null } | null | undefined} names
 */
export function useNouns(names) {
  const { query, url } = names ?? {};
  Object.assign(NOUNS, USUAL);
  if (query) NOUNS.queries = [query, pluralNoun(query)];
  if (url) Object.assign(NOUNS, { url, elsewhere: `any other ${url}` });
  if (query || url) {
    NOUNS.all = "all records";
    NOUNS.record = `a ${NOUNS.queries[0]} with a ${NOUNS.url}`;
  }
}

/** Put the nouns where the page's markup asks for them: data-noun names the one. */
export function showNouns() {
  const [one = "", many = ""] = NOUNS.queries;
  for (const node of document.querySelectorAll("[data-noun]")) {
    const isFilter = node.getAttribute("data-noun") === "filter";
    const text = isFilter ? `Filter by ${one} or ${NOUNS.url}` : capitalised(many);
    if (node instanceof HTMLInputElement) node.placeholder = text;
    else node.textContent = text;
  }
}
