/** Stored values, which survive when the browser stops the worker. */

/** The part of `chrome.storage.local` that is used; tests give one in memory. */
export interface Area {
  get(key: string): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Work that is done one piece after another. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs work when all that was asked for before is done. */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** One value under one name. */
export class Kept<Value> {
  readonly #area: Area;
  readonly #name: string;
  readonly #first: Value;
  readonly #turns = new Turns();

  constructor(area: Area, name: string, first: Value) {
    this.#area = area;
    this.#name = name;
    this.#first = first;
  }

  async read(): Promise<Value> {
    const found = (await this.#area.get(this.#name))[this.#name];
    if (found === undefined) return this.#first;
    // What an older version stored lacks the fields that came later.
    const isObject = typeof found === 'object' && !Array.isArray(found);
    return (isObject ? { ...this.#first, ...found } : found) as Value;
  }

  /** Changes the value; no two changes overlap. */
  change(change: (value: Value) => Value): Promise<Value> {
    return this.#turns.take(async () => {
      const value = change(await this.read());
      await this.#area.set({ [this.#name]: value });
      return value;
    });
  }

  forget(): Promise<void> {
    return this.#turns.take(() => this.#area.remove(this.#name));
  }
}
