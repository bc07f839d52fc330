"""Merges rows into a Delta and an Iceberg table, as a separate program on the Spark that has both.

    python -m integration.merge_job FOLDER classic|connect

A stream of rows with a match_id goes to both tables by foreachBatch, which fails after it has written the first
micro-batch, as if the driver had been killed before Spark knew. It is started again, and the program prints the rows
and the distinct rows of each table.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import spark_cer

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"delta": "spark_catalog.default.alerts", "iceberg": "lake.db.alerts"}
SETTINGS = {
    "spark.jars": ",".join(str(jar) for jar in sorted((ROOT / ".tools" / "lakes").glob("*.jar"))),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}


def session(folder: Path, kind: str) -> SparkSession:
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.catalog.lake.warehouse", str(folder / "lake"))
    return builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()


def alerts(events: DataFrame) -> DataFrame:
    """Rows like those of a set of rules: each match_id for two rules."""
    return events.selectExpr(
        "explode(array('one', 'two')) AS rule_id", "md5(CAST(id AS STRING)) AS match_id", "named_struct('id', id) AS x"
    )


def main(folder: Path, kind: str) -> None:
    spark = session(folder, kind)
    for n in range(2):
        spark.range(100 * n, 100 * n + 150, 1, 1).write.mode("append").parquet(str(folder / "events"))
    events = spark.readStream.schema("id BIGINT").option("maxFilesPerTrigger", 1).parquet(str(folder / "events"))
    for format, table in TABLES.items():
        alerts(spark.range(0)).writeTo(table).using(format).create()
    failed = folder / "failed"

    def write(batch: DataFrame, _: int) -> None:
        batch.persist()
        for table in TABLES.values():
            spark_cer.merge(batch, table)
        batch.unpersist()
        if not failed.exists():
            failed.touch()
            raise RuntimeError("killed")

    out = alerts(events).writeStream.foreachBatch(write).trigger(availableNow=True)
    out = out.option("checkpointLocation", str(folder / "checkpoint"))
    with contextlib.suppress(StreamingQueryException):
        out.start().awaitTermination()
    out.start().awaitTermination()
    for format, table in TABLES.items():
        rows = spark.table(table)
        print(format, rows.count(), rows.select("rule_id", "match_id").distinct().count())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
