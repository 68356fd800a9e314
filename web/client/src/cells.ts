/**
 * The cells of a head list, numbered: query by query its URLs, then the query with any other URL;
 * last of all everything else. ⋆ is a position, never a string.
 */
export interface Cells {
  /** How many cells each query has, the query ⋆ last. */
  readonly urlsPerQuery: readonly number[];
  /** The cell of the first URL of every query. */
  readonly firstCell: readonly number[];
  /** The query that every cell belongs to. */
  readonly queryOfCell: readonly number[];
}

/** Numbers the cells of a list, given the number of listed URLs per query. */
export function cellsOf(listedUrls: readonly number[]): Cells {
  const urlsPerQuery = [...listedUrls.map((count) => count + 1), 1];
  const firstCell: number[] = [];
  const queryOfCell: number[] = [];
  urlsPerQuery.forEach((count, query) => {
    firstCell.push(queryOfCell.length);
    for (let i = 0; i < count; i++) queryOfCell.push(query);
  });
  return { urlsPerQuery, firstCell, queryOfCell };
}

/** Returns an entry that must be there. */
export function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new RangeError('no such position');
  return item;
}
