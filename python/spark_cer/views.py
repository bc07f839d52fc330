"""Views over time-partitioned tables, kept up to date part by part as rows arrive.

>>> from spark_cer import views
>>> v = views.open(spark, "/data/net")
>>> v.create_table("M", "t TIMESTAMP, src STRING, dest STRING, loss INT", time="t", length="1 minute")
>>> v.sql("CREATE VIEW Helper AS INITIALIZE Helper[i] AS … UPDATE Helper[j] AS … PARTITION LENGTH 60")
>>> v.append("M", rows)
>>> v.maintain().show()
>>> v.read("Helper").show()
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_cer import _engine


class Views:
    """The tables and views under one folder. Made by :func:`open`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._views = _engine.views(spark).open(spark._jsparkSession, path)

    def create_table(self, name: str, schema: str | StructType, *, time: str, length: str | int) -> None:
        """Creates a base table.

        :param schema: the columns
        :param time: the column that says when a row happened: a timestamp, a date, or a number of Unix seconds
        :param length: of a part: ``"1 minute"``, or a number of seconds
        """
        if isinstance(schema, StructType):
            schema = schema.toDDL()
        self._views.createTable(name, schema, time, str(length))

    def sql(self, text: str, *, backfill: bool = False) -> DataFrame:
        """Runs one or several ``CREATE VIEW`` statements, or a query over the tables and views. The statements come
        back as they were executed, in a column ``statement``: pattern and window queries as what they became.

        :param backfill: whether the views start at the earliest part for which their sources have all that is needed,
            and not at the newest
        """
        return self._frame(self._views.sql(text, backfill))

    def append(self, table: str, rows: DataFrame) -> None:
        """Adds rows to the parts of a table that they belong to by their time. All parts up to the newest among them
        are complete then: the views can use them, and rows that come for them afterwards are late data."""
        self._views.append(table, rows._jdf)

    def maintain(self) -> DataFrame:
        """Makes all parts of views that can be made, and computes anew those whose sources have changed. The report has
        a row for each part that something was done about."""
        return self._frame(self._views.maintain())

    def read(self, name: str, *, part: int | datetime.datetime | str | None = None) -> DataFrame:
        """The rows of a table or a view, with the begin of their part in ``PART_TIMESTAMP``.

        :param part: one part: its number, or a time in it
        """
        if part is None:
            return self._frame(self._views.read(name))
        return self._frame(self._views.read(name, part if isinstance(part, int) else self._timestamp(part)))

    def sink(self, table: str, *, delay: str = "0 seconds") -> Callable[[DataFrame, int], None]:
        """What ``foreachBatch`` of a stream takes: rows go to the parts of a table, and the views are maintained after
        each micro-batch. A part is complete, and the views see it, when the largest time of the stream is ``delay``
        past its end. Rows that come later are late data; those for dropped parts are kept aside.

        >>> stream.writeStream.foreachBatch(v.sink("M", delay="30 seconds")).option("checkpointLocation", path).start()
        """
        sink = self._views.sink(table, delay)

        def take(rows: DataFrame, batch: int) -> None:
            sink.take(rows._jdf, batch)

        return take

    def aside(self, table: str) -> DataFrame:
        """The rows of a stream that came for parts which had been dropped."""
        return self._frame(self._views.aside(table))

    def parts(self, name: str) -> DataFrame:
        """The parts of a table or a view: their rows, when they were last changed, and what makes them stale."""
        return self._frame(self._views.parts(name))

    def drop_parts(self, name: str, *, before: datetime.datetime | str, cascade: bool = False) -> list[str]:
        """Drops the parts that end before a time. It is refused, with a list, if a view needs them for a part that is
        not made yet or is to be computed anew.

        :param cascade: whether those views lose their parts too, and start again with the first part that is possible
        :return: what was dropped
        """
        return self._names(self._views.dropParts(name, self._timestamp(before), cascade))

    def roll_up(self, name: str, *, before: datetime.datetime | str, length: str | int) -> int:
        """Puts the rows of parts that end before a time into larger files, one for each stretch of ``length``. Parts
        keep their numbers and their rows.

        :return: how many parts were rolled up
        """
        count: int = self._views.rollUp(name, self._timestamp(before), str(length))
        return count

    def drop(self, name: str, *, cascade: bool = False) -> list[str]:
        """Drops a table or a view. It is refused if views are computed from it, unless they go too.

        :return: what was dropped
        """
        return self._names(self._views.drop(name, cascade))

    @property
    def plan(self) -> str:
        """What :meth:`explain` prints."""
        text: str = self._views.explain()
        return text

    def explain(self) -> None:
        """Prints all tables and views: their lengths and parts, what each view makes next and what it waits for, which
        parts are stale and why, and the statements."""
        print(self.plan)

    def diagram(self, kind: str = "mermaid") -> str:
        """Which view is computed from what, as ``"mermaid"`` or as ``"dot"``."""
        text: str = self._views.diagram(kind)
        return text

    def _timestamp(self, time: datetime.datetime | str) -> Any:
        """As Spark reads it, in the time zone of the session."""
        if not isinstance(time, (datetime.datetime, str)):
            raise PySparkTypeError(f"A time is a datetime or a str, not {time.__class__.__name__}.")
        text = time if isinstance(time, str) else time.astimezone(datetime.timezone.utc).isoformat()
        return self._views.timestamp(text)

    @staticmethod
    def _names(names: Any) -> list[str]:
        text: str = names.mkString("\n")
        return text.splitlines()

    def _frame(self, frame: Any) -> DataFrame:
        return DataFrame(frame, self._spark)


def open(spark: SparkSession, path: str) -> Views:
    """The tables and views under a folder, on any file system that Spark can write to."""
    return Views(spark, path)
