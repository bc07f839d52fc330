"""The content of plots."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkImportError, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_cer import cer, plot

QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY AS y) FILTER x[price > 20] WITHIN 20 [t]"


def values(chart: Any, kind: str) -> list[dict[str, Any]]:
    return [value for value in chart.to_dict()["data"]["values"] if value["kind"] == kind]


def test_matches_are_spans_and_events_points(trades: DataFrame) -> None:
    chart = plot.timeline(trades.transform(cer(QUERY)))
    assert chart.to_dict()["title"]["text"] == "2 matches"
    assert values(chart, "match") == [
        {"kind": "match", "match": 1, "key": "", "start": 0, "end": 10},
        {"kind": "match", "match": 2, "key": "", "start": 40, "end": 60},
    ]
    assert values(chart, "event") == [
        {"kind": "event", "match": n, "key": "", "variable": variable, "time": t, "event": event}
        for n, variable, t, event in [
            (1, "x", 0, "type: SELL, price: 25.0, id: a, card: k"),
            (1, "y", 10, "type: BUY, price: 5.0, id: b, card: k"),
            (2, "x", 40, "type: SELL, price: 30.0, id: f, card: l"),
            (2, "y", 60, "type: BUY, price: 5.0, id: h, card: l"),
        ]
    ]
    lines, points = chart.to_dict()["layer"]
    assert (lines["mark"]["type"], lines["encoding"]["x"]["field"], lines["encoding"]["x2"]["field"]) == (
        "rule",
        "start",
        "end",
    )
    assert (points["mark"]["type"], points["encoding"]["x"]["type"]) == ("point", "quantitative")


def test_matches_of_a_key_are_together(trades: DataFrame, tmp_path: Path) -> None:
    chart = plot.timeline(trades.transform(cer(QUERY + " PARTITION BY [card]", time="t")))
    spec = chart.to_dict()
    assert spec["title"]["text"] == "2 matches, by card"
    assert spec["facet"]["row"]["field"] == "key"
    assert [(value["match"], value["key"], value["end"]) for value in values(chart, "match")] == [
        (1, "k", 10),
        (2, "l", 60),
    ]
    chart.save(tmp_path / "matches.svg")
    assert "<svg" in (tmp_path / "matches.svg").read_text()


def test_what_is_not_drawn_is_said(trades: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    matches = trades.transform(cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 99 [t]")).cache()
    assert matches.count() == 8
    chart = plot.timeline(matches, limit=3)
    assert chart.to_dict()["title"]["text"] == "The first 3 matches; there is more than is drawn"
    assert [(value["start"], value["end"]) for value in values(chart, "match")] == [(0, 10), (0, 30), (20, 30)]
    assert len(values(chart, "event")) == 6
    assert plot.timeline(matches, limit=8).to_dict()["title"]["text"] == "8 matches"
    monkeypatch.setattr(plot, "_EVENTS", 4)
    chart = plot.timeline(matches, limit=8)
    assert chart.to_dict()["title"]["text"] == "The first 8 matches; there is more than is drawn"
    assert len(values(chart, "event")) == 4


def test_no_matches_and_no_variables(trades: DataFrame) -> None:
    none = plot.timeline(trades.transform(cer("SELECT * FROM S WHERE NEVER", time="t")))
    assert none.to_dict()["title"]["text"] == "No matches"
    spans = plot.timeline(trades.transform(cer("SELECT NONE FROM S WHERE SELL : BUY", time="t")))
    assert [(value["start"], value["end"]) for value in values(spans, "match")] == [(0, 10), (20, 30)]
    assert values(spans, "event") == []


def test_times_are_shown_as_spark_shows_them(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        [("A", datetime(2026, 3, 2, 9)), ("B", datetime(2026, 3, 2, 10))], "type STRING, ts TIMESTAMP"
    )
    by_time = plot.timeline(events.transform(cer("SELECT * FROM S WHERE A ; B", time="ts")))
    assert values(by_time, "match")[0]["start"] == "2026-03-02T09:00:00"
    assert by_time.to_dict()["layer"][1]["encoding"]["x"]["type"] == "temporal"
    for layer in by_time.to_dict()["layer"]:
        assert layer["encoding"]["x"]["title"] == "2026-03-02"
        assert layer["encoding"]["x"]["axis"]["format"]["hours"] == "%H:%M"
    assert {"field": "end", "format": "%Y-%m-%d %H:%M:%S", "type": "temporal"} in by_time.to_dict()["layer"][0][
        "encoding"
    ]["tooltip"]
    by_day = plot.timeline(
        events.selectExpr("type", "DATE(ts) AS d").transform(cer("SELECT * FROM S WHERE B", time="d"))
    )
    assert values(by_day, "event")[0]["time"] == "2026-03-02T00:00:00"


def labels(chart: Any, path: Path) -> list[str]:
    """The labels and the title of the time axis."""
    chart.save(path)
    axis = path.read_text(encoding="utf-8").split('aria-label="X-axis', 1)[1].split('aria-label="', 1)[0]
    return re.findall(r"<text[^>]*>([^<]+)</text>", axis)


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (datetime(2026, 3, 2, 0, 14), datetime(2026, 3, 2, 0, 31), ["00:15", "00:20", "00:25", "00:30", "2026-03-02"]),
        (
            datetime(2026, 3, 2, 9),
            datetime(2026, 3, 2, 21, 30),
            ["09:00", "12:00", "15:00", "18:00", "21:00", "2026-03-02"],
        ),
        (
            datetime(2026, 3, 2, 22, 50),
            datetime(2026, 3, 3, 0, 40),
            ["23:00", "23:15", "23:30", "23:45", "Mar 03", "00:15", "00:30", "2026-03-02 to 2026-03-03"],
        ),
        (
            datetime(2026, 3, 2, 18),
            datetime(2026, 3, 5, 6),
            ["Mar 03", "12:00", "Mar 04", "12:00", "Mar 05", "2026-03-02 to 2026-03-05"],
        ),
        (
            datetime(2025, 11, 20),
            datetime(2026, 3, 10),
            ["Dec 2025", "Jan 2026", "Feb 2026", "Mar 2026", "2025-11-20 to 2026-03-10"],
        ),
    ],
)
def test_hours_are_counted_to_24_and_days_are_named(
    spark: SparkSession, tmp_path: Path, start: datetime, end: datetime, shown: list[str]
) -> None:
    events = spark.createDataFrame([("A", start), ("B", end)], "type STRING, ts TIMESTAMP")
    chart = plot.timeline(events.transform(cer("SELECT * FROM S WHERE A ; B", time="ts")))
    assert labels(chart, tmp_path / "matches.svg") == shown


def test_what_cannot_be_drawn_gets_a_sentence(trades: DataFrame, spark: SparkSession, tmp_path: Path) -> None:
    matches = trades.transform(cer(QUERY))
    refused: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ("x", {}, PySparkTypeError, "timeline() takes a DataFrame of matches, not str."),
        (matches, {"limit": 0}, PySparkValueError, "timeline() draws at least one match, not 0."),
        (
            trades,
            {},
            PySparkValueError,
            "timeline() takes the matches of cer(), and these have no column 'match_id'.",
        ),
        (
            trades.transform(cer("SELECT x[id] FROM S WHERE SELL AS x", time="t")),
            {},
            PySparkValueError,
            "timeline() draws events by 't', which SELECT does not show: add it there.",
        ),
        (
            spark.createDataFrame(matches.collect(), matches.schema.simpleString()[7:-1]),
            {},
            PySparkValueError,
            'timeline() does not know the time of the events any more: name it, as in time="ts".',
        ),
        (
            spark.readStream.schema(matches.schema).parquet(str(tmp_path)),
            {},
            PySparkValueError,
            "timeline() draws what was found: write the stream's matches to a table and read that.",
        ),
    ]
    for some, options, error, text in refused:
        with pytest.raises(error) as caught:
            plot.timeline(some, **options)
        assert str(caught.value) == text


def test_a_stream_in_pictures(spark: SparkSession, trades: DataFrame, tmp_path: Path) -> None:
    trades.coalesce(1).write.parquet(str(tmp_path / "trades"))
    stream = spark.readStream.schema(trades.schema).parquet(str(tmp_path / "trades"))
    writer = stream.transform(cer(QUERY)).writeStream.format("noop").queryName("pairs").trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    running.awaitTermination()
    spec = plot.throughput(running).to_dict()
    assert spec["title"]["text"] == "pairs"
    assert [panel["encoding"]["y"]["title"] for panel in spec["vconcat"]] == ["rows a second", "found", "state"]
    found = {value["metric"]: value["value"] for value in spec["vconcat"][1]["data"]["values"]}
    assert found == {"matches": 2, "late": 0}


def progress(observed: dict[str, Row]) -> SimpleNamespace:
    return SimpleNamespace(
        batchId=3,
        timestamp="2026-03-02T09:00:00.000Z",
        inputRowsPerSecond=float("nan"),
        processedRowsPerSecond=10.0,
        observedMetrics=observed,
    )


def test_figures_of_several_queries_are_added() -> None:
    metrics = Row(matches=2, late=1, held=4, keys=5, nodes=6)
    both = {"spark_cer_1": metrics, "spark_cer_2": metrics, "other": Row(rows=1)}
    stream: Any = SimpleNamespace(name=None, id="7", recentProgress=[progress(both)])
    spec = plot.throughput(stream).to_dict()
    assert spec["title"]["text"] == "stream 7"
    points = [value for panel in spec["vconcat"] for value in panel["data"]["values"]]
    assert {value["metric"]: value["value"] for value in points} == {
        "processed": 10.0,
        "matches": 4,
        "late": 2,
        "held": 8,
        "keys": 10,
        "nodes": 12,
    }


def test_a_stream_without_progress_or_metrics() -> None:
    silent: Any = SimpleNamespace(name="s", id="7", recentProgress=[])
    with pytest.raises(
        PySparkValueError, match=r"The stream has no progress yet: draw it after its first micro-batch."
    ):
        plot.throughput(silent)
    other: Any = SimpleNamespace(name="s", id="7", recentProgress=[progress({})])
    assert len(plot.throughput(other).to_dict()["vconcat"]) == 1


def test_without_altair_a_sentence(trades: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    for draw in (lambda: plot.timeline(trades), lambda: plot.throughput(StreamingQuery.__new__(StreamingQuery))):
        with pytest.raises(PySparkImportError) as caught:
            draw()
        assert str(caught.value) == "Pictures need Altair: pip install 'spark-cer[plot]'."
