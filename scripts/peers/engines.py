"""The engines that are measured, and how each is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import statements
from statements import Statement
from workloads import Workload


@dataclass(frozen=True)
class Engine:
    name: str
    title: str
    say: Callable[[Workload], Statement | None]
    version: str
    """Its name in versions.properties, or that of a Python package."""
    project: str = ""
    """The sbt project on whose class path it runs; without one it is a program in Python."""
    main: str = ""
    large: bool = False
    """Reads more events, because starting a job on Spark takes longer than most engines take for the others."""
    on_spark: bool = False
    slow: bool = False
    """Takes a minute for most workloads, and so begins first: then no core waits for it in the end."""
    free: bool = True
    """Whether tests may run it: the GPL of Esper stays out of them."""

    def quick(self, workload: Workload) -> bool:
        """Whether the smoke test runs it: others take minutes for some workloads, and on Spark each takes a second."""
        if self.name in (OURS, "reference"):
            return True
        if self.name in ("reference-large", "spark-cer-batch-1"):  # here the same as others
            return False
        return workload.name in (
            SMOKE_ON_SPARK if self.on_spark else SMOKE_ON_FLINK if self.version == "flink" else SMOKE
        )


SMOKE_ON_FLINK = (
    "sequence-3",
    "first-3",
    "consume-3",
    "iteration",
    "strict-3",
    "absence-between",
    "absence-after",
    "rules-1",
)
SMOKE_ON_SPARK = ("sequence-3", "keys-1000", "rules-10")
SMOKE = (
    *("sequence-3", "sequence-6", "first-3", "first-6", "consume-3", "window-1", "window-10", "iteration", "times-2-3"),
    *("strict-3", "absence-between", "absence-after", "correlated-500", "keys-1", "keys-1000", "rules-1", "rules-10"),
)
OURS = "spark-cer"
ENGINE = "sparkcer.benchmarks.peers.EnginePeer"


def _only(
    families: tuple[str, ...], say: Callable[[Workload], Statement | None]
) -> Callable[[Workload], Statement | None]:
    return lambda workload: say(workload) if workload.family in families else None


def _on_spark(name: str, title: str, say: Callable[[Workload], Statement | None], version: str) -> Engine:
    return Engine(name, title, say, version, main="spark_engine.py", large=True, on_spark=True)


ENGINES = (
    Engine(OURS, "spark-cer, engine alone", statements.ceql, "version", "benchmarks", ENGINE),
    Engine("reference", "reference", statements.reference, "version", "benchmarks", ENGINE),
    Engine("esper", "Esper, patterns", statements.esper, "esper", "esper", "sparkcer.peers.EsperPeer", free=False),
    Engine(
        "esper-rows",
        "Esper, match_recognize",
        statements.esper_rows,
        "esper",
        "esper",
        "sparkcer.peers.EsperPeer",
        free=False,
    ),
    Engine("siddhi", "Siddhi", statements.siddhi, "siddhi", "siddhi", "sparkcer.peers.SiddhiPeer"),
    Engine("flink-cep", "Flink CEP", statements.flink_cep, "flink", "flink", "sparkcer.peers.FlinkCepPeer", slow=True),
    Engine("flink-sql", "Flink SQL", statements.flink_sql, "flink", "flink", "sparkcer.peers.FlinkSqlPeer", slow=True),
    Engine("duckdb", "DuckDB, joins", statements.joins, "duckdb", main="duckdb_engine.py", slow=True),
    Engine("reference-large", "reference", statements.reference, "version", "benchmarks", ENGINE, large=True),
    _on_spark("spark-joins", "Spark SQL, joins, 2 cores", statements.joins, "spark"),
    _on_spark("spark-cer-batch-1", "spark-cer, Spark batch, 1 core", statements.ceql_on_spark, "version"),
    _on_spark("spark-cer-batch-2", "spark-cer, Spark batch, 2 cores", statements.ceql_on_spark, "version"),
    _on_spark("spark-cer-stream", "spark-cer, Spark stream, 2 cores", statements.ceql_on_a_stream, "version"),
    _on_spark(
        "spark-by-hand", "Spark stream, state by hand in Python, 2 cores", _only(("keys",), statements.by_hand), "spark"
    ),
    _on_spark("spark-stream-joins", "Spark stream, two joins, 2 cores", _only(("keys",), statements.by_hand), "spark"),
)
