/** Moves that an operator may make now; each asks for confirmation. */
import { useState } from 'preact/hooks';
import type { Campaign } from '../api/messages.js';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Card } from '../parts/card.js';
import { Confirm } from '../parts/confirm.js';
import { Refused } from '../parts/loading-note.js';
import { duplicateAddress, editAddress } from '../router.js';
import { useVisit } from '../signed-in.js';
import { type MoveWords, nextMove, PURGE } from '../words/states.js';

interface MovesProps {
  readonly campaign: Campaign;
  readonly moved: () => void;
}

/** The next step on the campaign's way. */
export function NextMove({ campaign, moved }: MovesProps) {
  const next = nextMove(campaign.state);
  if (!next) return null;
  return (
    <div class="moves">
      <MoveButton key={next.move} words={next} campaign={campaign} moved={moved} />
      {campaign.state === 'draft' && (
        <a class="button" href={editAddress(campaign.id)}>
          Edit
        </a>
      )}
    </div>
  );
}

/** What is seldom wanted: a new campaign like this one, or the end of this one. */
export function OtherMoves({ campaign, moved }: MovesProps) {
  return (
    <Card title="Duplicate or purge">
      <div class="moves">
        <a class="button" href={duplicateAddress(campaign.id)}>
          Duplicate
        </a>
        {campaign.state !== 'purged' && (
          <MoveButton words={PURGE} campaign={campaign} moved={moved} />
        )}
      </div>
      <p class="caption">
        Duplicate opens the form of a new campaign with the same texts and parameters.
        {campaign.state !== 'purged' && ' Purge deletes this one, but not what it published.'}
      </p>
    </Card>
  );
}

interface MoveButtonProps extends MovesProps {
  readonly words: MoveWords;
}

function MoveButton({ words, campaign, moved }: MoveButtonProps) {
  const { service } = useVisit();
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const isPurge = words.move === 'purge';
  const answer = async (isSure: boolean) => {
    setAsked(false);
    if (!isSure) return;
    setBusy(true);
    setProblem(null);
    await service.move(campaign.id, words.move, campaign.state).catch((thrown) => {
      setProblem(problemFrom(thrown));
    });
    setBusy(false);
    moved();
  };
  return (
    <>
      <button
        type="button"
        class={`button ${isPurge ? 'button-danger' : 'button-strong'}`}
        disabled={isBusy}
        onClick={() => setAsked(true)}
      >
        {words.title}
      </button>
      {problem && <RefusedMove problem={problem} />}
      {isAsked && (
        <Confirm
          title={words.title}
          warning={words.warning}
          typed={isPurge ? campaign.name : undefined}
          answer={answer}
        />
      )}
    </>
  );
}

function RefusedMove({ problem }: { readonly problem: ServiceProblem }) {
  const isOver = problem.slug === 'parameters-refused' && /_until$/.test(problem.where ?? '');
  if (!isOver) return <Refused problem={problem} />;
  return (
    <p class="banner banner-danger" role="alert">
      A time at which this campaign would be sealed is over. Edit the draft and choose a later one.
    </p>
  );
}
