"""A stolen card, found by comparing payments: the second is ten times the first, or in another country within an hour.

Both patterns compare two payments with the same card. Which amount or country is unusual depends on the earlier
payment, so the queries compare the two payments and need no fixed threshold.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

TENFOLD = """
    SELECT LAST * FROM Payment WHERE (Payment AS first ; Payment AS second)
    FILTER first.card = second.card AND second.amount >= 10 * first.amount
    WITHIN 10 minutes"""

ABROAD = """
    SELECT LAST * FROM Payment WHERE (Payment AS first ; Payment AS second)
    FILTER first.card = second.card AND first.country != second.country
    WITHIN 1 hour"""


def payments() -> list[tuple[datetime, str, float, str]]:
    """A day of ordinary payments with 30 cards, each in its home country, and three pairs that look unusual."""
    rng = random.Random(4)
    midnight = datetime(2026, 3, 2)
    home = ["BE", "CL", "DE"]
    events = [
        (midnight + timedelta(seconds=rng.randrange(86400)), f"card-{card:02}", rng.uniform(20, 60), home[card % 3])
        for card in range(30)
        for _ in range(8)
    ]
    noon = midnight + timedelta(hours=12)
    events += [(noon, "card-11", 12.0, "DE"), (noon + timedelta(minutes=7), "card-11", 480.0, "DE")]
    events += [(noon, "card-04", 30.0, "CL"), (noon + timedelta(minutes=50), "card-04", 35.0, "SG")]
    events += [(noon, "card-21", 30.0, "BE"), (noon + timedelta(hours=3), "card-21", 35.0, "FR")]
    return [(at, card, round(amount, 2), country) for at, card, amount, country in events]


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(payments(), "ts TIMESTAMP, card STRING, amount DOUBLE, country STRING")
    print(f"{events.count()} payments; the second ten times the first within ten minutes:")
    found = events.transform(cer(TENFOLD, time="ts"))
    found.orderBy("end").selectExpr("first.card", "start", "end", "first.amount", "second.amount AS then").show()
    print("another country within the hour:")
    found = events.transform(cer(ABROAD, time="ts"))
    found.orderBy("end").selectExpr("first.card", "start", "end", "first.country", "second.country AS then").show()


if __name__ == "__main__":
    main()
