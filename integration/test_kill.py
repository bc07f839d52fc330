"""A stream whose driver is repeatedly killed with -9 neither loses nor duplicates matches."""

from __future__ import annotations

import random
import time
from pathlib import Path

from pyspark.sql import SparkSession

from integration.streams import LONG, Job, assert_same_as_batch, write_events

KILLS = 25 if LONG else 2


def test_kill_and_restart(spark: SparkSession, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)
    write_events(tmp_path, files=3 * KILLS + 2, per_file=300, rng=rng)
    places = []
    for _ in range(KILLS):
        job = Job(tmp_path)
        try:
            job.wait_for_commits(rng.randrange(3))
            time.sleep(rng.uniform(0, 0.5))
            assert not job.ended(), (tmp_path / "log").read_text(errors="replace")[-5000:]
        finally:
            job.kill()
        places.append(job.commits())
    print("killed after micro-batches", places)
    Job(tmp_path).finish(300)
    assert_same_as_batch(spark, tmp_path)
