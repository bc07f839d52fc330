"""A price reversal: three or more falls in a row and then three rises in a row.

A window function of Spark adds a column with the change since the previous tick. The query then finds the pattern.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  (the usual name in PySpark)

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT MAX fall, rise FROM Tick
    WHERE (Tick : Tick : Tick:+) AS fall : (Tick : Tick : Tick) AS rise
    FILTER fall[change < 0] AND rise[change > 0]
    PARTITION BY [stock]
    WITHIN 12 EVENTS"""


def ticks() -> list[tuple[datetime, str, float]]:
    """Two hundred ticks of each of two stocks: a random walk that keeps its direction more often than not."""
    rng = random.Random(6)
    events = []
    for stock, price in (("ACME", 100.0), ("INIT", 40.0)):
        step = 0.1
        for n in range(200):
            step = rng.uniform(0.01, 0.4) * (1 if (step > 0) == (rng.random() < 0.55) else -1)
            price = round(price + step, 2)
            events.append((datetime(2026, 3, 2, 15, 30) + timedelta(seconds=n), stock, price))
    return events


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(ticks(), "ts TIMESTAMP, stock STRING, price DOUBLE")
    before = F.lag("price").over(Window.partitionBy("stock").orderBy("ts"))
    found = events.withColumn("change", F.round(F.col("price") - before, 2)).transform(cer(QUERY, time="ts"))
    print("Reversals:")
    found.orderBy("stock", "end").selectExpr(
        "stock",
        "date_format(end, 'HH:mm:ss') AS at",
        "size(fall) AS falls",
        "fall[0].price AS from",
        "fall[size(fall) - 1].price AS low",
        "rise[2].price AS to",
    ).show(truncate=False)


if __name__ == "__main__":
    main()
