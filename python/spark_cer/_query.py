"""A query, ready to be applied to DataFrames."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pyspark.errors import PySparkRuntimeError, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame
from pyspark.sql.functions import lit

from spark_cer._jar import jar


class Cer:
    """A CEQL query. Made by :func:`cer`; call it with a DataFrame, or hand it to ``DataFrame.transform``."""

    def __init__(
        self,
        query: str,
        time: str | None,
        type: str | None,
        order: str | None,
        params: Mapping[str, Any],
        late: str,
        idle: str | None,
    ) -> None:
        self.query = query
        self.time = time
        self.type = type
        self.order = order
        self.params = dict(params)
        self.late = late
        self.idle = idle

    def __call__(self, events: DataFrame) -> DataFrame:
        entry = _entry(events)
        params = {name: lit(value)._jc for name, value in self.params.items()}
        # The class that the session itself uses, so that the result has all of its methods.
        matches = entry.transform(
            events._jdf, self.query, self.time, self.type, self.order, self.late == "rows", self.idle, params
        )
        return DataFrame(matches, events.sparkSession)

    def __repr__(self) -> str:
        return f"cer({self.query!r})"


def cer(
    query: str,
    *,
    time: str | None = None,
    type: str | None = None,
    order: str | None = None,
    params: Mapping[str, Any] | None = None,
    late: str = "count",
    idle: str | None = None,
) -> Cer:
    """A complex event query, for a batch or a stream of events.

    :param query: the query, in CEQL
    :param time: the column that orders the events, a timestamp, a date or a number; by default the watermark's column,
        or the attribute of ``WITHIN n [a]``
    :param type: the column with each event's type; by default ``type``, if there is such a column
    :param order: a column that decides between events of the same time
    :param params: the values of the query's ``:name`` parameters, which stand in conditions, WITHIN and LIMIT: int, float,
        Decimal, str, bool, datetime, date, bytes or None. They are bound as typed literals, never pasted into the text
    :param late: what becomes of a stream's events that come too late: ``"count"`` them in the progress of the query
        (``late`` in its ``observedMetrics``), or have them as ``"rows"`` too, with the event in a column ``late`` and
        no ``match_id``
    :param idle: how long a key of a stream may be silent before its state is dropped, such as ``"7 days"``

    >>> events.transform(cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 30 seconds", time="ts"))
    >>> events.transform(cer("SELECT * FROM S WHERE A FILTER A[price > :least]", time="ts", params={"least": 20}))
    """
    for name, value in {
        "query": query,
        "time": time,
        "type": type,
        "order": order,
        "late": late,
        "idle": idle,
    }.items():
        if not isinstance(value, str) and (value is not None or name in ("query", "late")):
            raise PySparkTypeError(f"cer() takes a str as {name}, not {value.__class__.__name__}.")
    if late not in ("count", "rows"):
        raise PySparkValueError(f'cer() takes "count" or "rows" as late, not {late!r}.')
    return Cer(query, time, type, order, _checked(params), late, idle)


_LITERALS = (int, float, Decimal, str, bool, datetime.date, bytes)


def _checked(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise PySparkTypeError(f"cer() takes a dict as params, not {params.__class__.__name__}.")
    for name, value in params.items():
        if not isinstance(name, str):
            raise PySparkTypeError(f"cer() takes names as keys of params, not {name!r}.")
        if value is not None and not isinstance(value, _LITERALS):
            raise PySparkTypeError(
                f"The parameter {name} is a {value.__class__.__name__}; "
                "it can be int, float, Decimal, str, bool, datetime, date, bytes or None."
            )
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise PySparkValueError(f"The parameter {name} is larger than a BIGINT: use a Decimal.")
    return params


def _entry(events: DataFrame) -> Any:
    """The door to the engine in the session's JVM."""
    spark = events.sparkSession
    if not hasattr(events, "_jdf"):
        raise PySparkRuntimeError("spark-cer does not run on Spark Connect sessions yet: use a classic session.")
    package: Any = spark._jvm
    entry = package.sparkcer.spark.PythonEntry
    # py4j takes a name that is no class for a package.
    if entry.__class__.__name__ == "JavaPackage":
        raise PySparkRuntimeError(
            "This Spark session has no spark-cer jar. Start it with spark_cer.session() or "
            f"spark_cer.configure(builder), or by spark-submit --jars {jar()}."
        )
    return entry
