/** Options page: everything on the device, everything that left it, and how to delete it. */
import { type Answer, ask, type Command, type View } from '../messages.js';
import { timeText } from '../words/numbers.js';
import { standingSentence, stateSentence } from '../words/standing.js';
import { button, byId, row, tell } from './elements.js';
import { showSearchPages, startSearchPages } from './search-pages-part.js';
import { showSent } from './sent-part.js';

const said = byId('said', HTMLElement);
/** Number of rows that are shown at most. */
const MOST_ROWS = 200;

async function command(wanted: Command, done = ''): Promise<Answer> {
  const answer = await ask(wanted);
  tell(said, answer.ok ? undefined : answer.problem, done);
  const view = answer.ok ? answer : await ask({ kind: 'view' });
  if (view.ok) show(view.view);
  return answer;
}

function show(view: View): void {
  showStanding(view);
  showRecords(view);
  showSent(view);
  showSearchPages(view);
}

function showStanding({ settings, account, releaseFetchedAt }: View): void {
  const { campaign, checkedAt, problem } = settings;
  byId('standing', HTMLElement).textContent = standingSentence(settings, account);
  byId('campaign', HTMLElement).textContent = campaign
    ? `${campaign.name}. ${stateSentence(campaign.state)}`
    : 'You take part in no campaign.';
  byId('checked', HTMLElement).textContent = checkedAt ? `Last looked ${timeText(checkedAt)}.` : '';
  byId('last-problem', HTMLElement).textContent = problem ? `Last time: ${problem}.` : '';
  byId('release', HTMLElement).textContent = releaseFetchedAt
    ? `Suggestions were fetched ${timeText(releaseFetchedAt)} and work offline.`
    : 'There are no suggestions yet.';
}

function showRecords({ records }: View): void {
  const newest = records.slice(-MOST_ROWS).reverse();
  const rows = newest.map(({ query, url, at }) =>
    row(
      query,
      url,
      timeText(at),
      button('Delete', () => command({ kind: 'forget-record', at }), `Delete ${query}`),
    ),
  );
  byId('records', HTMLTableSectionElement).replaceChildren(...rows);
  byId('record-count', HTMLElement).textContent = String(records.length);
  byId('records-table', HTMLElement).hidden = !records.length;
}

async function deleteEverything(): Promise<void> {
  byId('deleting', HTMLDialogElement).close();
  await command({ kind: 'forget-everything' }, 'Everything was deleted.');
}

function onClick(id: string, work: () => unknown): void {
  byId(id, HTMLButtonElement).addEventListener('click', () => void work());
}

startSearchPages(command);
onClick('check', () => command({ kind: 'check' }, 'Done.'));
onClick('contribute', () => command({ kind: 'contribute' }, 'Your searches were sent.'));
onClick('withdraw', () => command({ kind: 'withdraw' }, 'Your searches were deleted there.'));
onClick('delete', () => byId('deleting', HTMLDialogElement).showModal());
onClick('keep', () => byId('deleting', HTMLDialogElement).close());
onClick('confirm', deleteEverything);
void command({ kind: 'view' });
