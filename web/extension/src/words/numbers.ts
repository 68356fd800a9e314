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

/** Writes a probability as a number of 100 cases, never as certain when it is not. */
export function casesText(probability: number): string {
  if (probability < 0.005) return 'fewer than 1 of 100 cases';
  if (probability > 0.995) return 'more than 99 of 100 cases';
  return `${Math.round(probability * 100)} of 100 cases`;
}

/** Writes a number of things. */
export function countText(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Writes a time in the reader's own way. */
export function timeText(time: number): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
