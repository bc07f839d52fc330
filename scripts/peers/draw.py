"""Draws tables and charts from docs/peers.json into docs/peers.md, docs/peers-*.svg and the README: `make chart`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import counts
import engines
import store
import tables
from bars import upper
from processes import ROOT, Result
from store import Whole
from tables import CHARTS, pick
from workloads import WORKLOADS

RESULTS = ROOT / "docs" / "peers.json"
SHOWN = (engines.OURS, "esper", "siddhi", "flink-cep", "flink-sql", "duckdb")
COLORS = ("#3949ab", "#e8710a", "#7cb342", "#c2185b", "#f48fb1", "#8d6e63")


KINDS = {
    "all matches": "circle",
    "other matches": "square",
    "cut off": "triangle-down",
    "not through: at most": "diamond",
    "failed": "cross",
}
"""How a point is drawn."""


PADDING = {"left": 5, "top": 5, "right": 45, "bottom": 5}
"""Where a browser has wider letters than those that the chart was made with."""


def kind(result: Result, results: list[Result]) -> str:
    if "error" in result:
        return "failed"
    if result["read"] is None:
        return "not through: at most"
    if result["timed_out"]:
        return "cut off"
    return "other matches" if counts.remark(result, results) else "all matches"


def rates(results: list[Result], family: str, number: Any) -> list[dict[str, Any]]:
    """A point for each engine and workload of a family; `number` is its place on the axis. What failed stands at the
    bottom, because it has no rate."""
    found = []
    for workload in (w for w in WORKLOADS if w.family == family):
        for peer in SHOWN:
            result = pick(results, workload, peer)
            if result is None:
                continue
            known = None if "error" in result else upper(result) / 1e6
            point = {"at": number(workload), "rate": known, "engine": tables.TITLES[peer]}
            found.append({**point, "kind": kind(result, results)})
    bottom = min((p["rate"] for p in found if p["rate"]), default=1)
    return [{**p, "rate": p["rate"] or bottom} for p in found]


def lines(points: list[dict[str, Any]], title: str, axis: str, whole: Whole, *, log: bool) -> alt.LayerChart:
    present = [tables.TITLES[p] for p in SHOWN if any(x["engine"] == tables.TITLES[p] for x in points)]
    colors = [COLORS[i] for i, p in enumerate(SHOWN) if tables.TITLES[p] in present]
    places = sorted({p["at"] for p in points})
    shown = [k for k in KINDS if any(p["kind"] == k for p in points)]
    first = next(iter(whole.values()))
    machine = first["machine"]
    base = alt.Chart(
        alt.Data(values=points),  # type: ignore[no-untyped-call]
        title=alt.TitleParams(
            title,
            subtitle=f"one thread, {first['options']['events']:,} events; {machine['processor']}",
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
            scale=alt.Scale(domain=shown, range=[KINDS[k] for k in shown]),
        )
    )
    chart: alt.LayerChart = alt.layer(path, marks).properties(width=440, height=260, padding=PADDING)
    return chart


def last_number(workload: Any) -> int:
    return int(workload.name.rsplit("-", 1)[1])


def draw(path: Path = RESULTS, root: Path = ROOT) -> None:
    whole = store.read(path)
    for name, family, title, axis, log in CHARTS:
        chart = root / "docs" / f"peers-{name}.svg"
        points = rates(store.flat(whole), family, last_number)
        if points:
            lines(points, title, axis, whole, log=log).save(chart)
        else:
            chart.unlink(missing_ok=True)
    for name, parts in tables.pages(whole).items():
        page = root / name
        page.write_text(tables.filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
