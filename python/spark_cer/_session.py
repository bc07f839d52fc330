"""Sessions with the jar of the engine."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import SparkSession

from spark_cer._jar import jar, present

# The state of streams needs RocksDB. With changelogs, a checkpoint stores only what changed.
STATE_STORE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}

NO_STACK = {"spark.sql.connect.serverStacktrace.enabled": "false"}

# The setting that enables queries on a Spark Connect server. Other sessions ignore it.
PLUGIN = ("spark.connect.extensions.relation.classes", "sparkcer.CerRelationPlugin")


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Adds the jar of the engine to a session that is about to be built, in addition to the jars that are already set,
    and selects the state store that streams need, unless another one is set. The jar also provides the SQL table
    function.

    >>> spark = spark_cer.configure(SparkSession.builder.master("local[2]")).getOrCreate()

    Errors of a Spark Connect session do not include the server's Java stack trace, like errors of a classic session.

    With ``remote("local[2]")``, which starts a Spark Connect server, the jar is added to that server. A server that is
    already running, ``remote("sc://host")``, must have been started with the jar.
    """
    remote = _options(builder).get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    if not remote.startswith("sc://") and "SPARK_LOCAL_REMOTE" not in os.environ:  # set while PySpark's own server runs
        builder = _with_engine(builder)
    return _defaults(builder, {**STATE_STORE, **NO_STACK} if remote else STATE_STORE)


def session() -> SparkSession:
    """Returns a session with the engine. If neither spark-submit nor the environment sets a master, Spark runs on this
    machine. The number of shuffle partitions is then the number of cores, and not Spark's default of 200, which suits a
    cluster."""
    builder = configure(SparkSession.builder)
    if SparkSession.getActiveSession() is None and not _ELSEWHERE.intersection(os.environ):
        builder = _defaults(builder, {"spark.sql.shuffle.partitions": str(os.cpu_count() or 2)})
    return builder.getOrCreate()


# Environment variables that are set if a launcher (spark-submit, a Connect server) already decided where Spark runs.
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit, whose Java process runs the session
_ELSEWHERE = {_SUBMITTED, "SPARK_REMOTE", "MASTER"}


def _with_engine(builder: SparkSession.Builder) -> SparkSession.Builder:
    from pyspark import SparkContext  # missing in pyspark-client

    if _SUBMITTED in os.environ:
        SparkContext._ensure_initialized()  # connects to the existing Java process
    java: Any = SparkContext._jvm
    if java is not None:
        present(java.sparkcer.PythonEntry)
    # A running Java process has the jars that it was started with. A new list would remove them from the executors.
    if java is None or "spark.jars" in _options(builder):
        builder = _append(builder, "spark.jars", str(jar()))
    # A running session keeps its settings, and would warn about a new one.
    return builder if SparkContext._active_spark_context else _append(builder, *PLUGIN)


def _options(builder: SparkSession.Builder) -> dict[str, str]:
    options: dict[str, str] = builder._options
    return options


def _append(builder: SparkSession.Builder, name: str, value: str) -> SparkSession.Builder:
    values = [one for one in _options(builder).get(name, "").split(",") if one]
    return builder if value in values else builder.config(name, ",".join([*values, value]))


def _defaults(builder: SparkSession.Builder, values: dict[str, str]) -> SparkSession.Builder:
    for name, value in values.items():
        if name not in _options(builder):
            builder = builder.config(name, value)
    return builder
