"""Appends and maintenance of views as a separate program, so that it can be killed.

    python views_job.py FOLDER append|sink SEED BATCHES

It touches FOLDER/running when it begins, and ends when all batches are in the table and the views are maintained. With
`append` it continues after the last batch in the table, with `sink` it is a stream that reads FOLDER/events.
"""

from __future__ import annotations

import json
import os
import random
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import max as largest

from integration import stream_job
from spark_cer import views

START = datetime(2015, 1, 1, tzinfo=timezone.utc)
SCHEMA = "t TIMESTAMP, src STRING, loss INT, batch INT"
SOURCES = [f"s{n}" for n in range(6)]

STATEMENTS = """
CREATE VIEW Runs AS
INITIALIZE Runs[i] AS SELECT src, 1 AS ct, loss AS total FROM M[i] WHERE loss > 10
UPDATE Runs[j] AS
  SELECT New.src, coalesce(Prev.ct, 0) + 1, coalesce(Prev.total, 0) + New.loss
  FROM M[j] New LEFT JOIN Runs[j-1] Prev ON New.src = Prev.src WHERE New.loss > 10
PARTITION LENGTH 60;
CREATE VIEW Long AS
INITIALIZE Long[i] AS SELECT * FROM Runs[i] WHERE ct >= 4
UPDATE Long[j] AS SELECT * FROM Runs[j] WHERE ct >= 4
PARTITION LENGTH 60;
CREATE VIEW Recent AS
INITIALIZE Recent[i] AS SELECT src, sum(loss) AS total FROM M[i-2..i] GROUP BY src
UPDATE Recent[j] AS SELECT src, sum(loss) AS total FROM M[j-2..j] GROUP BY src
PARTITION LENGTH 60"""

WAYS = ("append", "sink")
Row = tuple[int, str, int]


def batches(seed: int, count: int) -> list[list[Row]]:
    """Rows of (minute, source, loss): two new minutes per batch, often late rows. A source has one row per minute."""
    rng = random.Random(seed)
    late: list[Row] = []
    found = []
    for n in range(count):
        rows = [(minute, src, rng.randrange(40)) for minute in (2 * n, 2 * n + 1) for src in SOURCES]
        rng.shuffle(rows)
        held = rng.randrange(4) if n > 0 else 0
        found.append(rows[held:] + late)
        late = rows[:held]
    return found


def rows_of(spark: SparkSession, batch: list[Row], number: int) -> DataFrame:
    values = [(START + timedelta(minutes=m, seconds=7), src, loss, number) for m, src, loss in batch]
    return spark.createDataFrame(values, SCHEMA)


def write_files(folder: Path, seed: int, count: int) -> None:
    """A file for each batch, which a stream reads one after the other."""
    (folder / "events").mkdir()
    for n, batch in enumerate(batches(seed, count)):
        rows = [
            {"t": (START + timedelta(minutes=m, seconds=7)).isoformat(), "src": src, "loss": loss, "batch": n}
            for m, src, loss in batch
        ]
        path = folder / "events" / f"{n:05}.json"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        os.utime(path, (1_700_000_000 + n, 1_700_000_000 + n))  # the file source reads files in this order


def run(folder: Path, way: str, seed: int, count: int) -> None:
    spark = stream_job.session("local[2]")
    v = views.open(spark, str(folder / "views"))
    (folder / "running").touch()
    if "Table M" not in v.plan:
        v.create_table("M", SCHEMA, time="t", length="1 minute")
    if "View Recent" not in v.plan:
        v.sql(STATEMENTS)
    if way == "sink":
        stream(spark, v, folder)
    else:
        append(spark, v, batches(seed, count))
    spark.stop()


def append(spark: SparkSession, v: views.Views, all_batches: list[list[Row]]) -> None:
    done = v.read("M").agg(largest("batch")).head()
    first = 0 if done is None or done[0] is None else done[0] + 1
    v.maintain()
    for n, batch in list(enumerate(all_batches))[first:]:
        v.append("M", rows_of(spark, batch, n))
        v.maintain()


def stream(spark: SparkSession, v: views.Views, folder: Path) -> None:
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "events"))
    query = (
        events.writeStream.foreachBatch(v.sink("M"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    v.maintain()


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
