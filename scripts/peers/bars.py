"""What spark-cer is held to beside other engines, each as one line with the figure that decides. A figure that is
missing is a bar that is missed.
"""

from __future__ import annotations

import counts
import engines
from measure import rate
from processes import Result
from workloads import WORKLOADS, Workload

OURS_ON_SPARK = "spark-cer-batch-2"
LEVELS = (engines.OURS, "reference", "reference-large", "spark-cer-batch-1", OURS_ON_SPARK, "spark-cer-stream")
ON_SPARK = ("spark-joins", "spark-by-hand", "spark-stream-joins")
LONG = 100_000
"""Milliseconds: from this window on, memory is compared."""


def line(what: str, figure: float, bar: float, *, at_least: bool, but: str = "") -> str:
    passed = figure >= bar if at_least else figure <= bar
    bound = f"{'at least' if at_least else 'at most'} {bar:g}"
    return f"{'PASS' if passed else 'MISSED'}  {what}: {figure:,.2f} ({bound}){but}"


def missed(what: str, why: str) -> str:
    return f"MISSED  {what}: no figure, {why}"


def upper(result: Result) -> float:
    """Its rate; for a query that was not through, what it would have at most."""
    return float(result["events"] / result["seconds"]) if result["read"] is None else rate(result)


def lines(results: list[Result]) -> list[str]:
    found: list[str] = []
    for workload in WORKLOADS:
        mine = [r for r in results if r["workload"] == workload.name]
        if mine:
            found += of(workload, mine)
    return found


def of(workload: Workload, mine: list[Result]) -> list[str]:
    by = {r["peer"]: r for r in mine}
    others = [r for r in mine if r["peer"] not in LEVELS]
    alone = [r for r in others if r["peer"] not in ON_SPARK]
    found = []
    if workload.pattern.mode == "all":
        rivals = [r for r in alone if "error" in r or counts.remark(r, mine) is None]
        found.append(
            faster(f"{workload.name}, engine against the best exact one", by.get(engines.OURS), rivals, mine, 10)
        )
    found.append(faster(f"{workload.name}, engine against the fastest of all", by.get(engines.OURS), others, mine, 1))
    what = f"{workload.name}, Spark batch, 2 cores, against the fastest alone"
    found.append(faster(what, by.get(OURS_ON_SPARK), alone, mine, 1))
    if workload.pattern.window >= LONG and "esper" in by:
        found.append(smaller(f"{workload.name}, heap against Esper's", by.get(engines.OURS), by["esper"]))
    return found


def faster(what: str, ours: Result | None, rivals: list[Result], mine: list[Result], bar: float) -> str:
    """How many times as fast as the fastest of others. One that failed is named."""
    if not rivals:
        return f"ALONE   {what}: there is none"
    failed = [r["peer"] for r in rivals if "error" in r]
    through = [r for r in rivals if "error" not in r and upper(r) > 0]
    if ours is None:
        return missed(what, "spark-cer was not measured")
    if "error" in ours:
        return missed(what, f"spark-cer failed: {ours['error']}")
    exact = counts.reference(ours, mine)
    if exact is None:
        return missed(what, "there is no exact number of matches")
    if ours["timed_out"] or ours["matches"] != exact:
        return missed(what, f"spark-cer found {ours['matches']:,} of {exact:,} matches")
    if not through:
        return missed(what, f"{', '.join(failed) or 'the others'} failed")
    best = max(through, key=upper)
    but = f", and {', '.join(failed)} failed" if failed else ""
    return line(f"{what}, {best['peer']}, times as fast", upper(ours) / upper(best), bar, at_least=True, but=but)


def smaller(what: str, ours: Result | None, esper: Result) -> str:
    for who, result in (("spark-cer", ours), ("Esper", esper)):
        if result is None or result.get("heap") is None:
            why = "it was not measured" if result is None else result.get("error") or result.get("heap_error")
            return missed(what, f"{who}: {why}")
    assert ours is not None
    if not esper["heap"]:
        return missed(what, "Esper: it held on to nothing")
    return line(what, ours["heap"] / esper["heap"], 0.1, at_least=False)
