"""What a query tells about itself before it runs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import cer

QUERY = "SELECT * FROM S WHERE (SELL AS x ; BUY+ AS ys) FILTER x[price > 20] PARTITION BY [card] WITHIN 30 [t]"

PLAN = """\
Pattern
  SELL AS x ; BUY+ AS ys FILTER x[price > 20]

Output
  x: one event
  ys: many events, as an array

Conditions, each asked of an event once, by Spark
  0  SELL[price > 20]
  1  BUY

Automaton
  4 states, 7 transitions: from -> to, the event it takes / the variables that get it
"""


def test_explain_prints_the_plan(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    query = cer(QUERY)
    query.explain()
    printed = capsys.readouterr().out
    assert printed == query.plan + "\n"
    assert printed.startswith(PLAN), printed
    for line in [
        "  an event that meets none of the conditions is dropped where it is read, before any shuffle",
        "  an event can close exponentially many matches, up to 2^n for n events in the window, because '+' may take any "
        "subset of them: LIMIT, NEXT, LAST, MAX or COUNT(*) bound it",
        "  in parallel by card",
    ]:
        assert line in printed.splitlines(), printed


def test_explain_knows_the_parameters(spark: SparkSession) -> None:
    query = "SELECT * FROM S WHERE (A{{2,{n}}} AS xs ; B AS y) WITHIN {w}"
    open_query = query.format(n=":n", w=":w")
    given = {"n": 3, "w": timedelta(minutes=5)}
    assert cer(open_query, params=given).plan == cer(query.format(n=3, w="5 minutes")).plan
    for params, parameter in (({**given, "n": float("nan")}, ":n"), ({**given, "w": 5}, ":w")):
        with pytest.raises(AnalysisException, match="CER_PARAMETER") as raised:
            cer(open_query, params=params).plan  # noqa: B018
        assert parameter in str(raised.value).splitlines()[0]


def test_a_query_may_end_with_a_semicolon(spark: SparkSession) -> None:
    for text in ("SELECT * FROM S WHERE A", "SELECT * FROM S WHERE A ; B", QUERY):
        assert cer(f"{text} ;\n-- the end").plan == cer(text).plan
    with pytest.raises(AnalysisException) as raised:
        cer("SELECT * FROM S WHERE A ; B ;;").plan  # noqa: B018
    assert str(raised.value).splitlines() == [
        "[CER_SYNTAX] Line 1, column 30: expected an event type, NOT(…) or '(', found ';'.",
        "SELECT * FROM S WHERE A ; B ;;",
        "                             ^",
    ]


@pytest.mark.parametrize(
    ("clauses", "lines"),
    [
        (
            "WITHIN 1 minute",
            [
                "a batch runs in parallel by slices of time",
                "a stream runs on one task: PARTITION BY makes it parallel",
                "a stream with a watermark forgets a key when its window has passed",
            ],
        ),
        (
            "WITHIN 9 [n]",
            [
                "a batch runs in parallel by slices of time, if n is the time column",
                "a stream runs on one task: PARTITION BY makes it parallel",
                "a stream with a watermark forgets a key when its window has passed, if n is the time column",
            ],
        ),
        (
            "PARTITION BY [k] WITHIN :n EVENTS CONSUME BY ANY",
            [
                "one task reads all events, because CONSUME BY ANY puts all of them in order",
                "a stream keeps the state of every key it met: idle='7 days' drops idle ones",
            ],
        ),
        (
            "",
            [
                "one task reads all events: PARTITION BY makes it parallel",
                "a stream keeps its state for ever: WITHIN bounds it, or idle='7 days' drops idle keys",
            ],
        ),
    ],
)
def test_how_it_runs_on_spark(spark: SparkSession, clauses: str, lines: list[str]) -> None:
    plan = cer(f"SELECT * FROM S WHERE A ; B {clauses}").plan
    micro_batch = (
        "a stream keeps the events that it needs of a micro-batch, and their matches, in memory: "
        "maxOffsetsPerTrigger (Kafka) or maxFilesPerTrigger bounds them"
    )
    assert plan.split("\nOn Spark\n")[1].splitlines() == ["  " + line for line in [*lines, micro_batch]]


def test_the_diagram(spark: SparkSession, tmp_path: Path) -> None:
    diagram = cer(QUERY).diagram()
    root = ElementTree.fromstring(diagram.svg)
    texts = {e.text for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"q0", "q1", "q2", "SELL[price > 20] / x", "BUY / ys"} <= texts
    assert diagram.mermaid.startswith("flowchart LR\n")
    assert repr(diagram) == diagram.mermaid
    assert diagram._repr_svg_() == diagram.svg
    assert diagram.svg in diagram._repr_html_()
    assert set(diagram._repr_mimebundle_()) == {"image/svg+xml", "text/html", "text/vnd.mermaid", "text/plain"}
    diagram.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == diagram.svg + "\n"
    diagram.save(str(tmp_path / "a.mmd"))
    assert (tmp_path / "a.mmd").read_text(encoding="utf-8") == diagram.mermaid + "\n"
    with pytest.raises(PySparkValueError, match=r"^A diagram is saved as \.svg or \.mmd, not as '\.png'\.$"):
        diagram.save("a.png")


def test_a_notebook_shows_the_query_and_its_diagram(spark: SparkSession) -> None:
    shown = cer(QUERY)._repr_html_()
    assert shown.startswith("<pre>SELECT * FROM S WHERE (SELL AS x ; BUY+ AS ys) FILTER x[price &gt; 20]")
    assert "<svg " in shown
    assert "expected FROM" in cer("SELECT * FORM S")._repr_html_()


def test_the_schema_comes_before_the_matches(trades: DataFrame) -> None:
    schema = cer(QUERY).schema(trades)
    assert schema == trades.transform(cer(QUERY)).schema
    assert schema.names == ["match_id", "card", "start", "end", "x", "ys"]
    pair = {"A": trades, "B": trades}
    assert cer("SELECT * FROM A, B WHERE A>SELL ; B>BUY WITHIN 1 [t]").schema(pair).names[-2:] == ["A>SELL", "B>BUY"]


def test_validate(trades: DataFrame) -> None:
    cer(QUERY).validate(trades)
    with pytest.raises(AnalysisException, match=r"'cart' is not a column\..*Did you mean 'card'\?"):
        cer(QUERY.replace("card", "cart")).validate(trades)


def test_a_query_that_does_not_parse(spark: SparkSession) -> None:
    for ask in (lambda: cer("SELECT").plan, lambda: cer("SELECT").diagram()):
        with pytest.raises(AnalysisException, match=r"^\[CER_SYNTAX\] Line 1, column 7: expected"):
            ask()
