"""Packet loss on network links: views that are maintained minute by minute, also when a measurement arrives late.

The first view contains the links that have lost more than ten packets per minute for at least four minutes in a row.
The second view contains the worst minute of the last five, over a sliding window.
"""

from __future__ import annotations

import random
import tempfile
from datetime import datetime, timedelta

import spark_cer
from spark_cer import views

LOSING = """
    CREATE VIEW Losing AS
    SELECT src, dest, count(*) AS minutes, sum(loss) AS lost
    FROM M PATTERN [a, b, c, d+]
    WHERE a.loss > 10 AND b.loss > 10 AND c.loss > 10 AND d.loss > 10
    GROUP BY src, dest"""

WORST = """
    CREATE VIEW Worst AS
    SELECT src, max(loss) AS worst FROM M [WINDOW 5 minutes] GROUP BY src"""

START = datetime(2026, 3, 2, 10)
LATE = ("fra", "par", START + timedelta(minutes=4))


def measurements() -> list[tuple[datetime, str, str, int]]:
    """Twelve minutes of measurements of four links. One of the links gets worse."""
    rng = random.Random(11)
    rows = []
    for minute in range(12):
        for src, dest in [("ams", "fra"), ("ams", "par"), ("fra", "par"), ("par", "mad")]:
            high = (src, dest) == ("fra", "par") and minute in range(2, 9)
            loss = rng.randrange(11, 40) if high else rng.randrange(0, 14)
            rows.append((START + timedelta(minutes=minute, seconds=rng.randrange(60)), src, dest, loss))
    return rows


def is_late(row: tuple[datetime, str, str, int]) -> bool:
    at, src, dest, _ = row
    return (src, dest, at.replace(second=0)) == LATE


def main() -> None:
    spark = spark_cer.session()
    schema = "t TIMESTAMP, src STRING, dest STRING, loss INT"
    with tempfile.TemporaryDirectory() as folder:
        v = views.open(spark, folder)
        v.create_table("M", schema, time="t", length="1 minute")
        v.sql(f"{LOSING}; {WORST}")
        for minute in range(12):
            begin = START + timedelta(minutes=minute)
            end = begin + timedelta(minutes=1)
            rows = [row for row in measurements() if begin <= row[0] < end and not is_late(row)]
            v.append("M", spark.createDataFrame(rows, schema))
            v.maintain()
        print("Losing packets, without a measurement of 10:04:")
        v.read("Losing").orderBy("PART_TIMESTAMP", "src", "dest").show(truncate=False)
        v.append("M", spark.createDataFrame([row for row in measurements() if is_late(row)], schema))
        print("It comes, and these parts are computed anew:")
        v.maintain().orderBy("part_timestamp", "view").select("view", "part_timestamp", "action", "rows").show(
            truncate=False
        )
        print("Losing packets:")
        v.read("Losing").orderBy("PART_TIMESTAMP", "src", "dest").show(truncate=False)
        print("The worst minute of the last five, now:")
        v.read("Worst", part="2026-03-02 10:11:00").orderBy("src").show()


if __name__ == "__main__":
    main()
