/** Prediction of the planner for the form; every number with its error. */

import { ABSENT, count, isNumber, percent, plain } from '@blender-dp/pages/numbers.js';
import { useState } from 'preact/hooks';
import type { Plan, Predicted } from '../api/documents.js';
import type { Question } from '../api/messages.js';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Card } from '../parts/card.js';
import { Refused } from '../parts/loading-note.js';
import { useVisit } from '../signed-in.js';

interface Answer {
  readonly asked: string;
  readonly plan: Plan;
}

export function Prediction({ question }: { readonly question: Question | null }) {
  const { service } = useVisit();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const ask = async () => {
    if (!question) return;
    setBusy(true);
    setProblem(null);
    try {
      setAnswer({ asked: JSON.stringify(question), plan: await service.plan(question) });
    } catch (thrown) {
      setProblem(problemFrom(thrown));
    }
    setBusy(false);
  };
  const isStale = answer !== null && answer.asked !== JSON.stringify(question);
  return (
    <Card
      title="What it would give"
      eyebrow="Prediction"
      caption="The algorithm is run on simulated users. No person’s data is needed and no privacy budget is spent."
    >
      <p class="controls">
        <button type="button" class="button" disabled={isBusy || !question} onClick={ask}>
          {isBusy ? 'Imagining users …' : 'Predict'}
        </button>
      </p>
      <div aria-live="polite" aria-busy={isBusy}>
        {problem && <Refused problem={problem} />}
        {isStale && <p class="callout">The form has changed since: predict again.</p>}
        {answer && <Measures plan={answer.plan} />}
      </div>
    </Card>
  );
}

const MEASURES: readonly [string, string, (value: number) => string][] = [
  ['queries', 'Queries on the list', tens],
  ['records', 'Records on the list', tens],
  ['ndcg', 'NDCG of the ranking', plain],
  ['query_l1', 'L1 error, queries', plain],
  ['record_l1', 'L1 error, records', plain],
  ['query_interval', '95 % interval, queries', percent],
  ['record_interval', '95 % interval, records', percent],
];

function tens(value: number): string {
  return value < 10 ? plain(Number(value.toFixed(1))) : count(value);
}

function Measures({ plan }: { readonly plan: Plan }) {
  const columns = plan.without_relay
    ? [
        { title: 'Without a relay', measures: plan.without_relay.measures },
        { title: 'With', measures: plan.measures },
      ]
    : [{ title: 'Mean ± 95 %', measures: plan.measures }];
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse must scroll it too */}
      <section class="table-scroll" tabIndex={0} aria-label="Table: Predicted measures">
        <table class="plain-table">
          <caption class="visually-hidden">Predicted measures</caption>
          <thead>
            <tr>
              <th scope="col">Measure</th>
              {columns.map(({ title }) => (
                <th scope="col" class="number" key={title}>
                  {title}
                  <span class="range-note">9 of 10 collections</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {MEASURES.map(([name, title, write]) => (
              <tr key={name}>
                <th scope="row">{title}</th>
                {columns.map((column) => (
                  <Measure predicted={column.measures[name]} write={write} key={column.title} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="footnote">
        {plan.without_relay && 'Each mean stands with its 95 % interval. '}
        {plan.relay_sentence && `Through the relay: ${plan.relay_sentence} `}
        {count(plan.known_queries)} queries would be known to within half their probability.{' '}
        {plan.remarks.join(' ')} Imagined {count(plan.draws)} times.
      </p>
    </>
  );
}

interface MeasureProps {
  readonly predicted: Predicted | undefined;
  readonly write: (value: number) => string;
}

function Measure({ predicted, write }: MeasureProps) {
  return (
    <td class="number">
      {range(predicted, write, 'mean', ' ± ', 'error')}
      <span class="range-note">{range(predicted, write, 'low', ' to ', 'high')}</span>
    </td>
  );
}

function range(
  predicted: Predicted | undefined,
  write: (value: number) => string,
  from: keyof Predicted,
  between: string,
  to: keyof Predicted,
): string {
  const [a, b] = [predicted?.[from], predicted?.[to]];
  return isNumber(a) && isNumber(b) ? `${write(a)}${between}${write(b)}` : ABSENT;
}
