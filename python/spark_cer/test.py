"""Unit tests of patterns: runs a query over a few dicts.

>>> from spark_cer.test import run
>>> def test_a_sale_then_a_purchase():
...     matches = run(
...         "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > :least] WITHIN 30 [t]",
...         [{"type": "SELL", "t": 1, "price": 25.0}, {"type": "BUY", "t": 9, "price": 3.0}],
...         params={"least": 20},
...     )
...     assert [(m.x.price, m.y.price) for m in matches] == [(25.0, 3.0)]
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from spark_cer._not_given import NOT_GIVEN, NotGiven
from spark_cer._query import cer
from spark_cer._session import session

Rows = Sequence[Mapping[str, Any]]

# Small data needs no parallel shuffle, no adaptive execution and no code generation.
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def run(
    query: str,
    rows: Rows | Mapping[str, Rows],
    *,
    time: str | None = None,
    type: str | NotGiven | None = NOT_GIVEN,
    order: str | None = None,
    params: Mapping[str, Any] | None = None,
    schema: StructType | str | Mapping[str, StructType | str] | None = None,
    until: str | datetime.date | int | Decimal | None = None,
) -> list[Row]:
    """Returns the matches of a query over a few events, sorted by ``end`` and ``start``, then by the other columns.

    Events with the same time are in the order of the list. The other arguments are as in :func:`spark_cer.cer`. The
    first call starts a session if there is none. Every other call takes well under a second. The settings of the
    session do not change.

    :param rows: the events as dicts, in which a key may be missing. For a query over several inputs, a dict of such
        lists
    :param schema: the columns and their data types (a StructType or ``"ts TIMESTAMP, price DOUBLE"``), if they do not
        follow from the values. By default a column has the data type of its values, as in ``createDataFrame``

    >>> run("SELECT * FROM S WHERE A ; B", [{"type": "A", "t": 1}, {"type": "B", "t": 2}], time="t")
    [Row(match_id='…', start=1, end=2, A=Row(type='A', t=1), B=Row(type='B', t=2))]
    """
    spark = SparkSession.getActiveSession() or session()
    asked = cer(query, time=time, type=type, order=order, params=params, until=until)
    with _small(spark):
        if isinstance(rows, Mapping):
            schemas = schema if isinstance(schema, Mapping) else dict.fromkeys(rows, schema)
            found = asked.over({name: _events(spark, some, schemas.get(name)) for name, some in rows.items()})
        elif isinstance(schema, Mapping):
            raise PySparkTypeError("run() takes one schema for one list of rows.")
        else:
            found = asked(_events(spark, rows, schema))
        matches = found.collect()
    first = [name for name in ("end", "start") if name in found.columns]
    rest = [name for name in found.columns if name not in ("end", "start", "match_id")]
    return sorted(matches, key=lambda row: [_key(row[name]) for name in first + rest])


@contextmanager
def _small(spark: SparkSession) -> Iterator[None]:
    """Changes the settings of the session for small data, and restores them."""
    before = {name: str(spark.conf.get(name)) for name in _SMALL}
    try:
        for name, value in _SMALL.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.set(name, old)


def _events(spark: SparkSession, rows: Rows, schema: StructType | str | None) -> DataFrame:
    if schema is None and not rows:
        raise PySparkValueError("run() cannot tell the columns of no rows: say them in schema.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    if schema is None:
        empty = [name for name in names if all(row.get(name) is None for row in rows)]
        if empty:
            raise PySparkValueError(
                f"run() cannot tell the type of '{empty[0]}', which is always None: say it in schema."
            )
        return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], names).coalesce(1)
    columns = spark.createDataFrame([], schema).schema
    unknown = [name for name in names if name not in columns.names]
    if unknown:
        raise PySparkValueError(f"The rows have a column '{unknown[0]}', which is not in schema.")
    return spark.createDataFrame([tuple(row.get(name) for name in columns.names) for row in rows], columns).coalesce(1)


def _key(value: Any) -> Any:
    """A sort key for a value, which may be None or nested."""
    if value is None:
        return (0,)
    if isinstance(value, (bool, int, float, Decimal)):
        return (1, value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return (2, value.__class__.__name__, value)
    if isinstance(value, (tuple, list)):
        return (3, [_key(item) for item in value])
    if isinstance(value, dict):
        return (4, sorted((_key(k), _key(v)) for k, v in value.items()))
    return (5, value.__class__.__name__, value if isinstance(value, (str, bytes, bytearray)) else str(value))
