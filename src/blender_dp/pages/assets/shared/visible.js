// Names as people may see them: no sign that is invisible or turns the direction of a text.

/** Controls, format signs, lone surrogates and separators of lines; not the two joiners, which
 * Persian words and many emoji need. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Replace each invisible sign, such as one that lets "gnp.exe" read as "exe.png".
 * @param {string} text
 */
export function visible(text) {
  return text.replace(INVISIBLE, "\ufffd");
}
