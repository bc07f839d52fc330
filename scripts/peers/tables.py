"""The results as Markdown: what docs/peers.md and the README show between their marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bars
import engines
from bars import upper
from processes import Result
from smoke import reference
from workloads import WORKLOADS, Workload

Whole = dict[str, Any]
ALONE = tuple(e for e in engines.ENGINES if not e.together and not e.name.startswith("reference"))
TITLES = {e.name: e.title for e in engines.ENGINES}


def million(result: Result | None) -> str:
    """A rate in millions of events a second, with two digits that count."""
    if result is None:
        return ""
    if "error" in result:
        return "failed"
    text = f"{upper(result) / 1e6:.2g}"
    number = f"{float(text):f}".rstrip("0").rstrip(".") if "e" in text else text
    return f"< {number}" if result["read"] is None else number


def cell(result: Result | None, results: list[Result], notes: list[str]) -> str:
    """A rate, with a mark for what is particular about it."""
    text = million(result)
    if result is None or "error" in result:
        return text
    if result["timed_out"]:
        text += "⏱"
    why = result["differs"]
    found = reference(result, results)
    if not result["timed_out"] and not why and found is not None and found != result["matches"]:
        why = "other matches than the reference, for a reason that is not known"
    if why:
        if why not in notes:
            notes.append(why)
        text += f" [{notes.index(why) + 1}]"
    return text


def pick(results: Iterable[Result], workload: Workload, peer: str) -> Result | None:
    return next((r for r in results if r["workload"] == workload.name and r["peer"] == peer), None)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def measured(results: list[Result]) -> list[Workload]:
    return [w for w in WORKLOADS if pick(results, w, engines.OURS)]


def conditions(whole: Whole) -> str:
    m, o = whole["machine"], whole["options"]
    used = sorted({(r["peer"], r["version"]) for r in whole["results"] if "version" in r})
    names = {"esper": "Esper", "flink-cep": "Flink", "siddhi": "Siddhi", "duckdb": "DuckDB", "spark-joins": "Spark"}
    versions = ", ".join(f"{names[p]} {v}" for p, v in used if p in names)
    return (
        f"Measured on {m['date']}, commit {m['commit']}: {m['processor']}, {m['cores']} cores, {m['memory']}, "
        f"Java {m['java']}, Python {m['python']}. {versions}. {o['events']:,} events for an engine alone, "
        f"{o['large']:,} on Spark; {o['warm_up']:g} s to warm up; the best of {o['rounds']} passes, each at most "
        f"{o['timeout']:g} s."
    )


def rates(whole: Whole) -> str:
    results: list[Result] = whole["results"]
    shown = [e for e in ALONE if any(r["peer"] == e.name for r in results)]
    notes: list[str] = []
    rows = []
    for w in measured(results):
        found = pick(results, w, "reference")
        matches = "" if found is None or "error" in found else f"{found['matches']:,}"
        rows.append([w.title, f"`{w.name}`", matches, *(cell(pick(results, w, e.name), results, notes) for e in shown)])
    text = table(["workload", "name", "matches", *(e.title for e in shown)], rows)
    return text + explained(notes)


def explained(notes: list[str]) -> str:
    return "".join(f"\n\n[{i + 1}] The engine {why}." for i, why in enumerate(notes))


def heaps(whole: Whole) -> str:
    """What an engine holds on to, for the workloads whose window grows."""
    results: list[Result] = whole["results"]
    shown = [e for e in ALONE if e.project and any(r["peer"] == e.name and r.get("heap") is not None for r in results)]

    def size(result: Result | None) -> str:
        if result is None or result.get("heap") is None:
            return ""
        return f"{result['heap'] / 1e6:,.1f}"

    rows = [[w.title, *(size(pick(results, w, e.name)) for e in shown)] for w in measured(results)]
    return table(["workload", *(e.title for e in shown)], rows)


def levels(whole: Whole) -> str:
    results: list[Result] = whole["results"]
    notes: list[str] = []
    names = ("spark-cer-batch-1", "spark-cer-batch-2", "spark-cer-stream", *bars.ON_SPARK)
    shown = [n for n in names if any(r["peer"] == n for r in results)]
    rows = []
    for w in measured(results):
        cells = [cell(pick(results, w, n), results, notes) for n in shown]
        if any(cells):
            stream = pick(results, w, "spark-cer-stream")
            known = stream is not None and "latency" in stream
            latency = f"{stream['latency']:.2f}" if known and stream else ""
            rows.append([f"`{w.name}`", *cells, latency])
    text = table(["workload", *(TITLES[n] for n in shown), "stream: seconds for a micro-batch"], rows)
    return text + explained(notes)


def cpu(whole: Whole) -> str:
    """CPU seconds for a million events, of the whole process."""
    results: list[Result] = whole["results"]
    shown = [e for e in engines.ENGINES if e.name != "reference" and not e.name.endswith("-large")]
    shown = [e for e in shown if any(r["peer"] == e.name for r in results)]

    def seconds(result: Result | None) -> str:
        if result is None or "error" in result or not result["read"] or result["timed_out"]:
            return ""
        return f"{result['cpu'] / result['read'] * 1e6:,.2f}"

    rows = [[f"`{w.name}`", *(seconds(pick(results, w, e.name)) for e in shown)] for w in measured(results)]
    return table(["workload", *(e.title for e in shown)], rows)


def held_to(whole: Whole) -> str:
    return "```plain\n" + "\n".join(bars.lines(whole["results"])) + "\n```"


def short(whole: Whole) -> str:
    """For the README: a few workloads, and the best of each engine's languages."""
    results: list[Result] = whole["results"]
    asked = ("sequence-3", "sequence-12", "window-100", "correlated-500", "keys-1000")
    columns = [
        ("spark-cer", ("spark-cer",)),
        ("Esper", ("esper",)),
        ("Siddhi", ("siddhi",)),
        ("Flink CEP", ("flink-cep",)),
    ]
    columns.append(("DuckDB, joins", ("duckdb",)))
    notes: list[str] = []
    rows = []
    for w in (w for w in measured(results) if w.name in asked):
        rows.append([w.title, *(cell(pick(results, w, p), results, notes) for _, (p, *_) in columns)])
    text = table(["million events/s, one thread", *(title for title, _ in columns)], rows) + explained(notes)
    return f"{BEFORE_SHORT}\n\n{text}\n\n{AFTER_SHORT}"


BEFORE_SHORT = (
    "Beside other engines, on the same events in one run (`make bench-peers`), with conditions evaluated and all "
    "matches returned:"
)
AFTER_SHORT = (
    "⏱ marks a pass that was cut off; its rate is that of the events that were read. [docs/peers.md](docs/peers.md) "
    "has all workloads, Spark, memory, the configuration of each engine, and where spark-cer wins least."
)


def charts(_: Whole) -> str:
    return """![Throughput against the length of the sequence](peers-length.svg)

The windows are measured with a last event that never comes, as in the CORE paper: nothing is returned, and what is left is the cost of partial matches.

![Throughput against the window](peers-window.svg)

![Throughput against the number of keys](peers-keys.svg)

![Throughput against the number of rules](peers-rules.svg)"""  # noqa: E501


PARTS = {
    "conditions": conditions,
    "rates": rates,
    "charts": charts,
    "heaps": heaps,
    "levels": levels,
    "cpu": cpu,
    "bars": held_to,
}


def pages(whole: Whole | None) -> dict[str, dict[str, str]]:
    """What stands between the marks of each page. Without results, the pages say so."""
    if whole is None:
        return {"docs/peers.md": dict.fromkeys(PARTS, "Not measured yet."), "README.md": {"short": ""}}
    return {
        "docs/peers.md": {name: part(whole) for name, part in PARTS.items()},
        "README.md": {"short": short(whole)},
    }


def filled(page: str, parts: dict[str, str]) -> str:
    """The page with other content between its marks."""
    for name, content in parts.items():
        mark = re.compile(f"<!-- measured: {name} -->\n.*?<!-- end -->", re.DOTALL)
        before, *after = mark.split(page)
        if len(after) != 1:
            raise ValueError(f"a page has {len(after)} places for {name} instead of one")
        page = f"{before}<!-- measured: {name} -->\n{content}\n<!-- end -->{after[0]}"
    return page
