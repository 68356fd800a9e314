/** Punycode: letters of any script as ASCII, and back (RFC 3492). */

const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const [BASE, LEAST, MOST, FIRST] = [36, 1, 26, 128] as const;

/** Writes letters in Punycode. */
export function encodePunycode(text: string): string {
  const codes = Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
  const plain = codes.filter((code) => code < FIRST);
  let encoded = String.fromCharCode(...plain) + (plain.length ? '-' : '');
  let [delta, bias, done] = [0, 72, plain.length];
  for (let code: number = FIRST; done < codes.length; delta++, code++) {
    const next = Math.min(...codes.filter((each) => each >= code));
    delta += (next - code) * (done + 1);
    code = next;
    for (const each of codes) {
      if (each < code) delta++;
      if (each !== code) continue;
      encoded += digitsOf(delta, bias);
      bias = adapted(delta, ++done, done === plain.length + 1);
      delta = 0;
    }
  }
  return encoded;
}

/** Reads letters from Punycode; undefined if it is not Punycode. */
export function decodePunycode(text: string): string | undefined {
  const end = text.lastIndexOf('-');
  const codes = Array.from(text.slice(0, Math.max(end, 0)), (letter) => letter.charCodeAt(0));
  let [code, place, bias, at] = [FIRST as number, 0, 72, end + 1];
  while (at < text.length) {
    const before = place;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = DIGITS.indexOf(text.charAt(at++) || ' ');
      if (digit < 0) return undefined;
      place += digit * weight;
      const threshold = thresholdAt(k, bias);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    bias = adapted(place - before, codes.length + 1, before === 0);
    code += Math.floor(place / (codes.length + 1));
    place %= codes.length + 1;
    if (!(code < 0x110000)) return undefined;
    codes.splice(place++, 0, code);
  }
  return String.fromCodePoint(...codes);
}

function digitsOf(delta: number, bias: number): string {
  let digits = '';
  let left = delta;
  for (let k = BASE; ; k += BASE) {
    const threshold = thresholdAt(k, bias);
    if (left < threshold) return digits + DIGITS.charAt(left);
    digits += DIGITS.charAt(threshold + ((left - threshold) % (BASE - threshold)));
    left = Math.floor((left - threshold) / (BASE - threshold));
  }
}

function thresholdAt(k: number, bias: number): number {
  return Math.min(Math.max(k - bias, LEAST), MOST);
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? 700 : 2));
  left += Math.floor(left / count);
  let k = 0;
  for (; left > ((BASE - LEAST) * MOST) / 2; k += BASE) left = Math.floor(left / (BASE - LEAST));
  return k + Math.floor(((BASE - LEAST + 1) * left) / (left + 38));
}
