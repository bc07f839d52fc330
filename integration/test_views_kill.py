"""If appends, streams and maintenance are killed with -9 again and again, the views are the same as without kills."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from integration import views_job
from integration.streams import LONG, wait
from integration.views_job import Row
from integration.views_process import kill, kill_at_work, minute_of, printed, start, version
from spark_cer import views

KILLS = 30 if LONG else 2
# More than the killed runs can do: each is killed after some 13 commits, and a batch needs 7.
BATCHES = 3 * KILLS + 4


@pytest.mark.parametrize("way", views_job.WAYS)
def test_kill_and_go_on(spark: SparkSession, tmp_path: Path, way: str) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)  # shown if the test fails
    rng = random.Random(seed)
    if way == "sink":
        views_job.write_files(tmp_path, seed, BATCHES)
    places = [run_and_kill(tmp_path, way, seed, rng) for _ in range(KILLS)]
    print("killed at versions", places)
    assert places == sorted(set(places)), "a run that was killed had done nothing"
    assert start(tmp_path, "views_job", way, seed, BATCHES).wait(900) == 0, printed(tmp_path)

    v = views.open(spark, str(tmp_path / "views"))
    rows = [row for batch in views_job.batches(seed, BATCHES) for row in batch]
    if way == "sink":  # the newest part is open
        newest = max(minute for minute, _, _ in rows)
        rows = [row for row in rows if row[0] < newest]
    assert v.maintain().count() == 0
    for name, right in naive(rows).items():
        columns = [c for c in v.read(name).columns if c not in ("t", "batch", "PART_TIMESTAMP")]
        found = Counter(
            (minute_of(row["PART_TIMESTAMP"]), *(row[c] for c in columns)) for row in v.read(name).collect()
        )
        assert sum(right.values()) > 0
        assert found == right, name


def run_and_kill(folder: Path, way: str, seed: int, rng: random.Random) -> int:
    """Kills the program at work, after some commits. Returns the version that it reached."""
    (folder / "running").unlink(missing_ok=True)
    process = start(folder, "views_job", way, seed, BATCHES)
    try:
        wait(lambda: (folder / "running").exists() or process.poll() is not None, 240)
        enough = version(folder) + rng.randrange(1, 14)
        wait(lambda: version(folder) >= enough or process.poll() is not None, 240)
        time.sleep(rng.uniform(0, 0.3))
        kill_at_work(process, folder)
    finally:
        kill(process)
    return version(folder)


def naive(rows: list[Row]) -> dict[str, Counter[tuple[object, ...]]]:
    """The table and the views, computed from their definitions. A view over M starts with the first part of M."""
    loss = {(minute, src): n for minute, src, n in rows}
    runs: dict[tuple[int, str], tuple[int, int]] = {}
    for minute, src in sorted(loss):
        n = loss[minute, src]
        if n > 10:
            count, total = runs.get((minute - 1, src), (0, 0))
            runs[minute, src] = (count + 1, total + n)
    recent: Counter[tuple[int, str]] = Counter()
    last = max(minute for minute, _ in loss)
    for (minute, src), n in loss.items():
        for later in range(max(minute, 2), min(minute + 2, last) + 1):
            recent[later, src] += n
    return {
        "M": Counter((m, src, n) for (m, src), n in loss.items()),
        "Runs": Counter((m, src, *run) for (m, src), run in runs.items()),
        "Long": Counter((m, src, *run) for (m, src), run in runs.items() if run[0] >= 4),
        "Recent": Counter((m, src, total) for (m, src), total in recent.items()),
    }
