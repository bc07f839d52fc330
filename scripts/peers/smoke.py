"""All engines but Esper on a few events: they run, and where they find the same matches as the workload asks for, they
find as many as the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import measure
from engines import Engine
from processes import Result
from workloads import Workload

OPTIONS = measure.Options(events=5_000, large=5_000, warm_up=0, rounds=1, timeout=120, memory=False, heap="1g")


def run(workloads: Sequence[Workload], engines: Sequence[Engine]) -> int:
    measure.write_files(((w.stream, OPTIONS.events) for w in workloads), OPTIONS.heap)
    programs = sorted({(e.project, e.main) for e in engines})
    results: list[Result] = []
    for program in programs:
        mine = [e for e in engines if (e.project, e.main) == program]
        results += measure.measured([(e, w) for e in mine for w in workloads if e.quick(w)], OPTIONS)
    wrong = [line for r in results if (line := complaint(r, results))]
    for line in wrong:
        print(line)
    print(f"{len(results)} runs of {len(engines)} engines over {len(workloads)} workloads, {len(wrong)} of them wrong.")
    return 1 if wrong else 0


def complaint(result: Result, results: Sequence[Result]) -> str | None:
    """What is wrong with a result, if anything."""
    name = f"{result['workload']}, {result['peer']}"
    if "error" in result:
        return f"{name}: {result['error']}"
    if result["timed_out"]:
        return f"{name}: not through with {result['events']:,} events after {result['seconds']:.0f} s"
    if result["differs"]:
        return None
    exact = reference(result, results)
    if exact is None or exact == result["matches"]:
        return None
    return f"{name}: {result['matches']:,} matches, and {exact:,} by the reference"


def reference(result: Result, results: Sequence[Result]) -> int | None:
    """The exact number of matches in the same events."""
    for other in results:
        if (
            other["peer"].startswith("reference")
            and other["workload"] == result["workload"]
            and other.get("events") == result["events"]
            and "error" not in other
        ):
            return int(other["matches"])
    return None
