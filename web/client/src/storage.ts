/** Storage of the ledger. */
import { type Change, EMPTY_LEDGER, type Ledger } from './ledger.js';

/** A place for one ledger that outlives the page. */
export interface Storage {
  /**
   * Reads the ledger, changes it, and resolves once that is written for good.
   *
   * Nobody else, in this or another tab or worker, reads or writes in between. If `change` throws,
   * nothing is written and the promise rejects with what it threw.
   */
  update<Value>(change: (ledger: Ledger) => Change<Value>): Promise<Value>;
}

/** Keeps the ledger in memory: for tests, and for pages that make no reports. */
export function memoryStorage(): Storage {
  let kept = EMPTY_LEDGER;
  return {
    async update(change) {
      const { ledger, value } = change(kept);
      kept = structuredClone(ledger ?? kept);
      return value;
    },
  };
}

const STORE = 'ledger';

/** Keeps the ledger in IndexedDB, in pages, workers and service workers. */
export function indexedDbStorage(name = 'blender-dp'): Storage {
  return {
    async update(change) {
      const database = await open(name);
      try {
        return await transact(database, change);
      } finally {
        database.close();
      }
    },
  };
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function transact<Value>(
  database: IDBDatabase,
  change: (ledger: Ledger) => Change<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    // "strict": told to be written only when the disk has it.
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
    const store = transaction.objectStore(STORE);
    const reading: IDBRequest<Ledger | undefined> = store.get(STORE);
    reading.onsuccess = () => {
      try {
        const { ledger, value } = change(reading.result ?? EMPTY_LEDGER);
        if (ledger) store.put(ledger, STORE);
        transaction.oncomplete = () => resolve(value);
      } catch (error) {
        reject(error);
        transaction.abort();
      }
    };
    transaction.onabort = () => reject(transaction.error);
  });
}
