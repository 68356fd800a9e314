/** Form for a new campaign, with the planner's prediction beside it. */
import { useState } from 'preact/hooks';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Card } from '../parts/card.js';
import { Choice } from '../parts/choice.js';
import { TextField } from '../parts/fields.js';
import { Refused } from '../parts/loading-note.js';
import { Title } from '../parts/title.js';
import { campaignAddress } from '../router.js';
import { useVisit } from '../signed-in.js';
import { campaignOf, type Draft, deltaWarning, EMPTY_DRAFT, missing, questionOf } from './draft.js';
import { Prediction } from './prediction.js';

type Texts = Exclude<keyof Draft, 'open_enrolment' | 'preset'>;

export function NewCampaignPage() {
  const { service } = useVisit();
  const [draft, setDraft] = useState<Draft>(EMPTY_DRAFT);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const [said, setSaid] = useState('');
  const submit = async (event: Event) => {
    event.preventDefault();
    const wrong = missing(draft);
    setSaid(wrong ?? '');
    setProblem(null);
    if (wrong) return;
    try {
      location.hash = campaignAddress((await service.create(campaignOf(draft))).id);
    } catch (thrown) {
      setProblem(problemFrom(thrown));
    }
  };
  const change = (part: Partial<Draft>) => setDraft((old) => ({ ...old, ...part }));
  return (
    <>
      <Title text="New campaign" lead="It begins as a draft. Opening it freezes everything here." />
      <div class="beside">
        <form class="form-parts" onSubmit={submit} noValidate>
          <Purpose draft={draft} change={change} />
          <Promise_ draft={draft} change={change} />
          <Rules draft={draft} change={change} />
          {said && (
            <p class="banner banner-danger" role="alert">
              {said}
            </p>
          )}
          {problem && <Refused problem={problem} />}
          <p>
            <button type="submit" class="button button-strong">
              Create the draft
            </button>
          </p>
        </form>
        <aside class="beside-note" aria-label="Prediction">
          <Prediction question={questionOf(draft)} />
        </aside>
      </div>
    </>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

/** Returns what a field of texts needs to show and change a part of the draft. */
function bound({ draft, change }: PartProps, name: Texts) {
  return { value: draft[name], change: (value: string) => change({ [name]: value }) };
}

function Purpose(props: PartProps) {
  return (
    <Card title="What people are asked">
      <div class="form">
        <TextField label="Name" {...bound(props, 'name')} isNeeded />
        <TextField
          label="Purpose"
          hint="Public. Say what the result is for."
          rows={2}
          {...bound(props, 'purpose')}
          isNeeded
        />
        <TextField
          label="Who collects"
          hint="Public. The person or organisation that decides what the records are used for."
          {...bound(props, 'controller')}
          isNeeded
        />
        <TextField
          label="Contact"
          hint="Public. Where people ask, such as an e-mail address."
          {...bound(props, 'contact')}
          isNeeded
        />
        <TextField
          label="Privacy policy"
          hint="Public. Its web address, such as https://example.org/privacy."
          {...bound(props, 'privacy_policy')}
          isNeeded
        />
        <TextField
          label="Consent text"
          hint="What opt-in users agree to. Every contribution carries its digest."
          rows={5}
          {...bound(props, 'consent_text')}
          isNeeded
        />
        <TextField
          label="Version of the consent text"
          {...bound(props, 'consent_version')}
          isNeeded
        />
        <label class="checkbox">
          <input
            type="checkbox"
            checked={props.draft.open_enrolment}
            onChange={(event) => props.change({ open_enrolment: event.currentTarget.checked })}
          />
          Anybody may enrol, without a token
        </label>
      </div>
    </Card>
  );
}

const PRESETS = [
  { value: 'sharp', name: 'sharp' },
  { value: 'paper', name: 'paper' },
] as const;

function Promise_(props: PartProps) {
  const warning = deltaWarning(props.draft);
  return (
    <Card title="What they are promised">
      <div aria-live="polite">{warning && <p class="callout">{warning}</p>}</div>
      <div class="form form-columns">
        <TextField
          label="ε"
          hint="The bound on everybody’s privacy loss; smaller is more private."
          mode="decimal"
          {...bound(props, 'epsilon')}
        />
        <TextField
          label="δ"
          hint="How likely an opt-in user’s loss may exceed it, such as 1e-5."
          mode="decimal"
          {...bound(props, 'delta')}
        />
        <TextField
          label="Opt-in users expected"
          hint="For the prediction only."
          mode="numeric"
          {...bound(props, 'expected_opt_in')}
        />
        <TextField
          label="Clients expected"
          hint="Public; decides how many of them report only the query."
          mode="numeric"
          {...bound(props, 'expected_clients')}
        />
        <TextField
          label="Queries kept at most"
          hint="Leave it empty to keep all that are found."
          mode="numeric"
          {...bound(props, 'head_list_size')}
        />
        <div class="field">
          <Choice
            legend="Preset"
            options={PRESETS}
            chosen={props.draft.preset}
            choose={(preset) => props.change({ preset })}
          />
          <p class="hint">
            sharp answers better at the same promise; paper is the algorithm as printed.
          </p>
        </div>
      </div>
    </Card>
  );
}

const RULES = [
  ['opt_in_until', 'Seal the opt-in side at'],
  ['opt_in_enough', '… or at so many contributions'],
  ['clients_from', 'Open for clients at'],
  ['clients_until', 'Seal the clients’ side at'],
  ['clients_enough', '… or at so many reports'],
  ['open_hours', 'A number seals a side only after this many hours'],
] as const;

function Rules(props: PartProps) {
  return (
    <Card
      title="When it moves by itself"
      caption="Whatever is left empty waits for an operator. Times are in UTC."
    >
      <div class="form form-columns">
        {RULES.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            {...(/enough|hours/.test(name) ? { mode: 'numeric' } : { type: 'datetime-local' })}
            {...bound(props, name)}
          />
        ))}
      </div>
    </Card>
  );
}
