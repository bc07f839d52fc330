"""A missing heartbeat, on a stream: a device that was heard for some time and is not heard any more.

No event tells that a device is idle. The match ends when the five minutes are over, so the alert comes by itself, as
soon as the watermark has passed, although the device sends nothing. The next heartbeat after a long time tells that
a device is back: it is one before which none came.
"""

from __future__ import annotations

import tempfile
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

LOST = """
    SELECT last FROM Beats
    WHERE beat AS last ; NO beat FOR 5 minutes
    PARTITION BY [device]"""

BACK = """
    SELECT first FROM Beats
    WHERE NO beat FOR 5 minutes ; beat AS first
    PARTITION BY [device]"""

START = datetime(2026, 3, 2, 8)

# The minutes in which each device sends a heartbeat. The gateway goes on, so the time goes on.
BEATS = {"pump": [0, 1, 2, 3, 4, 14, 15, 16], "valve": [0, 2, 4, 6, 8, 10], "gateway": range(30)}


def main() -> None:
    spark = spark_cer.session()
    rows = [(START + timedelta(minutes=at), "beat", device) for device, minutes in BEATS.items() for at in minutes]
    schema = "ts TIMESTAMP, type STRING, device STRING"
    with tempfile.TemporaryDirectory() as folder:
        for half in (0, 1):
            part = [row for row in rows if (row[0] - START >= timedelta(minutes=15)) == half]
            spark.createDataFrame(part, schema).coalesce(1).write.mode("append").parquet(f"{folder}/beats")
        files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(f"{folder}/beats")
        stream = files.withWatermark("ts", "1 minute")
        for name, query in (("lost", LOST), ("back", BACK)):
            found = stream.transform(cer(query)).select("device", "start", "end")
            running = found.writeStream.format("memory").queryName(name).trigger(availableNow=True)
            running.option("checkpointLocation", f"{folder}/{name}").start().awaitTermination()
    print("Lost, since their last heartbeat:")
    spark.table("lost").orderBy("end", "device").show(truncate=False)
    print("Heard for the first time, or again:")
    spark.table("back").orderBy("end", "device").select("device", "end").show(truncate=False)


if __name__ == "__main__":
    main()
