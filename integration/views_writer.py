"""One of several writers of a table of views, as a separate program that can be killed.

    python views_writer.py FOLDER WRITER BATCHES

It appends all its batches, one for each minute, each of them twice and under a name: what was appended before is not
appended again. After each batch it maintains the views.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from integration import stream_job
from integration.views_job import START
from spark_cer import views

SCHEMA = "t TIMESTAMP, writer INT, loss INT"

STATEMENTS = """
CREATE VIEW Sums AS
INITIALIZE Sums[i] AS SELECT sum(loss) AS total, count(*) AS n FROM M[i]
UPDATE Sums[j] AS SELECT sum(loss) AS total, count(*) AS n FROM M[j]
PARTITION LENGTH 60;
CREATE VIEW Running AS
INITIALIZE Running[i] AS SELECT sum(loss) AS total FROM M[i]
UPDATE Running[j] AS SELECT sum(total) AS total FROM (SELECT total FROM Running[j-1] UNION ALL SELECT loss FROM M[j])
PARTITION LENGTH 60"""


def loss(writer: int, minute: int) -> int:
    return (writer + 1) * 100 + minute


def write(spark: SparkSession, v: views.Views, writer: int, count: int) -> None:
    for minute in range(count):
        row = (START + timedelta(minutes=minute, seconds=7), writer, loss(writer, minute))
        for _ in range(2):
            v.append("M", spark.createDataFrame([row], SCHEMA), batch=f"{writer}.{minute}")
        v.maintain()


def run(folder: Path, writer: int, count: int) -> None:
    spark = stream_job.session("local[1]")
    write(spark, views.open(spark, str(folder / "views")), writer, count)
    spark.stop()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
