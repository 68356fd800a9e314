/** Suggestions for what a person has typed so far, from a release, on their own device. */
import { at } from '../cells.js';
import { type Result, refused } from '../refusal.js';
import { fold, trimmed } from './folding.js';
import { PrefixIndex } from './prefix-index.js';
import { type Row, readRelease } from './release.js';
import { bestProbability, DEFAULT_RULE, type ServingRule, servedRows } from './serving.js';
import { runsOneSlipAway } from './typos.js';
import { webAddress } from './urls.js';

/** A page that people went to. */
export interface Link {
  /** ASCII, ready to open. */
  readonly address: string;
  /** As people may see it. */
  readonly shown: string;
  readonly probability: number;
}

/** A popular query that fits what was typed. */
export interface Suggestion {
  readonly query: string;
  readonly probability: number;
  /** Most probable first; none if the clients are not sure of any. */
  readonly links: readonly Link[];
  /** Whether it fits only if one slip of the fingers is forgiven. */
  readonly isCorrection: boolean;
}

/** Local search over one release: opened once, asked at every keystroke; nothing is sent. */
export class LocalSearch {
  readonly #queries: readonly Row[];
  readonly #records = new Map<string, Row[]>();
  readonly #index: PrefixIndex;

  private constructor(text: string, rule: ServingRule) {
    const release = readRelease(text);
    this.#queries = servedRows(release.queries, release, rule);
    for (const row of servedRows(release.records, release, rule)) {
      const query = row.query ?? '';
      this.#records.set(query, [...(this.#records.get(query) ?? []), row]);
    }
    this.#index = new PrefixIndex(this.#queries.map((row) => row.query ?? ''));
  }

  /** Indexes what may be shown of a release, given as its text. */
  static open(
    text: string,
    rule: Partial<ServingRule> = {},
  ): Result<{ readonly search: LocalSearch }> {
    try {
      return { ok: true, search: new LocalSearch(text, { ...DEFAULT_RULE, ...rule }) };
    } catch (error) {
      return refused(error);
    }
  }

  /** How many queries may be suggested. */
  get size(): number {
    return this.#queries.length;
  }

  /**
   * Returns the most popular queries that begin with `typed`, or have a word that does. If there
   * are none, one typing error is allowed. An empty text gives the most popular queries.
   */
  suggest(typed: string, limit = 8): readonly Suggestion[] {
    const text = `${typed}`;
    if (!trimmed(text)) {
      return this.#queries.slice(0, limit).map((row) => this.#suggestion(row, false));
    }
    const word = fold(text);
    if (!word) return [];
    const found = this.#going(text, word, limit);
    const isCorrection = !found.length;
    const best = isCorrection ? this.#index.best(runsOneSlipAway(this.#index, word), limit) : found;
    return best.map((position) => this.#suggestion(at(this.#queries, position), isCorrection));
  }

  /** Returns what goes on from a word, which is whole if a space was typed after it. */
  #going(typed: string, word: string, limit: number): number[] {
    const isWhole = !trimmed(typed.slice(-1));
    const ended = isWhole ? this.#index.best([this.#index.run(`${word} `)], limit) : [];
    return ended.length ? ended : this.#index.best([this.#index.run(word)], limit);
  }

  #suggestion(row: Row, isCorrection: boolean): Suggestion {
    const query = row.query ?? '';
    const links = new Map<string, Link>();
    for (const record of this.#records.get(query) ?? []) {
      const target = webAddress(record.url ?? '');
      if (!target) continue;
      const probability = bestProbability(record) + (links.get(target.address)?.probability ?? 0);
      links.set(target.address, { ...target, probability });
    }
    return {
      query,
      probability: bestProbability(row),
      links: [...links.values()].sort((a, b) => b.probability - a.probability),
      isCorrection,
    };
  }
}
