"""Reads the same backlog of a Kafka topic in several ways, and prints how many events were late and how many of the
matches were found: `make backlog`. The figures are in docs/operations.md.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from datetime import datetime, timedelta, timezone
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

import spark_cer
from spark_cer import cer

EVENTS = 20_000
PARTITIONS = 2
QUERY = "SELECT NEXT * FROM S WHERE A ; B ; C PARTITION BY [key] WITHIN 10 seconds"
SCHEMA = "type STRING, ts TIMESTAMP, key STRING"


def messages() -> list[tuple[int, str]]:
    """Ten events in a second with 40 keys, out of order by up to three seconds, each key in one of the partitions."""
    rng = random.Random(1)
    begin = datetime(2026, 1, 1, tzinfo=timezone.utc)
    sent = []
    for _, i in sorted((i / 10 + rng.uniform(0, 3), i) for i in range(EVENTS)):
        key = rng.randrange(40)
        at = (begin + timedelta(seconds=i / 10)).isoformat()
        sent.append((key % PARTITIONS, json.dumps({"type": rng.choice("ABCX"), "ts": at, "key": f"k{key}"})))
    return sent


def main() -> None:
    kafka = {"kafka.bootstrap.servers": os.environ["KAFKA"], "startingOffsets": "earliest"}
    builder = SparkSession.builder.master("local[2]").config("spark.jars", os.environ["KAFKA_JARS"])
    for name, value in {"sql.shuffle.partitions": "2", "ui.showConsoleProgress": "false", "log.level": "ERROR"}.items():
        builder = builder.config(f"spark.{name}", value)
    spark = spark_cer.configure(builder).getOrCreate()
    topic = spark.createDataFrame(messages(), "partition INT, value STRING").coalesce(1)
    topic.write.format("kafka").option("topic", "events").options(**kafka).save()
    query = cer(QUERY, time="ts")

    def parsed(topic: DataFrame) -> DataFrame:
        return topic.selectExpr(f"from_json(CAST(value AS STRING), '{SCHEMA}') AS event").select("event.*")

    def stream(bound: int | None, partitions: list[int]) -> DataFrame:
        reader = spark.readStream.format("kafka").options(**kafka).option("assign", json.dumps({"events": partitions}))
        return parsed((reader.option("maxOffsetsPerTrigger", bound) if bound else reader).load())

    begun = time.monotonic()
    right = parsed(spark.read.format("kafka").option("subscribe", "events").options(**kafka).load())
    latest = right.selectExpr("max(ts)").first()
    assert latest
    # What ends within the longest delay before the last event still waits, and is not compared.
    until = latest[0] - timedelta(minutes=2)
    found = {row.match_id for row in right.transform(query).where(f"end < TIMESTAMP '{until}'").collect()}
    print(f"{'batch':48} {'':>8} {len(found):6} of {len(found)}  {time.monotonic() - begun:5.1f} s", flush=True)

    def run(name: str, events: DataFrame) -> None:
        begun = time.monotonic()
        table = f"t{time.monotonic_ns()}"
        out = events.transform(query).writeStream.format("memory").queryName(table).trigger(availableNow=True)
        running = out.option("checkpointLocation", tempfile.mkdtemp(prefix="spark-cer-backlog-")).start()
        running.awaitTermination()
        rows = [row for p in running.recentProgress for row in p["observedMetrics"].values()]
        late, ids = sum(row.late for row in rows), {row.match_id for row in spark.table(table).collect()}
        seconds = time.monotonic() - begun
        print(f"{name:48} {late:5} late {len(found & ids):6} of {len(found)}  {seconds:5.1f} s", flush=True)

    all_of_them = list(range(PARTITIONS))
    for bound in (300, 1000, 3000, None):
        name = f"5 s, {bound} per trigger" if bound else "5 s, no bound"
        run(name, stream(bound, all_of_them).withWatermark("ts", "5 seconds"))
    for delay in (20, 60):
        run(f"{delay} s, 300 per trigger", stream(300, all_of_them).withWatermark("ts", f"{delay} seconds"))
    parts = [stream(300 // PARTITIONS, [p]).withWatermark("ts", "5 seconds") for p in all_of_them]
    run("5 s, 300 per trigger, each partition an input", reduce(DataFrame.union, parts))


if __name__ == "__main__":
    main()
