/** Results of the client's methods, which never throw into the page that uses them. */
export type Result<Success extends object = object> =
  | ({ readonly ok: true } & Success)
  | { readonly ok: false; readonly problem: string };

/** Something was not as it must be; the message is a sentence without queries, URLs or ids. */
export class Refusal extends Error {}

/** Refuses unless a rule holds. */
export function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Refusal(rule);
}

/** Runs work and turns whatever goes wrong into a result. */
export async function guarded<Success extends object>(
  work: () => Promise<Success>,
): Promise<Result<Success>> {
  try {
    return { ok: true, ...(await work()) };
  } catch (error) {
    return refused(error);
  }
}

/** Returns the result for something thrown; only our own sentences are passed on. */
export function refused(error: unknown): { readonly ok: false; readonly problem: string } {
  const problem = error instanceof Refusal ? error.message : 'this device could not do it';
  return { ok: false, problem };
}
