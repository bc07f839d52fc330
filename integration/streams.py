"""Helpers for the tests of running streams: events, the job as a process, and the comparison with a batch."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from integration import stream_job

LONG = bool(os.environ.get("CER_LONG"))
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
ROOT = Path(__file__).resolve().parent.parent


def write_events(folder: Path, files: int, per_file: int, rng: random.Random) -> None:
    """Writes events that arrive out of order within the delay, each with its own time. Each micro-batch has one file.

    Each of the last two files has one event in the far future that meets no condition. The first of them moves the
    watermark. The new watermark is in effect when the second one is read, and releases all events that wait.
    """
    (folder / "events").mkdir(parents=True)
    rows = []
    for i in range(files * per_file):
        seconds = i * 0.05
        kind, key = rng.choice("AABBCX"), f"k{rng.randrange(40)}"
        arrival = seconds + rng.uniform(0, stream_job.DELAY_SECONDS * 0.98)
        rows.append((arrival, line(kind, seconds, i, key, rng.randrange(3), "n" * rng.randrange(400))))
    rows.sort()
    parts = [[text for _, text in rows[n * per_file : (n + 1) * per_file]] for n in range(files)]
    parts += [[line("X", 1e6 + n, -1 - n, "k0", 0, "")] for n in range(2)]
    for n, part in enumerate(parts):
        path = folder / "events" / f"{n:05}.csv"
        path.write_text("".join(part), encoding="utf-8")
        os.utime(path, (1_700_000_000 + n, 1_700_000_000 + n))  # the file source reads files in this order


def line(kind: str, seconds: float, number: int, key: str, p: int, note: str) -> str:
    moment = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"{kind},{moment},{number},{key},{p},{note}\n"


class Job:
    """A run of a job in its own process group.

    :param arguments: of the job, after the folder
    """

    def __init__(self, folder: Path, *arguments: str, module: str = "integration.stream_job") -> None:
        self.folder = folder
        (folder / "running").unlink(missing_ok=True)
        self.before = self.commits()
        self.log = (folder / "log").open("a")
        # Temporary files, which a job that is killed cannot delete.
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        more = {
            "PYTHONPATH": str(ROOT / "python"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "TMPDIR": str(temporary),
            "SPARK_LOCAL_DIRS": str(temporary),
            "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={temporary}",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, str(folder), *arguments],
            cwd=ROOT,
            env={**os.environ, **more},
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def commits(self) -> int:
        """The number of micro-batches committed so far. Spark deletes the files of old ones, but goes on numbering."""
        names = [int(p.name) for p in (self.folder / "checkpoint" / "commits").glob("[0-9]*") if p.name.isdigit()]
        return max(names, default=-1) + 1

    def wait_for_commits(self, more: int) -> None:
        """Waits until the query runs and that many more micro-batches are committed, or until the job has ended.

        The first micro-batch must have begun. If the job is killed while it writes the very first offset, Spark refuses
        the checkpoint (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY). It has read nothing by then.
        """
        begun = [self.folder / "running", self.folder / "checkpoint" / "offsets"]
        wait(lambda: (begun[0].exists() and any(begun[1].glob("[0-9]*"))) or self.ended(), 120)
        wait(lambda: self.commits() >= self.before + more or self.ended(), 120)

    def ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        """Kills the whole process group at once: Python and its JVM."""
        if not self.ended():
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def finish(self, seconds: float) -> None:
        """Waits until the job ends by itself, which must be without an error."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.log.close()
        assert code == 0, (self.folder / "log").read_text(errors="replace")[-5000:]


def wait(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "this takes too long"
        time.sleep(0.02)


def assert_same_as_batch(spark: SparkSession, folder: Path) -> None:
    """The sink has the matches that a batch over the same events finds: none is lost, and none is duplicated."""

    def rows(df: DataFrame) -> Counter[str]:
        return Counter(row[0] for row in df.selectExpr("to_json(struct(*))").collect())

    sink = spark.read.parquet(str(folder / "matches"))
    batch = stream_job.matches(spark.read.schema(stream_job.SCHEMA).csv(str(folder / "events")))
    found, right = rows(sink), rows(batch)
    assert sum(right.values()) > 100
    assert sum((right - found).values()) == 0, f"lost: {list(right - found)[:3]}"
    assert sum((found - right).values()) == 0, f"doubled or wrong: {list(found - right)[:3]}"
    assert sink.select("match_id").distinct().count() == sum(found.values())
