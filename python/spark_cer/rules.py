"""Runs a stream of rules that are kept in a table, and starts it again when the table changes."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable

from pyspark.errors import PySparkException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_cer import _engine
from spark_cer._rules import of_table
from spark_cer._session import session

_log = logging.getLogger(__name__)


def run(
    build: Callable[[DataFrame], StreamingQuery],
    table: str | DataFrame | Callable[[], DataFrame],
    *,
    poll: str | float = "10 seconds",
    until: threading.Event | None = None,
) -> None:
    """Starts a stream with the rules of a table, and starts it again on its checkpoint whenever the table has changed.
    Rules that stay keep their state, see :func:`spark_cer.cer_rules`.

    A change is looked for every ``poll``, and the stream is stopped at the end of a micro-batch. If the changed rules
    are refused, for example because one of them is wrong, or if the first micro-batch with them fails, the reason is
    logged and the stream goes on with the rules that it had. If the table cannot be read, that is logged, too, and it
    is tried again.

    It returns when ``until`` is set, or raises the error with which the stream ends.

    :param build: starts the stream, with a checkpoint of its own, for a DataFrame of rules
    :param table: the name of a table; or a DataFrame, whose files are listed anew each time (not on Spark Connect);
        or a function that reads the rules
    :param poll: a number of seconds, or a time as text

    >>> def build(rules):
    ...     alerts = events.transform(cer_rules(rules, time="ts"))
    ...     return alerts.writeStream.option("checkpointLocation", "checkpoint").toTable("alerts")
    >>> spark_cer.rules.run(build, "rules", poll="10 seconds")
    """
    if not callable(build):
        raise PySparkTypeError("run() takes a function that starts a stream.")
    read, seconds = _reader(table), _seconds(poll)
    over = until or threading.Event()
    frame, rules = _read(read)
    running = build(frame)
    refused: list[Row] | None = None
    before: list[Row] | None = None  # the rules to go back to, until a micro-batch has ended with the changed ones
    try:
        while not over.wait(seconds):
            if not running.isActive:
                if before is None or _has_read(running):
                    running.awaitTermination()  # raises its error
                    return
                _log.error("The stream fails with the changed rules, and the old ones go on. %s", running.exception())
                refused, rules, before = rules, before, None
                running = build(_frame(frame, rules))
                continue
            if _has_read(running):
                before = None
            try:
                frame, now = _read(read)
            except PySparkException as error:
                _log.warning("The table of rules cannot be read, and the stream goes on with those it has. %s", error)
                continue
            if now in (rules, refused):
                continue
            try:
                of_table(frame)  # what is wrong with the rows need not stop the stream
                _stop(running, over)
                running = build(frame)
            except PySparkException as error:
                _log.error("The changed rules are refused, and the old ones go on. %s", error)
                refused = now
                if not running.isActive:
                    running = build(_frame(frame, rules))
            else:
                rules, before, refused = now, rules, None
                _log.info("The rules have changed: %d rules run now.", len(rules))
    finally:
        running.stop()


def _reader(table: str | DataFrame | Callable[[], DataFrame]) -> Callable[[], DataFrame]:
    if isinstance(table, str):
        name = table
        return lambda: _named(name)
    if isinstance(table, DataFrame):
        frame = table
        return lambda: _engine.read_again(frame)
    if callable(table):
        return table
    raise PySparkTypeError(
        "run() takes the name of a table of rules, a DataFrame, or a function that reads the rules, "
        f"not {table.__class__.__name__}."
    )


def _named(name: str) -> DataFrame:
    spark = SparkSession.getActiveSession() or session()
    spark.catalog.refreshTable(name)  # others may have written it
    return spark.read.table(name)


_UNITS = {"ms": 0.001, "millisecond": 0.001, "s": 1.0, "second": 1.0, "minute": 60.0, "hour": 3600.0}


def _seconds(poll: str | float) -> float:
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", poll) if isinstance(poll, str) else None
    if parts:
        unit = parts[2] if parts[2] in _UNITS else parts[2].removesuffix("s")
        seconds = float(parts[1]) * _UNITS.get(unit, 0.0)
    else:
        seconds = float(poll) if isinstance(poll, (int, float)) and not isinstance(poll, bool) else 0.0
    if seconds <= 0:
        raise PySparkValueError(
            f'run() takes a number of seconds or a time such as "10 seconds" as poll, not {poll!r}.'
        )
    return seconds


def _read(read: Callable[[], DataFrame]) -> tuple[DataFrame, list[Row]]:
    """The rules as they are now, which do not change later, in an order of their own."""
    found = read()
    rows = sorted(found.collect(), key=repr)
    return _frame(found, rows), rows


def _frame(like: DataFrame, rows: list[Row]) -> DataFrame:
    return like.sparkSession.createDataFrame(rows, like.schema)


def _has_read(running: StreamingQuery) -> bool:
    """Has a micro-batch with events ended?"""
    return any(progress.numInputRows > 0 for progress in running.recentProgress)


def _stop(running: StreamingQuery, over: threading.Event) -> None:
    """Stops a stream when a micro-batch has ended. One that takes longer than a minute is stopped in the middle, and is
    repeated."""
    first = _batch(running)
    for _ in range(600):
        if not running.status["isTriggerActive"] or _batch(running) != first or over.wait(0.1):
            break
    else:
        _log.warning(
            "The rules have changed, and a micro-batch takes longer than a minute. It is stopped and repeated."
        )
    running.stop()


def _batch(running: StreamingQuery) -> int:
    progress = running.lastProgress
    return -1 if progress is None else progress.batchId
