"""End to end: a query over a DataFrame, as a batch and as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from spark_cer import cer

QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > 20] WITHIN 30 [t]"
FOUND = {("a", "b"), ("a", "d"), ("f", "h")}


def pairs(matches: DataFrame) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in matches.selectExpr("x.id", "y.id").collect()}


def named(row: Row) -> dict[str, Any]:
    """The values of an observed row by name. On Spark Connect, PySpark returns names and values separately."""
    found = row.asDict()
    if set(found) == {"schema", "values"}:
        return dict(zip([field["name"] for field in found["schema"]["fields"]], found["values"], strict=True))
    return found


def test_a_batch_gives_a_typed_dataframe(trades: DataFrame) -> None:
    matches = trades.transform(cer(QUERY, time="t"))
    event = "struct<type:string,t:bigint,price:double,id:string,card:string>"
    assert matches.dtypes == [
        ("match_id", "string"),
        ("start", "bigint"),
        ("end", "bigint"),
        ("x", event),
        ("y", event),
    ]
    assert pairs(matches) == FOUND
    assert matches.where("x.id = 'f'").select("start", "end", "y").first() == Row(
        start=40, end=60, y=Row(type="BUY", t=60, price=5.0, id="h", card="l")
    )


def test_a_stream_gives_the_same_rows(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    source = tmp_path / "events"
    for part in ("t < 25", "t BETWEEN 25 AND 40", "t > 40"):
        trades.where(part).coalesce(1).write.mode("append").parquet(str(source))
    stream = spark.readStream.schema(trades.schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    query = (
        stream.transform(cer(QUERY, time="t"))
        .writeStream.format("memory")
        .queryName("same_rows")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert len([p for p in query.recentProgress if p.numInputRows]) == 3
    batch = trades.transform(cer(QUERY, time="t"))
    assert sorted(spark.table("same_rows").collect()) == sorted(batch.collect())


def test_a_stream_goes_on_after_a_restart(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    source, sink = tmp_path / "events", tmp_path / "matches"
    for part in ("t < 25", "t BETWEEN 25 AND 40", "t > 40"):
        trades.where(part).coalesce(1).write.mode("append").parquet(str(source))
        query = (
            spark.readStream.schema(trades.schema)
            .parquet(str(source))
            .transform(cer(QUERY, time="t"))
            .writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(sink))
        )
        query.awaitTermination()
    assert pairs(spark.read.parquet(str(sink))) == FOUND


def test_late_events_are_counted(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    source = tmp_path / "events"
    for part in ("t > 40", "t <= 40"):
        trades.where(part).coalesce(1).write.mode("append").parquet(str(source))
    query = (
        spark.readStream.schema(trades.schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(source))
        .transform(cer(QUERY, time="t"))
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    observed = [p.observedMetrics for p in query.recentProgress if p.numInputRows]
    late = [
        named(row)["late"] for metrics in observed for name, row in metrics.items() if name.startswith("spark_cer_")
    ]
    # The first batch has the events after 40. SELL at 20 and HOLD are not late: they meet no condition and are dropped.
    assert late == [0, 5]


def test_partitions_run_apart(trades: DataFrame) -> None:
    matches = trades.transform(cer(QUERY.replace("WITHIN", "PARTITION BY [card] WITHIN"), time="t"))
    assert matches.columns == ["match_id", "card", "start", "end", "x", "y"]
    assert pairs(matches) == FOUND
    assert {row.card for row in matches.collect()} == {"k", "l"}


def test_variables_that_bind_many_are_arrays(trades: DataFrame) -> None:
    matches = trades.transform(
        cer("SELECT MAX x[id], ys[id, t] FROM S WHERE (SELL AS x ; BUY+ AS ys) FILTER x[price > 20] WITHIN 30 [t]")
    )
    assert matches.schema.simpleString() == (
        "struct<match_id:string,start:bigint,end:bigint,x:struct<id:string>,ys:array<struct<id:string,t:bigint>>>"
    )
    found = {(row.x.id, tuple(e.id for e in row.ys)) for row in matches.collect()}
    assert found == {("a", ("b",)), ("a", ("b", "d")), ("f", ("h",))}


def test_an_empty_dataframe_gives_no_match(trades: DataFrame) -> None:
    assert trades.limit(0).transform(cer(QUERY)).collect() == []


def test_columns_of_all_types_survive(spark: SparkSession) -> None:
    schema = """type STRING, t TIMESTAMP, n DECIMAL(20, 3), d DATE, b BINARY, l ARRAY<STRING>, m MAP<STRING, INT>,
        s STRUCT<p: INT, q: ARRAY<DOUBLE>>, f FLOAT, z BOOLEAN, empty STRING"""
    events = spark.sql(
        """SELECT 'A' type, timestamp'2026-01-02 03:04:05.000006' t, 12345678901234567.891bd n, date'2026-01-02' d, x'0102' b,
             array('u', null) l, map('k', 1) m, named_struct('p', 1, 'q', array(1.5d, double('NaN'))) s, 2.5f f, true z,
             cast(null as string) empty
           UNION ALL
           SELECT 'B', timestamp'2026-01-02 03:04:06', null, null, null, null, null, null, null, null, null"""
    ).to(spark.createDataFrame([], schema).schema)
    events = events.select("*")  # on Spark Connect, to() returns the given schema and not that of the server
    matches = events.transform(cer("SELECT * FROM S WHERE A ; B WITHIN 1 second", time="t"))
    expected = events.alias("a").join(events.alias("b")).where("a.type = 'A' AND b.type = 'B'")
    names = ", ".join(events.columns)
    assert (
        matches.selectExpr("to_json(A)", "to_json(B)", "start", "end").collect()
        == expected.selectExpr(
            f"to_json(struct({', '.join('a.' + c for c in events.columns)}))",
            f"to_json(struct({', '.join('b.' + c for c in events.columns)}))",
            "a.t AS start",
            "b.t AS end",
        ).collect()
    ), names
    assert matches.schema["A"].dataType == events.schema
