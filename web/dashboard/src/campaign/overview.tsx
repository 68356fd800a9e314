/** Overview of a campaign: its state, the next move, and its counts. */

import { count, moment, plain } from '@blender-dp/pages/numbers.js';
import type { Campaign, Relay } from '../api/messages.js';
import { useLoaded } from '../loading.js';
import { Card, Tiles } from '../parts/card.js';
import { Shown } from '../parts/loading-note.js';
import { campaignAddress } from '../router.js';
import { useVisit } from '../signed-in.js';
import { lossOf } from '../words/privacy.js';
import { hasReached, stoppedSentence } from '../words/states.js';
import { issuerName, reportKind } from '../words/tokens.js';
import { Collector } from './collector.js';
import { Enrolment } from './enrolment.js';
import { Invitation } from './invitation.js';
import { NextMove, OtherMoves } from './moves.js';
import { Progress } from './progress.js';
import { StateMachine } from './state-machine.js';
import { Trial } from './trial.js';

/** How often counts are fetched anew. */
export const EVERY_MS = 2500;

interface OverviewProps {
  readonly campaign: Campaign;
  readonly again: () => void;
}

export function Overview({ campaign, again }: OverviewProps) {
  const { service, who } = useVisit();
  const [progress, fetchProgress] = useLoaded(
    async () => (who ? service.progress(campaign.id) : null),
    [service, campaign.id, who?.name],
    EVERY_MS,
  );
  const isOperator = who?.role === 'operator';
  const jobs = progress.is === 'there' ? (progress.value?.jobs ?? []) : [];
  const stopped = stoppedSentence(campaign.state, jobs);
  return (
    <>
      <Card title="State">
        <StateMachine campaign={campaign} />
        {stopped && (
          <p class="banner banner-danger" role="status">
            {stopped}
          </p>
        )}
        {campaign.state === 'released' && (
          <p class="moves">
            <a class="button button-strong" href={campaignAddress(campaign.id, 'release')}>
              See the release
            </a>
          </p>
        )}
        {isOperator && <NextMove campaign={campaign} moved={again} />}
      </Card>
      <Shown loaded={progress}>
        {(value) =>
          value && (
            <Progress
              campaign={campaign}
              progress={value}
              retried={isOperator ? fetchProgress : null}
            />
          )
        }
      </Shown>
      {isOperator && campaign.state === 'draft' && <Trial id={campaign.id} />}
      {who && isTakingPart(campaign) && !stopped && <Invitation campaign={campaign} />}
      {isOperator && takesEnrolments(campaign) && (
        <Enrolment campaign={campaign} made={fetchProgress} />
      )}
      <Settings campaign={campaign} />
      {isOperator && <OtherMoves campaign={campaign} moved={again} />}
    </>
  );
}

function isTakingPart({ state }: Pick<Campaign, 'state'>): boolean {
  return state !== 'purged' && !hasReached(state, 'clients-sealed');
}

/** Tells whether enrolment tokens are of use now: for contributions, or for report tokens. */
function takesEnrolments({ state, reports, issuer }: Campaign): boolean {
  const isEarly = state === 'draft' || state === 'opt-in-open';
  return isEarly || (reports === 'token' && !issuer && isTakingPart({ state }));
}

function Settings({ campaign }: { readonly campaign: Campaign }) {
  const { epsilon, delta } = lossOf(campaign);
  const { rules, parameters, relay } = campaign;
  const size = parameters.head_list_size;
  return (
    <Card title="Promise and rules">
      {campaign.warnings?.map((warning) => (
        <p key={warning} class="callout">
          {warning}
        </p>
      ))}
      <Tiles
        tiles={[
          { name: 'ε, for all users', value: plain(epsilon) },
          {
            name: relay ? 'δ, for opt-in users and relay clients' : 'δ, for opt-in users',
            value: plain(delta),
          },
          { name: 'Preset', value: String(parameters.preset ?? '') },
          { name: 'Queries kept at most', value: typeof size === 'number' ? count(size) : 'all' },
          { name: 'Clients expected', value: count(campaign.expected_clients) },
          { name: 'Enrolment', value: campaign.open_enrolment ? 'open' : 'by token' },
          { name: 'Reports', value: reportKind(campaign) },
        ]}
      />
      <dl class="settings">
        <Collector campaign={campaign} />
        <dt>Created</dt>
        <dd>{moment(campaign.created_at)} UTC</dd>
        <dt>Opt-in side is sealed</dt>
        <dd>{rule(rules.opt_in_until, rules.opt_in_enough, 'contributions')}</dd>
        <dt>Clients’ side opens</dt>
        <dd>{rule(rules.clients_from, null, '')}</dd>
        <dt>Clients’ side is sealed</dt>
        <dd>{rule(rules.clients_until, rules.clients_enough, 'reports')}</dd>
        <dt>A number seals a side</dt>
        <dd>not before it was open for {count(rules.open_hours ?? 0)} hours</dd>
        {campaign.reports === 'token' && <TokenSettings campaign={campaign} />}
        {relay && <RelaySettings relay={relay} hours={rules.relay_wait_hours ?? 0} />}
        <dt>Campaign id</dt>
        <dd>
          <code>{campaign.id}</code>
        </dd>
      </dl>
    </Card>
  );
}

function TokenSettings({ campaign }: { readonly campaign: Campaign }) {
  return (
    <>
      <dt>Report tokens come from</dt>
      <dd>{issuerName(campaign)}</dd>
    </>
  );
}

interface RelaySettingsProps {
  readonly relay: Relay;
  readonly hours: number;
}

function RelaySettings({ relay, hours }: RelaySettingsProps) {
  return (
    <>
      <dt>Relay</dt>
      <dd>{relay.address}</dd>
      <dt>Key of the relay</dt>
      <dd>
        <code>{relay.public_key}</code>
      </dd>
      <dt>Batch of the relay</dt>
      <dd>
        at least {count(relay.least_batch)} reports; the release waits for it {count(hours)} hours
      </dd>
      <dt>ε if relay and organisation work together</dt>
      <dd>at most {plain(relay.epsilon_cap)}</dd>
    </>
  );
}

function rule(
  time: string | null | undefined,
  enough: number | null | undefined,
  what: string,
): string {
  const parts = [
    ...(time ? [`at ${moment(time)} UTC`] : []),
    ...(enough ? [`at ${count(enough)} ${what}`] : []),
  ];
  return parts.join(' or ') || 'by an operator';
}
