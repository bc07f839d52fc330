"""A query, ready to be applied to DataFrames."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkRuntimeError, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame

from spark_cer._jar import jar


class Cer:
    """A CEQL query. Made by :func:`cer`; call it with a DataFrame, or hand it to ``DataFrame.transform``."""

    def __init__(
        self, query: str, time: str | None, type: str | None, order: str | None, late: str, idle: str | None
    ) -> None:
        self.query = query
        self.time = time
        self.type = type
        self.order = order
        self.late = late
        self.idle = idle

    def __call__(self, events: DataFrame) -> DataFrame:
        if isinstance(events, DataFrame) and not hasattr(events, "_jdf"):  # of Spark Connect
            from spark_cer import _connect

            options = {name: getattr(self, name) for name in ("time", "type", "order", "late", "idle")}
            return _connect.transform(events, self.query, options)
        entry = _entry(events)
        # The class that the session itself uses, so that the result has all of its methods.
        matches = entry.transform(
            events._jdf, self.query, self.time, self.type, self.order, self.late == "rows", self.idle
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
    late: str = "count",
    idle: str | None = None,
) -> Cer:
    """A complex event query, for a batch or a stream of events.

    :param query: the query, in CEQL
    :param time: the column that orders the events, a timestamp, a date or a number; by default the watermark's column,
        or the attribute of ``WITHIN n [a]``
    :param type: the column with each event's type; by default ``type``, if there is such a column
    :param order: a column that decides between events of the same time
    :param late: what becomes of a stream's events that come too late: ``"count"`` them in the progress of the query
        (``late`` in its ``observedMetrics``), or have them as ``"rows"`` too, with the event in a column ``late`` and
        no ``match_id``
    :param idle: how long a key of a stream may be silent before its state is dropped, such as ``"7 days"``

    >>> events.transform(cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 30 seconds", time="ts"))
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
    return Cer(query, time, type, order, late, idle)


def _entry(events: DataFrame) -> Any:
    """The door to the engine in the session's JVM."""
    spark = events.sparkSession
    package: Any = spark._jvm
    entry = package.sparkcer.spark.PythonEntry
    # py4j takes a name that is no class for a package.
    if entry.__class__.__name__ == "JavaPackage":
        raise PySparkRuntimeError(
            "This Spark session has no spark-cer jar. Start it with spark_cer.session() or "
            f"spark_cer.configure(builder), or by spark-submit --jars {jar()}."
        )
    return entry
