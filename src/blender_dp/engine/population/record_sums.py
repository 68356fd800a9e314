"""Sums per distinct record, in a table of any engine."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np

from blender_dp.core.head_list.cells import IntArray
from blender_dp.core.head_list.head_list import Record
from blender_dp.engine.population.record_key import RecordKey
from blender_dp.engine.tables import Frame, Tables


@dataclass(frozen=True, slots=True)
class TableRecordSums:
    """Records in classes: the key, sum, largest (sum of its class) and first_row."""

    tables: Tables
    sums: Frame
    key: RecordKey

    @classmethod
    def of(
        cls, tables: Tables, sums: Frame, key: RecordKey, *, class_width: int = 1
    ) -> "TableRecordSums":
        """Keep the sums; the class of a sum is the next multiple of ``class_width``."""
        raised = nw.col("sum") + (class_width - 1)
        kept = tables.keep(sums.with_columns(largest=raised - raised % class_width))
        return cls(tables, kept, key)

    def classes(self) -> tuple[IntArray, IntArray]:
        """Return every class and the number of records in it, smallest class first."""
        return self._sizes(self.sums)

    def fetch(self, chosen: Sequence[tuple[int, IntArray]]) -> Sequence[tuple[Record, int]]:
        """Return the records at these positions; a class is in order of first appearance."""
        if not chosen:
            return []
        classes = [largest for largest, _ in chosen]
        positions = self.tables.upload(
            {
                "largest": np.repeat(classes, [len(at) for _, at in chosen]).tolist(),
                "at": np.concatenate([at + 1 for _, at in chosen]).tolist(),
            }
        )
        wanted = self.sums.filter(nw.col("largest").is_in(classes))
        ranked = wanted.with_columns(at=nw.col("first_row").rank("ordinal").over("largest"))
        at_positions = ranked.join(positions, on=["largest", "at"], how="semi")
        found = self.tables.fetch(self.key.with_names(at_positions))
        columns = (found[name].to_pylist() for name in ("query", "url", "sum"))
        return [(Record(query, url), total) for query, url, total in zip(*columns, strict=True)]

    def sums_of(self, records: Sequence[Record]) -> IntArray:
        """Return the sum of each of these records."""
        named = self.tables.upload(
            {
                "query": [record.query for record in records],
                "url": [record.url for record in records],
                "place": list(range(len(records))),
            }
        )
        sums_of = self.key.with_names(self.sums).join(named, on=["query", "url"], how="inner")
        given = self.tables.fetch(sums_of.select("place", "sum"))
        sums = np.zeros(len(records), dtype=np.int64)
        sums[given["place"].to_numpy()] = given["sum"].to_numpy()
        return sums

    def largest_by_query(self) -> tuple[IntArray, IntArray]:
        """Return every sum that is the largest of a query's records, with its number of queries."""
        largest = self.key.with_names(self.sums).group_by("query").agg(largest=nw.col("sum").max())
        return self._sizes(largest)

    def _sizes(self, sums: Frame) -> tuple[IntArray, IntArray]:
        """Return every value of ``largest`` and how often it occurs, smallest first."""
        sizes = sums.group_by("largest").agg(size=nw.len().cast(nw.Int64)).sort("largest")
        found = self.tables.fetch(sizes)
        return found["largest"].to_numpy(), found["size"].to_numpy()
