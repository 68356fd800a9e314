/** Numbers as people read them. */

/** Writes a share of all searches. */
export function shareText(probability: number): string {
  const percent = probability * 100;
  return `${percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** Writes an ε. */
export function epsilonText(epsilon: number): string {
  return String(Number(epsilon.toFixed(3)));
}

/** Writes how much of a budget is used, rounded up. */
export function usedText({
  spent,
  left,
}: {
  readonly spent: number;
  readonly left: number;
}): string {
  return `${spent > 0 ? Math.ceil((100 * spent) / (spent + left)) : 0} %`;
}

/** Writes a number of things. */
export function countText(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Writes a time in the reader's own way. */
export function timeText(time: number): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
