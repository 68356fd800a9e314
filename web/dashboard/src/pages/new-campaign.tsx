/** Pages that make a campaign, duplicate one, or edit a draft; with the planner's prediction. */
import { useRef, useState } from 'preact/hooks';
import { randomId, type ServiceProblem, type StoredDraft } from '../api/service.js';
import { problemFrom, useLoaded } from '../loading.js';
import { Refused, Shown } from '../parts/loading-note.js';
import { SignInAgain } from '../parts/sign-in-again.js';
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
      {({ campaign }) => <Form title="New campaign" lead={lead} begins={duplicateOf(campaign)} />}
    </WithCampaign>
  );
}

export function EditCampaignPage({ id }: { readonly id: string }) {
  return (
    <WithCampaign id={id}>
      {({ campaign, tag }, reload) =>
        campaign.state === 'draft' ? (
          <Form
            key={tag}
            title="Edit the draft"
            lead="Opening it freezes everything here."
            begins={draftOf(campaign)}
            edited={{ id, tag, reload }}
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
  readonly children: (draft: StoredDraft, reload: () => void) => preact.ComponentChildren;
}

function WithCampaign({ id, children }: WithCampaignProps) {
  const { service } = useVisit();
  // Whoever signs in again goes on with what they typed: another token fetches nothing anew.
  const asked = useRef(service);
  asked.current = service;
  const [draft, reload] = useLoaded(() => asked.current.draft(id), [id]);
  return <Shown loaded={draft}>{(found) => children(found, reload)}</Shown>;
}

interface FormProps {
  readonly title: string;
  readonly lead: string;
  readonly begins: Draft;
  /** The draft that is edited, as it was read; a new one if left out. */
  readonly edited?: {
    readonly id: string;
    readonly tag: string | null;
    readonly reload: () => void;
  };
}

function Form({ title, lead, begins, edited }: FormProps) {
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
      const place = edited?.id ?? drawn.current;
      const made = await service.put(place, campaignOf(draft), edited?.tag ?? null);
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
          <div class="form-parts" inert={isBusy}>
            <CampaignForm draft={draft} faults={faults} change={change} />
          </div>
          {problem &&
            (problem.status === 401 ? (
              <SignInAgain done={() => setProblem(null)} />
            ) : (
              <Refused problem={problem} />
            ))}
          {edited && problem?.slug === 'draft-changed' && <Changed reload={edited.reload} />}
          <Buttons
            isNew={edited === undefined}
            isBusy={isBusy}
            faults={Object.keys(faults).length}
          />
        </form>
        <aside class="beside-note" aria-label="Prediction">
          <Prediction question={questionOf(draft)} />
        </aside>
      </div>
    </>
  );
}

/** What to do when somebody else saved the draft meanwhile. */
function Changed({ reload }: { readonly reload: () => void }) {
  return (
    <p class="callout">
      Somebody else saved this draft while you wrote. Your text was not saved, so that theirs is not
      lost.{' '}
      <button type="button" class="button" onClick={reload}>
        Show the draft as it is now
      </button>
    </p>
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
