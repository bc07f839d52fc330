"""What an event costs the engine alone, on one thread, while one number grows and the others stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import engines
import measure
from processes import Result
from workloads import NOWHERE, Pattern, Workload, keyed, one, rules, sequence

OPTIONS = measure.Options(500_000, 500_000, warm_up=2, rounds=3, timeout=60, memory=True, heap="6g")
WINDOW = 30_000
SIZES = tuple(125_000 * 2**i for i in range(6))
WINDOWS = (1, 10, 20, 30, 60, 100)
"""Seconds, where matches are found."""


@dataclass(frozen=True)
class Point:
    """A place on the axis of a curve, and what is measured there."""

    at: int
    workload: Workload
    events: int = OPTIONS.events
    counted: bool = False
    """Whether matches are counted instead of listed."""


@dataclass(frozen=True)
class Curve:
    name: str
    title: str
    axis: str
    points: tuple[Point, ...]


def alone(name: str, pattern: Pattern, stream: str = "stocks") -> Workload:
    return one(name, "scaling", name, pattern, stream)


def curves() -> tuple[Curve, ...]:
    three = Pattern(sequence(3), WINDOW)
    return (
        Curve(
            "events",
            "Time for an event against the number of events",
            "events",
            tuple(Point(n, alone("events", three), n) for n in SIZES),
        ),
        Curve(
            "keys",
            "Time for an event against the number of keys",
            "keys",
            tuple(
                # A single key has an event every 100 ms, many keys together have one every millisecond.
                Point(n, alone("keys", keyed(2_000 if n == 1 else 20 * n), f"keys-{n}"), 2_000_000)
                for n in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
            ),
        ),
        Curve(
            "window",
            "Time for an event against the window, without matches",
            "window, seconds",
            tuple(
                Point(w, alone("window", Pattern((*sequence(3), NOWHERE), w * 1000)))
                for w in (1, 3, 10, 30, 100, 300, 1000)
            ),
        ),
        Curve(
            "length",
            "Time for an event against the length, without matches",
            "events of a match",
            tuple(
                Point(n + 1, alone("length", Pattern((*sequence(n), NOWHERE), WINDOW))) for n in (2, 5, 8, 11, 17, 23)
            ),
        ),
        Curve(
            "rules",
            "Time for an event against the number of rules",
            "rules",
            tuple(
                Point(n, Workload("rules", "scaling", "rules", "stocks", rules(n))) for n in (1, 3, 10, 30, 100, 290)
            ),
        ),
        Curve(
            "matches",
            "Time for an event against the matches that are listed",
            "window, seconds",
            tuple(Point(w, alone("matches", Pattern(sequence(3), w * 1000))) for w in WINDOWS),
        ),
        Curve(
            "counted",
            "The same, with matches that are counted",
            "window, seconds",
            tuple(Point(w, alone("counted", Pattern(sequence(3), w * 1000)), counted=True) for w in WINDOWS),
        ),
    )


def measured(curve: Curve) -> Iterator[Result]:
    """Each point in a process of its own."""
    by_name = {e.name: e for e in engines.ENGINES}
    measure.write_files({(p.workload.stream, p.events) for p in curve.points}, OPTIONS.heap)
    for point in curve.points:
        engine = by_name["reference" if point.counted else engines.OURS]
        options = replace(OPTIONS, events=point.events, large=point.events)
        (result,) = measure.measured([(engine, point.workload)], options)
        yield {"curve": curve.name, "at": point.at, **result}
