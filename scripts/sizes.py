"""Measures what a stream keeps, in the checkpoint and on the heap: `make sizes`. The figures are in docs/operations.md.

Each line is a stream over a few files: what it keeps in the end, divided by the number of keys, events or seconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import spark_cer
from spark_cer import cer

N = 200_000
BATCHES = 4
NOTE = 64  # bytes of text in each event


def heap(spark: SparkSession) -> int:
    """Bytes in use after a garbage collection."""
    jvm: Any = spark._jvm
    for _ in range(2):
        jvm.System.gc()
    runtime = jvm.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def events(spark: SparkSession, folder: str, key: str, seconds: str) -> DataFrame:
    """N events, in the order of their id."""
    for n in range(BATCHES):
        rows = spark.range(n * N // BATCHES, (n + 1) * N // BATCHES, 1, 1).selectExpr(
            "'A' AS type",
            f"timestamp_seconds(1767225600 + {seconds}) AS ts",
            f"{key} AS key",
            f"repeat('n', {NOTE}) AS note",
        )
        rows.write.mode("append").parquet(folder)
    return spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(folder)


def measure(spark: SparkSession, what: str, of: Callable[[Any], int], stream: DataFrame, query: str, last: str) -> None:
    folder = tempfile.mkdtemp(prefix="spark-cer-sizes-")
    before = heap(spark)
    out = stream.transform(cer(query, time="ts")).writeStream.format("noop")
    running = out.option("checkpointLocation", folder).start()
    running.processAllAvailable()
    rows = [row for p in running.recentProgress for row in p["observedMetrics"].values() if row.buckets]
    on_heap, kept = heap(spark) - before, rows[-1]
    running.stop()
    n = of(kept)
    print(f"{what:34} {n:8,} {kept.bytes / n:10.0f} {on_heap / n:10.0f}  {last}", flush=True)


def main() -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    for name, value in {"sql.shuffle.partitions": "2", "ui.showConsoleProgress": "false", "log.level": "ERROR"}.items():
        builder = builder.config(f"spark.{name}", value)
    spark = spark_cer.configure(builder).getOrCreate()
    spark.range(10).count()
    print(f"{'bytes of':34} {'how many':>8} {'checkpoint':>10} {'heap':>10}  with {NOTE} bytes of text in an event")

    def folder() -> str:
        return tempfile.mkdtemp(prefix="spark-cer-sizes-") + "/events"

    pairs = "SELECT * FROM S WHERE A ; B PARTITION BY [key] WITHIN 10 hours"
    keys = events(spark, folder(), "id", "id * 0.01").withWatermark("ts", "0 seconds")
    measure(spark, "a key with one partial match", lambda m: m.keys, keys, pairs, "A ; B, one A for each key")
    few = events(spark, folder(), "id % 100", "id * 0.01").withWatermark("ts", "0 seconds")
    measure(spark, "an event in partial matches", lambda m: N, few, pairs, "A ; B, 2,000 A for each key")
    plus = pairs.replace("A ; B", "A+ ; B")
    measure(spark, "the same, in 2^2,000 matches", lambda m: N, few, plus, "A+ ; B, 2,000 A for each key")
    held = events(spark, folder(), "id % 100", "id * 0.01").withWatermark("ts", "10 hours")
    measure(spark, "an event that waits", lambda m: m.held, held, pairs, "the delay is longer than the stream")


if __name__ == "__main__":
    main()
