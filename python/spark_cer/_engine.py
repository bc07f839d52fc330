"""Calls the engine: in the JVM of a classic session, or on the server of a Spark Connect session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkRuntimeError, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from spark_cer._jar import present
from spark_cer._not_given import NOT_GIVEN
from spark_cer._session import session

if TYPE_CHECKING:
    from spark_cer._query import Cer


def matches(query: Cer, events: DataFrame) -> DataFrame:
    """Returns the matches over one DataFrame."""
    spark = events.sparkSession
    if _is_connect(spark):
        found: DataFrame = _connect().transform(events, query.query, _named(query))
        return found
    entry = _entry(spark)
    return DataFrame(entry.transform(events._jdf, query.query, _options(entry, query)), spark)


def matches_over(query: Cer, inputs: Mapping[str, DataFrame]) -> DataFrame:
    """Returns the matches over several DataFrames, each with its name in FROM."""
    spark = next(iter(inputs.values())).sparkSession
    if _is_connect(spark):
        found: DataFrame = _connect().transform(inputs, query.query, _named(query))
        return found
    entry = _entry(spark)
    frames = {name: events._jdf for name, events in inputs.items()}
    return DataFrame(entry.over(frames, query.query, _options(entry, query)), spark)


def snapshot(query: Cer, events: DataFrame | Mapping[str, DataFrame], at: Any, checkpoint: str | None) -> DataFrame:
    """Returns the matches that ended within the last window."""
    spark = _session_of(events)
    moment = None if at is None else lit(at)
    if _is_connect(spark):
        options = {**_named(query), "at": moment, "checkpoint": checkpoint}
        found: DataFrame = _connect().transform(events, query.query, options, "snapshot")
        return found
    entry = _entry(spark)
    options = _options(entry, query)
    merged = _merged(entry, query, events, options)
    time = None if moment is None else moment._jc
    if checkpoint is not None:
        return DataFrame(entry.snapshotOf(merged, query.query, options, time, checkpoint), spark)
    return DataFrame(entry.snapshot(merged, query.query, options, time), spark)


def rule_matches(
    rules: Mapping[str, Cer], options: Cer, skip: bool, events: DataFrame | Mapping[str, DataFrame]
) -> DataFrame:
    """Returns the matches of a set of rules, over one DataFrame, or over several that have a name in FROM."""
    spark = _session_of(events)
    if _is_connect(spark):
        texts, params = _rules_named(rules)
        named = {**_named(options), **params, "invalid": "skip" if skip else None}
        found: DataFrame = _connect().transform(events, texts, named, "rules")
        return found
    entry = _entry(spark)
    if isinstance(events, DataFrame):
        return DataFrame(entry.rules(events._jdf, *_rules(rules), _options(entry, options), skip), spark)
    # Two lists, because a dict would lose its order.
    frames = [df._jdf for df in events.values()]
    return DataFrame(
        entry.rulesOver(list(events), frames, *_rules(rules), _options(entry, options), skip),
        spark,
    )


def read_again(df: DataFrame) -> DataFrame:
    """Returns a DataFrame whose files are listed anew. A Spark Connect server keeps the plan, and with it the list."""
    spark = df.sparkSession
    if _is_connect(spark):
        raise PySparkTypeError(
            "On Spark Connect, run() takes the name of a table of rules or a function that reads the rules: the server "
            "lists the files of a DataFrame only once."
        )
    return DataFrame(_entry(spark).readAgain(df._jdf), spark)


def explained_rules(rules: Mapping[str, Cer]) -> str:
    """Returns the plan of a set of rules as text. Starts a session if there is none."""
    spark = SparkSession.getActiveSession() or session()
    if _is_connect(spark):
        texts, params = _rules_named(rules)
        of_server: str = _connect().text(spark, "explain_rules", texts, options=params)
        return of_server
    text: str = _entry(spark).explainRules(*_rules(rules))
    return text


def _rules(rules: Mapping[str, Cer]) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """The names, queries and parameters of rules, for the JVM."""
    return list(rules), [query.query for query in rules.values()], [_params(query) for query in rules.values()]


def _rules_named(rules: Mapping[str, Cer]) -> tuple[str, dict[str, Any]]:
    """The same, for a message to the server."""
    texts = json.dumps([[name, query.query] for name, query in rules.items()])
    params = {
        f"params.{i}.{name}": lit(value)
        for i, query in enumerate(rules.values())
        for name, value in query.params.items()
    }
    return texts, params


def types_must_occur(query: Cer, events: DataFrame | Mapping[str, DataFrame]) -> None:
    """Reads the types of a batch, and raises an error if the query names a type that does not occur."""
    spark = _session_of(events)
    if _is_connect(spark):
        _connect().text(spark, "types", query.query, events, _named(query))
        return
    entry = _entry(spark)
    options = _options(entry, query)
    entry.typesMustOccur(_merged(entry, query, events, options), query.query, options)


def explanation(query: Cer) -> str:
    """Returns the plan as text. Starts a session if there is none."""
    return _text(query, "explain")


def drawings(query: Cer) -> tuple[str, str]:
    """Returns the automaton as SVG and as Mermaid. Starts a session if there is none."""
    return _text(query, "svg"), _text(query, "mermaid")


def views(spark: SparkSession) -> Any:
    """Returns the JVM class for views, which need a classic session."""
    if _is_connect(spark):
        raise PySparkRuntimeError(
            "Views are not available on Spark Connect: open them in a program that runs where Spark's driver does."
        )
    package: Any = spark._jvm
    return present(package.sparkcer.views.Views)


def _text(query: Cer, kind: str) -> str:
    spark = SparkSession.getActiveSession() or session()
    if _is_connect(spark):
        of_server: str = _connect().text(spark, kind, query.query, options=_named_params(query))
        return of_server
    text: str = getattr(_entry(spark), kind)(query.query, _params(query))
    return text


def _session_of(events: DataFrame | Mapping[str, DataFrame]) -> SparkSession:
    first = events if isinstance(events, DataFrame) else next(iter(events.values()))
    return first.sparkSession


def _merged(entry: Any, query: Cer, events: DataFrame | Mapping[str, DataFrame], options: Any) -> Any:
    """Returns the events as one DataFrame of the JVM."""
    if isinstance(events, DataFrame):
        return events._jdf
    return entry.merged({name: df._jdf for name, df in events.items()}, query.query, options)


def _is_connect(spark: SparkSession) -> bool:
    return not hasattr(spark, "_jvm")


def _connect() -> Any:
    # Imported only if it is needed, because PySpark's Connect client needs grpcio and other packages.
    from spark_cer import _connect

    return _connect


def _named(query: Cer) -> dict[str, Any]:
    """The options by the names that they have in a message to the server."""
    options = {name: getattr(query, name) for name in ("time", "order", "late", "idle", "until")}
    options["snapshots"] = "true" if query.snapshots else None
    if query.type is not NOT_GIVEN:
        options["type"] = lit(query.type)  # a literal NULL if there is no type column
    return {**options, **_named_params(query)}


def _named_params(query: Cer) -> dict[str, Any]:
    return {f"params.{name}": lit(value) for name, value in query.params.items()}


def _options(entry: Any, query: Cer) -> Any:
    return entry.options(
        query.time,
        query.type is not NOT_GIVEN,
        None if query.type is NOT_GIVEN else query.type,
        query.order,
        query.late == "rows",
        query.idle,
        query.snapshots,
        query.until,
        _params(query),
    )


def _params(query: Cer) -> dict[str, Any]:
    return {name: lit(value)._jc for name, value in query.params.items()}


def _entry(spark: SparkSession) -> Any:
    package: Any = spark._jvm
    return present(package.sparkcer.PythonEntry)
