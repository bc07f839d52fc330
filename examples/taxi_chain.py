"""A chain of taxi trips: a cab drives a round trip through the zones of a route, in order.

The script builds the pattern from the list of zones and passes the zones as parameters. Other trips may come
in between.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

ROUTE = ["Airport", "Centre", "Harbour", "Airport"]


def query(legs: int) -> str:
    trips = " ; ".join(f"Trip AS leg{n}" for n in range(legs))
    conditions = " AND ".join(f"leg{n}[pickup = :zone{n} AND dropoff = :zone{n + 1}]" for n in range(legs))
    return f"SELECT * FROM Trip WHERE {trips} FILTER {conditions} PARTITION BY [cab] WITHIN 90 minutes"


def trips() -> list[tuple[datetime, str, str, str, float]]:
    """A day of trips of 12 cabs. Each trip starts where the previous one ended."""
    rng = random.Random(13)
    zones = ["Airport", "Centre", "Harbour", "Museum"]
    events = []
    for cab in range(12):
        at = datetime(2026, 3, 2, 6) + timedelta(minutes=rng.randrange(30))
        here = rng.choice(zones)
        while at.hour < 20:
            there = rng.choice([zone for zone in zones if zone != here])
            events.append((at, f"cab-{cab:02}", here, there, round(rng.uniform(8, 45), 2)))
            at += timedelta(minutes=rng.randrange(15, 50))
            here = there
    return events


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(trips(), "ts TIMESTAMP, cab STRING, pickup STRING, dropoff STRING, fare DOUBLE")
    legs = len(ROUTE) - 1
    found = events.transform(cer(query(legs), time="ts", params={f"zone{n}": zone for n, zone in enumerate(ROUTE)}))
    print(f"{events.count()} trips; rounds {' - '.join(ROUTE)} within 90 minutes:")
    found.orderBy("end", "start").selectExpr(
        "cab",
        "date_format(start, 'HH:mm') AS first_trip",
        "date_format(end, 'HH:mm') AS last_trip",
        "round(" + " + ".join(f"leg{n}.fare" for n in range(legs)) + ", 2) AS fares",
    ).show(truncate=False)


if __name__ == "__main__":
    main()
