"""The stream of the tests as a separate program, so that it can be killed. Events and matches are in files.

    python -m integration.stream_job FOLDER [MASTER]

It continues from FOLDER/checkpoint, touches FOLDER/running when the query runs, and ends when all files are read.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import spark_cer

SCHEMA = "type STRING, ts TIMESTAMP, id INT, key STRING, p INT, note STRING"
DELAY_SECONDS = 5
QUERY = """SELECT * FROM S WHERE (A AS x ; B+ AS ys ; C AS z) FILTER x[p > 0] AND z[p < 2]
    PARTITION BY [key] WITHIN 10 seconds"""

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "1g",
    # Faster start of a JVM that runs only for seconds.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    # Even a run of a few seconds writes snapshots and changelogs, and cleans them up.
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    "spark.sql.streaming.stateStore.maintenanceInterval": "500ms",
    "spark.sql.streaming.minBatchesToRetain": "3",
}


def session(master: str, jars: Sequence[str] = ()) -> SparkSession:
    """:param jars: beside the engine's"""
    builder = SparkSession.builder.master(master).appName("integration").config("spark.jars", ",".join(jars))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return spark_cer.configure(builder).getOrCreate()


def matches(events: DataFrame) -> DataFrame:
    return events.transform(spark_cer.cer(QUERY, time="ts"))


def run(folder: Path, master: str) -> None:
    spark = session(master)
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).csv(str(folder / "events"))
    query = (
        matches(events.withWatermark("ts", f"{DELAY_SECONDS} seconds"))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "matches"))
    )
    (folder / "running").touch()
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "local[2]")
