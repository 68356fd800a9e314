/** Enrolment tokens for people whom the operator asks; shown once, so they are saved as a file. */

import { count, plural } from '@blender-dp/pages/numbers.js';
import { useState } from 'preact/hooks';
import type { Campaign } from '../api/messages.js';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Card } from '../parts/card.js';
import { TextField } from '../parts/fields.js';
import { Refused } from '../parts/loading-note.js';
import { saveText } from '../parts/saving.js';
import { useVisit } from '../signed-in.js';

const MOST_TOKENS = 10_000;

interface EnrolmentProps {
  readonly campaign: Campaign;
  readonly made: () => void;
}

export function Enrolment({ campaign, made }: EnrolmentProps) {
  const { id, reports } = campaign;
  const { service } = useVisit();
  const [number, setNumber] = useState('100');
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const wanted = Number(number);
  const isPossible = Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST_TOKENS;
  const make = async (event: Event) => {
    event.preventDefault();
    if (isBusy || !isPossible) return;
    setBusy(true);
    setProblem(null);
    try {
      const { tokens } = await service.enrolments(id, wanted);
      saveText('enrolment-tokens.txt', `${tokens.join('\n')}\n`);
      setSaid(
        `${plural(tokens.length, 'token was', 'tokens were')} saved; they are shown nowhere else.`,
      );
      made();
    } catch (thrown) {
      setProblem(problemFrom(thrown));
    }
    setBusy(false);
  };
  return (
    <Card
      title="Enrolment tokens"
      caption={`Give one to each person: it is the code that the extension asks for. Each lets one person contribute once${reports === 'token' ? ', or send one report' : ''}. The service keeps only a digest of each.`}
    >
      <form class="inline-form" onSubmit={make}>
        <TextField
          label="How many"
          value={number}
          change={setNumber}
          mode="numeric"
          fault={isPossible ? undefined : `From 1 to ${count(MOST_TOKENS)} at a time.`}
          isNeeded
        />
        <button type="submit" class="button" aria-disabled={isBusy}>
          {isBusy ? 'Making them …' : 'Make and save them'}
        </button>
      </form>
      <p role="status">{said}</p>
      {problem && <Refused problem={problem} />}
    </Card>
  );
}
