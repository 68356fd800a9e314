/** Buttons that start a failed job again. */
import { useState } from 'preact/hooks';
import type { Campaign, Job, JobKind } from '../api/messages.js';
import type { ServiceProblem } from '../api/service.js';
import { problemFrom } from '../loading.js';
import { Refused } from '../parts/loading-note.js';
import { useVisit } from '../signed-in.js';
import { JOBS } from '../words/states.js';

interface RetriesProps {
  readonly campaign: Campaign;
  readonly jobs: readonly Job[];
  readonly retried: () => void;
}

export function Retries({ campaign, jobs, retried }: RetriesProps) {
  const { service } = useVisit();
  const [problem, setProblem] = useState<ServiceProblem | null>(null);
  const retry = async (kind: JobKind) => {
    setProblem(null);
    await service.retry(campaign.id, kind).catch((thrown) => setProblem(problemFrom(thrown)));
    retried();
  };
  const failed = jobs.filter((job) => job.can_retry);
  if (failed.length === 0 && !problem) return null;
  return (
    <div class="moves">
      {failed.map(({ kind }) => (
        <button type="button" key={kind} class="button" onClick={() => retry(kind)}>
          Retry: {JOBS[kind]}
        </button>
      ))}
      {problem && <Refused problem={problem} />}
    </div>
  );
}
