"""Spark Connect on a cluster: client, server and executors are separate processes, and only the server is started with
the jar."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from integration.cluster import cluster
from tests.connect_server import WITH_CER, connect_server

ROOT = Path(__file__).parent.parent

CLIENT = """
import sys
import spark_cer
from pyspark.sql import SparkSession
from spark_cer import cer

url, folder = sys.argv[1:]
spark = spark_cer.configure(SparkSession.builder.remote(url)).getOrCreate()
query = cer("SELECT * FROM S WHERE (S AS x ; S AS y) FILTER x[n % 100 = 3] PARTITION BY [k] WITHIN 8 [n]")
spark.range(2000).selectExpr("id AS n", "id % 4 AS k").repartitionByRange(4, "n").write.parquet(f"{folder}/events")
events = spark.read.parquet(f"{folder}/events")
batch = events.transform(query)
stream = spark.readStream.schema(events.schema).parquet(f"{folder}/events").transform(query)
running = stream.writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
running.start(f"{folder}/matches").awaitTermination()
live = spark.read.parquet(f"{folder}/matches")
print(batch.count(), sorted(live.collect()) == sorted(batch.collect()))
"""


def test_a_server_on_a_cluster(tmp_path: Path) -> None:
    settings = {**WITH_CER, "spark.sql.shuffle.partitions": "2"}
    with cluster(tmp_path / "cluster") as running, connect_server(tmp_path, settings, running.master) as url:
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, url, str(tmp_path)], cwd=ROOT, env=os.environ, capture_output=True, text=True
        )
        assert len(running.executors()) == 2
    # Each of the twenty first events has two later events of its key within the window: four and eight later.
    assert done.stdout.strip() == "40 True", done.stderr + (tmp_path / "server.log").read_text(errors="replace")
