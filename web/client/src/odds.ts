/** Odds of a report: how often it names the true item, and how often it says nothing about a person. */
import { WORD } from './uniform.js';

/** What a report to one question says. */
export interface Odds {
  readonly question: 'record' | 'query';
  /** How many items may be named, everything that is not listed among them as one. */
  readonly size: number;
  /** How many of them one report names. */
  readonly named: number;
  /** The probability that a person’s own item is not named: then all are random. */
  readonly missed: number;
}

/** Returns the probability that a word of 64 bits is not below a threshold. */
export function missed(threshold: bigint): number {
  return Number(WORD - threshold) / Number(WORD);
}
