"""From an event in Kafka to its match in Kafka: Real-Time Mode beside micro-batches and beside Flink CEP, and the speed
at which a backlog is read: `make bench-live`. Every engine gets events of the same kind at the same rate, one after the
other, and its matches are compared with those of a batch over its events.

The latency of a match is the time from when its last event was made until Kafka has the match. A long batch of
Real-Time Mode begins where the one before has ended, and in between nothing flows. Events that were made before the
first match of their long batch was in Kafka waited for this, and are counted apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import spark_cer
from spark_cer import cer

ROOT = Path(__file__).resolve().parent.parent
BROKER = os.environ.get("KAFKA", "")
QUERY = (
    "SELECT c FROM S WHERE A AS a ; B AS b ; C AS c "
    "FILTER a.ref = b.ref AND a.ref = c.ref PARTITION BY [key] WITHIN 10 seconds"
)
SCHEMA = "type STRING, id BIGINT, key BIGINT, ref STRING, ts BIGINT"
LONG_BATCH = 20
PER_TRIGGER = 50_000
SETTINGS = {
    "spark.jars": os.environ.get("KAFKA_JARS", ""),
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


@dataclass(frozen=True)
class Match:
    """:param made: when its last event was made, in milliseconds
    :param there: when Kafka got the match
    :param batch: when its micro-batch began, or 0
    """

    id: int
    made: float
    there: float
    batch: int

    @property
    def latency(self) -> float:
        return self.there - self.made


def program(main: str, *arguments: object) -> subprocess.Popen[str]:
    """A program of jvm/peers/flink."""
    classpath = (ROOT / "jvm" / "peers" / "flink" / "target" / "classpath").read_text(encoding="utf-8")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    opened = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.util", "java.lang")]
    return subprocess.Popen(
        [java, *opened, "-Xmx1g", "-cp", classpath, f"sparkcer.peers.{main}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def await_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout
    for said in process.stdout:
        if said.strip() == line:
            return
    raise RuntimeError(f"{process.args!r} ended with {process.wait()}")


def topic(spark: SparkSession, name: str) -> DataFrame:
    return spark.read.format("kafka").options(**kafka(), subscribe=name).load()


def kafka() -> dict[str, str]:
    return {"kafka.bootstrap.servers": BROKER, "startingOffsets": "earliest"}


def parsed(messages: DataFrame) -> DataFrame:
    event = messages.selectExpr(f"from_json(CAST(value AS STRING), '{SCHEMA}') AS event").select("event.*")
    return event.selectExpr("type", "id", "key", "ref", "timestamp_micros(ts) AS ts")


def start(spark: SparkSession, name: str, real_time: bool) -> StreamingQuery:
    reader = spark.readStream.format("kafka").options(**kafka(), subscribe=f"events-{name}")
    if not real_time:
        reader = reader.option("maxOffsetsPerTrigger", PER_TRIGGER)
    found = parsed(reader.load()).transform(cer(QUERY, time="ts"))
    rows = found.selectExpr(
        "to_json(struct(c.id AS id, unix_micros(c.ts) AS ts, unix_millis(current_timestamp()) AS batch)) AS value"
    )
    writer = rows.writeStream.format("kafka").options(**kafka(), topic=f"matches-{name}").outputMode("update")
    trigger = {"realTime": f"{LONG_BATCH} seconds"} if real_time else {"processingTime": "0 seconds"}
    return writer.trigger(**trigger).option("checkpointLocation", tempfile.mkdtemp(prefix="spark-cer-live-")).start()


def matches(spark: SparkSession, name: str) -> list[Match]:
    value = "from_json(CAST(value AS STRING), 'id BIGINT, ts BIGINT, batch BIGINT')"
    rows = topic(spark, f"matches-{name}").selectExpr(f"{value} AS m", "unix_millis(timestamp) AS there")
    return [Match(r.m.id, r.m.ts / 1000, r.there, r.m.batch) for r in rows.collect()]


def right(spark: SparkSession, name: str) -> set[int]:
    """The last events of the matches of a batch."""
    found = parsed(topic(spark, f"events-{name}")).transform(cer(QUERY, time="ts"))
    return {row.id for row in found.selectExpr("c.id AS id").collect()}


def await_matches(spark: SparkSession, name: str, expected: set[int], seconds: float) -> list[Match]:
    deadline = time.monotonic() + seconds
    while True:
        found = matches(spark, name)
        if {m.id for m in found} >= expected or time.monotonic() > deadline:
            return found
        time.sleep(1)


@contextmanager
def ours(spark: SparkSession, name: str, real_time: bool) -> Iterator[None]:
    running = start(spark, name, real_time)
    try:
        yield
        error = running.exception()
        if error is not None:
            raise error
    finally:
        spark.sparkContext.setLogLevel("OFF")  # the parts of a long batch that is stopped complain of each other
        running.stop()
        spark.sparkContext.setLogLevel("ERROR")


@contextmanager
def flink(name: str) -> Iterator[None]:
    process = program("FlinkLive", BROKER, f"events-{name}", f"matches-{name}")
    try:
        await_line(process, "ready")
        yield
    finally:
        process.kill()
        process.wait()


def percentiles(latencies: Sequence[float]) -> tuple[float, float, float]:
    found = sorted(latencies)
    p50, p90, p99 = (found[min(len(found) - 1, int(len(found) * p))] for p in (0.5, 0.9, 0.99))
    return p50, p90, p99


def within_batches(found: list[Match]) -> list[Match]:
    """Those whose last event was made when their long batch had already put out a match."""
    first: dict[int, float] = {}
    for m in found:
        first[m.batch] = min(m.there, first.get(m.batch, m.there))
    return [m for m in found if m.made > first[m.batch]]


def row(what: str, found: Sequence[Match], more: str = "") -> tuple[float, float, float]:
    p = percentiles([m.latency for m in found])
    print(f"{what:44} {len(found):7} {round(p[0]):8} {round(p[1]):8} {round(p[2]):8}  {more}", flush=True)
    return p


def measure(
    spark: SparkSession,
    name: str,
    engine: Callable[[], AbstractContextManager[None]],
    rate: int,
    seconds: int,
    warm: int,
) -> list[Match]:
    """The matches whose last event was made after the engine had warmed up."""
    feed = program("LiveFeed", BROKER, f"events-{name}", f"matches-{name}", rate, rate * (warm + seconds))
    assert feed.stdin
    await_line(feed, "ready")
    with engine():
        time.sleep(10)
        begun = time.time() * 1000
        feed.stdin.write("\n")
        feed.stdin.flush()
        await_line(feed, "sent")
        expected = right(spark, name)
        found = await_matches(spark, name, expected, 60)
    ids = {m.id for m in found}
    if ids != expected:
        print(f"{name}: {len(expected - ids)} matches of the batch are missing, {len(ids - expected)} are not of it")
    return [m for m in found if m.made > begun + warm * 1000]


def backlog(spark: SparkSession, name: str, real_time: bool, number: int) -> float:
    """Events in a second, from the beginning of the first micro-batch until Kafka has the last match."""
    feed = program("LiveFeed", BROKER, f"events-{name}", f"matches-{name}", 0, number)
    await_line(feed, "sent")
    expected = right(spark, name)
    with ours(spark, name, real_time):
        found = await_matches(spark, name, expected, 180)
    assert {m.id for m in found} == expected, f"{name}: the matches are not those of the batch"
    return number / (max(m.there for m in found) - min(m.batch for m in found)) * 1000


def bar(what: str, figure: float, limit: float, at_most: bool) -> None:
    verdict = "PASS" if (figure <= limit if at_most else figure >= limit) else "MISS"
    print(f"{verdict}  {what:56} {figure:8.2f}  ({'at most' if at_most else 'at least'} {limit:g})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=1000, help="events in a second")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--warm", type=int, default=20, help="seconds before those that count")
    parser.add_argument("--backlog", type=int, default=400_000, help="events")
    o = parser.parse_args()
    builder = SparkSession.builder.master("local[8]")
    for setting, value in SETTINGS.items():
        builder = builder.config(setting, value)
    spark = spark_cer.configure(builder).getOrCreate()

    print(f"{o.rate} events in a second for {o.seconds} s, Kafka to Kafka; milliseconds")
    print(f"{'':44} {'matches':>7} {'p50':>8} {'p90':>8} {'p99':>8}")
    shape = (o.rate, o.seconds, o.warm)
    live = measure(spark, "real-time", lambda: ours(spark, "real-time", True), *shape)
    inner = within_batches(live)
    row(f"Real-Time Mode, batches of {LONG_BATCH} s", live)
    p50, _, p99 = row("  within a long batch", inner)
    between = [m for m in live if m not in set(inner)]
    if between:
        row("  at a boundary", between, f"{len({m.batch for m in between})} boundaries")
    row("micro-batches", measure(spark, "micro", lambda: ours(spark, "micro", False), *shape))
    row("Flink CEP", measure(spark, "flink", lambda: flink("flink"), *shape))
    micro, real_time = (backlog(spark, f"backlog-{r}", r, o.backlog) for r in (False, True))
    print(f"\nA backlog of {o.backlog} events, in a second:")
    print(f"{micro:8.0f} in micro-batches of {PER_TRIGGER}, {real_time:.0f} in Real-Time Mode\n")
    bar("Real-Time Mode, p50 within a long batch, ms", p50, 20, at_most=True)
    bar("Real-Time Mode, p99 within a long batch, ms", p99, 100, at_most=True)
    bar("Real-Time Mode / micro-batches, on a backlog", real_time / micro, 0.8, at_most=False)
    spark.stop()


if __name__ == "__main__":
    main()
