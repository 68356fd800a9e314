/** Odds of a report: how often it names the true item, and how often it says nothing about a person. */
import { exact } from './fraction.js';
import type { HeadList } from './head-list.js';
import { localAlgChannel } from './local-alg.js';
import { subsetChannel } from './subset-selection.js';
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

/** Returns the odds of every question that a list asks; LocalAlg’s are those of the query. */
export function oddsOf({ cells, mechanism }: HeadList): readonly Odds[] {
  const [records, queries] = [cells.queryOfCell.length, cells.urlsPerQuery.length];
  if (mechanism.name === 'local-alg') {
    const { queryThreshold } = localAlgChannel(cells, mechanism);
    return [{ question: 'query', size: queries, named: 1, missed: missed(queryThreshold) }];
  }
  const epsilon = exact(mechanism.epsilon);
  const asked: readonly (readonly [Odds['question'], number])[] = [
    ['record', records],
    ['query', Number(mechanism.queryShare) > 0 ? queries : 0],
  ];
  return asked
    .filter(([, size]) => size)
    .map(([question, size]) => {
      const { subsetSize, threshold } = subsetChannel(size, epsilon);
      return { question, size, named: subsetSize, missed: missed(threshold) };
    });
}

function missed(threshold: bigint): number {
  return Number(WORD - threshold) / Number(WORD);
}
