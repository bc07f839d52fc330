"""Queries over the DataFrames of a Spark Connect session.

Imported only for such sessions, because PySpark's Connect client needs grpcio and other packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyspark.sql.connect.proto as proto
from pyspark.errors import PySparkRuntimeError
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect.column import Column
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.expressions import LiteralExpression
from pyspark.sql.connect.plan import LogicalPlan

from spark_cer._session import PLUGIN

if TYPE_CHECKING:
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.observation import Observation


def transform(
    inputs: DataFrame | Mapping[str, DataFrame], query: str, options: Mapping[str, Any], function: str = "cer"
) -> DataFrame:
    """Returns the matches of a query over one DataFrame, or over several named DataFrames.

    Spark Connect analyzes a DataFrame only when it is used. This function asks the server immediately, so that an error
    in the query is raised at the line that creates it, as on a classic session.

    :param options: the options by name. A value is a literal column, or a value that Spark can turn into a literal.
        Options that are None are not sent
    """
    session = next(iter(inputs.values())).sparkSession if isinstance(inputs, Mapping) else inputs.sparkSession
    matches = ConnectDataFrame(Call(function, query, _plans(inputs), options), session)  # type: ignore[arg-type]
    with _in_words():
        _ = matches.schema  # kept by the DataFrame
    return matches


def text(
    spark: SparkSession,
    kind: str,
    query: str,
    inputs: DataFrame | Mapping[str, DataFrame] | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """Returns what the server says about a query: ``explain``, ``svg`` or ``mermaid``, or ``types`` for a query with
    inputs."""
    call = Call(kind, query, {} if inputs is None else _plans(inputs), options or {})
    with _in_words():
        [row] = ConnectDataFrame(call, spark).collect()  # type: ignore[arg-type]
    return str(row[0])


def _plans(inputs: DataFrame | Mapping[str, DataFrame]) -> dict[str, LogicalPlan]:
    """The plans of the inputs by name. A single input has the empty name."""
    named: dict[str, Any] = dict(inputs) if isinstance(inputs, Mapping) else {"": inputs}
    first, *others = named.values()
    for other in others:
        first._check_same_session(other)
    return {name: events._plan for name, events in named.items()}


@contextmanager
def _in_words() -> Iterator[None]:
    """Raises errors as a classic session does."""
    try:
        yield
    except SparkConnectGrpcException as error:
        if any(sign in str(error) for sign in _ABSENT):
            raise PySparkRuntimeError(
                "The Spark Connect server has no spark-cer. Start it with start-connect-server.sh "
                f"--jars <the spark-cer jar> --conf {PLUGIN[0]}={PLUGIN[1]}; a server that PySpark starts for you, "
                "with spark_cer.session() or spark_cer.configure(builder)."
            ) from None
        if (error.getCondition() or "").startswith("CER_"):
            # The message says everything. By default PySpark appends the stack trace of the server.
            error._display_stacktrace = False
        raise


# The errors of a server without the plugin, and of a server that has the setting for the plugin but not the jar.
_ABSENT = ("No handler found for extension", f"(java.lang.ClassNotFoundException) {PLUGIN[1]}")


class Call(LogicalPlan):
    """A call of spark-cer on the server. CerRelationPlugin describes the message."""

    def __init__(
        self, function: str, query: str, inputs: Mapping[str, LogicalPlan], options: Mapping[str, Any]
    ) -> None:
        super().__init__(None)
        self._function = function
        self._inputs = inputs
        self._query = query
        self._options = {name: value for name, value in options.items() if value is not None}

    def plan(self, session: SparkConnectClient) -> proto.Relation:
        message = proto.Relation()
        call = message.with_relations.root.unresolved_table_valued_function
        call.function_name = self._function
        call.arguments.append(LiteralExpression._from_value(self._query).to_plan(session))
        for name, value in self._options.items():
            argument = call.arguments.add().named_argument_expression
            argument.key = name
            literal = value._expr if isinstance(value, Column) else LiteralExpression._from_value(value)
            argument.value.CopyFrom(literal.to_plan(session))
        for name, events in self._inputs.items():
            reference = message.with_relations.references.add().subquery_alias
            reference.alias = name
            reference.input.CopyFrom(events.plan(session))
        relation = self._create_proto_relation()
        # The same call always has the same bytes, because the server uses them to look up a plan in its cache.
        relation.extension.Pack(message, type_url_prefix="sparkcer/", deterministic=True)
        return relation

    @property
    def observations(self) -> dict[str, Observation]:
        return {name: seen for events in self._inputs.values() for name, seen in events.observations.items()}
