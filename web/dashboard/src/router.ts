/** Routes: the part of an address after the #, which browsers never send. */
import { useEffect, useState } from 'preact/hooks';

export const TABS = ['overview', 'head-list', 'release', 'downloads', 'privacy'] as const;
export type Tab = (typeof TABS)[number];

export type Route =
  | { readonly page: 'campaigns' }
  | { readonly page: 'new'; readonly like: string | null }
  | { readonly page: 'edit'; readonly id: string }
  | { readonly page: 'sign-in'; readonly back: string }
  | { readonly page: 'campaign'; readonly id: string; readonly tab: Tab }
  | { readonly page: 'trends'; readonly now: string | null; readonly before: string | null }
  | { readonly page: 'search'; readonly id: string | null }
  | { readonly page: 'unknown' };

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [page = '', id = '', tab = 'overview'] = path.split('/').map(decoded);
  const asked = new URLSearchParams(query);
  if (page === '' || (page === 'campaigns' && !id)) return { page: 'campaigns' };
  if (page === 'new') return { page, like: asked.get('like') };
  if (page === 'edit' && id) return { page, id };
  if (page === 'sign-in') return { page, back: asked.get('back') ?? '' };
  if (page === 'trends') return { page, now: asked.get('now'), before: asked.get('before') };
  if (page === 'search') return { page, id: asked.get('in') };
  const known = TABS.find((name) => name === tab);
  return page === 'campaigns' && known ? { page: 'campaign', id, tab: known } : { page: 'unknown' };
}

export function campaignAddress(id: string, tab: Tab = 'overview'): string {
  const path = `#/campaigns/${encodeURIComponent(id)}`;
  return tab === 'overview' ? path : `${path}/${tab}`;
}

export function editAddress(id: string): string {
  return `#/edit/${encodeURIComponent(id)}`;
}

export function duplicateAddress(id: string): string {
  return `#/new?like=${encodeURIComponent(id)}`;
}

/** Returns where to sign in, such that the page at `back` is shown afterwards. */
export function signInAddress(back: string): string {
  return `#/sign-in?back=${encodeURIComponent(back)}`;
}

/** Returns the page that is asked for now. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return routeOf(hash);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
