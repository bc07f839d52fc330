"""Plots of matches and of running streams, with Altair: ``pip install 'spark-cer[plot]'``."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.errors import PySparkImportError, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import DateType, NumericType, TimestampNTZType, TimestampType

from spark_cer._rows import _OWN, _events, _key, _quoted, rows

if TYPE_CHECKING:
    import altair

_EVENTS = 5_000
_WIDTH = 620

# Labels of a time axis, by the largest unit of time that begins there. Spark writes hours from 0 to 23.
_LABELS = {
    "milliseconds": "%H:%M:%S.%L",
    "seconds": "%H:%M:%S",
    **dict.fromkeys(("minutes", "hours"), "%H:%M"),
    **dict.fromkeys(("day", "date", "week"), "%b %d"),
    **dict.fromkeys(("month", "quarter", "year"), "%b %Y"),
}
_TIMESTAMP = "%Y-%m-%d %H:%M:%S"


def timeline(matches: DataFrame, *, time: str | None = None, limit: int = 50) -> altair.FacetChart | altair.LayerChart:
    """Draws matches on a time axis. Each match is a line from its start to its end, with its events as points. Matches
    are grouped by key. The first ``limit`` matches by ``end`` are drawn, with at most 5,000 events. The title says if
    there are more.

    :param matches: the matches of :func:`spark_cer.cer` in a batch, or matches that a stream wrote and that were read
        again
    :param time: the time column of the events, if the matches no longer know it, for example because they were read
        from CSV
    :param limit: the largest number of matches to draw

    >>> spark_cer.plot.timeline(matches).save("matches.html")
    """
    alt = _altair()
    if not isinstance(matches, DataFrame):
        raise PySparkTypeError(f"timeline() takes a DataFrame of matches, not {matches.__class__.__name__}.")
    if matches.isStreaming:
        raise PySparkValueError("timeline() draws what was found: write the stream's matches to a table and read that.")
    missing = [name for name in ("match_id", "start", "end") if name not in matches.columns]
    if missing:
        raise PySparkValueError(f"timeline() takes the matches of cer(), and these have no column '{missing[0]}'.")
    if limit < 1:
        raise PySparkValueError(f"timeline() draws at least one match, not {limit}.")
    found = _collected(matches, time, limit)
    keys = _keys(matches)
    axis = _axis(matches)
    number = {row.match_id: n for n, row in enumerate(found.spans, 1)}
    key = {row.match_id: ", ".join(_text(row[name]) for name in keys) for row in found.spans}
    values: list[dict[str, Any]] = [
        {
            "kind": "match",
            "match": number[row.match_id],
            "key": key[row.match_id],
            "start": _json(row.start),
            "end": _json(row.end),
        }
        for row in found.spans
    ]
    values += [
        {
            "kind": "event",
            "match": number[row.match_id],
            "key": key[row.match_id],
            "variable": row.variable,
            "time": _json(row[found.time]),
            "event": ", ".join(f"{name}: {_text(row[name])}" for name in found.columns),
        }
        for row in found.events
    ]
    base = alt.Chart()
    x: dict[str, Any] = {
        "title": _days(found.spans) if axis == "T" else None,
        "scale": alt.Scale(padding=12, zero=False, nice=False),
        "axis": alt.Axis(titleFontWeight="normal", **({"format": _LABELS, "tickCount": 6} if axis == "T" else {})),
    }

    def tooltip(name: str) -> Any:
        return alt.Tooltip(f"{name}:{axis}", **({"format": _TIMESTAMP} if axis == "T" else {}))

    y = alt.Y("match:O", title=None if keys else "match", axis=alt.Axis(grid=False))
    lines = (
        base.transform_filter(alt.datum.kind == "match")
        .mark_rule(strokeWidth=5, opacity=0.25, strokeCap="round", color="#3f6ad8")
        .encode(
            x=alt.X(f"start:{axis}", **x),
            x2="end",
            y=y,
            tooltip=["match:O", tooltip("start"), tooltip("end")],
        )
    )
    points = (
        base.transform_filter(alt.datum.kind == "event")
        .mark_point(filled=True, size=60, opacity=1, stroke="white", strokeWidth=0.8)
        .encode(
            x=alt.X(f"time:{axis}", **x),
            y=y,
            color=alt.Color("variable:N", title=None),
            shape=alt.Shape("variable:N", title=None),
            tooltip=["variable:N", tooltip("time"), "event:N", "match:O"],
        )
    )
    title = alt.TitleParams(_title(len(found.spans), found.cut, keys), anchor="start", fontSize=13)
    layers = alt.layer(lines, points).properties(width=_WIDTH, height=alt.Step(20))
    data = alt.Data(values=values)
    if not keys:
        whole: altair.LayerChart = layers.properties(data=data, title=title)
        return whole
    rows_of = alt.Row("key:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    faceted: altair.FacetChart = layers.facet(data=data, row=rows_of, spacing=8, title=title).resolve_scale(
        y="independent"
    )
    return faceted


def throughput(query: StreamingQuery) -> altair.VConcatChart:
    """Draws the recent micro-batches of a stream (``recentProgress``): rows per second, and the matches, late events
    and state of its :func:`spark_cer.cer` queries. The plot does not update itself: call this function again for newer
    micro-batches.

    >>> spark_cer.plot.throughput(running)
    """
    alt = _altair()
    progress = list(query.recentProgress)
    if not progress:
        raise PySparkValueError("The stream has no progress yet: draw it after its first micro-batch.")
    panels = {
        "rows a second": ("line", ["arriving", "processed"]),
        "found": ("bar", ["matches", "late"]),
        "state": ("line", ["held", "keys", "nodes"]),
    }
    samples = [sample for one in progress for sample in _samples(one)]
    charts: list[Any] = []
    whole = alt.Axis(tickMinStep=1, format=",d")
    for panel, (mark, names) in panels.items():
        values = [sample for sample in samples if sample["metric"] in names]
        if not values:
            continue
        base = alt.Chart(alt.Data(values=values)).properties(width=_WIDTH, height=110)
        marked = base.mark_line(point=True) if mark == "line" else base.mark_bar(width=8)
        charts.append(
            marked.encode(
                x=alt.X("batch:Q", title=None, axis=whole, scale=alt.Scale(padding=12, zero=False, nice=False)),
                y=alt.Y("value:Q", title=panel, axis=whole),
                color=alt.Color("metric:N", title=None, scale=alt.Scale(domain=names), sort=names),
                tooltip=[
                    "batch:O",
                    "metric:N",
                    alt.Tooltip("value:Q", format=",.0f"),
                    alt.Tooltip("time:T", format=_TIMESTAMP),
                ],
            )
        )
    charts[-1].encoding.x.title = "micro-batch"
    title = alt.TitleParams(query.name or f"stream {query.id}", anchor="start", fontSize=13)
    chart: altair.VConcatChart = alt.vconcat(*charts, title=title).resolve_scale(color="independent", x="shared")
    return chart


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise PySparkImportError("Pictures need Altair: pip install 'spark-cer[plot]'.") from None
    return altair


class _Found(NamedTuple):
    """What is drawn: the matches without their events, the events with the names of their time column and their other
    columns, and whether there are more matches or events."""

    spans: list[Row]
    cut: bool
    events: list[Row]
    time: str = ""
    columns: list[str] = []  # noqa: RUF012  (never written to)


def _collected(matches: DataFrame, time: str | None, limit: int) -> _Found:
    found = matches.where("match_id IS NOT NULL")
    keys = _keys(matches)
    first = found.orderBy("end", "start", "match_id").limit(limit + 1)
    spans = first.select("match_id", *(_quoted(name) for name in keys), "start", "end").collect()
    shown = sorted(spans[:limit], key=lambda row: [str(row[name]) for name in keys])
    more = len(spans) > limit
    if not _events(matches):
        return _Found(shown, more, [])
    named = time or matches.schema["start"].metadata.get("spark.cer.time")
    if named is None:
        raise PySparkValueError('timeline() does not know the time of the events any more: name it, as in time="ts".')
    drawn = rows(found.where(found["match_id"].isin([row.match_id for row in shown])), time=named).drop("match_number")
    key = _key(matches)
    clock = next((name for name in drawn.columns if key(name) == key(named)), None)
    if clock is None:
        raise PySparkValueError(f"timeline() draws events by '{named}', which SELECT does not show: add it there.")
    columns = [name for name in drawn.columns if name not in (*_OWN, clock, *keys)]
    events = drawn.limit(_EVENTS + 1).collect()
    return _Found(shown, more or len(events) > _EVENTS, events[:_EVENTS], clock, columns)


def _keys(matches: DataFrame) -> list[str]:
    """The PARTITION BY columns, which are between match_id and start."""
    before = matches.columns[: matches.columns.index("start")]
    return [name for name in before if name != "match_id"]


def _axis(matches: DataFrame) -> str:
    """The letter that Altair uses for the type of the time axis."""
    kind = matches.schema["start"].dataType
    if isinstance(kind, (TimestampType, TimestampNTZType, DateType)):
        return "T"
    if isinstance(kind, NumericType):
        return "Q"
    raise PySparkValueError(f"timeline() draws matches by time, and 'start' is a {kind.simpleString()}.")


def _title(drawn: int, cut: bool, keys: list[str]) -> str:
    count = f"{drawn or 'No'} match{'' if drawn == 1 else 'es'}"
    if cut:
        count = f"The first {count}"
    by = f", by {', '.join(keys)}" if keys else ""
    return count + by + ("; there is more than is drawn" if cut else "")


def _days(spans: list[Row]) -> str | None:
    """The day or days of the matches, because the labels of an axis may show the time alone."""
    if not spans:
        return None
    first, last = min(row.start for row in spans), max(row.end for row in spans)
    days = [f"{day:%Y-%m-%d}" for day in (first, last)]
    return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"


def _json(value: Any) -> Any:
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat() if isinstance(value, datetime.datetime) else f"{value.isoformat()}T00:00:00"
    return float(value) if isinstance(value, Decimal) else value


def _text(value: Any) -> str:
    return "NULL" if value is None else str(value)


def _samples(progress: Any) -> list[dict[str, Any]]:
    """The metrics of one micro-batch, each as a point. The metrics of several queries in one stream are added up."""
    figures: dict[str, float] = {}
    for name, field in (("arriving", "inputRowsPerSecond"), ("processed", "processedRowsPerSecond")):
        rate = getattr(progress, field)
        if rate is not None and math.isfinite(rate):
            figures[name] = rate
    for name, row in (progress.observedMetrics or {}).items():
        if name.startswith("spark_cer_"):
            values = _observed(row)
            for metric in ("matches", "late", "held", "keys", "nodes"):
                figures[metric] = figures.get(metric, 0) + values[metric]
    return [
        {"batch": progress.batchId, "time": progress.timestamp, "metric": metric, "value": value}
        for metric, value in figures.items()
    ]


def _observed(row: Row) -> dict[str, Any]:
    """The values of an observed row by name. On Spark Connect, PySpark returns names and values separately."""
    found = row.asDict()
    if set(found) == {"schema", "values"}:
        return dict(zip([field["name"] for field in found["schema"]["fields"]], found["values"], strict=True))
    return found
