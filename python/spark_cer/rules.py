"""Runs a stream of rules that are kept in a table, and starts it again when the table changes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger(__name__)


def run(
    build: Callable[[DataFrame], StreamingQuery],
    table: Callable[[], DataFrame],
    *,
    poll: float = 10.0,
    until: threading.Event | None = None,
) -> None:
    """Starts a stream with the rules of a table, and starts it again on its checkpoint whenever the table has changed.
    Rules that stay keep their state, see :func:`spark_cer.cer_rules`.

    A change is looked for every ``poll`` seconds, and the stream is stopped between two micro-batches if there is a
    pause between them. If the changed rules are refused, for example because one of them is wrong, the reason is logged
    and the stream goes on with the rules that it had.

    It returns when ``until`` is set, or raises the error with which the stream ends.

    :param build: starts the stream, with a checkpoint of its own, for a DataFrame of rules
    :param table: reads the table

    >>> def build(rules):
    ...     alerts = events.transform(cer_rules(rules, time="ts"))
    ...     return alerts.writeStream.option("checkpointLocation", "checkpoint").toTable("alerts")
    >>> spark_cer.rules.run(build, lambda: spark.read.table("rules"))
    """
    if not callable(build) or not callable(table):
        raise PySparkTypeError("run() takes a function that starts a stream, and a function that reads the rules.")
    if poll <= 0:
        raise PySparkValueError(f"run() takes a number of seconds as poll, not {poll}.")
    over = until or threading.Event()
    frame, rules = _read(table)
    running = build(frame)
    refused: list[Row] | None = None
    try:
        while not over.wait(poll):
            if not running.isActive:
                running.awaitTermination()  # raises its error
                return
            frame, now = _read(table)
            if now in (rules, refused):
                continue
            _stop(running, over)
            try:
                running = build(frame)
                rules, refused = now, None
                _log.info("The rules have changed: %d rules run now.", len(rules))
            except AnalysisException as error:
                _log.error("The changed rules are refused, and the old ones go on. %s", error)
                refused = now
                running = build(frame.sparkSession.createDataFrame(rules, frame.schema))
    finally:
        running.stop()


def _read(table: Callable[[], DataFrame]) -> tuple[DataFrame, list[Row]]:
    """The rules as they are now, which do not change later, in an order of their own."""
    read = table()
    rows = sorted(read.collect(), key=repr)
    return read.sparkSession.createDataFrame(rows, read.schema), rows


def _stop(running: StreamingQuery, over: threading.Event) -> None:
    """Stops a stream, between two micro-batches if there is a pause within some seconds."""
    for _ in range(100):
        if not running.status["isTriggerActive"] or over.wait(0.1):
            break
    running.stop()
