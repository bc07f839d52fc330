"""What the methods of an error return, for every way in which an error can arise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException, SparkRuntimeException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer, views
from tests.connect_server import only_classic

TOO_MANY = "SELECT * FROM S WHERE A+ ; B WITHIN 1 minute"


@pytest.fixture
def crowd(spark: SparkSession) -> Iterator[DataFrame]:
    """Events for which TOO_MANY fails in a task."""
    spark.conf.set("spark.cer.maxMatchesPerEvent", "100")
    events = spark.sql("SELECT timestamp_seconds(id) AS ts, IF(id = 20, 'B', 'A') AS type FROM range(21)")
    events.createOrReplaceTempView("crowd")
    yield events
    spark.conf.unset("spark.cer.maxMatchesPerEvent")


def check(kind: type[PySparkException], condition: str, state: str, fail: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        fail()
    error = caught.value
    text = str(error)
    assert text.startswith(f"[{condition}] ")
    assert error.getMessage() == text
    assert error.getCondition() == condition
    assert error.getSqlState() == state
    assert error.getMessageParameters() == {"message": text.removeprefix(f"[{condition}] ")}
    assert error.getQueryContext() == []
    with pytest.warns(FutureWarning, match="use getCondition instead"):
        assert error.getErrorClass() == condition


def test_a_query(spark: SparkSession, trades: DataFrame) -> None:
    for condition, query in {
        "CER_SYNTAX": "SELECT * FORM S",
        "CER_UNKNOWN_COLUMN": "SELECT * FROM S WHERE A FILTER A[prize > 1]",
        "CER_PARAMETER": "SELECT * FROM S WHERE A FILTER A[price > :p]",
        "CER_TYPE_MISMATCH": "SELECT * FROM S WHERE A FILTER A[price + 1]",
    }.items():
        check(AnalysisException, condition, "42000", partial(trades.transform, cer(query, time="t")))
    check(AnalysisException, "CER_SYNTAX", "42000", cer("SELECT * FORM S").explain)


def test_sql(spark: SparkSession, crowd: DataFrame) -> None:
    for condition, call in {
        "CER_SYNTAX": "cer(TABLE(crowd), 'SELECT * FORM S')",
        "CER_UNKNOWN_COLUMN": "cer(TABLE(crowd), 'SELECT * FROM S WHERE A FILTER A[prize > 1]', time => 'ts')",
        "CER_SQL": "cer('SELECT * FROM S WHERE A')",
    }.items():
        check(AnalysisException, condition, "42000", partial(collect, spark, call))
    found = partial(collect, spark, f"cer(TABLE(crowd), '{TOO_MANY}', time => 'ts')")
    check(SparkRuntimeException, "CER_TOO_MANY_MATCHES", "38000", found)


def collect(spark: SparkSession, call: str) -> None:
    spark.sql(f"SELECT * FROM {call}").collect()


def test_a_task(crowd: DataFrame) -> None:
    matches = crowd.transform(cer(TOO_MANY, time="ts"))
    check(SparkRuntimeException, "CER_TOO_MANY_MATCHES", "38000", matches.collect)


def test_a_stream(spark: SparkSession, crowd: DataFrame, tmp_path: Path) -> None:
    crowd.coalesce(1).write.parquet(str(tmp_path / "events"))
    events = spark.readStream.schema(crowd.schema).parquet(str(tmp_path / "events"))
    writer = events.transform(cer(TOO_MANY, time="ts")).writeStream.format("noop").trigger(availableNow=True)
    with pytest.raises(StreamingQueryException) as caught:
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    error = caught.value
    text = "[CER_TOO_MANY_MATCHES] The event at 1970-01-01T00:00:20Z closes more than 100 matches. "
    assert text in str(error)
    assert text in error.getMessage()
    assert error.getCondition() == "STREAM_FAILED"
    assert error.getSqlState() == "XXKST"


@only_classic
def test_views(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    v = views.open(spark, str(tmp_path / "views"))
    wrong = "CREATE VIEW v AS INITIALIZE w[i] AS SELECT 1"
    check(AnalysisException, "CER_VIEW_CATALOG", "42000", lambda: v.read("nope"))
    check(AnalysisException, "CER_VIEW_DEFINITION", "42000", lambda: v.sql(wrong))
    check(AnalysisException, "CER_VIEW_CATALOG", "42000", lambda: spark.sql(wrong))
    spark.conf.set("spark.cer.views.path", str(tmp_path / "views"))
    request.addfinalizer(lambda: spark.conf.unset("spark.cer.views.path"))
    check(AnalysisException, "CER_VIEW_DEFINITION", "42000", lambda: spark.sql(wrong))
    v.create_table("M", "t TIMESTAMP, n INT", time="t", length="1 minute")
    part = "SELECT 10 / (n - 5) AS x FROM M"
    v.sql(f"CREATE VIEW bad AS INITIALIZE bad[i] AS {part}[i] UPDATE bad[j] AS {part}[j] PARTITION LENGTH 60")
    v.append("M", spark.sql("SELECT timestamp_seconds(60 * id) AS t, CAST(4 + id AS INT) AS n FROM range(3)"))
    # A part that fails is reported, and stops nothing else.
    [failed] = [row for row in v.maintain().collect() if row.action == "failed"]
    assert failed.error.startswith("[DIVIDE_BY_ZERO] "), failed.error
