"""Draws docs/scaling.md and its charts from docs/scaling.json, and docs/papers.md from this and docs/peers.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import curves
import draw as draw_peers
import model
import papers
import tables

Whole = dict[str, dict[str, Any]]
"""By the name of a section: its `machine` and its `results`."""
NOTHING = "Not measured yet."


def draw(whole: Whole, peers: Whole, docs: Path) -> None:
    for curve in curves.curves():
        if curve.name in whole:
            chart(curve, whole[curve.name]["results"]).save(docs / f"scaling-{curve.name}.svg")
    for name, found in pages(whole, peers).items():
        path = docs / name
        path.write_text(tables.filled(path.read_text(encoding="utf-8"), found), encoding="utf-8")


def pages(whole: Whole, peers: Whole) -> dict[str, dict[str, str]]:
    """What stands between the marks of each page."""
    return {"scaling.md": parts(whole), "papers.md": papers.parts(whole, peers)}


def nanos(result: dict[str, Any]) -> float:
    return float(result["seconds"] / result["read"] * 1e9)


def chart(curve: curves.Curve, results: list[dict[str, Any]]) -> alt.LayerChart:
    points = [{"at": r["at"], "nanos": nanos(r), "cut": r["timed_out"]} for r in results]
    log = max(p["at"] for p in points) > 20 * min(p["at"] for p in points)
    # From zero, unless the cost itself goes over more than two orders of magnitude.
    steep = max(p["nanos"] for p in points) > 100 * min(p["nanos"] for p in points)
    base = alt.Chart(
        alt.Data(values=points),  # type: ignore[no-untyped-call]
        title=alt.TitleParams(curve.title, anchor="start", fontSize=14),
    ).encode(
        x=alt.X(
            "at:Q",
            title=curve.axis,
            scale=alt.Scale(type="log" if log else "linear", padding=20, nice=False),
            axis=alt.Axis(values=[p["at"] for p in points], format=",d"),
        ),
        y=alt.Y(
            "nanos:Q",
            title="nanoseconds for an event",
            scale=alt.Scale(type="log" if steep else "linear", zero=not steep),
        ),
    )
    line = base.mark_line(strokeWidth=2.5, color="#3949ab")
    marks = base.mark_point(size=60, filled=True, opacity=1, color="#3949ab").encode(
        shape=alt.Shape("cut:N", legend=None, scale=alt.Scale(domain=[False, True], range=["circle", "triangle-down"]))
    )
    labels = base.mark_text(dy=-12).encode(text=alt.Text("nanos:Q", format=",.0f"))
    whole: alt.LayerChart = alt.layer(line, marks, labels).properties(width=440, height=180, padding=draw_peers.PADDING)
    return whole


def parts(whole: Whole) -> dict[str, str]:
    found = {curve.name: of_curve(curve, whole.get(curve.name)) for curve in curves.curves()}
    return {"conditions": conditions(whole), **found, **model.parts(whole)}


def conditions(whole: Whole) -> str:
    if not whole:
        return NOTHING
    said: dict[str, list[str]] = {}
    for name, section in whole.items():
        m = section["machine"]
        text = (
            f"{m['date']}, commit {m['commit']}: {m['processor']}, {m['cores']} cores, {m['memory']}, Java {m['java']}"
        )
        said.setdefault(text, []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(names)}: measured on {text}." for text, names in said.items())


def of_curve(curve: curves.Curve, section: dict[str, Any] | None) -> str:
    if section is None:
        return NOTHING
    rows = []
    for r in section["results"]:
        heap = tables.megabytes(r["heap"])
        rows.append([f"{r['at']:,}", f"{nanos(r):,.0f}", f"{r['matches'] / r['read']:,.2f}", heap])
    text = tables.table([curve.axis, "ns for an event", "matches for an event", "heap, MB"], rows)
    return f"{text}\n\n![{curve.title}](scaling-{curve.name}.svg)"
