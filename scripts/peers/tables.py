"""The results as Markdown: what docs/peers.md and the README show between their marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import bars
import counts
import engines
import store
from bars import upper
from processes import Result
from store import Whole
from workloads import WORKLOADS, Workload

ALONE = tuple(e for e in engines.ENGINES if not e.on_spark and not e.name.startswith("reference"))
TITLES = {e.name: e.title for e in engines.ENGINES}


def million(result: Result | None) -> str:
    """A rate in millions of events a second, with two digits that count."""
    if result is None:
        return ""
    if "error" in result:
        return "failed"
    text = f"{upper(result) / 1e6:.2g}"
    number = f"{float(text):.12f}".rstrip("0").rstrip(".") if "e" in text else text
    return f"< {number}" if result["read"] is None else number


def cell(result: Result | None, results: list[Result], notes: list[str]) -> str:
    """A rate, with a mark for what is particular about it."""
    text = million(result)
    if result is None or "error" in result:
        return text
    if result["timed_out"]:
        text += "⏱"
    return text + note(counts.remark(result, results), notes)


def note(why: str | None, notes: list[str]) -> str:
    if why is None:
        return ""
    if why not in notes:
        notes.append(why)
    return f" [{notes.index(why) + 1}]"


def pick(results: Iterable[Result], workload: Workload, peer: str) -> Result | None:
    return next((r for r in results if r["workload"] == workload.name and r["peer"] == peer), None)


def named(name: str) -> Workload:
    return next(w for w in WORKLOADS if w.name == name)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def measured(results: list[Result]) -> list[Workload]:
    return [w for w in WORKLOADS if pick(results, w, engines.OURS)]


def conditions(whole: Whole) -> str:
    """When and where the workloads were measured; those of the same conditions share a sentence."""
    said: dict[str, list[str]] = {}
    for name, entry in whole.items():
        said.setdefault(condition(entry), []).append(f"`{name}`")
    missing = [f"`{w.name}`" for w in WORKLOADS if w.name not in whole]
    if len(said) == 1 and not missing:
        return next(iter(said))
    lines = [f"- {', '.join(names)}: {text}" for text, names in said.items()]
    return "\n".join([*lines, *([f"- Not measured yet: {', '.join(missing)}."] if missing else [])])


def condition(entry: dict[str, Any]) -> str:
    m, o = entry["machine"], entry["options"]
    used = sorted({(r["peer"], r["version"]) for r in entry["results"] if "version" in r})
    names = {"esper": "Esper", "flink-cep": "Flink", "siddhi": "Siddhi", "duckdb": "DuckDB", "spark-cer": "spark-cer"}
    versions = ", ".join(f"{names[p]} {v}" for p, v in used if p in names)
    return (
        f"measured on {m['date']}, commit {m['commit']}: {m['processor']}, {m['cores']} cores, {m['memory']}, "
        f"Java {m['java']}, Python {m['python']}. {versions}. {o['events']:,} events for an engine alone, "
        f"{o['large']:,} on Spark; {o['warm_up']:g} s to warm up; the best of {o['rounds']} passes, each at most "
        f"{o['timeout']:g} s."
    )


def rates(whole: Whole) -> str:
    results = store.flat(whole)
    shown = [e for e in ALONE if any(r["peer"] == e.name for r in results)]
    notes: list[str] = []
    rows = []
    for w in measured(results):
        found = pick(results, w, "reference")
        matches = "" if found is None or "error" in found else f"{found['matches']:,}"
        rows.append([w.title, f"`{w.name}`", matches, *(cell(pick(results, w, e.name), results, notes) for e in shown)])
    text = table(["workload", "name", "matches", *(e.title for e in shown)], rows)
    return text + explained(notes)


def found(whole: Whole) -> str:
    """How many matches each engine found, beside the exact number. Only what was through can be compared."""
    results = store.flat(whole)
    notes: list[str] = []
    rows = []
    for w in measured(results):
        exact = pick(results, w, "reference")
        agreeing, others = [], []
        for e in engines.ENGINES:
            r = pick(results, w, e.name)
            if r is None or "error" in r or r["timed_out"] or e.name.startswith("reference"):
                continue
            with_as_many = counts.reference(r, results)
            if with_as_many is None or r["matches"] == with_as_many:
                if with_as_many is not None:
                    agreeing.append(e.name)
                continue
            why = note(counts.remark(r, results), notes)
            others.append(f"{e.name} {r['matches']:,} of {with_as_many:,}{why}")
        number = "" if exact is None or "error" in exact else f"{exact['matches']:,}"
        rows.append([f"`{w.name}`", number, ", ".join(agreeing), "; ".join(others)])
    return table(["workload", "matches", "as many", "others"], rows) + explained(notes)


def least(whole: Whole) -> str:
    """The workloads in which the engine wins least, or loses, over the fastest of all others."""
    results = store.flat(whole)
    ratios = []
    for w in measured(results):
        ours = pick(results, w, engines.OURS)
        mine = [r for r in results if r["workload"] == w.name and r["peer"] not in bars.LEVELS and "error" not in r]
        if ours is None or "error" in ours or not mine:
            continue
        best = max(mine, key=upper)
        why = counts.remark(best, results)
        ratios.append((upper(ours) / upper(best), w, best, f", which {why}" if why else ""))
    lines = [
        f"- `{w.name}`, {w.title}: {ratio:.2g} times as fast as {TITLES[best['peer']]}{but}"
        for ratio, w, best, but in sorted(ratios, key=lambda r: r[0])[:8]
    ]
    return "\n".join(lines)


def explained(notes: list[str]) -> str:
    return "".join(f"\n\n[{i + 1}] The engine {why}." for i, why in enumerate(notes))


def megabytes(heap: int | None) -> str:
    """A dash stands for no more than before the first event: the collector frees something else beside."""
    return "" if heap is None else f"{heap / 1e6:,.1f}" if heap else "–"


def heaps(whole: Whole) -> str:
    """What an engine holds on to."""
    results = store.flat(whole)
    shown = [e for e in ALONE if e.project and any(r["peer"] == e.name and r.get("heap") is not None for r in results)]

    def size(result: Result | None) -> str:
        return "" if result is None else megabytes(result.get("heap"))

    rows = [[w.title, *(size(pick(results, w, e.name)) for e in shown)] for w in measured(results)]
    return table(["workload", *(e.title for e in shown)], rows)


def levels(whole: Whole) -> str:
    results = store.flat(whole)
    notes: list[str] = []
    names = ("spark-cer-batch-1", "spark-cer-batch-2", "spark-cer-stream", *bars.ON_SPARK)
    shown = [n for n in names if any(r["peer"] == n for r in results)]
    rows = []
    for w in measured(results):
        cells = [cell(pick(results, w, n), results, notes) for n in shown]
        if any(cells):
            rows.append([f"`{w.name}`", *cells])
    return table(["workload", *(TITLES[n] for n in shown)], rows) + explained(notes)


STREAMS = ("spark-cer-stream", "spark-by-hand", "spark-stream-joins")


def latencies(whole: Whole) -> str:
    """Of the streams: how long a micro-batch takes, and what it keeps."""
    results = store.flat(whole)
    rows = []
    for w in measured(results):
        for name in STREAMS:
            r = pick(results, w, name)
            if r is not None and "latency" in r:
                figures = [f"{r['latency']:.2f}", f"{r['slowest']:.2f}", f"{r['state'] / 1e6:,.1f}"]
                rows.append([f"`{w.name}`", TITLES[name], *figures])
    return table(["workload", "stream", "median, s", "slowest, s", "state, MB"], rows)


def cpu(whole: Whole) -> str:
    """CPU seconds for a million events, of the whole process."""
    results = store.flat(whole)
    shown = [e for e in engines.ENGINES if e.name != "reference" and not e.name.endswith("-large")]
    shown = [e for e in shown if any(r["peer"] == e.name for r in results)]

    def seconds(result: Result | None) -> str:
        if result is None or "error" in result or not result["read"] or result["timed_out"]:
            return ""
        return f"{result['cpu'] / result['read'] * 1e6:,.2f}"

    rows = [[f"`{w.name}`", *(seconds(pick(results, w, e.name)) for e in shown)] for w in measured(results)]
    return table(["workload", *(e.title for e in shown)], rows)


def held_to(whole: Whole) -> str:
    return "```plain\n" + "\n".join(bars.lines(store.flat(whole))) + "\n```"


def short(whole: Whole) -> str:
    """For the README: a few workloads, the best of each engine's languages, and the first chart."""
    results = store.flat(whole)
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
    drawn = [f"![{title}](docs/peers-{name}.svg)" for name, family, title, *_ in CHARTS if several(results, family)]
    return "\n\n".join([BEFORE_SHORT, text, *drawn[:1], AFTER_SHORT])


def several(results: list[Result], family: str) -> bool:
    """Whether a chart of it has a line."""
    return len([w for w in measured(results) if w.family == family]) > 1


BEFORE_SHORT = (
    "Beside other engines, on the same events in one run (`make bench-peers`), with conditions evaluated and all "
    "matches returned:"
)
AFTER_SHORT = (
    "⏱ marks a pass that was cut off; its rate is that of the events that were read. [docs/peers.md](docs/peers.md) "
    "has all workloads, Spark, memory, the configuration of each engine, and where spark-cer wins least."
)


CHARTS = (
    ("length", "sequence", "Throughput against the length of the sequence", "events of a match", False),
    ("window", "window", "Throughput against the window", "window, seconds", True),
    ("keys", "keys", "Throughput against the number of keys", "keys", True),
    ("rules", "rules", "Throughput against the number of rules", "rules", True),
)
"""The name of a file, the family that it shows, its title, the axis, and whether that is logarithmic."""


def charts(whole: Whole) -> str:
    """Those of families that were measured."""
    present = {w.family for w in measured(store.flat(whole))}
    return "\n\n".join(f"![{title}](peers-{name}.svg)" for name, family, title, *_ in CHARTS if family in present)


PARTS = {
    "conditions": conditions,
    "rates": rates,
    "found": found,
    "charts": charts,
    "heaps": heaps,
    "levels": levels,
    "latencies": latencies,
    "cpu": cpu,
    "bars": held_to,
    "least": least,
}


def pages(whole: Whole) -> dict[str, dict[str, str]]:
    """What stands between the marks of each page. Without results, the pages say so."""
    if not whole:
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
