/** Frame of every page: the signed-in person, the navigation and the page itself. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Taker } from './api/messages.js';
import { Service } from './api/service.js';
import { CampaignPage } from './pages/campaign.js';
import { CampaignsPage } from './pages/campaigns.js';
import { EditCampaignPage, NewCampaignPage } from './pages/new-campaign.js';
import { SearchPage } from './pages/search.js';
import { SignInPage } from './pages/sign-in.js';
import { TrendsPage } from './pages/trends.js';
import { type Route, signInAddress, useRoute } from './router.js';
import { rememberedToken, rememberToken, VisitContext } from './signed-in.js';

const LINKS = [
  { page: 'campaigns', name: 'Campaigns', address: '#/campaigns' },
  { page: 'trends', name: 'Trends', address: '#/trends' },
  { page: 'search', name: 'Search', address: '#/search' },
] as const;

export function App() {
  const [token, setToken] = useState(rememberedToken);
  const [who, setWho] = useState<Taker | null>(null);
  const service = useMemo(() => new Service(token), [token]);
  const signOut = useCallback(() => {
    rememberToken(null);
    setToken(null);
    setWho(null);
  }, []);
  useEffect(() => {
    if (!token) return;
    // A token that was revoked since is forgotten; without the service nothing is decided.
    service.whoAmI().then(setWho, (problem) => problem.status === 401 && signOut());
  }, [service, token, signOut]);
  const route = useRoute();
  const signIn = (given: string, taker: Taker) => {
    rememberToken(given);
    setToken(given);
    setWho(taker);
    // Only a page of this dashboard: the address may come from anybody.
    if (route.page === 'sign-in') location.hash = route.back.startsWith('#/') ? route.back : '#/';
  };
  const isWaiting = token !== null && who === null;
  return (
    <VisitContext.Provider value={{ service, who, signIn }}>
      <button type="button" class="skip-link button" onClick={focusMain}>
        Skip to the page
      </button>
      <TopBar route={route} who={who} signOut={signOut} />
      <Main route={route}>{!isWaiting && <Page route={route} who={who} />}</Main>
    </VisitContext.Provider>
  );
}

/** A link would change the part after the #, which is the page's address. */
function focusMain() {
  document.getElementById('main')?.focus();
}

interface TopBarProps {
  readonly route: Route;
  readonly who: Taker | null;
  readonly signOut: () => void;
}

function TopBar({ route, who, signOut }: TopBarProps) {
  return (
    <header class="top-bar">
      <div class="top-bar-inner">
        <a class="brand" href="#/campaigns">
          blender-dp
        </a>
        <nav aria-label="Pages">
          {who &&
            LINKS.map(({ page, name, address }) => (
              <a key={page} href={address} aria-current={isIn(route, page) ? 'page' : undefined}>
                {name}
              </a>
            ))}
        </nav>
        {!who && route.page !== 'sign-in' && (
          <a class="button" href={signInAddress(location.hash)}>
            Sign in
          </a>
        )}
        {who && (
          <>
            <span class="who" title={`${who.name}, ${who.role}`}>
              {who.name}
            </span>
            <button type="button" class="button" onClick={signOut}>
              Sign out
            </button>
          </>
        )}
      </div>
    </header>
  );
}

function isIn(route: Route, page: (typeof LINKS)[number]['page']): boolean {
  if (page !== 'campaigns') return route.page === page;
  return ['campaigns', 'campaign', 'new', 'edit'].includes(route.page);
}

/** Brings the reader to the top of a new page, also those who listen to it. */
function Main({ route, children }: { readonly route: Route; readonly children: unknown }) {
  const main = useRef<HTMLElement>(null);
  const address = JSON.stringify(route);
  const before = useRef(address);
  useEffect(() => {
    if (before.current === address) return;
    before.current = address;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [address]);
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {children as never}
    </main>
  );
}

interface PageProps {
  readonly route: Route;
  readonly who: Taker | null;
}

function Page({ route, who }: PageProps) {
  // What a campaign publishes is for everybody; the rest needs a token.
  if (route.page === 'campaign') {
    return <CampaignPage key={route.id} id={route.id} tab={route.tab} />;
  }
  if (!who || route.page === 'sign-in') return <SignInPage />;
  if (route.page === 'new') return <NewCampaignPage key={route.like} like={route.like} />;
  if (route.page === 'edit') return <EditCampaignPage key={route.id} id={route.id} />;
  if (route.page === 'trends') return <TrendsPage now={route.now} before={route.before} />;
  if (route.page === 'search') return <SearchPage id={route.id} />;
  if (route.page === 'campaigns') return <CampaignsPage />;
  return (
    <p class="banner banner-info">
      There is no such page. <a href="#/campaigns">All campaigns</a>
    </p>
  );
}
