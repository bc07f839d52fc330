"""What spark-cer is held to beside other engines, each as one line with the figure that decides."""

from __future__ import annotations

import engines
from measure import rate
from processes import Result
from smoke import reference
from workloads import WORKLOADS, Workload

OURS_ON_SPARK = "spark-cer-batch-2"
LEVELS = (engines.OURS, "reference", "reference-large", "spark-cer-batch-1", OURS_ON_SPARK, "spark-cer-stream")
ON_SPARK = ("spark-joins", "spark-by-hand", "spark-stream-joins")


def line(what: str, figure: float, bar: float, *, at_least: bool) -> str:
    passed = figure >= bar if at_least else figure <= bar
    return f"{'PASS' if passed else 'MISSED'}  {what}: {figure:,.2f} ({'at least' if at_least else 'at most'} {bar:g})"


def good(results: list[Result], workload: Workload) -> list[Result]:
    return [r for r in results if r["workload"] == workload.name and "error" not in r]


def exact(result: Result, results: list[Result]) -> bool:
    """Whether it finds what the workload asks for; a run that was cut off counts by its statement."""
    return not result["differs"] and (result["timed_out"] or result["matches"] == reference(result, results))


def upper(result: Result) -> float:
    """Its rate; for a query that was not through, what it would have at most."""
    return float(result["events"] / result["seconds"]) if result["read"] is None else rate(result)


def lines(results: list[Result]) -> list[str]:
    found: list[str] = []
    for workload in WORKLOADS:
        mine = good(results, workload)
        ours = next((r for r in mine if r["peer"] == engines.OURS), None)
        others = [r for r in mine if r["peer"] not in LEVELS]
        alone = [r for r in others if r["peer"] not in ON_SPARK]
        if ours is None or not others:
            continue
        best = max(others, key=upper)
        rivals = [r for r in alone if exact(r, results)]
        if workload.pattern.mode == "all" and rivals:
            rival = max(rivals, key=upper)
            what = f"{workload.name}, engine against the best exact one, {rival['peer']}, times as fast"
            found.append(line(what, rate(ours) / upper(rival), 10, at_least=True))
        what = f"{workload.name}, engine against the fastest of all, {best['peer']}, times as fast"
        found.append(line(what, rate(ours) / upper(best), 1, at_least=True))
        batch = next((r for r in mine if r["peer"] == OURS_ON_SPARK), None)
        if batch is not None and alone:
            fastest = max(alone, key=upper)
            what = f"{workload.name}, Spark batch, 2 cores, against {fastest['peer']}, the fastest alone, times as fast"
            found.append(line(what, upper(batch) / upper(fastest), 1, at_least=True))
        esper = next((r for r in mine if r["peer"] == "esper"), None)
        if workload.name in ("window-100", "window-1000") and esper and esper["heap"] and ours["heap"] is not None:
            what = f"{workload.name}, heap against Esper's"
            found.append(line(what, ours["heap"] / esper["heap"], 0.1, at_least=False))
    return found
