/** Content script of search result pages that were switched on: sends clicked results to the worker. */
import type { Clicked, WantedPage } from './messages.js';
import type { SearchPage } from './search-pages/search-page.js';

const watched = ask({ kind: 'search-page' });

async function ask(message: WantedPage): Promise<SearchPage | null> {
  return (await chrome.runtime.sendMessage(message)) ?? null;
}

async function notice(event: MouseEvent): Promise<void> {
  // A page may click its own links; that is no choice of the person's.
  if (!event.isTrusted) return;
  const path = event.composedPath();
  const link = path.find((node) => node instanceof HTMLAnchorElement && node.href !== '');
  const page = await watched;
  if (!(link instanceof HTMLAnchorElement) || !page || !link.matches(page.results)) return;
  const clicked: Clicked = { kind: 'clicked', link: link.href };
  await chrome.runtime.sendMessage(clicked);
}

/** Never disturbs the page, whatever happens. */
function noticeQuietly(event: MouseEvent): void {
  notice(event).catch(() => {});
}

addEventListener('click', noticeQuietly, { capture: true });
addEventListener('auxclick', noticeQuietly, { capture: true });
