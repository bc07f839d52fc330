"""A temperature alarm on a stream: a normal reading and then three hot readings in a row, for each machine.

Readings arrive up to 50 seconds late. With a watermark on their time, the alarms are the same as if the readings had
arrived in order. Because the pattern starts with a normal reading, there is one alarm each time a machine heats up, and
not one for each hot reading.
"""

from __future__ import annotations

import random
import tempfile
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT hot FROM Reading
    WHERE Reading AS good : (Reading : Reading : Reading) AS hot
    FILTER good[celsius < 80] AND hot[celsius >= 80]
    PARTITION BY [machine]
    WITHIN 1 minute"""


def readings() -> list[tuple[datetime, str, float]]:
    """Readings of three machines, one every five seconds. The press gets hot twice, the oven has two peaks."""
    rng = random.Random(4)
    hot = {"press": {*range(20, 29), *range(70, 75)}, "oven": {40, 41, 90}}
    events = [
        (
            datetime(2026, 3, 2, 6) + timedelta(seconds=5 * n),
            machine,
            rng.gauss(87 if n in hot.get(machine, ()) else 65, 2),
        )
        for n in range(120)
        for machine in ("press", "oven", "crane")
    ]
    return [(at, machine, round(celsius, 1)) for at, machine, celsius in events]


def main() -> None:
    spark = spark_cer.session()
    schema = "ts TIMESTAMP, machine STRING, celsius DOUBLE"
    rng = random.Random(5)
    arrived = sorted(readings(), key=lambda reading: reading[0] + timedelta(seconds=rng.uniform(0, 50)))
    with tempfile.TemporaryDirectory() as folder:
        for part in (arrived[:200], arrived[200:]):
            spark.createDataFrame(part, schema).coalesce(1).write.mode("append").parquet(f"{folder}/readings")
        files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(f"{folder}/readings")
        stream = files.withWatermark("ts", "1 minute")
        alarms = stream.transform(cer(QUERY)).selectExpr("machine", "end AS alarm_at", "hot.celsius AS celsius")
        running = alarms.writeStream.format("memory").queryName("alarms").trigger(availableNow=True)
        running.option("checkpointLocation", f"{folder}/checkpoint").start().awaitTermination()
    print("Alarms:")
    spark.table("alarms").orderBy("alarm_at").show(truncate=False)


if __name__ == "__main__":
    main()
