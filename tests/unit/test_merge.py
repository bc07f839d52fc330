"""Matches into a table of a database (Derby, which Spark carries): each of them once. Delta, Iceberg and PostgreSQL are
in integration/test_merge.py."""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession

import spark_cer
from spark_cer import _merge as implementation
from spark_cer import cer, cer_rules

QUERY = "SELECT FLAT x, y FROM S WHERE (SELL AS x ; BUY AS y) PARTITION BY [card] WITHIN 100 [t]"


@pytest.fixture
def database() -> dict[str, str]:
    """A new one, in the memory of Spark's driver."""
    return {"url": f"jdbc:derby:memory:{uuid.uuid4().hex};create=true"}


def create(database: dict[str, str], table: str, like: DataFrame) -> None:
    """With keys that Derby can compare."""
    keys = ", ".join(f"{name} VARCHAR(64)" for name in ("rule_id", "match_id") if name in like.columns)
    like.limit(0).write.format("jdbc").options(**database, dbtable=table, createTableColumnTypes=keys).save()


def rows(spark: SparkSession, database: dict[str, str], table: str) -> Counter[str]:
    found = spark.read.format("jdbc").options(**database, dbtable=table).load()
    return Counter(row[0] for row in found.selectExpr("to_json(struct(*))").collect())


def flat(matches: DataFrame) -> DataFrame:
    return matches.selectExpr("match_id", "card", "start", "`end` AS ended")


def test_a_match_is_there_once(
    spark: SparkSession, trades: DataFrame, database: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(implementation, "_IDS", 2)
    matches = flat(trades.transform(cer(QUERY, time="t")))
    create(database, "alerts", matches)
    right = Counter(row[0] for row in matches.selectExpr("to_json(struct(*))").collect())
    assert len(right) == 5
    spark_cer.merge(matches.limit(0), "alerts", jdbc=database)
    assert rows(spark, database, "alerts") == Counter()
    some = matches.orderBy("ended").limit(3)
    for part in (some, some, matches.unionAll(matches), matches):
        spark_cer.merge(part, "alerts", jdbc=database)
    assert rows(spark, database, "alerts") == right


def test_what_the_caller_keeps_stays(spark: SparkSession, trades: DataFrame, database: dict[str, str]) -> None:
    """A cache of the caller is not taken away, and merge() leaves none behind."""
    matches = flat(trades.transform(cer(QUERY, time="t")))
    create(database, "alerts", matches)
    none = matches.storageLevel
    spark_cer.merge(matches, "alerts", jdbc=database)
    assert matches.storageLevel == none
    kept = matches.persist().storageLevel
    assert kept != none
    for _ in range(2):
        spark_cer.merge(matches, "alerts", jdbc=database)
        assert matches.storageLevel == kept
    matches.unpersist()


def test_two_rules_can_find_the_same_match(spark: SparkSession, trades: DataFrame, database: dict[str, str]) -> None:
    rules = trades.transform(
        cer_rules({"one": QUERY.replace("FLAT ", ""), "two": QUERY.replace("FLAT ", "")}, time="t")
    )
    alerts = rules.selectExpr("rule_id", "match_id", "start", "to_json(events) AS events")
    create(database, "alerts", alerts)
    for part in (alerts.where("rule_id = 'one'"), alerts, alerts):
        spark_cer.merge(part, "alerts", jdbc=database)
    assert sum(rows(spark, database, "alerts").values()) == 10


def test_a_micro_batch_that_is_run_again(
    spark: SparkSession, trades: DataFrame, database: dict[str, str], tmp_path: Path
) -> None:
    """The function fails after it has written, as if the driver had been killed before Spark knew."""
    trades.coalesce(1).write.parquet(str(tmp_path / "trades"))
    right = flat(trades.transform(cer(QUERY, time="t")))
    create(database, "alerts", right)
    mark = tmp_path / "failed"

    def write(batch: DataFrame, _: int) -> None:
        spark_cer.merge(batch, "alerts", jdbc=database)
        if not mark.exists():
            mark.touch()
            raise RuntimeError("killed")

    events = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "trades"))
    out = flat(events.transform(cer(QUERY, time="t"))).writeStream.foreachBatch(write).trigger(availableNow=True)
    out = out.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(Exception, match="killed"):
        out.start().awaitTermination()
    found = rows(spark, database, "alerts")
    assert sum(found.values()) == 5
    out.start().awaitTermination()
    assert rows(spark, database, "alerts") == found


def test_what_is_refused(spark: SparkSession, trades: DataFrame, database: dict[str, str]) -> None:
    matches = trades.transform(cer(QUERY.replace("FLAT ", ""), time="t"))

    def refused(matches: DataFrame) -> str:
        with pytest.raises((PySparkTypeError, PySparkValueError)) as error:
            spark_cer.merge(matches, "alerts", jdbc=database)
        return str(error.value)

    kept = "struct<type:string,t:bigint,price:double,id:string,card:string>"
    assert refused(matches) == f"A database has no column for 'x', {kept}: select its fields, or to_json(x)."
    assert refused("alerts") == "merge() takes a DataFrame of Spark, not str."  # type: ignore[arg-type]
    assert (
        refused(trades)
        == "merge() knows matches by their match_id, and these have no such column, as those of COUNT(*)."
    )
    stream = spark.readStream.format("rate").load().selectExpr("'m' AS match_id")
    assert refused(stream) == (
        "merge() takes the matches of one micro-batch: matches.writeStream.foreachBatch(lambda batch, _: spark_cer.merge(batch, table))"
    )
    late = spark.sql("SELECT 'm' AS match_id UNION ALL SELECT CAST(NULL AS STRING)")
    assert refused(late) == (
        "merge() knows matches by their match_id, and some rows have none: late events, or counts of COUNT(*). "
        "Write these elsewhere, and merge matches.where('match_id IS NOT NULL')."
    )
