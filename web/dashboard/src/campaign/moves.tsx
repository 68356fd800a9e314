/** Moves that an operator may make now; each asks for confirmation. */
import { useState } from 'preact/hooks';
import type { Campaign } from '../api/messages.js';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Confirm } from '../parts/confirm.js';
import { Refused } from '../parts/loading-note.js';
import { useVisit } from '../signed-in.js';
import { type MoveWords, movesFrom } from '../words/states.js';

interface MovesProps {
  readonly campaign: Campaign;
  readonly moved: () => void;
}

export function Moves({ campaign, moved }: MovesProps) {
  const { service } = useVisit();
  const [asked, setAsked] = useState<MoveWords | null>(null);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const answer = async (isSure: boolean) => {
    const wanted = asked;
    setAsked(null);
    if (!isSure || !wanted) return;
    setProblem(null);
    await service.move(campaign.id, wanted.move, campaign.state).catch((thrown) => {
      setProblem(problemFrom(thrown));
    });
    moved();
  };
  return (
    <div class="moves">
      {movesFrom(campaign.state).map((words) => (
        <button
          type="button"
          key={words.move}
          class={`button ${words.move === 'purge' ? 'button-danger' : 'button-strong'}`}
          onClick={() => setAsked(words)}
        >
          {words.title}
        </button>
      ))}
      {problem && <Refused problem={problem} />}
      {asked && (
        <Confirm
          title={asked.title}
          warning={asked.warning}
          typed={asked.move === 'purge' ? campaign.name : undefined}
          answer={answer}
        />
      )}
    </div>
  );
}
