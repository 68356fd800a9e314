/** Changes between two releases, as the service computes them. */

import {
  belowSentence,
  changesCaption,
  changesTitle,
  pointsTick,
} from '@blender-dp/pages/changes.js';
import { capitalised } from '@blender-dp/pages/nouns.js';
import { count } from '@blender-dp/pages/numbers.js';
import { visible } from '@blender-dp/pages/visible.js';
import { useMemo } from 'preact/hooks';
import type { Campaign, Change, Trends } from '../api/messages.js';
import { drawRows } from '../charts/rows.js';
import { useLoaded } from '../loading.js';
import { CampaignChoice } from '../parts/campaign-choice.js';
import { Card } from '../parts/card.js';
import { Chart } from '../parts/chart.js';
import { Shown } from '../parts/loading-note.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { useVisit } from '../signed-in.js';
import { nounsOf, speakOf } from '../words/nouns.js';
import { columnsOf, textsOf } from './change-columns.js';

const MOST_DRAWN = 50;

interface TrendsProps {
  readonly now: string | null;
  readonly before: string | null;
}

export function TrendsPage({ now, before }: TrendsProps) {
  const { service } = useVisit();
  const [campaigns] = useLoaded(() => service.campaigns(), [service]);
  return (
    <>
      <Title text="Trends" lead="Queries whose share rose or fell between two releases." />
      <Shown loaded={campaigns}>
        {(found) => <Picked campaigns={found} now={now} before={before} />}
      </Shown>
    </>
  );
}

interface PickedProps extends TrendsProps {
  readonly campaigns: readonly Campaign[];
}

function Picked({ campaigns, now, before }: PickedProps) {
  const released = campaigns.filter(({ state }) => state === 'released');
  const later = now ?? released[0]?.id ?? null;
  const earlier = before ?? released[1]?.id ?? null;
  const go = (later: string | null, earlier: string | null) => {
    const asked = new URLSearchParams({ now: later ?? '', before: earlier ?? '' });
    location.hash = `#/trends?${asked}`;
  };
  if (released.length < 2) {
    return (
      <p class="card empty">
        Trends need two released campaigns; there {released.length === 1 ? 'is one' : 'is none'}.
      </p>
    );
  }
  return (
    <>
      <section class="card form form-columns" aria-label="Releases to compare">
        <CampaignChoice
          label="Now"
          campaigns={released}
          chosen={later}
          choose={(id) => go(id, earlier)}
        />
        <CampaignChoice
          label="Before"
          campaigns={released}
          chosen={earlier}
          choose={(id) => go(later, id)}
        />
      </section>
      {later && earlier && later !== earlier && (
        <Compared
          now={later}
          then={earlier}
          names={namesOf(released, later, earlier)}
          campaign={released.find(({ id }) => id === later)}
        />
      )}
      {later === earlier && <p class="banner banner-info">Choose two different releases.</p>}
    </>
  );
}

function namesOf(released: readonly Campaign[], ...ids: readonly string[]): string {
  const named = ids.map((id) => `“${visible(released.find((one) => one.id === id)?.name ?? '')}”`);
  return named.join(' compared with ');
}

interface ComparedProps {
  readonly now: string;
  readonly then: string;
  readonly names: string;
  /** The later one, which names what is compared. */
  readonly campaign: Campaign | undefined;
}

function Compared({ now, then, names, campaign }: ComparedProps) {
  const { service } = useVisit();
  const [trends] = useLoaded(() => service.trends(now, then), [service, now, then]);
  return (
    <Shown loaded={trends}>
      {(found) => <Changes trends={found} names={names} campaign={campaign} />}
    </Shown>
  );
}

interface ChangesProps extends Pick<ComparedProps, 'names' | 'campaign'> {
  readonly trends: Trends;
}

function Changes({ trends, names, campaign }: ChangesProps) {
  speakOf(campaign);
  const [one, many] = nounsOf(campaign);
  const found = trends.changes;
  const measured = found.filter(({ difference }) => difference !== null).slice(0, MOST_DRAWN);
  const draw = useMemo(() => drawChanges(measured), [found]);
  return (
    <Card
      title={changesTitle(found)}
      eyebrow={names}
      caption={`${changesCaption(trends)} ${capitalised(many)} on one list only have no difference, because the other list does not estimate them. ${belowSentence(found)}`}
    >
      {measured.length > 0 && (
        <Chart
          label={`Differences of the ${count(measured.length)} surest changes with intervals; the table below has the numbers.`}
          draw={draw}
        />
      )}
      <Table caption="All changes" rows={found} columns={columnsOf(one)} texts={textsOf} />
    </Card>
  );
}

const COLOURS = { rose: '--clients', fell: '--danger', unclear: '--quiet' } as const;

function drawChanges(measured: readonly Change[]) {
  const series = (['rose', 'fell', 'unclear'] as const).map((verdict) => ({
    colour: COLOURS[verdict],
    marks: measured.flatMap((change, row) =>
      (change.verdict ?? 'unclear') === verdict
        ? [{ row, value: change.difference ?? 0, low: change.low, high: change.high }]
        : [],
    ),
  }));
  return drawRows({
    names: measured.map(({ query }) => visible(query)),
    series,
    axis: 'Percentage points →',
    tick: pointsTick,
    areApart: false,
    hasZero: true,
  });
}
