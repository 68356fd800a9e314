/** Bytes as hexadecimal texts. */

/** Writes bytes with two digits each. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads two digits per byte. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Returns the 16 bytes of a campaign's id. */
export function campaignBytes(campaign: string): Uint8Array<ArrayBuffer> {
  return fromHex(campaign.replace(/-/g, ''));
}
