"""Spark on this machine: spark-cer on a batch and on a stream, and what one would write without it."""

from __future__ import annotations

import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import by_hand
import pyarrow
import pyarrow.csv
import pyarrow.parquet
from jobs import ENOUGH, TEXTS, Job, fail, tell
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, lit
from pyspark.sql.streaming.listener import QueryProgressEvent, StreamingQueryListener
from pyspark.sql.streaming.query import StreamingQuery

import spark_cer

WARMING = 2
"""Micro-batches that do not count."""


def parts(events: int) -> int:
    """Files of a stream, each a micro-batch."""
    return max(2, min(8, events // 100_000))


def cpu_seconds() -> float:
    """Of all processes that belong to this run, Java and Python, where the system tells."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == os.getsid(0):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def parquet(job: Job) -> str:
    """The events as Parquet files in the order of time."""
    folder = job.file.with_suffix(".parquet")
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        unfinished.mkdir(exist_ok=True)
        types = pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(TEXTS, pyarrow.string()), strings_can_be_null=True
        )
        table = pyarrow.csv.read_csv(job.file, convert_options=types)
        size = -(-table.num_rows // parts(job.events))
        for part in range(parts(job.events)):
            path = unfinished / f"part-{part}.parquet"
            pyarrow.parquet.write_table(table.slice(part * size, size), path)
            os.utime(path, (1_000_000_000 + part, 1_000_000_000 + part))
        unfinished.rename(folder)
    return str(folder)


class CpuOfBatches(StreamingQueryListener):
    """The CPU time of a stream from micro-batch to micro-batch, without starting and stopping it."""

    def __init__(self) -> None:
        self.after = {-1: cpu_seconds()}

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 (a name of PySpark)
        self.after[event.progress.batchId] = cpu_seconds()

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 (a name of PySpark)
        pass

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 (a name of PySpark)
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 (a name of PySpark)
        pass

    def of(self, batches: list[int]) -> float:
        """From the end of the micro-batch before these to that of the last one that is known."""
        known = [b for b in sorted(self.after) if b <= batches[-1]]
        return self.after[known[-1]] - self.after.get(batches[0] - 1, self.after[-1])


class Runs:
    """Runs of one job in a session."""

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self.spark, self.job = spark, job

    def timed(self, work: Callable[[], None]) -> tuple[float, float] | None:
        """Seconds on the wall and of CPU, or None if the time was over."""
        over = threading.Event()

        def cancel() -> None:
            over.set()
            self.spark.sparkContext.cancelAllJobs()

        timer = threading.Timer(self.job.timeout, cancel)
        timer.start()
        cpu, begun = cpu_seconds(), time.monotonic()
        try:
            work()
        except Exception:
            if not over.is_set():
                raise
        finally:
            timer.cancel()
        return None if over.is_set() else (time.monotonic() - begun, cpu_seconds() - cpu)

    def cut_off(self) -> None:
        tell(
            self.job,
            read=None,
            seconds=self.job.timeout,
            cpu=self.job.timeout,
            matches=0,
            timed_out=True,
            heap=None,
        )

    def batch(self, build: Callable[[DataFrame], list[DataFrame]]) -> None:
        frames = build(self.spark.read.parquet(parquet(self.job)))
        matches = 0

        def counted() -> None:
            nonlocal matches
            matches = sum(frame.count() for frame in frames)

        def written() -> None:
            for frame in frames:
                frame.write.format("noop").mode("overwrite").save()

        begun = time.monotonic()
        if self.timed(counted) is None:
            return self.cut_off()
        while time.monotonic() - begun < self.job.warm_up:
            if self.timed(written) is None:
                return self.cut_off()
        passes: list[tuple[float, float] | None] = []
        begun = time.monotonic()
        while len(passes) < self.job.rounds and time.monotonic() - begun < ENOUGH:
            passes.append(self.timed(written))
        best = min((p for p in passes if p is not None), default=None)
        if best is None:
            return self.cut_off()
        seconds, cpu = best
        tell(
            self.job,
            read=self.job.events,
            seconds=seconds,
            cpu=cpu,
            matches=matches,
            timed_out=False,
            heap=None,
        )

    def stream(self, build: Callable[[DataFrame], DataFrame], folder: str) -> None:
        path = parquet(self.job)
        schema = self.spark.read.parquet(path).schema
        events = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").parquet(path)
        found = build(events).observe("found", count(lit(1)).alias("matches"))

        def started() -> StreamingQuery:
            return (
                found.writeStream.format("noop")
                .option("checkpointLocation", f"{folder}/{self.job.peer}-{self.job.workload}-{time.time_ns()}")
                .trigger(availableNow=True)
                .start()
            )

        if self.job.warm_up:
            warming = started()
            warming.awaitTermination(math.ceil(self.job.warm_up))
            warming.stop()
        spent = CpuOfBatches()
        self.spark.streams.addListener(spent)
        query = started()
        over = not query.awaitTermination(math.ceil(self.job.timeout))
        query.stop()
        self.spark.streams.removeListener(spent)
        progress = [p for p in query.recentProgress if p["numInputRows"] > 0]
        observed = [p["observedMetrics"].get("found") for p in query.recentProgress]
        matches = sum(row["matches"] for row in observed if row is not None)
        kept = progress[WARMING:] if len(progress) > WARMING else progress
        took = sorted(p["durationMs"]["triggerExecution"] / 1000 for p in kept)
        if not took:
            return self.cut_off()
        # An input that is read several times, as by joins, counts once.
        files = self.job.events / parts(self.job.events)
        tell(
            self.job,
            read=round(files * len(kept)),
            seconds=sum(took),
            cpu=spent.of([p["batchId"] for p in kept]),
            matches=matches,
            timed_out=over,
            heap=None,
            latency=took[len(took) // 2],
            slowest=took[-1],
            state=max((s["memoryUsedBytes"] for p in kept for s in p["stateOperators"]), default=0),
        )


def queries(job: Job, events: DataFrame, *, stream: bool) -> list[DataFrame]:
    time_columns: dict[str, Any] = {} if stream else {"time": "ts", "order": "id"}
    if len(job.statements) == 1:
        return [events.transform(spark_cer.cer(job.statements[0], **time_columns))]
    rules = {f"r{i}": text for i, text in enumerate(job.statements)}
    return [events.transform(spark_cer.cer_rules(rules, time="ts"))]


def joined(job: Job, events: DataFrame) -> list[DataFrame]:
    events.createOrReplaceTempView("e")
    return [events.sparkSession.sql(text) for text in job.statements]


def session(peer: str, folder: str) -> SparkSession:
    cores = 1 if peer.endswith("-1") else 2
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.local.dir", folder)
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    )
    spark = spark_cer.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def measure(spark: SparkSession, job: Job, folder: str) -> None:
    runs = Runs(spark, job)
    if re.fullmatch("spark-cer-batch-.", job.peer):
        runs.batch(lambda events: queries(job, events, stream=False))
    elif job.peer == "spark-cer-stream":
        runs.stream(lambda events: queries(job, events, stream=True)[0], folder)
    elif job.peer == "spark-joins":
        runs.batch(lambda events: joined(job, events))
    elif job.peer == "spark-by-hand":
        runs.stream(lambda events: by_hand.stateful(events, int(job.statements[0])), folder)
    else:
        runs.stream(lambda events: by_hand.stream_joins(events, int(job.statements[0])), folder)


def main(peer: str, paths: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="peers") as folder:
        spark = session(peer, folder)
        for job in map(Job.read, paths):
            try:
                measure(spark, job, folder)
            # A job that fails comes as an error of Py4J, one that Spark refuses as its own.
            except (PySparkException, Py4JError) as error:
                fail(job, error)
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
