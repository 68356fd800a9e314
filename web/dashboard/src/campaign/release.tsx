/** Release of a campaign: estimates with intervals, weights, comparison of the groups, certificate. */

import { rowText } from '@blender-dp/pages/cells.js';
import { capitalised, NOUNS } from '@blender-dp/pages/nouns.js';
import {
  count,
  day,
  marginOf,
  percent,
  percentTick,
  plain,
  plural,
} from '@blender-dp/pages/numbers.js';
import { presetOf } from '@blender-dp/pages/presets.js';
import { absentRelay } from '@blender-dp/pages/promises.js';
import { BLEND, hasRelay } from '@blender-dp/pages/series.js';
import {
  blendOutsideSentence,
  outsideSentence,
  weightSeries,
  weightsCaption,
  weightsTitle,
} from '@blender-dp/pages/weights.js';
import { useMemo, useState } from 'preact/hooks';
import type { Release } from '../api/documents.js';
import type { Campaign } from '../api/messages.js';
import { blended, estimatingGroups, groupsApart, listed } from '../charts/estimates.js';
import { drawRows } from '../charts/rows.js';
import { drawWeights } from '../charts/weights.js';
import { useLoaded } from '../loading.js';
import { Card, Tiles } from '../parts/card.js';
import { Chart } from '../parts/chart.js';
import { Choice } from '../parts/choice.js';
import { GroupLegend } from '../parts/legend.js';
import { Shown } from '../parts/loading-note.js';
import { Table } from '../parts/table.js';
import { useVisit } from '../signed-in.js';
import { nounsOf, speakOf } from '../words/nouns.js';
import { CertificateCard } from './certificate.js';
import { DriftCard } from './drift.js';
import { columnsOf, textsOf } from './estimate-columns.js';

/** More rows than this are in the table only. */
const MOST_DRAWN = 50;

export function ReleasePage({ campaign }: { readonly campaign: Campaign }) {
  speakOf(campaign);
  const { service } = useVisit();
  const [release] = useLoaded(
    () => service.release(campaign.id),
    [service, campaign.id, campaign.state],
  );
  return (
    <Shown loaded={release}>
      {(value) => (
        <>
          <Summary release={value} campaign={campaign} />
          <Estimates release={value} campaign={campaign} />
          <div class="pair">
            <WeightsCard release={value} campaign={campaign} />
            <DriftCard release={value} />
          </div>
          <CertificateCard release={value} />
        </>
      )}
    </Shown>
  );
}

function Summary({ release, campaign }: PartProps) {
  const [one, many] = nounsOf(campaign);
  const found = listed(release.queries).length;
  const other = release.queries.find(({ cell }) => cell === 'other');
  const half = other?.std_error == null ? undefined : `± ${percent(marginOf(other.std_error))}`;
  return (
    <section class="summary" aria-label="Summary">
      {!release.private && (
        <p class="banner banner-danger">Made with a seed: an experiment, not for people.</p>
      )}
      <Tiles
        tiles={[
          ...Object.entries(release.users).map(([name, users]) => ({
            name: name.replaceAll('_', ' ').replace('opt in', 'opt-in users'),
            value: count(users),
          })),
          { name: found === 1 ? one : many, value: count(found) },
          { name: 'records', value: count(listed(release.records).length) },
          {
            name: `of ${NOUNS.all} are listed`,
            value: percent(other ? 1 - other.probability : null),
            note: half,
          },
          { name: 'released', value: day(release.created) },
        ]}
      />
      {release.relay_batch && (
        <p class={absentRelay(release.relay_batch) ? 'callout' : 'footnote'}>
          {release.relay_batch.sentence}
        </p>
      )}
    </section>
  );
}

function setsOf(campaign: Campaign) {
  return [
    { value: 'queries', name: capitalised(nounsOf(campaign)[1]) },
    { value: 'records', name: 'Records' },
  ] as const;
}

const SIZES = [
  { value: '10', name: '10' },
  { value: '25', name: '25' },
  { value: '50', name: '50' },
] as const;
const VIEWS = [
  { value: 'blend', name: 'Blend' },
  { value: 'groups', name: 'Groups apart' },
] as const;

interface PartProps {
  readonly release: Release;
  readonly campaign: Campaign;
}

function Estimates({ release, campaign }: PartProps) {
  const columns = useMemo(() => {
    const withRelay = hasRelay(release.queries);
    return {
      queries: columnsOf('queries', campaign, withRelay),
      records: columnsOf('records', campaign, withRelay),
    };
  }, [campaign, release]);
  const [one, many] = nounsOf(campaign);
  const [set, setSet] = useState<'queries' | 'records'>('queries');
  const [size, setSize] = useState<'10' | '25' | '50'>('25');
  const [view, setView] = useState<'blend' | 'groups'>('blend');
  const rows = useMemo(() => listed(release[set]), [release, set]);
  const top = useMemo(() => rows.slice(0, Math.min(Number(size), MOST_DRAWN)), [rows, size]);
  const draw = useMemo(
    () =>
      drawRows({
        names: top.map(rowText),
        series: view === 'blend' ? [blended(top)] : groupsApart(top, release.confidence),
        axis: 'Probability →',
        tick: percentTick,
      }),
    [top, view, release.confidence],
  );
  const nouns = set === 'queries' ? ([one, many] as const) : (['record', 'records'] as const);
  return (
    <Card
      title={`What is popular: ${plural(rows.length, ...nouns)}`}
      caption={`Bars are ${plain(release.confidence * 100)} % intervals of the estimates. Each holds by itself, not all of them at once. A hollow mark has none: its estimate may be far off.`}
    >
      <div class="controls">
        <Choice legend="Show" options={setsOf(campaign)} chosen={set} choose={setSet} />
        <Choice legend="Top" options={SIZES} chosen={size} choose={setSize} />
        <Choice legend="By" options={VIEWS} chosen={view} choose={setView} />
      </div>
      <GroupLegend groups={view === 'blend' ? [BLEND] : estimatingGroups(rows)} />
      <Chart
        label={`The ${count(top.length)} most popular ${nouns[1]} with intervals; the table below has the numbers.`}
        draw={draw}
      />
      <Table
        caption={`All ${nouns[1]} of the release`}
        rows={release[set]}
        columns={columns[set]}
        texts={textsOf}
      />
      <p class="footnote">
        {blendOutsideSentence(rows, presetOf(release.preset), listed(release.records).length > 0)}
      </p>
    </Card>
  );
}

function WeightsCard({ release, campaign }: PartProps) {
  const [set, setSet] = useState<'queries' | 'records'>('queries');
  const rows = useMemo(() => listed(release[set]), [release, set]);
  const draw = useMemo(() => drawWeights(rows.slice(0, 500)), [rows]);
  const noun = set === 'queries' ? nounsOf(campaign)[1] : set;
  const groups = weightSeries(rows);
  const where =
    groups.length > 1 ? 'columns Opt-in weight and Relay weight' : 'column Opt-in weight';
  return (
    <Card
      title={weightsTitle(rows, noun)}
      caption={`${weightsCaption(groups)} The numbers are in the table, ${where}.`}
    >
      <div class="controls">
        <Choice legend="Show" options={setsOf(campaign)} chosen={set} choose={setSet} />
      </div>
      {groups.length > 1 && <GroupLegend groups={groups} />}
      <Chart label={`${weightsTitle(rows, noun)}.`} draw={draw} />
      <p class="footnote">{outsideSentence(release[set])}</p>
    </Card>
  );
}
