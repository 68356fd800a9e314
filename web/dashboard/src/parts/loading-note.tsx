/** Notes shown while a value is fetched, or when it could not be fetched. */
import type { ComponentChildren } from 'preact';
import type { ServiceProblem } from '../api/service.js';
import type { Loaded } from '../loading.js';
import { signInAddress } from '../router.js';
import { useVisit } from '../signed-in.js';

interface ShownProps<T> {
  readonly loaded: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows what was fetched, or how far it is. */
export function Shown<T>({ loaded, children }: ShownProps<T>) {
  if (loaded.is === 'there') {
    return (
      <>
        {loaded.problem && (
          <p class="banner banner-info" role="status">
            Not up to date: {loaded.problem.message} <WayOn problem={loaded.problem} />
          </p>
        )}
        {children(loaded.value)}
      </>
    );
  }
  if (loaded.is === 'refused') return <Refused problem={loaded.problem} />;
  return (
    <p class="waiting" role="status">
      Fetching …
    </p>
  );
}

interface ProblemProps {
  readonly problem: ServiceProblem;
}

/** Refusals that a person meets by following a link, in words for them. */
const WORDS: Readonly<Record<string, string>> = {
  'not-published': 'This campaign has not published it.',
  'unknown-campaign': 'There is no such campaign.',
};

export function Refused({ problem }: ProblemProps) {
  return (
    <p class="banner banner-danger" role="alert">
      {WORDS[problem.slug] ?? problem.message}
      {problem.where && <> ({problem.where})</>} <WayOn problem={problem} />
    </p>
  );
}

/** Where to go from a refusal that no second try mends. */
function WayOn({ problem }: ProblemProps) {
  const { who } = useVisit();
  if (problem.slug === 'unknown-campaign') return <a href="#/campaigns">All campaigns</a>;
  if (problem.status !== 401 || !who) return null;
  return <a href={signInAddress(location.hash)}>Sign in again</a>;
}
