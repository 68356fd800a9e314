/** Notes shown while a value is fetched, or when it could not be fetched. */
import type { ComponentChildren } from 'preact';
import type { ServiceProblem } from '../api/service.js';
import type { Loaded } from '../loading.js';

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
            Not up to date: {loaded.problem.message}
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

export function Refused({ problem }: { readonly problem: ServiceProblem }) {
  return (
    <p class="banner banner-danger" role="alert">
      {problem.message}
      {problem.where && <> ({problem.where})</>}
    </p>
  );
}
