"""All engines but Esper on a few events: they run, and where they find the same matches as the workload asks for, they
find as many as the reference, which are not none.
"""

from __future__ import annotations

from collections.abc import Sequence

import counts
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
    wrong = complaints(workloads, results)
    for line in wrong:
        print(line)
    compared = [r for r in results if "error" not in r and not r["peer"].startswith("reference")]
    same = sum(1 for r in compared if r["matches"] and r["matches"] == counts.reference(r, results))
    print(
        f"{len(results)} runs of {len(engines)} engines over {len(workloads)} workloads: {same} of {len(compared)} "
        f"find as many matches as the reference, and not none; {len(wrong)} are wrong."
    )
    return 1 if wrong else 0


def complaints(workloads: Sequence[Workload], results: Sequence[Result]) -> list[str]:
    found = [line for r in results if (line := counts.complaint(r, results))]
    for r in results:
        name = f"{r['workload']}, {r['peer']}"
        if "error" not in r and r["timed_out"]:
            found.append(f"{name}: not through with {r['events']:,} events after {r['seconds']:.0f} s")
    for w in workloads:
        exact = next((r["matches"] for r in results if r["workload"] == w.name and r["peer"] == "reference"), None)
        # A million keys have no three events each in so few.
        if exact is not None and w.events is None and (exact > 0) != w.completes:
            found.append(f"{w.name}: {exact:,} matches, so that counts show nothing")
    return found
