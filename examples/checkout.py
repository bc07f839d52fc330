"""An abandoned checkout: a visitor puts something in the cart, and then neither buys nor adds anything for 30 minutes.

`NO (buy OR cart) FOR 30 minutes` asks that nothing of this comes, and `WITHOUT buy` that nothing was bought in between.
SELECT MAX and CONSUME BY PARTITION make one match of each cart, with all its items.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT MAX count(items) AS n, sum(items.price) AS worth FROM Clicks
    WHERE (cart+ AS items WITHOUT buy) ; NO (buy OR cart) FOR 30 minutes
    PARTITION BY [visit]
    WITHIN 2 hours
    CONSUME BY PARTITION"""

ITEMS = {"lamp": 40, "chair": 120, "desk": 310, "rug": 85}


def clicks() -> list[tuple[datetime, str, str, str | None, int | None]]:
    """Eight visits to a shop. Some visitors only look, some fill a cart, and some of these buy."""
    rng = random.Random(3)
    events: list[tuple[datetime, str, str, str | None, int | None]] = []
    for visit in range(8):
        at = datetime(2026, 3, 2, 10) + timedelta(minutes=rng.randrange(60))
        steps = [
            "view",
            *rng.choices(["view", "cart"], k=rng.randrange(2, 6)),
            *rng.choice([["buy"], ["buy"], ["view"], []]),
        ]
        for step in steps:
            item = rng.choice(list(ITEMS)) if step in ("view", "cart") else None
            events.append((at, step, f"v{visit}", item, ITEMS[item] if item else None))
            at += timedelta(seconds=rng.randrange(10, 120))
    return events


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(clicks(), "ts TIMESTAMP, type STRING, visit STRING, item STRING, price INT")
    # Half an hour after the last click nothing else has come.
    found = events.transform(cer(QUERY, time="ts", until="forever"))
    print("Left with something in the cart:")
    found.orderBy("visit").selectExpr("visit", "n", "worth", "start AS filled", "end AS given_up").show(truncate=False)


if __name__ == "__main__":
    main()
