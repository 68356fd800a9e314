/** Match patterns, as browsers know them: which pages an extension may work on. */

const PATTERN = /^(https?):\/\/(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*)(\/[^#]*)$/;
const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Returns what is wrong with a pattern, or undefined. */
export function patternProblem(pattern: string): string | undefined {
  const [, scheme, , host = ''] = PATTERN.exec(pattern) ?? [];
  if (!scheme) return 'address must look like https://search.example/find*';
  if (scheme === 'http' && !LOOPBACK.includes(host)) {
    return 'address must begin with https://, or be on this computer';
  }
  return undefined;
}

/** Tells whether an address is one of those that a pattern means; ports do not matter. */
export function matches(pattern: string, address: string): boolean {
  const [, scheme, anySub, host = '', path = ''] = PATTERN.exec(pattern) ?? [];
  const url = parsed(address);
  if (!scheme || !url || url.protocol !== `${scheme}:`) return false;
  const isHost = url.hostname === host || (anySub && url.hostname.endsWith(`.${host}`));
  return Boolean(isHost) && globMatches(path, url.pathname + url.search);
}

/** Returns the pattern of all pages on the host of a pattern: what a person is asked to allow. */
export function hostPattern(pattern: string): string {
  const [, scheme = 'https', anySub = '', host = ''] = PATTERN.exec(pattern) ?? [];
  return `${scheme}://${anySub}${host}/*`;
}

/** Returns the parts of an address, or undefined if it is not an address. */
export function parsed(address: string): URL | undefined {
  try {
    return new URL(address);
  } catch {
    return undefined;
  }
}

/** Compares piece by piece: a regular expression made of a pattern could take forever. */
function globMatches(glob: string, text: string): boolean {
  const [first = '', ...pieces] = glob.split('*');
  const last = pieces.pop();
  if (last === undefined) return text === glob;
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, place);
    if (found < 0) return false;
    place = found + piece.length;
  }
  return text.length - last.length >= place && text.endsWith(last);
}
