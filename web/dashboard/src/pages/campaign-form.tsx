/** Form of a campaign: what people are asked and promised, and when it moves by itself. */

import { epsilonMeaning } from '@blender-dp/pages/promises.js';
import { useState } from 'preact/hooks';
import { Card } from '../parts/card.js';
import { Choice } from '../parts/choice.js';
import { TextField } from '../parts/fields.js';
import { bound, type FormProps } from './bound-field.js';
import { deltaWarning, hasRelay } from './draft.js';
import { deviceNotes } from './draft-faults.js';
import { Reports } from './reports-form.js';

export function CampaignForm(props: FormProps) {
  return (
    <>
      <Purpose {...props} />
      <Promise_ {...props} />
      <Reports {...props} />
      <Relay {...props} />
      <Rules {...props} />
    </>
  );
}

function Purpose(props: FormProps) {
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
        <TextField
          label="What a query is called"
          hint="Only if your records are not searches, such as product."
          {...bound(props, 'query_name')}
        />
        <TextField
          label="What a URL is called"
          hint="Only if it is not a web page, such as state."
          {...bound(props, 'url_name')}
        />
        <TextField
          label="Campaign before this one"
          hint="The id of a released campaign: its records need not be found again."
          {...bound(props, 'known')}
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

function Promise_(props: FormProps) {
  const warning = deltaWarning(props.draft);
  const notes = deviceNotes(props.draft);
  return (
    <Card title="What they are promised">
      <div aria-live="polite">{warning && <p class="callout">{warning}</p>}</div>
      <div class="form form-columns">
        <TextField
          label="ε"
          hint={epsilonHint(props)}
          note={notes.epsilon}
          mode="decimal"
          {...bound(props, 'epsilon')}
          isNeeded
        />
        <TextField
          label="δ"
          hint="How likely an opt-in user’s loss may exceed it. It follows the people expected until you choose it."
          note={notes.delta}
          mode="decimal"
          {...bound(props, 'delta')}
          isNeeded
        />
        <TextField
          label="Opt-in users expected"
          hint="For the prediction, and for δ."
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

/** Says what the typed ε means. */
function epsilonHint({ draft, faults }: FormProps): string {
  const bound = 'The bound on the privacy loss of each user; smaller is more private.';
  const meaning = epsilonMeaning(Number(draft.epsilon))[1];
  return draft.epsilon.trim() && !faults.epsilon && meaning ? `${bound} ${meaning}` : bound;
}

function Relay(props: FormProps) {
  const notes = deviceNotes(props.draft);
  const [isOpen, setOpen] = useState(hasRelay(props.draft));
  const isAtFault = Object.keys(props.faults).some((name) => name.startsWith('relay_'));
  return (
    <section class="card" aria-label="Reports through a relay">
      <details
        class="more"
        open={isOpen || isAtFault}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>Reports through a relay</summary>
        <p class="hint">
          Optional. Another organisation runs a relay that mixes reports before you get them. The
          same ε and δ then need far less noise, as long as you and the relay do not work together.
          It needs the preset sharp.
        </p>
        <div class="form form-columns">
          <TextField
            label="Address of the relay"
            hint="Where devices send their reports, such as https://relay.example/."
            {...bound(props, 'relay_address')}
          />
          <TextField
            label="Public key of the relay"
            hint="The relay prints it when it starts. Ask those who run it."
            {...bound(props, 'relay_public_key')}
          />
          <TextField
            label="Least batch"
            hint="The relay passes on no smaller number of reports; it destroys them instead. The larger it is, the more precise each report may be."
            mode="numeric"
            {...bound(props, 'relay_least_batch')}
          />
          <TextField
            label="Cap"
            hint="The most that a report may reveal if you and the relay do work together. People are told this number too."
            note={notes.relay_epsilon_cap}
            mode="decimal"
            {...bound(props, 'relay_epsilon_cap')}
          />
          <TextField
            label="Hours that the release waits for the relay"
            mode="numeric"
            {...bound(props, 'relay_wait_hours')}
          />
          <TextField
            label="Clients who would use it, in %"
            hint="For the prediction only, which then shows both: without a relay and with it, at this cap."
            mode="numeric"
            {...bound(props, 'relay_share')}
          />
        </div>
      </details>
    </section>
  );
}

const RULES = [
  ['opt_in_until', 'Seal the opt-in side at'],
  ['opt_in_enough', '… or at this number of contributions'],
  ['clients_from', 'Open for clients at'],
  ['clients_until', 'Seal the clients’ side at'],
  ['clients_enough', '… or at this number of reports'],
  ['open_hours', 'A number seals a side only after this many hours'],
] as const;

function Rules(props: FormProps) {
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
