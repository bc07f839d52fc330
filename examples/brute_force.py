"""A brute-force login: five or more failed logins and then a successful one, for the same user within five minutes.

The pattern uses `:`, so no other event of that user may come in between. `spark_cer.rows` returns one row for each
event of a match, like a log.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer

QUERY = """
    SELECT MAX tries, success FROM Logins
    WHERE failure:{5,} AS tries : success
    PARTITION BY [user]
    WITHIN 5 minutes"""


def logins() -> list[tuple[datetime, str, str, str]]:
    """A morning of logins. Users mistype now and then. An attacker guesses bob's password, but not alice's."""
    rng = random.Random(2)
    nine = datetime(2026, 3, 2, 9)
    events = []
    for user in ("alice", "bob", "carol", "dave"):
        for hour in range(3):
            at = nine + timedelta(hours=hour, seconds=rng.randrange(1200))
            for _ in range(rng.choice([0, 0, 1, 2])):
                events.append((at, "failure", user, "10.0.0.5"))
                at += timedelta(seconds=rng.randrange(4, 20))
            events.append((at, "success", user, "10.0.0.5"))
    for user, tries in (("alice", 9), ("bob", 6)):
        for n in range(tries):
            events.append((nine + timedelta(minutes=95, seconds=7 * n), "failure", user, "203.0.113.9"))
    events.append((nine + timedelta(minutes=95, seconds=7 * 6), "success", "bob", "203.0.113.9"))
    return events


def main() -> None:
    spark = spark_cer.session()
    events = spark.createDataFrame(logins(), "ts TIMESTAMP, type STRING, user STRING, address STRING")
    found = events.transform(cer(QUERY, time="ts"))
    print("Guessed passwords:")
    found.selectExpr("user", "size(tries) AS tries", "success.address", "end AS broken_in").show(truncate=False)
    print("And what the log says:")
    spark_cer.rows(found).orderBy("user", "position").select("variable", "position", "ts", "user", "address").show()


if __name__ == "__main__":
    main()
