"""Peer in plain Spark SQL, which counts without privacy, in a process of its own.

One random record of each user, the records counted, the fifty most frequent queries, and the
sampled records counted by their cell of that list: what a run must do too. The sample is drawn
in either of two forms: the one that a person writes first, and the fastest that we know.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

_SAMPLE = {
    "min_by": """
        SELECT user, record.query, record.url
        FROM (
            SELECT user, min_by(struct(query, url), key) AS record
            FROM (SELECT user, query, url, rand() AS key FROM log) GROUP BY user
        )
    """,
    # Numbers are smaller than texts to aggregate: a key that ends with the number of its row.
    "two scans": """
        SELECT /*+ BROADCAST(drawn) */ user, query, url
        FROM (SELECT query, url, row FROM log) JOIN (
            SELECT user, min(shiftleft(xxhash64(row) & 2147483647, 31) | row) & 2147483647 AS row
            FROM log GROUP BY user
        ) AS drawn USING (row)
    """,
}
_PAIRS = "SELECT query, url, count(*) AS n FROM sample GROUP BY query, url"
_HEAD = "SELECT query FROM pairs GROUP BY query ORDER BY sum(n) DESC LIMIT 50"
_CELLS = """
SELECT h.query, s.url, count(*) AS n FROM sample s JOIN head h ON s.query = h.query
GROUP BY h.query, s.url
"""


def main(path: str, form: str = "min_by") -> None:
    """Sample, count and rank."""
    spark = SparkSession.builder.getOrCreate()
    log = spark.read.parquet(path).select("*", sf.col("_metadata.row_index").alias("row"))
    log.createOrReplaceTempView("log")
    for name, sql in (("sample", _SAMPLE[form]), ("pairs", _PAIRS)):
        frame = spark.sql(sql).persist()
        frame.count()
        frame.createOrReplaceTempView(name)
    spark.sql("SELECT n, count(*) FROM pairs GROUP BY n").collect()
    spark.sql(_HEAD).persist().createOrReplaceTempView("head")
    print(len(spark.sql(_CELLS).collect()))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
