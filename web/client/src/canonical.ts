/**
 * Canonical JSON, over which digests are computed: sorted keys, no white space, no escapes
 * beyond those that JSON demands.
 */
import { toHex } from './hexadecimal.js';
import { must } from './refusal.js';

/** Whatever a JSON document holds. */
export type Json = null | boolean | number | string | readonly Json[] | Fields;
/** The fields of a JSON object. */
export interface Fields {
  readonly [name: string]: Json;
}

/** Reads JSON of a service: of bounded length, and with whole numbers only. */
export function parseJson(text: string, mostLetters: number): Json {
  must(text.length <= mostLetters, 'a document must be smaller');
  // JSON.parse reads 1.0 and 1e0 as 1; no other reader of these documents takes them for it.
  const outsideTexts = text.replace(/"(?:[^"\\]|\\.)*"/g, '');
  const isWhole = !/\d[.eE]|-/.test(outsideTexts);
  const document = parsed(text);
  must(document === null || isWhole, 'numbers must be whole');
  return document;
}

/** Returns the value of a JSON text; null if the text is not JSON. */
export function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Tells whether a value is a JSON object. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes a document in its one spelling. */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join()}}`;
}

/** Returns an object without one of its fields. */
export function without(fields: Fields, left: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== left));
}

/** Returns the UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Returns the SHA-256 of bytes. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** Returns the digest of a text. */
export async function textDigest(text: string): Promise<string> {
  return `sha256:${toHex(await sha256(utf8(text)))}`;
}

/** Returns the digest of a document that holds none itself. */
export function digestOf(document: Fields): Promise<string> {
  return textDigest(canonicalJson(document));
}
