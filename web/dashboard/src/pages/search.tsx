/** Local search over a release: typed text stays in this page. */
import { LocalSearch, type Suggestion } from '@blender-dp/client';
import { percent, percentRange, plural } from '@blender-dp/pages/numbers.js';
import { visible } from '@blender-dp/pages/visible.js';
import { useState } from 'preact/hooks';
import type { Estimate, Release } from '../api/documents.js';
import type { Campaign } from '../api/messages.js';
import { useLoaded } from '../loading.js';
import { CampaignChoice } from '../parts/campaign-choice.js';
import { TextField } from '../parts/fields.js';
import { Shown } from '../parts/loading-note.js';
import { Title } from '../parts/title.js';
import { useVisit } from '../signed-in.js';
import { nounsOf } from '../words/nouns.js';

export function SearchPage({ id }: { readonly id: string | null }) {
  const { service } = useVisit();
  const [campaigns] = useLoaded(() => service.campaigns(), [service]);
  return (
    <>
      <Title
        text="Local search"
        lead="What a device suggests from a release, offline. What you type is sent nowhere."
      />
      <Shown loaded={campaigns}>
        {(found) => {
          const released = found.filter(({ state }) => state === 'released');
          const chosen = id ?? released[0]?.id ?? null;
          return (
            <section class="card form" aria-label="Search in a release">
              {released.length === 0 && <p>No campaign is released yet.</p>}
              {released.length > 0 && (
                <CampaignChoice
                  label="Release"
                  campaigns={released}
                  chosen={chosen}
                  choose={(picked) => {
                    location.hash = `#/search?in=${encodeURIComponent(picked)}`;
                  }}
                />
              )}
              {chosen && (
                <Box
                  key={chosen}
                  id={chosen}
                  campaign={released.find((one) => one.id === chosen)}
                />
              )}
            </section>
          );
        }}
      </Shown>
    </>
  );
}

/** Opens a release for search, and keeps what it says of each query. */
function opened(text: string) {
  const release: Release = JSON.parse(text);
  const rows = new Map(release.queries.map((row) => [row.query ?? '', row]));
  return { result: LocalSearch.open(text), rows };
}

interface BoxProps {
  readonly id: string;
  readonly campaign: Campaign | undefined;
}

function Box({ id, campaign }: BoxProps) {
  const [one, many] = nounsOf(campaign);
  const { service } = useVisit();
  const [found] = useLoaded(async () => opened(await service.releaseText(id)), [service, id]);
  const [typed, setTyped] = useState('');
  return (
    <Shown loaded={found}>
      {({ result, rows }) => {
        if (!result.ok) return <p class="banner banner-danger">{result.problem}</p>;
        const suggestions = result.search.suggest(typed);
        return (
          <>
            <TextField
              label="Search"
              hint={`${plural(result.search.size, one, many)} may be suggested: those confirmed by the private reports.`}
              type="search"
              value={typed}
              change={setTyped}
            />
            <p class="visually-hidden" role="status">
              {plural(suggestions.length, 'suggestion', 'suggestions')}
            </p>
            <ol class="suggestions">
              {suggestions.map((suggestion) => (
                <SuggestionRow
                  key={suggestion.query}
                  suggestion={suggestion}
                  row={rows.get(suggestion.query)}
                />
              ))}
            </ol>
            {suggestions.length === 0 && <p class="quiet">No popular search matches.</p>}
          </>
        );
      }}
    </Shown>
  );
}

interface SuggestionProps {
  readonly suggestion: Suggestion;
  readonly row: Estimate | undefined;
}

function SuggestionRow({ suggestion, row }: SuggestionProps) {
  return (
    <li>
      <span class="suggestion-query typed">{visible(suggestion.query)}</span>
      <span class="quiet">
        {percent(row?.probability)}, {percentRange(row?.low ?? null, row?.high ?? null)}
      </span>
      {suggestion.isCorrection && <span class="badge">one slip forgiven</span>}
      <ul>
        {suggestion.links.map(({ address, shown }) => (
          <li key={address}>
            <a href={address} rel="noreferrer noopener external" target="_blank">
              {shown}
            </a>
          </li>
        ))}
      </ul>
    </li>
  );
}
