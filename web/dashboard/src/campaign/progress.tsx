/** Live counts of a campaign; none of them names a record. */

import { count, moment, percent } from '@blender-dp/pages/numbers.js';
import type { Campaign, Job, ProgressCounts } from '../api/messages.js';
import { Card, Tiles } from '../parts/card.js';
import { Table } from '../parts/table.js';
import { failureWords, JOBS, relaySentence } from '../words/states.js';
import { Retries } from './retries.js';

interface ProgressProps {
  readonly campaign: Campaign;
  readonly progress: ProgressCounts;
  /** What follows an operator's retry; null for everybody else. */
  readonly retried: (() => void) | null;
}

export function Progress({ campaign, progress, retried }: ProgressProps) {
  const { rules } = campaign;
  const reports = progress.reports.record + progress.reports.query;
  return (
    <>
      <Card
        title="Counts"
        caption="Exact numbers of people and requests, fetched anew every few seconds. What the reports say is not known before the release."
      >
        <div class="meters">
          <Meter
            name="Contributions of opt-in users"
            value={progress.contributed}
            goal={rules.opt_in_enough ?? null}
            note={until('Sealed', rules.opt_in_until)}
          />
          <Meter
            name="Private reports"
            value={reports}
            goal={rules.clients_enough ?? (campaign.expected_clients || null)}
            note={until('Sealed', rules.clients_until)}
          />
        </div>
        <Tiles
          label="Counts of this campaign"
          tiles={[
            { name: 'Enrolled', value: count(progress.enrolled) },
            { name: 'Contributed', value: count(progress.contributed) },
            { name: 'Withdrawn', value: count(progress.withdrawn) },
            { name: 'Reports of a record', value: count(progress.reports.record) },
            { name: 'Reports of a query', value: count(progress.reports.query) },
            ...(campaign.reports === 'token'
              ? [{ name: 'Report tokens issued', value: count(progress.tokens) }]
              : []),
            { name: 'Refused', value: count(sum(Object.values(progress.refused))) },
          ]}
        />
        {campaign.relay && <RelayCounts campaign={campaign} progress={progress} />}
        <Refusals refused={progress.refused} />
      </Card>
      {progress.jobs.length > 0 && (
        <Card title="Jobs">
          <Table caption="Jobs" rows={progress.jobs} columns={JOB_COLUMNS} />
          {retried && <Retries campaign={campaign} jobs={progress.jobs} retried={retried} />}
        </Card>
      )}
    </>
  );
}

function RelayCounts({ campaign, progress }: Omit<ProgressProps, 'retried'>) {
  const batch = progress.relayed;
  const [stated, counted] = [batch?.stated ?? null, batch?.counted ?? null];
  const isUsed = batch?.state === 'complete' || campaign.state === 'clients-sealed';
  const tiles = [
    ...(stated === null ? [] : [{ name: 'Stated by the relay', value: count(stated) }]),
    ...(counted === null ? [] : [{ name: 'Counted in the release', value: count(counted) }]),
  ];
  return (
    <>
      <p class="footnote" role="status">
        {relaySentence(campaign, batch ?? null)}
      </p>
      {isUsed && counted !== 0 && tiles.length > 0 && (
        <Tiles label="Reports through the relay" tiles={tiles} />
      )}
    </>
  );
}

function until(verb: string, time: string | null | undefined): string {
  return time ? `${verb} at ${moment(time)} UTC` : '';
}

interface MeterProps {
  readonly name: string;
  readonly value: number;
  readonly goal: number | null;
  readonly note: string;
}

function Meter({ name, value, goal, note }: MeterProps) {
  const share = goal ? Math.min(value / goal, 1) : 0;
  return (
    <div class="meter">
      <p>
        <b class="meter-value">{count(value)}</b> {goal && `of ${count(goal)}`}
        <span class="meter-name">{name}</span>
      </p>
      {goal && (
        <div
          class="bar"
          role="progressbar"
          aria-label={name}
          aria-valuenow={Math.round(share * 100)}
          aria-valuetext={`${count(value)} of ${count(goal)}, ${percent(share)}`}
        >
          {share > 0 && <span style={{ width: `${share * 100}%` }} />}
        </div>
      )}
      {note && <p class="hint">{note}</p>}
    </div>
  );
}

function Refusals({ refused }: { readonly refused: Readonly<Record<string, number>> }) {
  const rows = Object.entries(refused);
  if (rows.length === 0) return null;
  return (
    <details class="more">
      <summary>Refused requests by reason</summary>
      <Table caption="Refused requests by reason" rows={rows} columns={REFUSAL_COLUMNS} />
    </details>
  );
}

const REFUSAL_COLUMNS = [
  {
    name: 'Reason',
    isText: true,
    value: ([reason]: [string, number]) => reason,
    show: ([reason]: [string, number]) => reason.replaceAll('-', ' '),
  },
  {
    name: 'Requests',
    value: ([, times]: [string, number]) => times,
    show: ([, times]: [string, number]) => count(times),
  },
];

const JOB_COLUMNS = [
  {
    name: 'Job',
    isText: true,
    value: (job: Job) => job.kind,
    show: (job: Job) => JOBS[job.kind],
  },
  {
    name: 'State',
    isText: true,
    value: (job: Job) => job.state,
    show: (job: Job) => (
      <>
        <span class={`job-${job.state}`}>{jobState(job)}</span>
        {job.advice && <p class="hint">{job.advice}</p>}
      </>
    ),
  },
  {
    name: 'Attempts',
    value: (job: Job) => job.attempts,
    show: (job: Job) => count(job.attempts),
  },
];

function jobState({ state, failure }: Job): string {
  return failure ? `${state}: ${failureWords(failure)}` : state;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
