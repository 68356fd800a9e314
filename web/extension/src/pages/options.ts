/** Options page: everything on the device, everything that left it, and how to delete it. */
import { type Campaign, isOver, takesContributions } from '../device/collection.js';
import type { KeptRecord } from '../device/records.js';
import { currentConsent, currentEntry, isRecording } from '../device/settings.js';
import { type Answer, ask, type Command, changes, type View } from '../messages.js';
import { visibleLines } from '../words/foreign.js';
import { timeText } from '../words/numbers.js';
import { standingSentence, stateSentence } from '../words/standing.js';
import { button, byId, made, redrawn, row, tell, write } from './elements.js';
import { showSearchPages, startSearchPages } from './search-pages-part.js';
import { showSent } from './sent-part.js';

const said = byId('said', HTMLElement);
/** Number of rows that are shown at most. */
const MOST_ROWS = 200;

async function command(wanted: Command, done = ''): Promise<Answer> {
  const answer = await ask(wanted);
  tell(said, answer.ok ? undefined : answer.problem, done);
  if (answer.ok) show(answer.view);
  else await refresh();
  return answer;
}

async function refresh(): Promise<void> {
  const answer = await ask({ kind: 'view' });
  if (answer.ok) show(answer.view);
}

function show(view: View): void {
  redrawn(() => {
    showStanding(view);
    showRecords(view);
    showSent(view, command);
    showSearchPages(view);
  });
}

function showStanding({ settings, account, releaseFetchedAt }: View): void {
  const { campaign, checkedAt, problem } = settings;
  write('standing', standingSentence(settings, account));
  const isMade = settings.choice !== null && !isRecording(settings, account.entries);
  write(
    'campaign',
    campaign ? campaignSentences(campaign, isMade) : 'You take part in no campaign.',
  );
  write('checked', checkedAt ? `Last looked ${timeText(checkedAt)}.` : '');
  write('last-problem', problem ? `Last time: ${problem}.` : '');
  write(
    'release',
    releaseFetchedAt
      ? `Suggestions were fetched ${timeText(releaseFetchedAt)} and work offline.`
      : 'There are no suggestions yet.',
  );
}

function campaignSentences(campaign: Campaign, isMade: boolean): string {
  const made = isMade ? ' Nothing more is recorded for it.' : '';
  const end = isOver(campaign) ? ' Nothing more is recorded or sent for it.' : made;
  return `${campaign.name}. ${stateSentence(campaign)}${end}`;
}

function showRecords({ settings, records, account }: View): void {
  const consent = currentConsent(settings);
  const isMade = currentEntry(settings, account.entries, 'contribution') !== undefined;
  const { campaign } = settings;
  const isTaken = campaign !== null && takesContributions(campaign);
  const canTick = consent !== undefined && !isMade && isTaken;
  const newest = records.slice(-MOST_ROWS).reverse();
  const rows = newest.map((record) =>
    row(
      record.query,
      record.url,
      timeText(record.at),
      canTick ? tick(record, record.consent === consent) : '',
      button(
        'Delete',
        () => command({ kind: 'forget-record', at: record.at }),
        `Delete ${record.query}`,
      ),
    ),
  );
  byId('records', HTMLTableSectionElement).replaceChildren(...rows);
  write('record-count', String(records.length));
  byId('records-table', HTMLElement).hidden = !records.length;
  byId('ticking', HTMLElement).hidden = !canTick;
}

/** Makes the box that decides whether a search is sent as it is. */
function tick({ query, at }: KeptRecord, checked: boolean): HTMLElement {
  const box = made('input', { type: 'checkbox', checked });
  box.setAttribute('aria-label', visibleLines(`Send ${query}`));
  box.addEventListener('change', () => {
    void command({ kind: 'tick-record', at, isTicked: box.checked });
  });
  return made('label', { className: 'switch' }, box, 'send');
}

async function deleteEverything(): Promise<void> {
  byId('deleting', HTMLDialogElement).close();
  const answer = await command({ kind: 'forget-everything' });
  if (!answer.ok) return;
  const isAll = answer.view.account.entries.length === 0;
  tell(said, undefined, isAll ? 'Everything was deleted.' : 'All but the list below was deleted.');
}

function onClick(id: string, work: () => unknown): void {
  byId(id, HTMLButtonElement).addEventListener('click', () => void work());
}

startSearchPages(command);
onClick('check', () => command({ kind: 'check' }, 'Done.'));
onClick('contribute', () => command({ kind: 'contribute' }, 'Your searches were sent.'));
onClick('delete', () => byId('deleting', HTMLDialogElement).showModal());
onClick('keep', () => byId('deleting', HTMLDialogElement).close());
onClick('confirm', deleteEverything);
// Searches are made in other tabs: what is shown here must be so when it is looked at.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void refresh();
});
// Another window, or the worker, may change it too.
changes().onmessage = () => void refresh();
void command({ kind: 'view' });
