"""docs/papers.md: what the papers of CORE and ViewDF print, and ours beside it."""

from __future__ import annotations

import re
from typing import Any

import processes
import tables

NOTHING = "Not measured yet."
OTHERS = "10⁵ events/s at T and less than 10³ at 4 T for Esper, FlinkCEP and OpenCEP, on stocks"
Whole = dict[str, dict[str, Any]]
ROWS = 1_000_000
PARTS = 20
VIEWS = f"--rows {ROWS} --window-rows {ROWS} --parts {PARTS} --rounds 2 --only view2|windows"
"""As many rows in a part as in the paper, and as many parts as its naive way reads there."""
TIMES = re.compile(r"naive +([\d.]+) s, hard-coded +([\d.]+) s, ViewDF +([\d.]+) s; naive / ViewDF")


def views() -> list[dict[str, Any]]:
    """Seconds of the three ways, as `make bench-views` prints them."""
    program = f"benchmarks/runMain sparkcer.benchmarks.ViewsBenchmark {VIEWS}"
    command = [str(processes.ROOT / "scripts" / "env"), "env", "SBT_OPTS=-Dbench.gc=G1"]
    out, errors, late = processes.run([*command, str(processes.ROOT / "scripts" / "sbt"), program], 1200)
    found: list[dict[str, Any]] = []
    for line in out.splitlines():
        times = TIMES.search(line)
        name = re.search(r"(View2|MAX|SUM)", line)
        if times and name and name[1] not in [f["name"] for f in found]:
            naive, hard_coded, ours = map(float, times.groups())
            found.append({"name": name[1], "naive": naive, "hard_coded": hard_coded, "views": ours})
    if late or len(found) < 3:
        raise processes.RunError(f"The benchmark of views failed: {(errors or out).strip()[-2000:]}")
    return found


def rate(results: list[dict[str, Any]]) -> str:
    """Millions of events a second, from the slowest to the fastest point of a curve."""
    rates = sorted(r["read"] / r["seconds"] / 1e6 for r in results)
    return f"{rates[0]:.2g} to {rates[-1]:.2g}"


def parts(scaling: Whole, peers: Whole) -> dict[str, str]:
    return {"core": core(scaling, peers), "viewdf": viewdf(scaling.get("views"))}


def core(scaling: Whole, peers: Whole) -> str:
    def curve(name: str) -> str:
        return f"{rate(scaling[name]['results'])} million events/s" if name in scaling else NOTHING

    consumed = [
        f"n = {name.rsplit('-', 1)[1]}: {tables.million(ours)}"
        for name, entry in peers.items()
        if name.startswith("consume-") and (ours := tables.pick(entry["results"], tables.named(name), "spark-cer"))
    ]
    rows = [
        [
            "Figure 7, left: sequences of 3 to 24 events with output, after which all events are forgotten",
            "10⁵ to 10⁶ events/s",
            f"million events/s, {', '.join(consumed)}" if consumed else NOTHING,
            "`make bench-peers ARGS='--only consume-.*'`",
        ],
        [
            "Figure 7, right: sequences that never complete",
            "on the order of 10⁶ events/s, decreasing mostly linearly with the length",
            curve("length"),
            "`make scaling ARGS='--only length'`",
        ],
        [
            "Figure 8: a sequence of three that never completes, windows of T to 4 T",
            "10⁶ events/s, not affected by the window",
            curve("window") + (", windows of 1 to 1,000 s" if "window" in scaling else ""),
            "`make scaling ARGS='--only window'`",
        ],
        ["Figure 8: the others", OTHERS, beside(peers), "`make bench-peers ARGS='--only window-.*'`"],
    ]
    return tables.table(["experiment", "the paper prints", "ours", "by"], rows)


def beside(peers: Whole) -> str:
    found = []
    for name, entry in peers.items():
        if name.startswith("window-"):
            of = [
                f"{title} {tables.million(r)}"
                for peer, title in (("esper", "Esper"), ("flink-cep", "Flink CEP"))
                if (r := tables.pick(entry["results"], tables.named(name), peer))
            ]
            found.append(f"{name.rsplit('-', 1)[1]} s: {', '.join(of)}")
    return f"million events/s, {'; '.join(found)}" if found else NOTHING


def viewdf(section: dict[str, Any] | None) -> str:
    by = {r["name"]: r for r in section["results"]} if section else {}

    def ours(name: str) -> str:
        if name not in by:
            return NOTHING
        r = by[name]
        return f"naive {r['naive']:.2f} s, hard-coded {r['hard_coded']:.2f} s, ViewDF {r['views']:.2f} s"

    rows = [
        [
            f"Figure 6: a pattern of high losses, {ROWS:,} rows in a part, naive over {PARTS} parts",
            "ViewDF under 5 s, slightly faster than hard-coded, naive much slower",
            ours("View2"),
        ],
        [
            "Figures 9 and 10: sliding MAX",
            "ViewDF and hard-coded virtually identical, naive significantly slower",
            ours("MAX"),
        ],
        [
            "Figures 11 and 12: sliding SUM",
            "34 s for ViewDF and hard-coded with 10 million rows in a part and a window of ten",
            ours("SUM"),
        ],
    ]
    return tables.table(["experiment", "the paper prints", f"ours, {ROWS:,} rows in a part, window of {PARTS}"], rows)
