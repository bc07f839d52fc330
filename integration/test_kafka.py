"""Streams from Kafka, with a broker in a process of its own: kills, restarts, and input that is not as it should be."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from examples import kafka_alerts
from integration import kafka_job
from integration.kafka_job import matches, parsed, stream, topic
from integration.streams import LONG, ROOT, START, Job
from scripts.broker import Broker, broker, environment

KILLS = 10 if LONG else 1
DAY = 86400.0

Message = tuple[int, str | None]  # partition, value


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def event(number: int, seconds: float, kind: str, key: int, p: int) -> Message:
    """Kafka's partition depends on the key, as it usually does."""
    moment = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return key % 2, json.dumps({"type": kind, "ts": moment, "id": number, "key": f"k{key}", "p": p})


def random_events(n: int, rng: random.Random, keys: Sequence[int] = range(40), begin: float = 0) -> list[Message]:
    """Twenty events in a second, which arrive out of order by up to five seconds."""
    arrivals = sorted((i * 0.05 + rng.uniform(0, 5), i) for i in range(n))
    return [event(i, begin + i * 0.05, rng.choice("AABBCX"), rng.choice(keys), rng.randrange(3)) for _, i in arrivals]


def tick(seconds: float, key: int = 0) -> list[Message]:
    """An event that meets no condition, and lets the watermark pass what came before it."""
    return [event(-1, seconds, "X", key, 0)]


def send(spark: SparkSession, kafka: Broker, name: str, messages: Sequence[Message]) -> None:
    rows = spark.createDataFrame(list(messages), "partition INT, value STRING").coalesce(1)
    rows.write.format("kafka").option("kafka.bootstrap.servers", kafka.address).option("topic", name).save()


def ids(df: DataFrame) -> set[str]:
    return {row.match_id for row in df.where("match_id IS NOT NULL").select("match_id").collect()}


def batch_ids(spark: SparkSession, kafka: Broker, name: str) -> set[str]:
    return ids(matches(parsed(topic(spark, kafka.address, name))))


class Live:
    """A stream over a topic in this process, with its rows in memory."""

    def __init__(self, spark: SparkSession, folder: Path, name: str, matches: DataFrame) -> None:
        self.spark, self.name = spark, name
        out = matches.writeStream.format("memory").queryName(name).option("checkpointLocation", str(folder / name))
        self.query = out.start()

    def rows(self) -> DataFrame:
        """What it has returned when all that is in the topic was read."""
        self.query.processAllAvailable()
        return self.spark.table(self.name)

    def values(self, metric: str) -> list[int]:
        progress = [p for p in self.query.recentProgress if p["observedMetrics"]]
        return [row[metric] for p in progress for row in p["observedMetrics"].values()]

    def sum(self, metric: str) -> int:
        return sum(self.values(metric))


def test_the_broker_of_a_script_ends_with_it(tmp_path: Path) -> None:
    """Also when the script gets SIGTERM, as from `timeout`."""
    show = "import os, time; print(os.environ['KAFKA'], flush=True); time.sleep(600)"
    script = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts" / "broker.py"), sys.executable, "-c", show],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert script.stdout is not None
    host, port = script.stdout.readline().strip().split(":")

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0

    assert listens()
    script.terminate()
    assert script.wait(30) == 143
    assert not listens()
    assert list(tmp_path.iterdir()) == []


def test_driver_and_broker_are_killed(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)
    delay = "60 seconds"
    events = random_events(kafka_job.PER_TRIGGER * (4 * KILLS + 4), rng)
    half = len(events) // 2
    send(spark, kafka, "events", events[:half])
    for _ in range(KILLS):
        job = Job(tmp_path, kafka.address, delay, module="integration.kafka_job")
        try:
            job.wait_for_commits(1 + rng.randrange(3))
            time.sleep(rng.uniform(0, 0.5))
            assert not job.ended(), (tmp_path / "log").read_text(errors="replace")[-5000:]
        finally:
            job.kill()
    running = kafka_job.start(spark, tmp_path, kafka.address, delay)
    try:
        before = job.commits()
        while job.commits() < before + 1:
            assert running.isActive, running.exception()
            time.sleep(0.02)
        kafka.kill()
        time.sleep(rng.uniform(0, 1))
        kafka.start()
        send(spark, kafka, "events", [*events[half:], *tick(DAY)])
        running.processAllAvailable()
    finally:
        running.stop()

    batch = matches(parsed(topic(spark, kafka.address, "events")))
    right = {row.match_id: row.value for row in batch.selectExpr("match_id", "to_json(struct(*)) AS value").collect()}
    rows = topic(spark, kafka.address, "matches").selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)").collect()
    print(f"{len(right)} matches, {len(rows)} rows")  # Kafka's sink writes each of them at least once
    assert len(right) > 100
    assert {row.key: row.value for row in rows} == right


def test_malformed_json_is_counted(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    rng = random.Random(1)
    events = random_events(600, rng)
    malformed: list[Message] = [
        (0, None),
        (0, ""),
        (1, "no JSON"),
        (1, '{"type": "A", "ts": "2026-01-01T00:00:0'),
        (0, "[1, 2]"),
        (1, '{"type": "A", "ts": "soon", "id": 1, "key": "k1", "p": 1}'),
        (0, '{"type": "A", "id": 1, "key": "k1", "p": 1}'),
    ]
    mixed = [*events, *malformed]
    rng.shuffle(mixed)  # within one micro-batch
    send(spark, kafka, "malformed", mixed)
    raw = stream(spark, kafka.address, "malformed", len(mixed))
    live = Live(spark, tmp_path, "malformed", matches(parsed(raw).withWatermark("ts", "5 seconds")))
    live.rows()
    send(spark, kafka, "malformed", tick(DAY))
    found = ids(live.rows())
    live.query.stop()
    assert live.sum("nullTimes") == len(malformed)
    assert live.sum("input") == len(mixed) + 1
    assert live.sum("late") == 0
    assert len(found) > 20
    assert found == batch_ids(spark, kafka, "malformed")


def test_an_idle_partition_holds_nothing_back(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    """When it speaks again with events that are too old, these are late, counted and returned."""
    rng = random.Random(2)
    send(spark, kafka, "silent", random_events(300, rng))
    events = parsed(stream(spark, kafka.address, "silent")).withWatermark("ts", "60 seconds")
    live = Live(spark, tmp_path, "silent", matches(events, late="rows"))
    live.rows()
    even = range(0, 40, 2)
    for part in range(3):
        send(spark, kafka, "silent", random_events(300, rng, even, 20 + 15 * part))
        live.rows()
    send(spark, kafka, "silent", tick(DAY))
    right = batch_ids(spark, kafka, "silent")
    assert len(right) > 50
    assert ids(live.rows()) == right
    assert live.sum("held") > 0
    assert live.sum("late") == 0
    returned = random_events(30, rng, [1], 20)
    send(spark, kafka, "silent", returned)
    late = live.rows().where("late IS NOT NULL")
    live.query.stop()
    counted = live.sum("late")
    assert counted > 10
    assert late.count() == counted
    assert ids(live.rows()) == right


def test_a_time_stamp_a_day_ahead(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    """One such event makes all that come after it late, and they are counted and returned. If events from the future
    are kept apart before the watermark, nothing is late."""
    rng = random.Random(3)
    name = "ahead"
    first, second = random_events(300, rng), random_events(300, rng, begin=15)
    raw = parsed(stream(spark, kafka.address, name))
    send(spark, kafka, name, [*first, *tick(DAY)])
    naive = Live(spark, tmp_path, "naive", matches(raw.withWatermark("ts", "60 seconds"), late="rows"))
    limit = (START + timedelta(hours=1)).isoformat()  # in a job: current_timestamp() + INTERVAL 1 HOUR
    now = f"ts IS NULL OR ts <= TIMESTAMP '{limit}'"
    kept = raw.where(now)
    assert parsed(topic(spark, kafka.address, name)).where(f"NOT ({now})").count() == len(tick(DAY))
    careful = Live(spark, tmp_path, "careful", matches(kept.withWatermark("ts", "60 seconds"), late="rows"))
    for live in (naive, careful):
        live.rows()
    send(spark, kafka, name, [*second, (0, "no JSON")])
    late = [live.rows().where("late IS NOT NULL").count() for live in (naive, careful)]
    assert [naive.sum("late"), careful.sum("late")] == late
    assert late[0] > 150  # but for those that meet no condition
    assert late[1] == 0
    assert [naive.sum("nullTimes"), careful.sum("nullTimes")] == [1, 1]
    send(spark, kafka, name, tick(3000))
    found = ids(careful.rows())
    for live in (naive, careful):
        live.query.stop()
    assert len(found) > 20
    assert found == batch_ids(spark, kafka, name)


def test_a_backlog(spark: SparkSession, kafka: Broker, tmp_path: Path) -> None:
    """The partitions of a backlog drift apart, and events are late by more than the delay. None is if each partition is
    an input, and none if a batch reads what is before some time, and the stream what is after it."""
    rng = random.Random(4)
    name, delay = "backlog", "6 seconds"
    even = random_events(600, rng, range(0, 40, 2))
    odd = random_events(600, rng, range(1, 40, 2), 24)  # this partition begins later
    send(spark, kafka, name, [*even, *odd, *tick(DAY), *tick(DAY, key=1)])
    right = batch_ids(spark, kafka, name)

    naive = Live(
        spark, tmp_path, "drifting", matches(parsed(stream(spark, kafka.address, name)).withWatermark("ts", delay))
    )
    found = ids(naive.rows())
    naive.query.stop()
    assert naive.sum("late") > 10
    assert len(right) > 50
    assert found < right
    # The delay that would have been needed suffices.
    needed = 6000 + max(naive.values("lateness"))
    enough = matches(parsed(stream(spark, kafka.address, name)).withWatermark("ts", f"{needed} milliseconds"))
    longer = Live(spark, tmp_path, "longer", enough)
    found = ids(longer.rows())
    longer.query.stop()
    assert longer.sum("late") == 0
    assert found == right

    def one(partition: int) -> DataFrame:
        assign = json.dumps({name: [partition]})
        source = {"kafka.bootstrap.servers": kafka.address, "startingOffsets": "earliest", "assign": assign}
        reader = spark.readStream.format("kafka").options(**source, maxOffsetsPerTrigger=150)
        return parsed(reader.load()).withWatermark("ts", delay)

    united = Live(spark, tmp_path, "united", matches(one(0).union(one(1))))
    found = ids(united.rows())
    united.query.stop()
    assert united.sum("late") == 0
    assert found == right

    cut = f"end <= TIMESTAMP '{(START + timedelta(seconds=35)).isoformat()}'"
    before = ids(matches(parsed(topic(spark, kafka.address, name))).where(cut))
    recent = parsed(stream(spark, kafka.address, name, 10_000)).where(
        f"ts > TIMESTAMP '{(START + timedelta(seconds=25)).isoformat()}'"  # one window earlier
    )
    after = Live(spark, tmp_path, "after", matches(recent.withWatermark("ts", delay)).where(f"NOT {cut}"))
    found = ids(after.rows())
    after.query.stop()
    assert before
    assert found
    assert before | found == right
    assert not before & found


def test_the_example(
    spark: SparkSession, kafka: Broker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment(kafka).items():
        monkeypatch.setenv(name, value)
    kafka_alerts.main()
    alert = "card-7: 0.5, 1.2, 1.9 and then 480.0"
    first, *alerts, last = capsys.readouterr().out.splitlines()
    assert first == "Payments go to the topic payments; from the topic alerts comes:"
    assert alerts == [alert] * kafka_alerts.ALERTS
    assert last == "A batch over the topic finds the same alerts."
