"""A ; B ; C of one key on a stream, as one would write it in PySpark without a library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout


def stateful(events: DataFrame, window: int) -> DataFrame:
    """All matches: the As and Bs of the window are kept, and a C goes over the pairs of them. (Arrays in the
    state fail in Spark 4.3.0.)"""

    def found(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        kinds, ids, times = json.loads(state.get[0]) if state.exists else ([], [], [])
        rows = []
        new = pd.concat(list(frames)).sort_values("id")
        for kind, event, at in zip(*(new[c].tolist() for c in ("type", "id", "ts")), strict=True):
            start = next((i for i, t in enumerate(times) if t >= at - window), len(times))
            kinds, ids, times = kinds[start:], ids[start:], times[start:]
            if kind == "C":
                for b in (i for i, k in enumerate(kinds) if k == "B"):
                    rows += [(ids[a], ids[b], event) for a in range(b) if kinds[a] == "A"]
            else:
                kinds.append(kind)
                ids.append(event)
                times.append(at)
        state.update((json.dumps((kinds, ids, times)),))
        yield pd.DataFrame(rows, columns=["a", "b", "c"], dtype="int64")

    return events.groupBy("key").applyInPandasWithState(
        found,
        "a BIGINT, b BIGINT, c BIGINT",
        "kept STRING",
        "append",
        GroupStateTimeout.NoTimeout,
    )


def stream_joins(events: DataFrame, window: int) -> DataFrame:
    """Two joins of streams, each with a bound on the time, so that Spark can drop what is too old."""
    timed = events.withColumn("at", expr("timestamp_millis(ts)")).withWatermark("at", "1 second")

    def of(kind: str) -> DataFrame:
        names = [f"{c} AS {kind}_{c}" for c in ("id", "key", "at")]
        return timed.where(f"type = '{kind.upper()}'").selectExpr(*names)

    bound = f"INTERVAL {window / 1000:.3f} SECONDS"
    pairs = of("a").join(of("b"), expr(f"a_key = b_key AND b_id > a_id AND b_at >= a_at AND b_at <= a_at + {bound}"))
    return (
        pairs.drop("b_at")
        .join(of("c"), expr(f"a_key = c_key AND c_id > b_id AND c_at >= a_at AND c_at <= a_at + {bound}"))
        .select("a_id", "b_id", "c_id")
    )
