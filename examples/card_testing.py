"""Card testing: a thief tests a stolen card with a few tiny payments and then makes a large one.

The query finds at least three payments under 2 and after them one over 300, with the same card within ten minutes.
Other payments may come in between. Without MAX it would return a match for each choice of three or more tiny payments.
MAX keeps the match that has all of them.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT MAX tiny, large FROM Payment
    WHERE (Payment{3,} AS tiny ; Payment AS large)
    FILTER tiny[amount < :tiny] AND large[amount > :large]
    PARTITION BY [card]
    WITHIN 10 minutes"""


def payments() -> list[tuple[datetime, str, float, str]]:
    """One hour of payments with 40 cards. Two of the cards are stolen."""
    rng = random.Random(1)
    noon = datetime(2026, 3, 2, 12)
    shops = ["grocer", "café", "cinema", "station"]
    events = [
        (
            noon + timedelta(seconds=rng.randrange(3600)),
            f"card-{rng.randrange(40):02}",
            rng.uniform(3, 90),
            rng.choice(shops),
        )
        for _ in range(600)
    ]
    for card, minute in (("card-07", 20), ("card-31", 45)):
        for second in range(0, rng.randrange(80, 160), 20):
            at = noon + timedelta(minutes=minute, seconds=second)
            events.append((at, card, rng.uniform(0.1, 1.9), "web shop"))
        events.append((noon + timedelta(minutes=minute + 4), card, rng.uniform(400, 900), "jeweller"))
    return [(at, card, round(amount, 2), shop) for at, card, amount, shop in events]


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(payments(), "ts TIMESTAMP, card STRING, amount DOUBLE, shop STRING")
    found = events.transform(cer(QUERY, time="ts", params={"tiny": 2, "large": 300}))
    print(f"{events.count()} payments; cards that were tested and then used:")
    found.orderBy("end").selectExpr(
        "card", "start", "end", "tiny.amount AS tiny", "large.amount AS large", "large.shop"
    ).show(truncate=False)


if __name__ == "__main__":
    main()
