"""From Kafka to an alert: payments come in as JSON, and alerts go out to another topic while the payments still come.

`make demo-kafka` starts a broker and runs this example. With a broker of your own, set KAFKA to its address, and
KAFKA_JARS to the jars of Spark's connector for Kafka (or use `spark.jars.packages`).
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading

from pyspark.sql import DataFrame, SparkSession

import spark_cer
from spark_cer import cer

ALERTS = 5  # after so many the example ends
PAYMENT = "ts TIMESTAMP, card STRING, amount DOUBLE"
QUERY = """
    SELECT NEXT small, large FROM Payment
    WHERE Payment{3} AS small ; Payment AS large
    FILTER small[amount < 2] AND large[amount > 300]
    PARTITION BY [card] WITHIN 1 minute
    CONSUME BY PARTITION"""


def payments(spark: SparkSession) -> DataFrame:
    """A hundred payments in a second. With card-7, a thief tries three small ones and then a large one."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    return rows.selectExpr(
        "timestamp AS ts",
        "concat('card-', value % 40) AS card",
        "CASE WHEN value % 40 = 7 THEN element_at(array(0.5, 1.2, 1.9, 480.0), CAST(value DIV 40 % 4 AS INT) + 1) "
        "ELSE 10.0 + value % 50 END AS amount",
    )


def main() -> None:
    kafka = {"kafka.bootstrap.servers": os.environ["KAFKA"], "startingOffsets": "earliest"}
    builder = SparkSession.builder.config("spark.jars", os.environ.get("KAFKA_JARS", ""))
    settings = {"sql.shuffle.partitions": "2", "ui.showConsoleProgress": "false", "log.level": "ERROR"}
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    spark = spark_cer.configure(builder).getOrCreate()
    folder = tempfile.mkdtemp(prefix="spark-cer-kafka-alerts-")
    enough = threading.Event()

    def start(rows: DataFrame, name: str) -> None:
        """Writes rows with a key and a value to the topic of that name."""
        out = rows.writeStream.format("kafka").option("topic", name).options(**kafka).queryName(name)
        out.option("checkpointLocation", f"{folder}/{name}").start()

    def read(name: str) -> DataFrame:
        return spark.readStream.format("kafka").option("subscribe", name).options(**kafka).load()

    def parsed(topic: DataFrame) -> DataFrame:
        return topic.selectExpr(f"from_json(CAST(value AS STRING), '{PAYMENT}') AS payment").select("payment.*")

    # Both topics exist before anything is read from them.
    for name in ("payments", "alerts"):
        nothing = spark.sql("SELECT CAST('' AS STRING) AS key, CAST(NULL AS STRING) AS value")
        nothing.write.format("kafka").option("topic", name).options(**kafka).save()

    start(payments(spark).selectExpr("card AS key", "to_json(struct(*)) AS value"), "payments")
    stream = parsed(read("payments")).withWatermark("ts", "1 second")
    matches = stream.transform(cer(QUERY, time="ts"))
    start(matches.selectExpr("match_id AS key", "to_json(struct(*)) AS value"), "alerts")

    seen: set[str] = set()  # Kafka has each alert at least once

    def tell(rows: DataFrame, _: int) -> None:
        alert = "card STRING, end TIMESTAMP, small ARRAY<STRUCT<amount: DOUBLE>>, large STRUCT<amount: DOUBLE>"
        new = rows.where("value IS NOT NULL").selectExpr(
            "CAST(key AS STRING) AS match_id",
            "timestamp AS sent",
            f"from_json(CAST(value AS STRING), '{alert}') AS alert",
        )
        for row in new.orderBy("sent").collect():
            if row.match_id not in seen and len(seen) < ALERTS:
                seen.add(row.match_id)
                small = ", ".join(str(payment.amount) for payment in row.alert.small)
                print(f"{row.alert.card}: {small} and then {row.alert.large.amount}", flush=True)
        if len(seen) == ALERTS:
            enough.set()

    print("Payments go to the topic payments; from the topic alerts comes:", flush=True)
    read("alerts").writeStream.foreachBatch(tell).option("checkpointLocation", f"{folder}/tell").start()
    while not enough.wait(1):
        for query in spark.streams.active:
            if query.exception() is not None:
                sys.exit(str(query.exception()))
    spark.sparkContext.setLogLevel("OFF")  # tasks of a query that is stopped log that they were interrupted
    for query in spark.streams.active:
        query.stop()
    spark.sparkContext.setLogLevel("ERROR")

    topic = spark.read.format("kafka").option("subscribe", "payments").options(**kafka).load()
    batch = parsed(topic).transform(cer(QUERY, time="ts"))
    missing = seen - {row.match_id for row in batch.select("match_id").collect()}
    print("A batch over the topic finds the same alerts." if not missing else f"A batch does not find {missing}.")


if __name__ == "__main__":
    main()
