"""PARTITION BY a field of a struct column."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_cer import cer
from tests.connect_server import only_classic

QUERY = "SELECT x, y FROM S WHERE (A AS x ; B AS y) PARTITION BY [account.id] WITHIN 10 [t]"


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    rows = [
        ("A", 1, ("p", ("k",))),
        ("A", 2, ("q", ("l",))),
        ("A", 3, None),
        ("B", 4, ("q", ("k",))),
        ("B", 5, (None, ("k",))),
        ("B", 6, ("p", None)),
        ("B", 7, None),
    ]
    return spark.createDataFrame(
        rows, "type STRING, t BIGINT, account STRUCT<id: STRING, `the owner`: STRUCT<`a.name`: STRING>>"
    )


def shown(matches: DataFrame) -> list[tuple[str, int, int]]:
    return sorted((row.id, row.x.t, row.y.t) for row in matches.collect())


def test_the_column_is_called_as_the_field(events: DataFrame) -> None:
    matches = events.transform(cer(QUERY))
    assert matches.columns == ["match_id", "id", "start", "end", "x", "y"]
    assert shown(matches) == [("p", 1, 6), ("q", 2, 4)]
    flat = events.withColumn("id", F.col("account.id")).transform(cer(QUERY.replace("account.id", "id")))
    assert [row[1:3] for row in shown(flat)] == [row[1:3] for row in shown(matches)]


def test_a_field_of_a_field(events: DataFrame) -> None:
    nested = "[account.`the owner`.`a.name`]"
    matches = events.transform(cer(QUERY.replace("[account.id]", nested)))
    assert matches.columns[1] == "a.name"
    assert sorted((row["a.name"], row.x.t, row.y.t) for row in matches.collect()) == [("k", 1, 4), ("k", 1, 5)]
    two = events.transform(cer(QUERY.replace("[account.id]", f"[account.id], {nested}")))
    assert two.columns[1:3] == ["id", "a.name"]
    assert two.count() == 0


@only_classic
def test_counts_and_narrow_columns(events: DataFrame) -> None:
    counts = events.transform(cer(QUERY.replace("x, y", "COUNT(*)")))
    assert sorted(tuple(row) for row in counts.collect()) == [("p", 6, 1), ("q", 4, 1)]
    narrow = events.transform(cer(QUERY.replace("x, y", "x[t], y[t]")))
    assert shown(narrow) == [("p", 1, 6), ("q", 2, 4)]
    assert [field.name for field in narrow.schema["x"].dataType] == ["t"]  # type: ignore[attr-defined]


@only_classic
def test_a_column_with_a_dot_in_its_name(events: DataFrame) -> None:
    dotted = events.withColumn("account.id", F.lit("same"))
    for name in ("account.id", "`account.id`"):
        matches = dotted.transform(cer(QUERY.replace("account.id", name)))
        assert matches.columns[1] == "account.id"
        assert matches.count() == 12


def test_several_inputs(events: DataFrame) -> None:
    query = "SELECT x, y FROM L, R WHERE (L AS x ; R AS y) PARTITION BY [account.id] WITHIN 10 [t]"
    left, right = events.where("type = 'A'").drop("type"), events.where("type = 'B'").drop("type")
    assert shown(cer(query).over({"L": left, "R": right})) == [("p", 1, 6), ("q", 2, 4)]
    with pytest.raises(AnalysisException) as caught:
        cer(query).over({"L": left, "R": right.drop("account")})
    assert str(caught.value) == (
        "[CER_UNKNOWN_COLUMN] The PARTITION BY column 'account' is not a column of R. Its columns are t."
    )


def test_a_stream_that_is_restarted(spark: SparkSession, events: DataFrame, tmp_path: Path) -> None:
    for part in ("t < 4", "t >= 4"):
        events.where(part).coalesce(1).write.mode("append").parquet(str(tmp_path / "events"))
        stream = spark.readStream.schema(events.schema).parquet(str(tmp_path / "events"))
        writer = stream.transform(cer(QUERY, time="t")).writeStream
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start(str(tmp_path / "matches")).awaitTermination()
    found = spark.read.parquet(str(tmp_path / "matches"))
    assert sorted(found.collect()) == sorted(events.transform(cer(QUERY, time="t")).collect())
    assert shown(found) == [("p", 1, 6), ("q", 2, 4)]


REFUSED = {
    "[account.idd]": "[CER_UNKNOWN_COLUMN] Line 1, column 58: 'account' has no field 'idd'. "
    "Its fields are id, the owner. Did you mean 'id'?",
    "[acount.id]": "[CER_UNKNOWN_COLUMN] Line 1, column 58: 'acount' is not a column. "
    "The columns are type, t, account. Did you mean 'account'?",
    "[t.id]": "[CER_TYPE_MISMATCH] Line 1, column 58: 't' is BIGINT and has no field 'id'. Only a struct has fields.",
    "[account.id], [account.ID]": "[CER_NAME_COLLISION] Two columns of the output would be called 'id'. "
    "Give the column of PARTITION BY another name before the query, with withColumn.",
}


@only_classic
@pytest.mark.parametrize("keys", list(REFUSED))
def test_the_message(events: DataFrame, keys: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        events.transform(cer(QUERY.replace("[account.id]", keys)))
    assert str(caught.value).splitlines()[0] == REFUSED[keys]
