"""The door to the engine in the JVM of a classic session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from spark_cer._jar import jar
from spark_cer._session import session

if TYPE_CHECKING:
    from spark_cer._query import Cer


def matches(query: Cer, events: DataFrame) -> DataFrame:
    """The matches over one DataFrame."""
    spark = events.sparkSession
    _classic(events)
    entry = _entry(spark)
    return DataFrame(entry.transform(events._jdf, query.query, _options(entry, query)), spark)


def matches_over(query: Cer, inputs: Mapping[str, DataFrame]) -> DataFrame:
    """The matches over several, each under its name in FROM."""
    for events in inputs.values():
        _classic(events)
    spark = next(iter(inputs.values())).sparkSession
    entry = _entry(spark)
    frames = {name: events._jdf for name, events in inputs.items()}
    return DataFrame(entry.over(frames, query.query, _options(entry, query)), spark)


def explanation(query: str) -> str:
    """The plan in words. Starts a session if there is none."""
    text: str = _entry(_any_session()).explain(query)
    return text


def drawings(query: str) -> tuple[str, str]:
    """The automaton as SVG and as Mermaid. Starts a session if there is none."""
    entry = _entry(_any_session())
    return entry.svg(query), entry.mermaid(query)


def _any_session() -> SparkSession:
    return SparkSession.getActiveSession() or session()


def _options(entry: Any, query: Cer) -> Any:
    params = {name: lit(value)._jc for name, value in query.params.items()}
    return entry.options(query.time, query.type, query.order, query.late == "rows", query.idle, params)


def _classic(events: DataFrame) -> None:
    if not hasattr(events, "_jdf"):
        raise PySparkRuntimeError("spark-cer does not run on Spark Connect sessions yet: use a classic session.")


def _entry(spark: SparkSession) -> Any:
    package: Any = spark._jvm
    entry = package.sparkcer.spark.PythonEntry
    # py4j takes a name that is no class for a package.
    if entry.__class__.__name__ == "JavaPackage":
        raise PySparkRuntimeError(
            "This Spark session has no spark-cer jar. Start it with spark_cer.session() or "
            f"spark_cer.configure(builder), or by spark-submit --jars {jar()}."
        )
    return entry
