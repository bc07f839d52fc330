"""Draws tables and charts from docs/peers.json into docs/peers.md, docs/peers-*.svg and the README: `make chart`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import engines
import processes
import tables
from measure import rate
from processes import ROOT, Result
from tables import Whole, pick
from workloads import WORKLOADS

RESULTS = ROOT / "docs" / "peers.json"
SHOWN = (engines.OURS, "esper", "siddhi", "flink-cep", "flink-sql", "duckdb")
COLORS = ("#3949ab", "#e8710a", "#7cb342", "#c2185b", "#f48fb1", "#8d6e63")


def rates(results: list[Result], family: str, number: Any) -> list[dict[str, Any]]:
    """A point for each engine and workload of a family that gave a rate; `number` is its place on the axis."""
    found = []
    for workload in (w for w in WORKLOADS if w.family == family):
        for peer in SHOWN:
            result = pick(results, workload, peer)
            if result is None or "error" in result or not result["read"]:
                continue
            kind = "cut off" if result["timed_out"] else "other matches" if result["differs"] else "all matches"
            found.append(
                {
                    "at": number(workload),
                    "rate": rate(result) / 1e6,
                    "engine": tables.TITLES[peer],
                    "kind": kind,
                }
            )
    return found


def lines(points: list[dict[str, Any]], title: str, axis: str, whole: Whole, *, log: bool) -> alt.LayerChart:
    present = [tables.TITLES[p] for p in SHOWN if any(x["engine"] == tables.TITLES[p] for x in points)]
    colors = [COLORS[i] for i, p in enumerate(SHOWN) if tables.TITLES[p] in present]
    places = sorted({p["at"] for p in points})
    machine = whole["machine"]
    base = alt.Chart(
        alt.Data(values=points),  # type: ignore[no-untyped-call]
        title=alt.TitleParams(
            title,
            subtitle=f"one thread, {whole['options']['events']:,} events; {machine['processor']}, {machine['date']}",
            anchor="start",
            fontSize=14,
        ),
    ).encode(
        x=alt.X(
            "at:Q",
            title=axis,
            scale=alt.Scale(type="log" if log else "linear", padding=20, nice=False),
            axis=alt.Axis(values=places, format=",d"),
        ),
        y=alt.Y("rate:Q", title="million events a second", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g")),
        color=alt.Color(
            "engine:N", title=None, scale=alt.Scale(domain=present, range=colors), legend=alt.Legend(orient="right")
        ),
    )
    path = base.mark_line(strokeWidth=2.5)
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        shape=alt.Shape(
            "kind:N",
            title=None,
            scale=alt.Scale(
                domain=["all matches", "other matches", "cut off"], range=["circle", "square", "triangle-down"]
            ),
        )
    )
    chart: alt.LayerChart = alt.layer(path, marks).properties(width=440, height=260)
    return chart


def last_number(workload: Any) -> int:
    return int(workload.name.rsplit("-", 1)[1])


CHARTS = (
    ("length", "sequence", "Throughput against the length of the sequence", "events of a match", False),
    ("window", "window", "Throughput against the window", "window, seconds", True),
    ("keys", "keys", "Throughput against the number of keys", "keys", True),
    ("rules", "rules", "Throughput against the number of rules", "rules", True),
)


def draw(path: Path = RESULTS) -> None:
    whole: Whole | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    docs = ROOT / "docs"
    if whole is not None:
        for name, family, title, axis, log in CHARTS:
            points = rates(whole["results"], family, last_number)
            if not points:
                raise processes.RunError(f"{path} has no results of the family {family}: run make bench-peers.")
            lines(points, title, axis, whole, log=log).save(docs / f"peers-{name}.svg")
    for name, parts in tables.pages(whole).items():
        page = ROOT / name
        page.write_text(tables.filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
