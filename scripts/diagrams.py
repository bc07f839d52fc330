"""The pictures of docs/diagrams: a stream as dots on a line, and below it each match with the events it has.

What is drawn is what the engine finds, so a picture cannot say something else. `make diagrams` draws them anew.
"""

from __future__ import annotations

import re
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

import altair
from pyspark.sql import Row

from spark_cer import cer, plot, session
from spark_cer.test import run

FOLDER = Path(__file__).parent.parent / "docs" / "diagrams"


class Picture(NamedTuple):
    query: str
    stream: str


def pattern(text: str, stream: str) -> Picture:
    return Picture(f"SELECT * FROM S WHERE {text}", stream)


def strategy(word: str) -> Picture:
    return Picture(f"SELECT {word} * FROM S WHERE A+ ; B", "A X A B")


# Events are written as a type and perhaps a number, which is the attribute v.
PICTURES = {
    "type": pattern("A", "A B A"),
    "sequence": pattern("A ; B", "A X B B"),
    "contiguous": pattern("A : B", "A X B A B"),
    "iteration": pattern("A+", "A X A"),
    "contiguous-iteration": pattern("A:+", "A A X A"),
    "repeat": pattern("A{2,3}", "A X A A"),
    "optional": pattern("A ; B? ; C", "A X B C"),
    "any": pattern("A ; B*", "A X B B"),
    "sub-window": pattern("(A ; B WITHIN 2 [at]) ; C", "A X B X X A X X B C"),
    "count": pattern("A+ AS x FILTER count(x) = 2", "A X A A"),
    "or": pattern("A OR B", "A X B"),
    "as": pattern("(A ; B) AS x", "A X B"),
    "no": pattern("A ; NO B ; C", "A B C A X C"),
    "no-for": pattern("A ; NO B FOR 2 [at]", "A X B A X X"),
    "no-before": pattern("NO B FOR 2 [at] ; A", "B X A X A"),
    "without": pattern("(A+ ; C) WITHOUT B", "A B A A C"),
    "not": pattern("A : NOT(B):+ : C", "A X X C A B C"),
    "filter": pattern("(A AS x ; B) FILTER x[v > 5]", "A3 A7 B"),
    "all": strategy("ALL"),
    "next": Picture("SELECT NEXT * FROM S WHERE A ; B ; C", "A B A B C"),
    "last": Picture("SELECT LAST * FROM S WHERE A ; B ; C", "A B A B C"),
    "max": strategy("MAX"),
    "strict": strategy("STRICT"),
    "within": Picture("SELECT * FROM S WHERE A ; B WITHIN 2 EVENTS", "A X A B"),
    "partition": Picture("SELECT * FROM S WHERE A ; B PARTITION BY [v]", "A1 A2 B1 B2"),
    "consume": Picture("SELECT * FROM S WHERE A ; B CONSUME BY PARTITION", "A B B A B"),
    "limit": Picture("SELECT * FROM S WHERE A ; B LIMIT 1", "A A B"),
}

AUTOMATA = {
    "guesses": "SELECT MAX tries, success FROM Logins WHERE (failure : failure : failure:+) AS tries : success "
    "PARTITION BY [user] WITHIN 5 minutes",
    "testing": "SELECT MAX count(probes) AS n, large.amount AS taken FROM Cards "
    "WHERE (auth{2,} AS probes ; auth AS large) FILTER probes[amount < 2] AND large[amount > 500] "
    "PARTITION BY [card] WITHIN 10 minutes",
}

STEP, LINE, LEFT, TOP = 56, 26, 30, 30
INK, FAINT, MARK = "#7a7f8c", "#b9bdc7", "#3f6ad8"  # on white and on black


def events(stream: str) -> list[dict[str, str | int]]:
    found = [re.fullmatch(r"([A-Z]+)(\d*)", word) for word in stream.split()]
    return [{"at": n, "type": m[1], "v": int(m[2] or 0)} for n, m in enumerate(found) if m]


def positions(match: Row) -> set[int]:
    """Where the events of a match stand."""
    bound = [value for value in match if isinstance(value, (Row, list))]
    return {event["at"] for value in bound for event in (value if isinstance(value, list) else [value])}


def svg(picture: Picture) -> str:
    words = picture.stream.split()
    matches = run(picture.query, events(picture.stream), time="at")
    width = LEFT * 2 + STEP * (len(words) - 1)
    height = TOP + LINE * (len(matches) + 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="ui-monospace, monospace" font-size="13">',
        f"<title>{escape(picture.query)}</title>",
        f'<path d="M{LEFT - 18} {TOP}H{width - LEFT + 18}" stroke="{FAINT}" stroke-width="1.5"/>',
    ]
    for n, word in enumerate(words):
        x = LEFT + STEP * n
        out.append(f'<circle cx="{x}" cy="{TOP}" r="4" fill="{INK}"/>')
        out.append(f'<text x="{x}" y="{TOP - 12}" text-anchor="middle" fill="{INK}">{word}</text>')
    for number, match in enumerate(matches):
        y = TOP + LINE * (number + 1)
        begin, end = (LEFT + STEP * int(match[name]) for name in ("start", "end"))
        if begin < end:
            out.append(f'<path d="M{begin} {y}H{end}" stroke="{MARK}" stroke-width="2" stroke-opacity="0.45"/>')
        taken = positions(match)
        for n in range(int(match["start"]), int(match["end"]) + 1):
            x = LEFT + STEP * n
            if n in taken:
                out.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{MARK}"/>')
            elif n in (int(match["start"]), int(match["end"])):
                out.append(f'<circle cx="{x}" cy="{y}" r="4" fill="none" stroke="{MARK}" stroke-width="1.5"/>')
    return "\n".join([*out, "</svg>", ""])


def drawings() -> dict[str, str]:
    """File names and contents of all pictures."""
    automata = {name: cer(query).diagram().svg.replace("currentColor", INK) + "\n" for name, query in AUTOMATA.items()}
    return {f"{name}.svg": text for name, text in [*((n, svg(p)) for n, p in PICTURES.items()), *automata.items()]}


def timeline() -> altair.FacetChart | altair.LayerChart:
    """An example of spark_cer.plot.timeline."""
    visits = {"ann": "cart view leave", "ben": "view cart cart buy leave", "cy": "cart cart view cart leave"}
    clicks = [
        (datetime(2026, 3, 2, 10, 5 * number + 2 * step), kind, visitor)
        for number, (visitor, kinds) in enumerate(visits.items())
        for step, kind in enumerate(kinds.split())
    ]
    events = session().createDataFrame(clicks, "ts TIMESTAMP, type STRING, visitor STRING")
    query = "SELECT cart, leave FROM Clicks WHERE cart : NOT(buy):+ : leave PARTITION BY [visitor] WITHIN 1 hour"
    return plot.timeline(events.transform(cer(query, time="ts")))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in drawings().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    timeline().save(FOLDER / "timeline.svg")


if __name__ == "__main__":
    main()
