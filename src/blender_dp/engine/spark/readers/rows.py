"""Common columns of all logs on Spark, by the rules of :mod:`engine.duckdb.readers.sql`."""

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from blender_dp.core.head_list.head_list import NO_URL
from blender_dp.engine.duckdb.readers.sql import MISSING_USERS


def unless_blank(value: Column, parts: Collection[Column]) -> Column:
    """Return a value that is NULL where a part is missing or only spaces."""
    is_text = sf.lit(True)
    for part in parts:
        is_text = is_text & (sf.trim(part) != "")
    return sf.when(is_text, value) if parts else value


def log_rows(raw: DataFrame, *also: str | Column, never_blank: Collection[str] = ()) -> DataFrame:
    """Return user_key, query, url, opt_in if there is a group, and the columns of ``also``.

    Args:
        raw: Texts called user, query, perhaps url and perhaps group; NULL or blank if missing.
            Without a url, all records have the same one.
        also: Columns to pass on.
        never_blank: Columns that are known to be filled in every row.
    """
    has_url = "url" in raw.columns
    parts = ("query", "url") if has_url else ("query",)
    record = [sf.col(part) for part in parts if part not in never_blank]
    url = sf.col("url") if has_url else sf.lit(NO_URL)
    user = sf.col("user")
    who = unless_blank(user, [] if "user" in never_blank else [user])
    # The key is the id itself: Spark's hash tables take texts as keys, not as values.
    columns = [
        sf.when(~user.isin(*MISSING_USERS), who).alias("user_key"),
        unless_blank(sf.col("query"), record).alias("query"),
        unless_blank(url, record).alias("url"),
    ]
    if "group" in raw.columns:
        group = sf.col("group")
        is_opt_in = sf.when(group == "opt-in", True).when(group == "client", False)
        columns.append(is_opt_in.alias("opt_in"))
    return raw.select(*also, *columns)
