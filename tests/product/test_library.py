"""The jar is added to a running session, as a platform adds a library to a running cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spark_cer._jar import jar
from tests.connect_server import environment

JOB = """
import sys
from pyspark.sql import SparkSession
from spark_cer import cer, cer_rules

jar, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    )
    .getOrCreate()
)
spark.range(1).collect()  # the session is at work
spark.sql(f"ADD JAR '{jar}'")

text = "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x.k = y.k PARTITION BY [card] WITHIN 10 seconds"
rows = "VALUES ('A', 1, 'c', 0), ('B', 2, 'c', 0), ('B', 3, 'c', 1), ('Z', 100, 'd', 0) AS t(type, s, card, k)"
events = spark.sql(f"SELECT type, timestamp_seconds(s) AS ts, card, k FROM {rows}")
events.coalesce(1).write.parquet(f"{folder}/events")
source = spark.readStream.schema(events.schema).parquet(f"{folder}/events").withWatermark("ts", "1 second")
for name, query in {"query": cer(text, time="ts"), "rules": cer_rules({"a": text}, time="ts")}.items():
    batch = spark.read.parquet(f"{folder}/events").transform(query)
    writer = source.transform(query).writeStream.format("memory").queryName(name).trigger(availableNow=True)
    stream = writer.option("checkpointLocation", f"{folder}/checkpoint-{name}").start()
    stream.awaitTermination()
    found = [[row.match_id for row in rows.collect()] for rows in (batch, spark.table(name))]
    (metrics, *_) = stream.recentProgress[0]["observedMetrics"].values()
    told = [rule["rule_id"] for rule in metrics.rules] if name == "rules" else metrics.input
    print(name, len(found[0]), "as a stream:", found[0] == found[1], told)
"""


def test_a_jar_that_is_added_to_a_running_session(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", JOB, str(jar()), str(tmp_path)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["query 1 as a stream: True 4", "rules 1 as a stream: True ['a']"], done.stderr
