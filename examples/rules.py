"""Fifty rules over payments and logins, in one pass.

Most rules are made from a pattern and numbers, as they would be from a table that a fraud team edits: a limit for each
country, a list of merchants, a number of failed logins. Each alert says which rule it belongs to.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import spark_cer
from spark_cer import cer_rules

COUNTRIES = ["AR", "BE", "BR", "CL", "CO", "DE", "ES", "FR", "GB", "IT", "JP", "MX", "NL", "PE", "PT", "US"]


def rules() -> dict[str, str]:
    """Rules by name: 16 about amounts, 16 about a second country, 8 about logins, 8 about probes, and two more."""
    found = {}
    for number, country in enumerate(COUNTRIES):
        limit = 300 + 50 * number
        found[f"large in {country}"] = f"""
            SELECT MAX p, sum(p.amount) AS spent FROM Events WHERE payment{{2,}} AS p
            FILTER p[country = '{country}' AND amount > {limit}] PARTITION BY [card] WITHIN 30 minutes"""
        found[f"left {country}"] = f"""
            SELECT a, b FROM Events WHERE (payment AS a ; NO logout ; payment AS b)
            FILTER a[country = '{country}'] AND b[country != '{country}' AND amount > 500]
            PARTITION BY [card] WITHIN 5 minutes"""
    for times in range(3, 11):
        found[f"guessed after {times}"] = f"""
            SELECT f, s FROM Events WHERE (failure:{{{times}}} AS f : login AS s) PARTITION BY [card] WITHIN 1 hour"""
    for cents in range(1, 9):
        found[f"probe of {cents}"] = f"""
            SELECT p, big.amount AS taken FROM Events WHERE (payment AS p ; payment AS big)
            FILTER p[amount = {cents}] AND big[amount > 900] PARTITION BY [card] WITHIN 10 minutes"""
    found["login that pays nothing"] = """
        SELECT l FROM Events WHERE login AS l ; NO payment FOR 2 hours PARTITION BY [card]"""
    found["payment without login"] = """
        SELECT p FROM Events WHERE NO login FOR 1 hour ; payment AS p FILTER p[amount > 950] PARTITION BY [card]"""
    return found


def events(n: int) -> list[tuple[datetime, str, str, str, int]]:
    rng = random.Random(7)
    kinds = ["payment"] * 6 + ["login", "login", "failure", "failure", "logout"]
    return [
        (
            datetime(2026, 3, 2, 8) + timedelta(seconds=3 * i),
            rng.choice(kinds),
            f"card-{rng.randrange(40)}",
            rng.choice(COUNTRIES[:4] if rng.random() < 0.8 else COUNTRIES),
            rng.choice([rng.randrange(1, 9), rng.randrange(10, 1000)]),
        )
        for i in range(n)
    ]


def main() -> None:
    spark = spark_cer.session()
    stream = spark.createDataFrame(events(4000), "ts TIMESTAMP, type STRING, card STRING, country STRING, amount INT")
    alerts = stream.transform(cer_rules(rules(), time="ts")).cache()
    print(f"{len(rules())} rules, {alerts.count()} alerts. The rules with the most:")
    alerts.groupBy("rule_id").count().orderBy("count", "rule_id", ascending=[False, True]).show(8, truncate=False)
    print("Some of them:")
    shown = alerts.where("rule_id = 'probe of 3'").orderBy("end", "start", "match_id").limit(3)
    shown.selectExpr("rule_id", "key['card'] AS card", "start", "end", "measures").show(truncate=False)


if __name__ == "__main__":
    main()
