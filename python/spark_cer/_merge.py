"""Matches into a table, each of them once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark import StorageLevel
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

# In one IN of a statement. Oracle takes 1,000.
_IDS = 1000


def merge(matches: DataFrame, table: str, *, jdbc: Mapping[str, str] | None = None) -> None:
    """Adds the matches of a micro-batch to a table, but for those that the table already has. So a micro-batch that is
    run again after a failure leaves no match twice. For ``foreachBatch``:

    >>> alerts.writeStream.foreachBatch(lambda batch, _: spark_cer.merge(batch, "alerts"))

    Rows are the same if they have the same ``match_id`` and, in the matches of :func:`cer_rules`, the same ``rule_id``.
    A call computes the matches once. If they go to more than one place, call ``batch.persist()`` before and
    ``batch.unpersist()`` after, so that all of them together compute the matches once. The table must exist, and have
    the columns of the matches and no others.

    :param table: a table of a format with MERGE, such as Delta or Iceberg; or a table of a database
    :param jdbc: how to reach the database: the options of Spark's data source ``jdbc``, but for ``dbtable``. In the
        database, make ``match_id`` (with ``rule_id``) the primary key: Spark writes in several transactions, and only
        the database can refuse a row that another program writes at the same moment
    """
    if not isinstance(matches, DataFrame):
        raise PySparkTypeError(f"merge() takes a DataFrame of Spark, not {matches.__class__.__name__}.")
    if matches.isStreaming:
        raise PySparkValueError(
            "merge() takes the matches of one micro-batch: "
            "matches.writeStream.foreachBatch(lambda batch, _: spark_cer.merge(batch, table))"
        )
    if "match_id" not in matches.columns:
        raise PySparkValueError(
            "merge() knows matches by their match_id, and these have no such column, as those of COUNT(*)."
        )
    if jdbc is not None:
        _must_fit_database(matches)
    keys: list[str] = [name for name in ("rule_id", "match_id") if name in matches.columns]
    # What the caller keeps stays: other sinks of the same micro-batch read it.
    ours = matches.storageLevel == StorageLevel.NONE
    if ours:
        matches.persist()
    try:
        # Whatever is written: Spark commits the state of a stream only if all of its rows are computed.
        if matches.count() == 0:
            return
        if not matches.where("match_id IS NULL").isEmpty():
            raise PySparkValueError(
                "merge() knows matches by their match_id, and some rows have none: late events, or counts of COUNT(*). "
                "Write these elsewhere, and merge matches.where('match_id IS NOT NULL')."
            )
        once = matches.dropDuplicates(keys)
        if jdbc is None:
            _into_table(once, table, keys)
        else:
            _into_database(once, table, keys, jdbc)
    finally:
        if ours:
            matches.unpersist()


def _into_table(matches: DataFrame, table: str, keys: list[str]) -> None:
    same = " AND ".join(f"old.{key} = new.{key}" for key in keys)
    name = table.replace("{", "{{").replace("}", "}}")
    matches.sparkSession.sql(
        f"MERGE INTO {name} AS old USING {{matches}} AS new ON {same} WHEN NOT MATCHED THEN INSERT *", matches=matches
    )


def _into_database(matches: DataFrame, table: str, keys: list[str], jdbc: Mapping[str, str]) -> None:
    spark = matches.sparkSession
    options = {**jdbc, "dbtable": table}
    ids = sorted({row.match_id for row in matches.select("match_id").collect()})
    there = spark.read.format("jdbc").options(**options).load().select(*keys)
    # The database looks these up by its index, and the rest of the table is not read.
    parts = [there.where(col("match_id").isin(ids[i : i + _IDS])) for i in range(0, len(ids), _IDS)]
    new = matches.join(reduce(DataFrame.unionAll, parts), keys, "left_anti").select(*matches.columns)
    new.write.format("jdbc").options(**options).mode("append").save()


def _must_fit_database(matches: DataFrame) -> None:
    for field in matches.schema.fields:
        if _is_nested(field.dataType):
            raise PySparkValueError(
                f"A database has no column for '{field.name}', {field.dataType.simpleString()}: select its fields, "
                f"or to_json({field.name})."
            )


def _is_nested(of: DataType) -> bool:
    return isinstance(of, (StructType, MapType, VariantType)) or (
        isinstance(of, ArrayType) and _is_nested(of.elementType)
    )
