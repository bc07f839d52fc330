"""An abandoned checkout: a visitor puts something in the cart and leaves without a purchase.

`NO buy` asks that no purchase comes in between. If a visitor puts several things in the cart, there are several matches
that end at the same event. SELECT NEXT keeps the one that starts first.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT NEXT cart, leave FROM Clicks
    WHERE cart ; NO buy ; leave
    PARTITION BY [visit]
    WITHIN 1 hour"""

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
        for step in [*steps, "leave"]:
            item = rng.choice(list(ITEMS)) if step in ("view", "cart") else None
            events.append((at, step, f"v{visit}", item, ITEMS[item] if item else None))
            at += timedelta(seconds=rng.randrange(10, 120))
    return events


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(clicks(), "ts TIMESTAMP, type STRING, visit STRING, item STRING, price INT")
    found = events.transform(cer(QUERY, time="ts"))
    print("Left with something in the cart:")
    found.orderBy("visit").selectExpr(
        "visit", "cart.item AS first_item", "cart.price", "start AS filled", "end AS gone"
    ).show(truncate=False)


if __name__ == "__main__":
    main()
