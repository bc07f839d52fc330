"""The same batch and the same stream on one Spark, from a thread to processes: how much of each resource they take.

A program: `on_spark.py MASTER FOLDER EACH` prints a line of JSON. The events are in FOLDER, and are written if they are
not. EACH is the number of events of each key in a window.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import spark_cer

EVENTS = 2_000_000
FILES = 8
KEYS = 10_000
PARTITIONS = 8
"""Of a shuffle, the same for every master, because state is kept for each of them."""
ROUNDS = 3
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def session(master: str, logs: str) -> SparkSession:
    builder = SparkSession.builder.master(master)
    for name, value in {
        "driver.memory": "3g",
        "executor.memory": "1g",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
        "log.level": "ERROR",
        "sql.shuffle.partitions": str(PARTITIONS),
        "sql.adaptive.coalescePartitions.enabled": "false",
        "eventLog.enabled": "true",
        "eventLog.dir": f"file://{logs}",
        "eventLog.compress": "false",
        "eventLog.rolling.enabled": "false",
        "sql.streaming.stateStore.providerClass": ROCKSDB,
        "sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }.items():
        builder = builder.config(f"spark.{name}", value)
    return spark_cer.configure(builder).getOrCreate()


def write(spark: SparkSession, folder: Path) -> None:
    """Events of random types and keys, one each millisecond, in files in the order of time."""
    if folder.exists():
        return
    unfinished = folder.with_suffix(".unfinished")
    for n in range(FILES):
        rows = spark.range(n * EVENTS // FILES, (n + 1) * EVENTS // FILES, 1, 1).selectExpr(
            "id",
            "substr('ABC', 1 + pmod(xxhash64(id, 1), 3), 1) AS type",
            f"pmod(xxhash64(id, 2), {KEYS}) AS key",
            "id AS ts",
        )
        rows.write.mode("append").parquet(str(unfinished))
    unfinished.rename(folder)


def tasks(logs: Path, wanted: Any) -> list[dict[str, Any]]:
    """The tasks of the jobs whose properties are wanted, from the log of Spark's events."""
    (log,) = logs.iterdir()
    stages: set[int] = set()
    found = []
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart" and wanted(event.get("Properties", {})):
            stages.update(event["Stage IDs"])
        if event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in stages:
            found.append(event)
    return found


def sums(ended: list[dict[str, Any]]) -> dict[str, float]:
    metrics = [e["Task Metrics"] for e in ended]
    return {
        "tasks": len(ended),
        "executors": len({e["Task Info"]["Executor ID"] for e in ended}),
        "cpu": sum(m["Executor CPU Time"] for m in metrics) / 1e9,
        "shuffled": sum(m["Shuffle Write Metrics"]["Shuffle Bytes Written"] for m in metrics),
        "shuffled_rows": sum(m["Shuffle Write Metrics"]["Shuffle Records Written"] for m in metrics),
    }


def changelogs(checkpoint: Path) -> list[int]:
    """Bytes that each micro-batch wrote of the state, all partitions together."""
    sizes: dict[int, int] = {}
    for file in (checkpoint / "state").rglob("*.changelog"):
        version = int(file.name.split(".")[0].split("_")[0])
        sizes[version] = sizes.get(version, 0) + file.stat().st_size
    return [sizes[v] for v in sorted(sizes)]


def main(master: str, folder: Path, each: int) -> None:
    # There is an event every millisecond.
    pattern = f"SELECT * FROM S WHERE A ; B ; C PARTITION BY [key] WITHIN {each * KEYS} [ts]"
    with tempfile.TemporaryDirectory(prefix="spark-cer-scaling-") as temporary:
        logs = Path(temporary, "logs")
        logs.mkdir()
        spark = session(master, str(logs))
        write(spark, folder)
        batch = spark.read.parquet(str(folder)).transform(spark_cer.cer(pattern, time="ts", order="id"))
        matches = batch.count()
        seconds = []
        for n in range(ROUNDS):
            spark.sparkContext.setJobGroup(f"round {n}", "")
            begun = time.monotonic()
            batch.write.format("noop").mode("overwrite").save()
            seconds.append(time.monotonic() - begun)
        checkpoint = Path(temporary, "checkpoint")
        schema = spark.read.parquet(str(folder)).schema
        events = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
        out = events.transform(spark_cer.cer(pattern)).writeStream.format("noop").trigger(availableNow=True)
        query = out.option("checkpointLocation", str(checkpoint)).start()
        query.awaitTermination()
        progress = [p for p in query.recentProgress if p.numInputRows > 0]
        kept = [row for p in progress for row in p.observedMetrics.values() if "buckets" in row and row.buckets]
        run = str(query.runId)
        spark.stop()
        of_batch = sums(tasks(logs, lambda p: p.get("spark.jobGroup.id") == f"round {seconds.index(min(seconds))}"))
        of_stream = sums(tasks(logs, lambda p: p.get("spark.jobGroup.id") == run))
        written = changelogs(checkpoint)
        result = {
            "master": master,
            "events": EVENTS,
            "keys": KEYS,
            "each": each,
            "partitions": PARTITIONS,
            "matches": matches,
            "batch": {**of_batch, "seconds": min(seconds)},
            "stream": {
                **of_stream,
                "batches": len(progress),
                "seconds": sorted(p.durationMs["triggerExecution"] / 1000 for p in progress)[len(progress) // 2],
                "keys": kept[-1].keys,
                "bytes": kept[-1].bytes,
                # The first micro-batches have an empty window behind them.
                "written": sum(written[1:]) / (len(written) - 1),
            },
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
