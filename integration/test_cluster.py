"""On a cluster of processes, a stream that loses an executor while it runs has the same result as a batch."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from pyspark.sql import SparkSession

from integration.cluster import cluster
from integration.streams import LONG, Job, assert_same_as_batch, wait, write_events

LOSSES = 6 if LONG else 1


def test_an_executor_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)
    write_events(tmp_path, files=4 + 8 * LOSSES, per_file=300, rng=rng)
    with cluster(tmp_path / "cluster") as running:
        job = Job(tmp_path, running.master)
        try:
            for loss in range(LOSSES):
                job.wait_for_commits(2 + 6 * loss)
                wait(lambda: len(running.executors()) == 2 or job.ended(), 60)
                time.sleep(rng.uniform(0, 0.5))
                assert not job.ended(), (tmp_path / "log").read_text(errors="replace")[-5000:]
                os.kill(rng.choice(running.executors()), signal.SIGKILL)
            job.finish(300)
        finally:
            job.kill()
    assert_same_as_batch(spark, tmp_path)
