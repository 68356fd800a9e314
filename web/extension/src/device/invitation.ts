/** Invitation: the link by which an organisation asks people to take part. */
import { parsed } from '../search-pages/match-pattern.js';

const LOOPBACK = ['127.0.0.1', 'localhost'];
const ID = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
/** Addresses of a campaign's documents, of its share page, and of its pages on the dashboard. */
const DOCUMENTS = new RegExp(`^(.*)/v1/campaigns/${ID}/?$`);
const SHARE_PAGE = new RegExp(`^(.*)/join/${ID}/?$`);
const DASHBOARD = new RegExp(`^#/campaigns/${ID}(?:/[a-z-]+)?$`);
const KEY = /^#([\w-]{43})$/;

/** Where to take part. */
export interface Invitation {
  readonly service: string;
  readonly campaign: string;
  /** The service's public key, if the link has it: then no other is ever trusted. */
  readonly publicKey: string | null;
}

export const LINK_PROBLEM =
  'the link must look like https://collect.example/join/ with the number of a campaign after it';

/** Reads a link such as https://collect.example/join/0000…#key. */
export function readInvitation(text: string): Invitation | undefined {
  const url = parsed(text.trim());
  if (!url || url.username || url.password || url.search) return undefined;
  const isSafe = url.protocol === 'https:' || LOOPBACK.includes(url.hostname);
  if (!isSafe || !/^https?:$/.test(url.protocol)) return undefined;
  const [, onDashboard] = DASHBOARD.exec(url.hash) ?? [];
  if (onDashboard) {
    const service = url.origin + url.pathname.replace(/\/+$/, '');
    return { service, campaign: onDashboard, publicKey: null };
  }
  const [, path = '', campaign] =
    DOCUMENTS.exec(url.pathname) ?? SHARE_PAGE.exec(url.pathname) ?? [];
  const publicKey = url.hash ? KEY.exec(url.hash)?.[1] : null;
  if (!campaign || publicKey === undefined) return undefined;
  return { service: url.origin + path, campaign, publicKey };
}

/** Writes the link of an invitation. */
export function linkOf({ service, campaign, publicKey }: Invitation): string {
  return `${service}/join/${campaign}${publicKey ? `#${publicKey}` : ''}`;
}

/** Returns the match pattern of a service or a relay, which a person is asked to allow. */
export function hostPattern(address: string): string {
  const { protocol, hostname } = new URL(address);
  return `${protocol}//${hostname}/*`;
}
