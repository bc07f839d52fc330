"""What is measured: patterns over the streams of `jvm/benchmarks`, in a form that belongs to no engine."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Step:
    """One event of a pattern, or several: a type, and what its columns must be."""

    name: str
    type: str
    stock: str | None = None
    volume: int | None = None
    """The volume must be larger than this."""
    least: int = 1
    most: int | None = 1
    """How many events: 1, or up to `most`, or any number if it is None."""
    absent: bool = False
    """No such event may come here."""
    equal: tuple[str, str, str] | None = None
    """A column, an earlier step and its column that must be the same."""


@dataclass(frozen=True)
class Pattern:
    steps: tuple[Step, ...]
    window: int
    """Milliseconds."""
    mode: str = "all"
    """`all` matches; `first`: each first event with the next event for each step; `consume`: one match, then only
    events after it; `strict`: events without others in between; `last`, `max`: strategies of CEQL."""
    key: str | None = None
    wait: int | None = None
    """The last step is absent for so many milliseconds."""


@dataclass(frozen=True)
class Workload:
    name: str
    family: str
    title: str
    stream: str
    patterns: tuple[Pattern, ...]
    events: int | None = None
    """Another number of events than the others."""

    @property
    def pattern(self) -> Pattern:
        return self.patterns[0]

    @property
    def completes(self) -> bool:
        """Whether there are matches at all."""
        return NOWHERE not in self.pattern.steps


STOCKS = ("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO", "YHOO", "DELL", "ORCL", "MSFT")


LENGTHS = (3, 6, 9, 12, 24)


def sequence(length: int) -> tuple[Step, ...]:
    """The steps of the CORE paper: SELL, BUY, BUY, SELL, …, each of a stock of its own as far as there are names."""
    return tuple(Step(f"T{i + 1}", "SELL" if i % 3 == 0 else "BUY", STOCKS[i % len(STOCKS)]) for i in range(length))


NOWHERE = Step("NE", "BUY", "NotExists")
"""The last step of a pattern that never completes: what is left is the cost of partial matches."""


def one(
    name: str, family: str, title: str, pattern: Pattern, stream: str = "stocks", events: int | None = None
) -> Workload:
    return Workload(name, family, title, stream, (pattern,), events)


def correlated(window: int) -> Pattern:
    r, s, t = Step("r", "R"), Step("s", "S", equal=("x", "r", "x")), Step("t", "T", equal=("y", "s", "y"))
    return Pattern((r, s, t), window)


def keyed(window: int) -> Pattern:
    return Pattern((Step("a", "A"), Step("b", "B"), Step("c", "C")), window, key="key")


def rules(number: int) -> tuple[Pattern, ...]:
    """Each about one stock, of which there are enough."""
    names = (f"N{i:03d}" for i in range(number))
    return tuple(
        Pattern((Step("a", "SELL", n, volume=2500), Step("b", "BUY", n, volume=2500)), 300_000, key="name")
        for n in names
    )


def _all() -> tuple[Workload, ...]:
    first, second, third = sequence(3)
    half_minute = 30_000
    found = [
        one(f"sequence-{n}", "sequence", f"{n} events in sequence, all matches", Pattern(sequence(n), half_minute))
        for n in LENGTHS
    ]
    found += [
        one(
            f"first-{n}",
            "first match",
            f"{n} events, the next one for each step",
            Pattern(sequence(n), half_minute, "first"),
        )
        for n in LENGTHS
    ]
    found += [
        one(
            f"consume-{n}", "consumption", f"{n} events, then start again", Pattern(sequence(n), half_minute, "consume")
        )
        for n in LENGTHS
    ]
    found += [
        one(
            f"window-{w}",
            "window",
            f"3 events and one that never comes, window of {w:,} s",
            Pattern((*sequence(3), NOWHERE), w * 1000),
        )
        for w in (1, 10, 100, 1000)
    ]
    found += [
        one(
            "iteration",
            "iteration",
            "one or more events between two",
            Pattern((first, replace(second, most=None), third), 10_000),
        ),
        one(
            "times-2-3",
            "quantifier",
            "two or three events between two",
            Pattern((first, replace(second, least=2, most=3), third), 10_000),
        ),
        one(
            "strict-3",
            "strategy",
            "3 events without others in between",
            Pattern((Step("a", "SELL", volume=2500), Step("b", "BUY"), Step("c", "BUY")), half_minute, "strict"),
        ),
        one("last-3", "strategy", "3 events, LAST", Pattern(sequence(3), half_minute, "last")),
        one(
            "max",
            "strategy",
            "as many events as possible between two, MAX",
            Pattern((first, replace(second, most=None), third), 10_000, "max"),
        ),
        one(
            "absence-between",
            "absence",
            "two events, and not another one between them",
            Pattern((first, replace(second, absent=True), third), half_minute),
        ),
        one(
            "absence-after",
            "absence",
            "an event, and not another one for 5 s",
            Pattern((first, replace(third, absent=True)), 5_000, wait=5_000),
        ),
        one("correlated-500", "correlation", "r(x), s(x, y), t(y) within 0.5 s", correlated(500), "correlated"),
        one("correlated-5000", "correlation", "r(x), s(x, y), t(y) within 5 s", correlated(5000), "correlated"),
        one("keys-1", "keys", "3 events of one key", keyed(2_000), "keys-1"),
        one("keys-1000", "keys", "3 events of each of 1,000 keys", keyed(20_000), "keys-1000"),
        one("keys-1000000", "keys", "3 events of each of 1,000,000 keys", keyed(20_000_000), "keys-1000000", 2_000_000),
    ]
    found += [
        Workload(f"rules-{n}", "rules", f"{n} rules" if n > 1 else "1 rule", "stocks", rules(n)) for n in (1, 10, 100)
    ]
    return tuple(found)


WORKLOADS = _all()
