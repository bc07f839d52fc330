"""Sessions with the engine's jar on them."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import SparkSession

from spark_cer._jar import jar, present

# What a stream's state needs. Changelogs make a checkpoint as small as the change.
STATE_STORE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}

NO_STACK = {"spark.sql.connect.serverStacktrace.enabled": "false"}

# The setting by which a Spark Connect server takes queries. A session that is no such server does not read it.
PLUGIN = ("spark.connect.extensions.relation.classes", "sparkcer.CerRelationPlugin")


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Puts the engine's jar on a session that is about to be built, beside the jars that are already set on it, and
    chooses the state store that streams need, unless another one is set. With the jar comes the table function for SQL.

    >>> spark = spark_cer.configure(SparkSession.builder.master("local[2]")).getOrCreate()

    Errors of a Spark Connect session come without the server's Java stack, as they do on any other.

    With ``remote("local[2]")``, which starts a Spark Connect server, the jar is put on that. A server that is already
    there, ``remote("sc://host")``, has to bring it.
    """
    remote = _options(builder).get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    if not remote.startswith("sc://") and "SPARK_LOCAL_REMOTE" not in os.environ:  # set while such a server runs
        builder = _with_engine(builder)
    return _defaults(builder, {**STATE_STORE, **NO_STACK} if remote else STATE_STORE)


def session() -> SparkSession:
    """A session with the engine on it. Without a master (from spark-submit or the environment) it runs on this machine,
    with as many shuffle partitions as there are cores rather than Spark's 200, which are meant for a cluster."""
    builder = configure(SparkSession.builder)
    if SparkSession.getActiveSession() is None and not _ELSEWHERE.intersection(os.environ):
        builder = _defaults(builder, {"spark.sql.shuffle.partitions": str(os.cpu_count() or 2)})
    return builder.getOrCreate()


# Variables by which a launcher (spark-submit, a Connect server, the environment) has already decided where Spark runs.
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # by spark-submit, in whose Java process the session will be
_ELSEWHERE = {_SUBMITTED, "SPARK_REMOTE", "MASTER"}


def _with_engine(builder: SparkSession.Builder) -> SparkSession.Builder:
    from pyspark import SparkContext  # a client of Spark Connect alone has none

    if _SUBMITTED in os.environ:
        SparkContext._ensure_initialized()  # makes the connection to the Java process that is there
    java: Any = SparkContext._jvm
    if java is not None:
        present(java.sparkcer.PythonEntry)
    # Java that runs has the jars that it was started with. A new list would take them from the executors.
    if java is None or "spark.jars" in _options(builder):
        builder = _append(builder, "spark.jars", str(jar()))
    # A session that runs keeps what it started with, and would warn of anything else.
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
