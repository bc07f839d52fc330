"""A stream from Kafka to Kafka as a separate program, so that it can be killed.

    python -m integration.kafka_job FOLDER BROKER DELAY [real-time]

It reads JSON events from the topic `events`, writes matches to the topic `matches`, continues from FOLDER/checkpoint,
and runs until it is killed; in Spark's Real-Time Mode if asked to.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, from_json
from pyspark.sql.streaming.query import StreamingQuery

from integration import stream_job
from scripts.broker import CONNECTOR
from spark_cer import cer

SCHEMA = "type STRING, ts TIMESTAMP, id INT, key STRING, p INT"
PER_TRIGGER = 300


def parsed(topic: DataFrame) -> DataFrame:
    """The events of a topic. Malformed JSON has NULL in all columns."""
    return topic.select(from_json(col("value").cast("string"), SCHEMA).alias("event")).select("event.*")


def topic(spark: SparkSession, broker: str, name: str) -> DataFrame:
    """All that a topic has now, as a batch."""
    options = {"kafka.bootstrap.servers": broker, "subscribe": name, "startingOffsets": "earliest"}
    return spark.read.format("kafka").options(**options).load()


def stream(spark: SparkSession, broker: str, name: str, per_trigger: int | None = PER_TRIGGER) -> DataFrame:
    """:param per_trigger: most events of a micro-batch; Real-Time Mode refuses such an option"""
    options = {"kafka.bootstrap.servers": broker, "subscribe": name, "startingOffsets": "earliest"}
    limit = {} if per_trigger is None else {"maxOffsetsPerTrigger": per_trigger}
    return spark.readStream.format("kafka").options(**options, **limit).load()


def matches(events: DataFrame, late: str = "count") -> DataFrame:
    return events.transform(cer(stream_job.QUERY, time="ts", late=late))


def start(spark: SparkSession, folder: Path, broker: str, delay: str, real_time: bool = False) -> StreamingQuery:
    events = parsed(stream(spark, broker, "events", None if real_time else PER_TRIGGER))
    writer = (
        matches(events.withWatermark("ts", delay))
        .selectExpr("match_id AS key", "to_json(struct(*)) AS value")
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", broker)
        .option("topic", "matches")
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    if real_time:
        spark.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", "500ms")
        writer = writer.outputMode("update").trigger(realTime="1 second")  # type: ignore[call-overload]  # not in its types
    return writer.start()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    real_time = sys.argv[4:] == ["real-time"]
    # In Real-Time Mode, two partitions of the topic and two of the shuffle have a slot each.
    spark = stream_job.session("local[4]" if real_time else "local[2]", CONNECTOR)
    running = start(spark, folder, sys.argv[2], sys.argv[3], real_time)
    (folder / "running").touch()
    running.awaitTermination()
