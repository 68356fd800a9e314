/** Pages that make a campaign, duplicate one, or edit a draft; with the planner's prediction. */
import { useRef, useState } from 'preact/hooks';
import type { Campaign } from '../api/messages.js';
import { randomId, type ServiceProblem } from '../api/service.js';
import { problemFrom, useLoaded } from '../loading.js';
import { Refused, Shown } from '../parts/loading-note.js';
import { Title } from '../parts/title.js';
import { campaignAddress, duplicateAddress } from '../router.js';
import { useVisit } from '../signed-in.js';
import { CampaignForm } from './campaign-form.js';
import {
  campaignOf,
  changed,
  type Draft,
  draftOf,
  duplicateOf,
  EMPTY_DRAFT,
  questionOf,
} from './draft.js';
import { missingFields, refusedField, wrongFields } from './draft-faults.js';
import { Prediction } from './prediction.js';

/** The form, empty or like an earlier campaign. */
export function NewCampaignPage({ like }: { readonly like: string | null }) {
  const lead = 'It begins as a draft. You can edit it until you open it.';
  if (like === null) return <Form title="New campaign" lead={lead} begins={EMPTY_DRAFT} />;
  return (
    <WithCampaign id={like}>
      {(campaign) => <Form title="New campaign" lead={lead} begins={duplicateOf(campaign)} />}
    </WithCampaign>
  );
}

export function EditCampaignPage({ id }: { readonly id: string }) {
  return (
    <WithCampaign id={id}>
      {(campaign) =>
        campaign.state === 'draft' ? (
          <Form
            title="Edit the draft"
            lead="Opening it freezes everything here."
            begins={draftOf(campaign)}
            id={id}
          />
        ) : (
          <p class="banner banner-info">
            The campaign was opened and cannot change any more.{' '}
            <a href={duplicateAddress(id)}>Make a new one like it</a>
          </p>
        )
      }
    </WithCampaign>
  );
}

interface WithCampaignProps {
  readonly id: string;
  readonly children: (campaign: Campaign) => preact.ComponentChildren;
}

function WithCampaign({ id, children }: WithCampaignProps) {
  const { service } = useVisit();
  const [campaign] = useLoaded(() => service.campaign(id), [service, id]);
  return <Shown loaded={campaign}>{children}</Shown>;
}

interface FormProps {
  readonly title: string;
  readonly lead: string;
  readonly begins: Draft;
  /** The draft that is edited; a new one if left out. */
  readonly id?: string;
}

function Form({ title, lead, begins, id }: FormProps) {
  const { service } = useVisit();
  const [draft, setDraft] = useState(begins);
  const [isComplete, setComplete] = useState(true);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const form = useRef<HTMLFormElement>(null);
  // A request that is repeated makes no second campaign; another content is another campaign.
  const drawn = useRef(randomId());
  const faults = {
    ...(isComplete ? {} : missingFields(draft)),
    ...refusedField(problem?.where ?? null),
    ...wrongFields(draft, new Date()),
  };
  const change = (part: Partial<Draft>) => {
    drawn.current = randomId();
    setProblem(null);
    setDraft((old) => changed(old, part));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    if (Object.keys({ ...missingFields(draft), ...wrongFields(draft, new Date()) }).length > 0) {
      setComplete(false);
      // The fields at fault are marked once the page is drawn anew.
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
      );
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      const made = await service.put(id ?? drawn.current, campaignOf(draft));
      location.hash = campaignAddress(made.id);
    } catch (thrown) {
      setProblem(problemFrom(thrown));
      setBusy(false);
    }
  };
  return (
    <>
      <Title text={title} lead={lead} />
      <div class="beside">
        <form class="form-parts" onSubmit={submit} ref={form} noValidate>
          <CampaignForm draft={draft} faults={faults} change={change} />
          {problem && <Refused problem={problem} />}
          <Buttons isNew={id === undefined} isBusy={isBusy} faults={Object.keys(faults).length} />
        </form>
        <aside class="beside-note" aria-label="Prediction">
          <Prediction question={questionOf(draft)} />
        </aside>
      </div>
    </>
  );
}

interface ButtonsProps {
  readonly isNew: boolean;
  readonly isBusy: boolean;
  readonly faults: number;
}

function Buttons({ isNew, isBusy, faults }: ButtonsProps) {
  return (
    <div>
      {faults > 0 && (
        <p class="banner banner-danger" role="alert">
          {faults === 1 ? 'One field needs' : `${faults} fields need`} your attention. The sentence
          below each field says why.
        </p>
      )}
      <p class="controls">
        <button type="submit" class="button button-strong" aria-disabled={isBusy}>
          {label(isNew, isBusy)}
        </button>
      </p>
    </div>
  );
}

function label(isNew: boolean, isBusy: boolean): string {
  if (isBusy) return 'Saving …';
  return isNew ? 'Create the draft' : 'Save the draft';
}
