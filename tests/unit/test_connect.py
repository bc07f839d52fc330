"""What is specific to Spark Connect: servers with and without spark-cer, and plans that are sent to the server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf

from spark_cer import cer
from tests.connect_server import environment, only_connect

ROOT = Path(__file__).parents[2]
QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > 20] WITHIN 30 [t]"
FOUND = {("a", "b"), ("a", "d"), ("f", "h")}


def pairs(matches: DataFrame) -> set[tuple[str, str]]:
    return {(row[0], row[1]) for row in matches.selectExpr("x.id", "y.id").collect()}


def test_matches_are_an_ordinary_dataframe(spark: SparkSession, trades: DataFrame) -> None:
    matches = trades.transform(cer(QUERY))
    assert type(matches) is type(trades)
    assert {row[0] for row in matches.where(matches["start"] > 0).select(matches["x.id"]).collect()} == {"f"}
    # A self-join must keep its two sides apart, and a view creates its plan again.
    left, right = matches.alias("l"), matches.alias("r")
    assert left.join(right, sf.expr("l.match_id = r.match_id")).count() == 3
    matches.createOrReplaceTempView("matches")
    assert spark.sql("SELECT x.id, count(*) FROM matches GROUP BY 1 ORDER BY 1").collect() == [("a", 2), ("f", 1)]


def test_matches_of_matches(trades: DataFrame) -> None:
    matches = trades.transform(cer(QUERY)).selectExpr("'PAIR' AS type", "end", "x.id")
    again = matches.transform(cer("SELECT * FROM S WHERE (PAIR AS x ; PAIR AS y) WITHIN 25 [end]"))
    assert {(row.start, row.end) for row in again.collect()} == {(10, 30)}


def test_observations_below_the_matches_are_seen(trades: DataFrame) -> None:
    seen = Observation("seen")
    counted = trades.observe(seen, sf.count(sf.lit(1)).alias("events"))
    assert pairs(counted.transform(cer(QUERY))) == FOUND
    assert seen.get == {"events": 8}


def test_a_deep_plan(trades: DataFrame) -> None:
    deep = trades
    for number in range(70):  # deeper than the default nesting limit of protobuf
        deep = deep.where(f"price > {-number}")
    assert pairs(deep.transform(cer(QUERY))) == FOUND


@only_connect
@pytest.mark.parametrize(
    ("inputs", "options", "what"),
    [
        ([""], {"speed": "high"}, "the option 'speed'"),
        ([""], {"time": 3}, "INT as time"),
        (["", "b"], {}, "this kind of query"),
    ],
)
def test_a_server_older_than_the_client(
    trades: DataFrame, inputs: list[str], options: dict[str, Any], what: str
) -> None:
    from spark_cer import _connect

    with pytest.raises(AnalysisException) as caught:
        _connect.transform(dict.fromkeys(inputs, trades), QUERY, options)
    assert str(caught.value) == (
        f"[CER_OLD_SERVER] The spark-cer on the Spark Connect server does not know {what}. "
        "Put the jar of the client's version on the server."
    )


def run(code: str) -> str:
    """Runs code on a new Spark Connect server and returns its output. SPARK_TESTING makes PySpark use a free port."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**environment(), "SPARK_TESTING": "1", "SPARK_REMOTE": "local[1]"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_local_server_has_the_jar() -> None:
    printed = run(
        """
import warnings
import spark_cer
from spark_cer import cer
spark = spark_cer.session()
warnings.simplefilter("error")
assert spark_cer.session() is spark
matches = spark.range(5).transform(cer("SELECT * FROM S WHERE (S AS x ; S AS y) FILTER x[id = 3] WITHIN 2 [id]"))
print(type(matches).__module__, matches.select("x.id", "y.id").collect())
"""
    )
    assert printed == "pyspark.sql.connect.dataframe [Row(id=3, id=4)]"


TRY = """
from pyspark.sql import SparkSession
from spark_cer import cer
spark = SparkSession.builder{config}.getOrCreate()
try:
    spark.range(3).transform(cer("SELECT * FROM S WHERE S ; S", time="id"))
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    "config",
    ["", '.config("spark.connect.extensions.relation.classes", "sparkcer.CerRelationPlugin")'],
    ids=["no plugin", "no jar"],
)
def test_a_server_without_spark_cer_gets_a_sentence(config: str) -> None:
    assert run(TRY.format(config=config)) == (
        "PySparkRuntimeError The Spark Connect server has no spark-cer. Start it with start-connect-server.sh "
        "--jars <the spark-cer jar> --conf spark.connect.extensions.relation.classes=sparkcer.CerRelationPlugin; "
        "a server that PySpark starts for you, with spark_cer.session() or spark_cer.configure(builder)."
    )
