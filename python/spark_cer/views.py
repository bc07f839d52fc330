"""Incrementally maintained views over tables that are divided into parts by time.

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
    """The tables and views in one folder. Created by :func:`open`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._views = _engine.views(spark).open(spark._jsparkSession, path)

    def create_table(self, name: str, schema: str | StructType, *, time: str, length: str | int) -> None:
        """Creates a base table.

        :param schema: the columns
        :param time: the time column: a timestamp, a date, or a number of Unix seconds
        :param length: the length of a part: ``"1 minute"``, or a number of seconds
        """
        if isinstance(schema, StructType):
            schema = schema.toDDL()
        self._views.createTable(name, schema, time, str(length))

    def sql(self, text: str, *, backfill: bool = False) -> DataFrame:
        """Runs one or several ``CREATE VIEW`` statements, one or several ``DROP VIEW`` statements, or a query over the
        tables and views. Returns the executed statements in a column ``statement``. Pattern and window queries are
        returned as the statements that they were translated to.

        :param backfill: whether the views start at the earliest part for which their sources have the data, and not at
            the newest
        """
        return self._frame(self._views.sql(text, backfill))

    def append(self, table: str, rows: DataFrame, *, batch: str | None = None, ahead: str | None = None) -> int:
        """Appends rows to a table. The time of a row decides to which part it belongs. All parts up to the newest of
        these are then complete: views can use them, and rows that arrive for them afterwards are late data.

        :param batch: a name for these rows. If the call is repeated with the same name, nothing is appended, so that a
            call that may have succeeded can be repeated. The last thousand names are remembered.
        :param ahead: how far rows may be ahead of the later of the newest part and the clock, such as ``"1 hour"``.
            Rows that are further ahead are put aside. By default it is one day, or 1,440 parts if these are shorter.
        :return: how many rows were put aside, see :meth:`aside`
        """
        count: int = self._views.append(table, rows._jdf, self._option(batch), self._option(ahead))
        return count

    def maintain(self, *, changed: str | None = None) -> DataFrame:
        """Computes all parts of views that can be computed, and recomputes those whose sources have changed. Returns a
        report with a row for each part that was processed. A part that fails is as it was before: the report has its
        error, and the next call tries again.

        :param changed: a table outside of the folder that has changed. All parts that read it are recomputed.
        """
        return self._frame(self._views.maintain() if changed is None else self._views.maintain(changed))

    def repair(self, *, restored: str | None = None) -> DataFrame:
        """Looks for files that are lost or damaged. Parts of views are computed again if all that they need is there.
        Parts that cannot be computed again keep the rows that are left, and are reported as lost. If newer versions of
        the catalog cannot be read, it continues from the newest version that can be read. Returns a report as
        :meth:`maintain` does.

        :param restored: a table whose lost rows have been appended again. All parts that were computed without them, or
            that were kept because of them, are recomputed.
        """
        return self._frame(self._views.repair() if restored is None else self._views.repair(restored))

    def read(self, name: str, *, part: int | datetime.datetime | str | None = None) -> DataFrame:
        """Returns the rows of a table or a view, with the start of their part in ``PART_TIMESTAMP``.

        :param part: read only this part: its number, or a time in it
        """
        if part is None:
            return self._frame(self._views.read(name))
        return self._frame(self._views.read(name, part if isinstance(part, int) else self._timestamp(part)))

    def sink(
        self, table: str, *, delay: str = "0 seconds", ahead: str | None = None
    ) -> Callable[[DataFrame, int], None]:
        """Returns a function for ``foreachBatch`` of a stream. It appends the rows to a table, and maintains the views
        after each micro-batch. A part is complete, and the views see it, when the largest time of the stream is past
        the end of the part by ``delay``. Rows that arrive after that are late data. Rows for dropped parts, rows that
        are too far ahead, as in :meth:`append`, and rows that are too far behind are put aside. A view that fails does
        not stop the stream.

        >>> stream.writeStream.foreachBatch(v.sink("M", delay="30 seconds")).option("checkpointLocation", path).start()
        """
        sink = self._views.sink(table, delay, self._option(ahead))

        def take(rows: DataFrame, batch: int) -> None:
            sink.take(rows._jdf, batch)

        return take

    def aside(self, table: str) -> DataFrame:
        """Returns the rows that were put aside: those of a stream for dropped parts or too far behind, and those too
        far ahead."""
        return self._frame(self._views.aside(table))

    def parts(self, name: str) -> DataFrame:
        """Returns the parts of a table or a view: their rows, when they last changed, why they are stale, and the error
        of a part that could not be computed."""
        return self._frame(self._views.parts(name))

    def drop_parts(self, name: str, *, before: datetime.datetime | str, cascade: bool = False) -> list[str]:
        """Drops the parts that end before a time. Raises an error that lists the dependent parts if a view needs them
        for a part that has yet to be computed or recomputed, and an error if a stream still writes some of them.

        :param cascade: whether to drop the parts of these views too. They lose the parts that need the dropped
            ones, and all earlier parts. A view whose next part then cannot be computed loses all its parts, and
            starts again at the first part that can be computed.
        :return: what was dropped
        """
        return self._names(self._views.dropParts(name, self._timestamp(before), cascade))

    def roll_up(self, name: str, *, before: datetime.datetime | str, length: str | int) -> int:
        """Combines the files of parts that end before a time, for each stretch of ``length``. Parts keep their numbers
        and their rows.

        :return: how many parts were rolled up
        """
        count: int = self._views.rollUp(name, self._timestamp(before), str(length))
        return count

    def drop(self, name: str, *, cascade: bool = False) -> list[str]:
        """Drops a table or a view. Raises an error if views are computed from it.

        :param cascade: whether to drop these views too
        :return: what was dropped
        """
        return self._names(self._views.drop(name, cascade))

    @property
    def plan(self) -> str:
        """What :meth:`explain` prints."""
        text: str = self._views.explain()
        return text

    def explain(self) -> None:
        """Prints all tables and views: their lengths and parts, the next part of each view and what it waits for, which
        parts are stale and why, and the statements."""
        print(self.plan)

    def diagram(self, kind: str = "mermaid") -> str:
        """Returns the graph of dependencies between views, as ``"mermaid"`` or as ``"dot"``."""
        text: str = self._views.diagram(kind)
        return text

    def _timestamp(self, time: datetime.datetime | str) -> Any:
        """A time as Spark parses it, in the time zone of the session."""
        if not isinstance(time, (datetime.datetime, str)):
            raise PySparkTypeError(f"A time is a datetime or a str, not {time.__class__.__name__}.")
        text = time if isinstance(time, str) else time.astimezone(datetime.timezone.utc).isoformat()
        return self._views.timestamp(text)

    def _option(self, value: str | None) -> Any:
        """A Scala Option."""
        jvm: Any = self._spark._jvm
        return jvm.scala.Option.apply(value)

    @staticmethod
    def _names(names: Any) -> list[str]:
        text: str = names.mkString("\n")
        return text.splitlines()

    def _frame(self, frame: Any) -> DataFrame:
        return DataFrame(frame, self._spark)


def open(spark: SparkSession, path: str) -> Views:
    """Opens the tables and views in a folder, on any file system that Spark can write to."""
    return Views(spark, path)
