/** Writes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  let latin = '';
  for (const byte of bytes) latin += String.fromCharCode(byte);
  return btoa(latin).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}

/** Reads this many bytes from base64url; undefined for any other spelling of them. */
export function fromBase64url(text: unknown, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== 'string' || !/^[\w-]*$/.test(text)) return undefined;
  if (text.length !== Math.ceil((length * 4) / 3)) return undefined;
  const latin = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  const bytes = Uint8Array.from(latin, (letter) => letter.charCodeAt(0));
  return toBase64url(bytes) === text ? bytes : undefined;
}
