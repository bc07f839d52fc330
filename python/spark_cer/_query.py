"""Queries that can be applied to DataFrames."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from html import escape
from typing import Any

from pyspark.errors import PySparkException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_cer import _engine
from spark_cer._diagram import Diagram
from spark_cer._not_given import NOT_GIVEN, NotGiven


class Cer:
    """A CEQL query, created by :func:`cer`. Call it with a DataFrame, or pass it to ``DataFrame.transform``."""

    def __init__(
        self,
        query: str,
        time: str | None,
        type: str | NotGiven | None,
        order: str | None,
        params: Mapping[str, Any],
        late: str,
        idle: str | None,
        snapshots: bool,
        until: str | None,
    ) -> None:
        self.query = query
        self.time = time
        self.type = type
        self.order = order
        self.params = dict(params)
        self.late = late
        self.idle = idle
        self.snapshots = snapshots
        self.until = until

    def __call__(self, events: DataFrame) -> DataFrame:
        if not isinstance(events, DataFrame):
            hint = "not a dict: over() takes a dict of names and DataFrames."
            raise PySparkTypeError(
                f"cer() takes a DataFrame of Spark, {hint if isinstance(events, Mapping) else _not_one(events)}"
            )
        return _engine.matches(self, events)

    def over(self, inputs: Mapping[str, DataFrame]) -> DataFrame:
        """Returns the matches over several inputs, batches or streams, each with its name in FROM.

        The inputs are merged by time. Events with equal times are in the order of FROM. An event has the columns of all
        inputs, with NULL in the columns that its own input lacks. Columns with the same name must have the same data
        type. If an input has no type column, the type of its events is its name in FROM.

        >>> cer("SELECT * FROM Buys, Sells WHERE Sells AS s ; Buys AS b WITHIN 1 minute", time="ts").over(
        ...     {"Buys": buys, "Sells": sells}
        ... )
        """
        if not isinstance(inputs, Mapping):
            raise PySparkTypeError("over() takes a dict of names and DataFrames.")
        check_inputs(inputs, "over")
        return _engine.matches_over(self, inputs)

    def snapshot(
        self,
        events: DataFrame | Mapping[str, DataFrame],
        *,
        at: Any = None,
        checkpoint: str | None = None,
    ) -> DataFrame:
        """Returns all matches that ended within the last window.

        The query must have a WITHIN on the time column. A snapshot costs as much as a query over the events of two
        windows.

        :param events: a batch, or the stream of a running query with ``snapshots=True``, of which only the columns are
            used
        :param at: the end of the window, in the data type of the time column. The default is the time of the last
            event. For a running query, this is the last event that the query read, which may leave out events that meet
            none of its conditions, and an earlier ``at`` is ignored
        :param checkpoint: the ``checkpointLocation`` of the running query. The snapshot is as of its last micro-batch

        >>> cer("SELECT * FROM S WHERE A ; B WITHIN 10 minutes", time="ts").snapshot(events)
        """
        if at is not None and not isinstance(at, _LITERALS):
            raise PySparkTypeError(f"snapshot() takes a time or a number as at, not {at.__class__.__name__}.")
        _check_events(events, "snapshot")
        return _engine.snapshot(self, events, at, checkpoint)

    def schema(self, events: DataFrame | Mapping[str, DataFrame]) -> StructType:
        """Returns the schema of the matches, without running the query.

        :param events: a DataFrame, or a dict as in :meth:`over`
        """
        _check_events(events, "schema")
        return (self(events) if isinstance(events, DataFrame) else self.over(events)).schema

    def validate(self, events: DataFrame | Mapping[str, DataFrame], *, types: bool = False) -> None:
        """Raises the errors that :meth:`__call__` (or :meth:`over`) would raise, without running the query: an unknown
        column, a data type that does not fit, a parameter without a value.

        :param types: whether to also read the types of the events, which must be a batch. It is then an error if the
            query names types that never occur. The message has the most similar types that do
        """
        _check_events(events, "validate")
        self.schema(events)
        if types:
            _engine.types_must_occur(self, events)

    @property
    def plan(self) -> str:
        """What :meth:`explain` prints."""
        return _engine.explanation(self)

    def explain(self) -> None:
        """Prints the plan as text: the conditions on events, which events are dropped early, how the query runs on
        Spark, and what can grow. This needs no events. It starts a session if there is none."""
        print(self.plan)

    def diagram(self) -> Diagram:
        """Returns the automaton of the query as a picture, which a notebook displays: SVG, or Mermaid for Markdown.
        Starts a session if there is none."""
        return Diagram(*_engine.drawings(self))

    def _repr_html_(self) -> str:
        """The query and its diagram. If there is no session, the query alone, because displaying must not start one."""
        text = f"<pre>{escape(self.query.strip())}</pre>"
        if SparkSession.getActiveSession() is None:
            return text
        try:
            return text + self.diagram()._repr_html_()
        except PySparkException as error:
            return f"{text}<pre>{escape(str(error))}</pre>"

    def __repr__(self) -> str:
        return f"cer({self.query!r})"


def cer(
    query: str,
    *,
    time: str | None = None,
    type: str | NotGiven | None = NOT_GIVEN,
    order: str | None = None,
    params: Mapping[str, Any] | None = None,
    late: str = "count",
    idle: str | None = None,
    snapshots: bool = False,
    until: str | datetime.date | int | Decimal | None = None,
) -> Cer:
    """Creates a complex event query for a batch or a stream of events.

    :param query: the query, in CEQL
    :param time: the column that orders the events: a timestamp, a date or a number. The default is the column of the
        watermark, or the attribute of ``WITHIN n [a]``
    :param type: the column with the type of each event. None means that there is no such column, and that the type of
        an event is the name of its input in FROM. The default is the column ``type``, if there is one; but a query
        whose pattern names only inputs of FROM has no type column
    :param order: a column that orders events with the same time
    :param params: the values of the ``:name`` parameters in conditions, comparisons, measures, HAVING, WITHIN and
        LIMIT: int, float, Decimal, str, bool, datetime, date, timedelta, bytes or None, or a list of them. They are
        bound as typed literals and never parsed as SQL
    :param late: what happens to the late events of a stream. ``"count"`` counts them in the progress of the query
        (``late`` in its ``observedMetrics``). ``"rows"`` also returns them as rows, with the event in a column ``late``
        and without a ``match_id``
    :param idle: how long a key of a stream can be without events before its state is dropped, such as ``"7 days"``
    :param snapshots: whether a stream keeps the events of the last two windows, which :meth:`Cer.snapshot` needs
    :param until: for a batch of a query that ends with ``NO … FOR``, the time up to which the events are complete: a
        value of the time column, or ``"forever"``. Matches that end later are not returned. The default is the time of
        the last event

    >>> events.transform(cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 30 seconds", time="ts"))
    >>> events.transform(cer("SELECT * FROM S WHERE A FILTER A[price > :least]", time="ts", params={"least": 20}))
    >>> events.transform(cer("SELECT a, count(b) AS n FROM S WHERE (A AS a ; B+ AS b) HAVING n > 3", time="ts"))
    """
    for name, value in {
        "query": query,
        "time": time,
        "type": None if type is NOT_GIVEN else type,
        "order": order,
        "late": late,
        "idle": idle,
    }.items():
        if not isinstance(value, str) and (value is not None or name in ("query", "late")):
            raise PySparkTypeError(f"cer() takes a str as {name}, not {value.__class__.__name__}.")
    if late not in ("count", "rows"):
        raise PySparkValueError(f'cer() takes "count" or "rows" as late, not {late!r}.')
    return Cer(query, time, type, order, _checked(params), late, idle, snapshots, _time(until))


def _time(until: Any) -> str | None:
    """A time as text, which Spark casts to the type of the time column."""
    if isinstance(until, bool) or not isinstance(until, (str, datetime.date, int, Decimal, type(None))):
        raise PySparkTypeError(
            f"cer() takes a str, a datetime, a date, an int or a Decimal as until, not {until.__class__.__name__}."
        )
    return None if until is None else str(until)


def _check_events(events: Any, method: str) -> None:
    if isinstance(events, Mapping):
        check_inputs(events, method)
    elif not isinstance(events, DataFrame):
        raise PySparkTypeError(
            f"{method}() takes a DataFrame of Spark, or a dict of names and DataFrames, {_not_one(events)}"
        )


def check_inputs(inputs: Mapping[str, Any], method: str) -> None:
    if not inputs:
        raise PySparkValueError(f"{method}() takes at least one DataFrame.")
    for name, events in inputs.items():
        if not isinstance(events, DataFrame):
            raise PySparkTypeError(f"{method}() takes DataFrames of Spark, and {name} is {_not_one(events)}")


def _not_one(events: Any) -> str:
    kind = events.__class__
    library = kind.__module__.partition(".")[0]
    shown = kind.__name__ if library == "builtins" else f"{kind.__name__} of {library}"
    return f"not a {shown}: make one with spark.createDataFrame(...)."


_LITERALS = (int, float, Decimal, str, bool, datetime.date, bytes)
_VALUES = (*_LITERALS, datetime.timedelta)
_LISTS = (list, tuple, set, frozenset)


def _checked(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The parameters, in which a list is a list, whatever it was."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise PySparkTypeError(f"cer() takes a dict as params, not {params.__class__.__name__}.")
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if not isinstance(name, str):
            raise PySparkTypeError(f"cer() takes names as keys of params, not {name!r}.")
        if isinstance(value, _LISTS):
            for item in value:
                _check_value(f"An item of the parameter {name}", item, "")
            # The values are part of the query, so a set is in the same order in every process.
            checked[name] = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
        else:
            _check_value(f"The parameter {name}", value, ", or a list, a tuple or a set of them")
            checked[name] = value
    return checked


def _check_value(what: str, value: Any, others: str) -> None:
    if value is not None and not isinstance(value, _VALUES):
        raise PySparkTypeError(
            f"{what} is a {value.__class__.__name__}; "
            f"it can be int, float, Decimal, str, bool, datetime, date, timedelta, bytes or None{others}."
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise PySparkValueError(f"{what} is larger than a BIGINT: use a Decimal.")
    if isinstance(value, datetime.timedelta) and not -(2**63) <= value // datetime.timedelta(microseconds=1) < 2**63:
        raise PySparkValueError(f"{what} is longer than an INTERVAL of Spark, which is 292,000 years at the most.")
