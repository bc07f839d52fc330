"""Draws docs/throughput.svg, throughput against the size of the window, from what `make bench` wrote to
docs/throughput.tsv: `make chart`.
"""

from __future__ import annotations

import re
from pathlib import Path

import altair as alt

DOCS = Path(__file__).parent.parent / "docs"
SERIES = {"masks": "pattern alone, conditions known", "conditions": "conditions and pattern"}


def values(table: str) -> list[dict[str, float | str]]:
    """A point for each window and series; the window is the end of a query's name, in milliseconds."""
    _, header, *rows = [line.split("\t") for line in table.splitlines()]
    found: list[dict[str, float | str]] = []
    for row in rows:
        line = dict(zip(header, row, strict=True))
        window = re.fullmatch(r"S3-noend-w(\d+)", line["query"])
        if window:
            found += [
                {"window": int(window[1]) / 1000, "rate": float(line[name]), "series": title}
                for name, title in SERIES.items()
            ]
    return found


def chart(table: str) -> alt.LayerChart:
    machine = table.splitlines()[0].removeprefix("# ")
    points = values(table)
    most = max(float(point["rate"]) for point in points)
    base = alt.Chart(
        alt.Data(values=points),  # type: ignore[no-untyped-call]
        title=alt.TitleParams(
            "Throughput against the window", subtitle=f"a sequence of four; {machine}", anchor="start", fontSize=14
        ),
    ).encode(
        x=alt.X(
            "window:Q",
            title="window, seconds",
            scale=alt.Scale(type="log", padding=20, nice=False),
            axis=alt.Axis(values=[1, 10, 100, 1000]),
        ),
        y=alt.Y("rate:Q", title="million events per CPU-second", scale=alt.Scale(domain=[0, most * 1.15], nice=False)),
        color=alt.Color("series:N", title=None, sort=list(SERIES.values()), legend=alt.Legend(orient="bottom")),
    )
    lines = base.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=60))
    labels = base.mark_text(dy=-12).encode(text=alt.Text("rate:Q", format=".0f"))
    whole: alt.LayerChart = alt.layer(lines, labels).properties(width=480, height=220)
    return whole


def main() -> None:
    chart((DOCS / "throughput.tsv").read_text(encoding="utf-8")).save(DOCS / "throughput.svg")


if __name__ == "__main__":
    main()
