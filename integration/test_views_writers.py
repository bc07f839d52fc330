"""Three processes write to one table and maintain its views, and are killed with -9. No row is lost or doubled."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from integration import views_writer
from integration.streams import LONG, wait
from integration.views_process import kill, kill_at_work, minute_of, printed, start
from integration.views_writer import loss
from spark_cer import views

WRITERS = 3
BATCHES = 30 if LONG else 4
KILLS = 20


@pytest.fixture
def shared(spark: SparkSession, tmp_path: Path) -> views.Views:
    v = views.open(spark, str(tmp_path / "views"))
    v.create_table("M", views_writer.SCHEMA, time="t", length="1 minute")
    v.sql(views_writer.STATEMENTS)
    return v


def test_a_writer_is_killed(spark: SparkSession, shared: views.Views, tmp_path: Path) -> None:
    """The first writer is this process, which is running already. It repeats all that the killed one has done."""
    others = {n: start(tmp_path, "views_writer", n, BATCHES, log=f"log{n}") for n in (1, 2)}
    try:
        views_writer.write(spark, shared, 0, BATCHES)
        wait(lambda: any(row.writer == 2 for row in shared.read("M").collect()) or others[2].poll() is not None, 240)
        time.sleep(random.uniform(0, 0.5))
        kill_at_work(others[2], tmp_path, "log2")
        views_writer.write(spark, shared, 2, BATCHES)
        assert others[1].wait(240) == 0, printed(tmp_path, "log1")
    finally:
        for process in others.values():
            kill(process)
    check(shared)


@pytest.mark.skipif(not LONG, reason="takes minutes")
def test_writers_are_killed_and_started_again(shared: views.Views, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)

    def begin(n: int) -> subprocess.Popen[bytes]:
        return start(tmp_path, "views_writer", n, BATCHES, log=f"log{n}")

    running = [begin(n) for n in range(WRITERS)]
    hits = 0
    for _ in range(KILLS):
        time.sleep(rng.uniform(8, 20))
        victim = rng.randrange(WRITERS)
        hits += running[victim].poll() is None
        kill(running[victim])
        running[victim] = begin(victim)
    assert hits >= KILLS // 2, f"only {hits} of {KILLS} kills hit a program at work"
    for n, process in enumerate(running):
        assert process.wait(900) == 0, printed(tmp_path, f"log{n}")
    check(shared)


def check(v: views.Views) -> None:
    v.maintain()
    rows = sorted((minute_of(r.PART_TIMESTAMP), r.writer, r.loss) for r in v.read("M").collect())
    assert rows == [(m, n, loss(n, m)) for m in range(BATCHES) for n in range(WRITERS)]
    sums = {minute_of(r.PART_TIMESTAMP): (r.total, r.n) for r in v.read("Sums").collect()}
    each = [sum(loss(n, m) for n in range(WRITERS)) for m in range(BATCHES)]
    assert sums == {m: (each[m], WRITERS) for m in range(BATCHES)}
    running_sums = {minute_of(r.PART_TIMESTAMP): r.total for r in v.read("Running").collect()}
    assert running_sums == {m: sum(each[: m + 1]) for m in range(BATCHES)}
    assert v.maintain().count() == 0
