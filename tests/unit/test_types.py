"""Names in a pattern are event types or inputs of FROM. A name that can never match is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer
from spark_cer.test import run
from tests.connect_server import only_classic

LOGINS = "SELECT * FROM L WHERE failure ; success WITHIN 9 [t]"
PAIRS = "SELECT * FROM Tx WHERE (Tx AS a ; Tx AS b) WITHIN 9 [t]"


@pytest.fixture
def logins(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "failure", "bob"), (2, "success", "bob")], "t BIGINT, result STRING, user STRING")


@pytest.fixture
def payments(spark: SparkSession) -> DataFrame:
    """`type` is an ordinary column."""
    return spark.createDataFrame([(1, "card"), (2, "cash"), (3, "Tx")], "t BIGINT, type STRING")


def times(matches: DataFrame) -> set[tuple[int, int]]:
    return {(row.start, row.end) for row in matches.collect()}


def refused(call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(AnalysisException) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert caught.value.getCondition() == text[1 : text.index("]")]
    return text


NO_FAILURE = (
    "[CER_UNKNOWN_TYPE] Line 1, column 23: no event has the type 'failure': L has no type column, so the type of all its "
    "events is 'L'. Name the type column, which can be type='result' or type='user', or write L in the pattern.\n"
    f"{LOGINS}\n"
    "                      ^"
)


def test_a_name_that_is_no_type_and_not_in_from(logins: DataFrame) -> None:
    for query in (cer(LOGINS), cer(LOGINS, type=None)):
        for door in (query, query.validate, query.schema, query.snapshot):
            assert refused(door, logins) == NO_FAILURE
        assert refused(query.over, {"L": logins}) == NO_FAILURE
    assert times(logins.transform(cer(LOGINS, type="result"))) == {(1, 2)}


def test_no_column_could_be_the_type(logins: DataFrame) -> None:
    query = "SELECT * FROM Logins WHERE Logins : NOT(Login) WITHIN 9 [t]"
    assert refused(cer(query), logins.select("t")) == (
        "[CER_UNKNOWN_TYPE] Line 1, column 41: no event has the type 'Login': Logins has no type column, so the type of all "
        "its events is 'Logins'. Write Logins in the pattern; no column is a STRING and can be the type column. "
        "Did you mean 'Logins'?\n"
        f"{query}\n"
        "                                        ^"
    )


def test_the_name_of_from_is_every_event(payments: DataFrame) -> None:
    every = {(1, 2), (1, 3), (2, 3)}
    assert times(payments.transform(cer(PAIRS))) == every
    assert times(payments.transform(cer(PAIRS, type=None))) == every
    assert times(cer(PAIRS).snapshot(payments)) == every
    assert times(payments.withColumn("type", payments["t"]).transform(cer(PAIRS))) == every
    assert times(payments.transform(cer(PAIRS, type="type"))) == set()
    # With one other name, all names are types.
    mixed = PAIRS.replace("Tx AS a", "card AS a")
    assert times(payments.transform(cer(mixed))) == {(1, 3)}
    assert refused(cer(mixed, type=None), payments).startswith(
        "[CER_UNKNOWN_TYPE] Line 1, column 25: no event has the type 'card': Tx has no type column, so the type of all its "
        "events is 'Tx'. Name the type column, which can be type='type', or write Tx in the pattern.\n"
    )


def test_a_stream(spark: SparkSession, payments: DataFrame, tmp_path: Path) -> None:
    payments.coalesce(1).write.parquet(str(tmp_path / "events"))
    stream = spark.readStream.schema(payments.schema).parquet(str(tmp_path / "events"))
    running = (
        stream.transform(cer(PAIRS))
        .writeStream.format("memory")
        .queryName("every_payment")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    assert times(spark.table("every_payment")) == {(1, 2), (1, 3), (2, 3)}
    assert sorted(spark.table("every_payment").collect()) == sorted(payments.transform(cer(PAIRS)).collect())
    assert refused(cer(PAIRS.replace("Tx AS a", "card AS a"), type=None), stream).startswith("[CER_UNKNOWN_TYPE] ")
    assert refused(cer(PAIRS).validate, stream, types=True) == (
        "[CER_UNSUPPORTED] To find the types that never occur, all events are read, but these are a stream. "
        "Give a batch of events."
    )


def test_in_sql(spark: SparkSession, payments: DataFrame) -> None:
    payments.createOrReplaceTempView("type_payments")

    def found(query: str, more: str = "") -> set[tuple[int, int]]:
        return times(spark.sql(f"SELECT * FROM cer(TABLE(type_payments), '{query}'{more})"))

    every = {(1, 2), (1, 3), (2, 3)}
    assert found(PAIRS) == every
    assert found(PAIRS, more=", type => NULL") == every
    assert found(PAIRS, more=", type => CAST(NULL AS STRING)") == every
    assert found(PAIRS, more=", type => 'type'") == set()
    assert found(PAIRS.replace("Tx AS a", "card AS a")) == {(1, 3)}


def test_in_unit_tests(spark: SparkSession) -> None:
    rows = [{"t": 1, "type": "card"}, {"t": 2, "type": "Tx"}]
    mixed = PAIRS.replace("Tx AS a", "card AS a")
    assert [len(run(PAIRS, rows)), len(run(PAIRS, rows, type=None)), len(run(PAIRS, rows, type="type"))] == [1, 1, 0]
    assert len(run(mixed, rows)) == 1
    assert refused(run, mixed, rows, type=None).startswith("[CER_UNKNOWN_TYPE] Line 1, column 25: ")


# Several inputs


@pytest.fixture
def inputs(spark: SparkSession) -> dict[str, DataFrame]:
    """B has a column `type`, and S does not."""
    return {
        "B": spark.createDataFrame([(2, "offer"), (3, "S")], "t BIGINT, type STRING"),
        "S": spark.createDataFrame([(1, "x")], "t BIGINT, note STRING"),
    }


def test_each_input_by_itself(inputs: dict[str, DataFrame]) -> None:
    query = "SELECT * FROM B, S WHERE (S AS s ; {} AS b) WITHIN 9 [t]"
    # Only names of FROM: all events of B, and its column `type` is not changed.
    every = cer(query.format("B")).over(inputs)
    assert times(every) == times(cer(query.format("B"), type=None).over(inputs)) == {(1, 2), (1, 3)}
    assert sorted((row[0] or "", row[1]) for row in every.select("s.type", "b.type").collect()) == [
        ("", "S"),
        ("", "offer"),
    ]
    # Another name: `type` is the type column of B, and an event of B can have the type S.
    assert times(cer(query.format("offer")).over(inputs)) == {(1, 2)}
    assert times(cer(query.format("B>S"), type="type").over(inputs)) == {(1, 3)}
    assert times(cer(query.format("S"), type="type").over(inputs)) == {(1, 3)}


NEVER: dict[str, tuple[str, dict[str, Any], str]] = {
    "an input without a type column": (
        "S>offer",
        {},
        "no event has the type 'offer': S has no type column, so the type of all its events is 'S'. "
        "Name the type column, which can be type='note', or write S in the pattern.",
    ),
    "no input has a type column": (
        "offer",
        {"type": None},
        "no event has the type 'offer': B, S have no type column, so the type of an event is the name of its input. "
        "Name the type column, which can be type='type' or type='note', or write B or S in the pattern.",
    ),
    "the name of another input": (
        "B>S",
        {},
        "no event has the type 'S': B has no type column, so the type of all its events is 'B'. "
        "Name the type column, which can be type='type', or write B in the pattern.",
    ),
}


@only_classic
@pytest.mark.parametrize("name", list(NEVER))
def test_a_name_that_no_input_has(inputs: dict[str, DataFrame], name: str) -> None:
    atom, options, text = NEVER[name]
    query = f"SELECT * FROM B, S WHERE (S AS s ; {atom} AS b) WITHIN 9 [t]"
    expected = f"[CER_UNKNOWN_TYPE] Line 1, column 36: {text}\n{query}\n{' ' * 35}^"
    assert refused(cer(query, **options).over, inputs) == expected
    assert refused(cer(query, **options).validate, inputs) == expected


# Types that could occur but do not


def test_types_that_never_occur(spark: SparkSession, trades: DataFrame) -> None:
    query = cer("SELECT * FROM S WHERE (SEL AS x ; BUYS ; SELL ; WITHDRAW ; SEL) WITHIN 30 [t]")
    query.validate(trades)
    assert refused(query.validate, trades, types=True) == (
        "[CER_UNKNOWN_TYPE] Line 1, column 24: no event has the type 'SEL' (did you mean 'SELL'?) or 'BUYS' (did you mean "
        "'BUY'?) or 'WITHDRAW'. The types that occur are BUY, HOLD, SELL.\n"
        f"{query.query}\n"
        "                       ^"
    )
    cer("SELECT * FROM S WHERE (SELL AS x ; BUY) WITHIN 30 [t]").validate(trades, types=True)
    cer("SELECT * FROM S WHERE (S AS x ; S AS y) WITHIN 30 [t]").validate(trades, types=True)
    assert refused(query.validate, trades.limit(0), types=True).startswith(
        "[CER_UNKNOWN_TYPE] Line 1, column 24: no event has the type 'SEL' or 'BUYS' or 'SELL' or 'WITHDRAW'. No event has a type.\n"
    )
    many = spark.range(30).selectExpr("id AS t", "IF(id < 5, NULL, concat('K', id)) AS type")
    assert refused(query.validate, many, types=True).splitlines()[0] == (
        "[CER_UNKNOWN_TYPE] Line 1, column 24: no event has the type 'SEL' or 'BUYS' or 'SELL' or 'WITHDRAW'. Types that "
        "occur are K10, K11, K12, K13, K14, K15, K16, K17, K18, K19, K20, K21, K22, K23, K24, K25, K26, K27, K28, K29 and others."
    )


def test_types_of_several_inputs_that_never_occur(inputs: dict[str, DataFrame]) -> None:
    cer("SELECT * FROM B, S WHERE (S AS s ; B>offer AS b) WITHIN 9 [t]").validate(inputs, types=True)
    query = cer("SELECT * FROM B, S WHERE (B>offers ; stop) WITHIN 9 [t]")
    assert refused(query.validate, inputs, types=True) == (
        "[CER_UNKNOWN_TYPE] Line 1, column 27: no event has the type 'B>offers' (did you mean 'offer'?) or 'stop'. "
        "The types that occur are S, offer.\n"
        f"{query.query}\n"
        "                          ^"
    )
