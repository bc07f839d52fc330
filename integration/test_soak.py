"""Many keys, most of them idle: after the window has passed, neither the state nor the heap grows."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from integration import stream_job
from integration.streams import LONG, line

KEYS = 200_000 if LONG else 5_000
BATCHES = 80 if LONG else 24
PERIOD = 10  # seconds of events in a micro-batch: with WITHIN 10 seconds, a key has state for two or three
HOT = 20  # keys that are never idle


def write_batch(folder: Path, n: int, rng: random.Random) -> int:
    """Writes new keys with a few events each, which then have no more events, and the hot keys. Returns the number of
    events."""
    fresh = [f"k{n}-{i}" for i in range(KEYS // BATCHES)]
    rows = []
    for key in [*fresh, *fresh, *fresh, *(f"hot{i}" for i in range(HOT)), *(f"hot{i}" for i in range(HOT))]:
        seconds = (n + rng.random()) * PERIOD
        rows.append(line(rng.choice("ABBC"), seconds, n, key, 1, "n" * 100))
    write(folder, n, rows)
    return len(rows)


def write(folder: Path, n: int, rows: list[str]) -> None:
    """Writes a file and then moves it into place, because the stream is running."""
    hidden, path = folder / f".{n}", folder / f"{n:05}.csv"
    hidden.write_text("".join(rows), encoding="utf-8")
    os.utime(hidden, (1_700_000_000 + n, 1_700_000_000 + n))
    hidden.rename(path)


def heap(spark: SparkSession) -> int:
    """Bytes in use after a garbage collection."""
    jvm: Any = spark._jvm
    jvm.System.gc()
    runtime = jvm.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def measures(query: StreamingQuery, name: str) -> list[int]:
    """The values of a metric after each micro-batch in which a bucket was active."""
    observed = [next(iter(p["observedMetrics"].values()), None) for p in query.recentProgress]
    return [m[name] for m in observed if m is not None and m["buckets"] > 0]


def test_state_and_heap_are_flat(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(7)
    source = tmp_path / "events"
    source.mkdir()
    events = spark.readStream.schema(stream_job.SCHEMA).option("maxFilesPerTrigger", 1).csv(str(source))
    query = (
        stream_job.matches(events.withWatermark("ts", f"{PERIOD} seconds"))
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    heaps, written = [], 0
    try:
        for quarter in range(4):
            for n in range(quarter * BATCHES // 4, (quarter + 1) * BATCHES // 4):
                written += write_batch(source, n, rng)
            query.processAllAvailable()
            heaps.append(heap(spark))
        levels = {name: measures(query, name) for name in ("keys", "nodes", "bytes", "held")}
        for n in range(2):  # no key has any more events
            write(source, BATCHES + n, [line("X", 1e6 + n, -1, "far", 0, "")])
            query.processAllAvailable()
        last = {name: measures(query, name)[-1] for name in levels}
        late = sum(measures(query, "late"))
    finally:
        query.stop()
    print({name: [min(v), max(v)] for name, v in levels.items()}, "heap", heaps, "of", written, "events")
    half = BATCHES // 2
    for name, values in levels.items():
        assert len(values) >= BATCHES
        assert 0 < max(values[half:]) <= 1.3 * max(values[:half]), (name, values)
    assert max(levels["keys"]) < KEYS / 4
    assert heaps[3] <= 1.2 * heaps[1] + (16 << 20), heaps
    assert late == 0
    assert (last["keys"], last["nodes"], last["held"]) == (0, 0, 0)
