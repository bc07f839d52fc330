"""Sessions with the engine's jar on them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_cer._jar import jar

# The names that Spark gives to what a stream's state needs.
STATE_STORE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Puts the engine's jar on a session that is about to be built, beside the jars that are already set on it, and chooses
    the state store that streams need, unless another one is set.

    >>> spark = spark_cer.configure(SparkSession.builder.master("local[2]")).getOrCreate()
    """
    options: dict[str, str] = builder._options
    path = str(jar())
    jars = [name for name in options.get("spark.jars", "").split(",") if name]
    if path not in jars:
        jars.append(path)
    builder = builder.config("spark.jars", ",".join(jars))
    for name, value in STATE_STORE.items():
        if name not in options:
            builder = builder.config(name, value)
    return builder


def session() -> SparkSession:
    """A session with the engine on it: the running one if it has the engine, else a new one (local, if nothing else says
    where)."""
    return configure(SparkSession.builder).getOrCreate()
