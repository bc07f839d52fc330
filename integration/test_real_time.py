"""Spark's Real-Time Mode from Kafka to Kafka, killed and started again."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from integration.kafka_job import matches, parsed, topic
from integration.streams import LONG, Job
from integration.test_kafka import DAY, random_events, send, tick
from scripts.broker import Broker, broker

KILLS = 5 if LONG else 1
DELAY = "60 seconds"


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def test_driver_is_killed(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)
    events = random_events(1000 * (KILLS + 1), rng)

    def job() -> Job:
        return Job(tmp_path, kafka.address, DELAY, "real-time", module="integration.kafka_job")

    for n in range(KILLS):
        send(spark, kafka, "events", events[n * 1000 : (n + 1) * 1000])
        running = job()
        try:
            running.wait_for_commits(1)
            time.sleep(rng.uniform(0, 1.5))
            assert not running.ended(), (tmp_path / "log").read_text(errors="replace")[-5000:]
        finally:
            running.kill()
    send(spark, kafka, "events", [*events[KILLS * 1000 :], *tick(DAY)])
    batch = matches(parsed(topic(spark, kafka.address, "events")))
    right = {row.match_id: row.value for row in batch.selectExpr("match_id", "to_json(struct(*)) AS value").collect()}
    assert len(right) > 100

    def written() -> list[tuple[str, str]]:
        rows = topic(spark, kafka.address, "matches").selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)")
        return [(row.key, row.value) for row in rows.collect()]

    running = job()
    try:
        deadline = time.monotonic() + 90
        while not {key for key, _ in written()} >= right.keys() and time.monotonic() < deadline:
            assert not running.ended(), (tmp_path / "log").read_text(errors="replace")[-5000:]
            time.sleep(0.5)
    finally:
        running.kill()
    rows = written()
    print(f"{len(right)} matches, {len(rows)} rows")  # each of them at least once
    assert dict(rows) == right
