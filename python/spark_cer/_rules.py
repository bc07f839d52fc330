"""Sets of rules: many queries in one pass, each with a name."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array_contains, col, filter, transform

from spark_cer import _engine
from spark_cer._not_given import NOT_GIVEN, NotGiven
from spark_cer._query import Cer, cer, check_inputs


class CerRules:
    """A set of rules. :func:`cer_rules` creates it; ``events.transform`` applies it."""

    def __init__(self, rules: Mapping[str, Cer] | DataFrame, options: Cer, invalid: str) -> None:
        self._rules = rules
        self._options = options
        self._invalid = invalid

    def __call__(self, events: DataFrame) -> DataFrame:
        """Returns a row for each match of each rule.

        The columns are ``rule_id``, ``match_id``, ``key`` (the PARTITION BY columns as text), ``start``, ``end``,
        ``events`` (each with its variables), ``measures``, ``matches`` (of a COUNT(*) rule) and ``truncated``.
        """
        if not isinstance(events, DataFrame):
            hint = " over() takes a dict of names and DataFrames." if isinstance(events, Mapping) else ""
            raise PySparkTypeError(f"A set of rules takes a DataFrame of Spark, not {events.__class__.__name__}.{hint}")
        return _engine.rule_matches(self._now(), self._options, self._invalid == "skip", events)

    def over(self, inputs: Mapping[str, DataFrame]) -> DataFrame:
        """Returns the matches over several inputs, batches or streams, each with the name that rules have for it in
        FROM.

        A rule sees the events of the inputs that its FROM names, as if it were alone. Events with equal times are in
        the order of the inputs, and FROM names them in that order. A stream must have the inputs in the same order each
        time that it is started.

        >>> cer_rules({"takeover": "SELECT * FROM Logins, Payments WHERE …"}, time="ts").over(
        ...     {"Logins": logins, "Payments": payments}
        ... )
        """
        if not isinstance(inputs, Mapping):
            raise PySparkTypeError("over() takes a dict of names and DataFrames.")
        check_inputs(inputs, "over")
        return _engine.rule_matches(self._now(), self._options, self._invalid == "skip", inputs)

    def _now(self) -> Mapping[str, Cer]:
        return self._rules if isinstance(self._rules, Mapping) else of_table(self._rules)

    @property
    def plan(self) -> str:
        """What :meth:`explain` prints."""
        return _engine.explained_rules(self._now())

    def explain(self) -> None:
        """Prints what the rules share, which of them make every event pass through the shuffle, and which run on one
        task. This needs no events."""
        print(self.plan)

    def __repr__(self) -> str:
        what = f"{len(self._rules)} rules" if isinstance(self._rules, Mapping) else "a table of rules"
        return f"cer_rules({what})"


def cer_rules(
    rules: Mapping[str, str | Cer] | DataFrame,
    *,
    time: str | None = None,
    type: str | NotGiven | None = NOT_GIVEN,
    order: str | None = None,
    late: str = "count",
    idle: str | None = None,
    until: Any = None,
    invalid: str = "fail",
) -> CerRules:
    """Creates a set of rules for a batch or a stream of events: many queries in one pass.

    Events are read once, equal conditions are evaluated once, and all rules with the same PARTITION BY share a shuffle.
    On a stream, all rules share one checkpoint. The matches are those that each rule finds alone, with the same
    ``match_id``. A rule without LIMIT returns at most 1,000 matches of one event, of those that HAVING keeps; if there
    are more, the last of them has ``truncated``.

    A stream can be started again on its checkpoint with other rules. Rules that stay keep their state,
    a rule that is gone leaves none, and a new or changed one begins with the events that arrive from then on.

    :param rules: the queries by name: text, or ``cer(query, params={...})`` for a query with parameters. Or a DataFrame
        with the columns ``rule_id`` and ``query`` and perhaps ``params`` (MAP<STRING, STRING>) and ``enabled``
        (BOOLEAN), which is read when the set is applied
    :param late: ``"rows"`` also returns the late events of a stream as rows, with the event in a column ``late`` and
        without a ``rule_id``
    :param invalid: ``"fail"`` raises an error that lists all rules which are wrong. ``"skip"`` leaves them out, with a
        warning

    The other options are those of :func:`cer`, for all rules.

    >>> alerts = events.transform(cer_rules({"probing": "SELECT …", "takeover": "SELECT …"}, time="ts"))
    """
    if invalid not in ("fail", "skip"):
        raise PySparkValueError(f'cer_rules() takes "fail" or "skip" as invalid, not {invalid!r}.')
    options = cer("", time=time, type=type, order=order, late=late, idle=idle, until=until)
    if isinstance(rules, DataFrame):
        return CerRules(rules, options, invalid)
    if not isinstance(rules, Mapping):
        raise PySparkTypeError(
            f"cer_rules() takes a dict of names and queries, or a DataFrame, not {rules.__class__.__name__}."
        )
    return CerRules({_name(name): _query(name, query) for name, query in rules.items()}, options, invalid)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise PySparkTypeError(f"cer_rules() takes a str as the name of a rule, not {name.__class__.__name__}.")
    return name


def _query(name: str, query: Any) -> Cer:
    if isinstance(query, Cer):
        plain = cer(query.query)
        if any(getattr(query, option) != getattr(plain, option) for option in _OPTIONS):
            raise PySparkValueError(f"The rule {name} has options of its own; give them to cer_rules(), for all rules.")
        return query
    if not isinstance(query, str):
        raise PySparkTypeError(f"The rule {name} is a {query.__class__.__name__}; it must be a str or a cer(...).")
    return cer(query)


_OPTIONS = ("time", "type", "order", "late", "idle", "snapshots", "until")


def of_table(table: DataFrame) -> dict[str, Cer]:
    """The rules of a table, as it is now."""
    missing = [name for name in ("rule_id", "query") if name not in table.columns]
    if missing:
        raise _wrong(
            f"A table of rules has the columns rule_id and query, but '{missing[0]}' is not among "
            f"{', '.join(table.columns)}."
        )
    rules: dict[str, Cer] = {}
    for row in table.collect():
        values = row.asDict()
        name, query, params, enabled = (values.get(column) for column in ("rule_id", "query", "params", "enabled"))
        if not isinstance(enabled, (bool, NoneType)):
            raise PySparkTypeError(f"The column 'enabled' of a table of rules must be BOOLEAN: {row}.")
        if enabled is False:
            continue
        if not isinstance(name, str) or not isinstance(query, str):
            shown = ",".join("null" if value is None else str(value) for value in row)
            raise _wrong(f"Each row of a table of rules needs a rule_id and a query: [{shown}].")
        if not isinstance(params, (dict, NoneType)):
            raise PySparkTypeError(f"The column 'params' of a table of rules must be MAP<STRING, STRING>: {row}.")
        if name in rules:
            raise _wrong(f"Two rules have the name '{name}'. Each rule needs a name of its own.")
        rules[name] = cer(query, params=params)
    return rules


def _wrong(message: str) -> PySparkValueError:
    return PySparkValueError(message, errorClass="CER_RULES")


def bound(alerts: DataFrame, variable: str) -> Column:
    """Returns the events of a variable, as an array column of the matches of a set of rules.

    >>> alerts.select("rule_id", bound(alerts, "probe").alias("probes"))
    """
    if "events" not in alerts.columns:
        raise PySparkValueError("bound() takes the matches of cer_rules(), which have a column events.")
    its = filter(col("events"), lambda e: array_contains(e["variables"], variable))
    return transform(its, lambda e: e["event"])
