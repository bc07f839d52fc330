"""The figures that predict a cluster, from the runs on Spark: what an event costs wherever it is read, what a key and
an event keep, and whether these stay the same on more executors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tables

NOTHING = "Not measured yet."
BASE = "spark-local[2]"
HALF = "spark-half"
STEADY = {"shuffle": 0.02, "changelog": 0.1, "state": 0.02, "tasks": 0.0}
"""How far a figure for an event may be from that on `local[2]`, as a part of it."""
EXAMPLE = {"rate": 100_000, "keys": 10_000_000, "each": 20, "interval": 10, "cores": 0.7}
"""A stream to size: events a second, keys, events of each in a window, seconds between micro-batches, and how much of
its cores it may use."""


@dataclass(frozen=True)
class Costs:
    """For an event, unless said otherwise."""

    cpu_batch: float
    cpu_stream: float
    shuffle_batch: float
    shuffle_stream: float
    changelog: float
    key: float
    """Bytes of state of a key that has no event in the window."""
    kept: float
    """Bytes of state of an event in the window."""


def per_event(run: dict[str, Any]) -> dict[str, float]:
    events, batch, stream = run["events"], run["batch"], run["stream"]
    return {
        "cpu_batch": batch["cpu"] / events,
        "cpu_stream": stream["cpu"] / events,
        "shuffle_batch": batch["shuffled"] / events,
        "shuffle": stream["shuffled"] / events,
        "changelog": stream["written"] / (events / stream["batches"]),
        "state": stream["bytes"] / stream["keys"],
        "tasks": stream["tasks"] / stream["batches"],
    }


def costs(full: dict[str, Any], half: dict[str, Any]) -> Costs:
    """Two windows tell what a key takes from what an event in the window takes."""
    one, two = per_event(full), per_event(half)
    kept = (one["state"] - two["state"]) / (full["each"] - half["each"])
    return Costs(
        one["cpu_batch"],
        one["cpu_stream"],
        one["shuffle_batch"],
        one["shuffle"],
        one["changelog"],
        one["state"] - kept * full["each"],
        kept,
    )


def runs(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: section["results"][0] for name, section in whole.items() if name.startswith("spark-")}


def parts(whole: dict[str, Any]) -> dict[str, str]:
    found = runs(whole)
    known = BASE in found and HALF in found
    return {
        "cluster": cluster({n: r for n, r in found.items() if n != HALF}) if found else NOTHING,
        "steady": steady(found) if BASE in found else NOTHING,
        "costs": of_costs(costs(found[BASE], found[HALF])) if known else NOTHING,
        "example": example(costs(found[BASE], found[HALF]), found[BASE]) if known else NOTHING,
    }


def cluster(found: dict[str, dict[str, Any]]) -> str:
    rows = []
    for run in found.values():
        p, batch, stream = per_event(run), run["batch"], run["stream"]
        rows.append(
            [
                f"`{run['master']}`",
                f"{stream['executors']}",
                f"{run['events'] / batch['seconds'] / 1e6:.2f}",
                f"{p['cpu_batch'] * 1e6:.2f}",
                f"{p['shuffle_batch']:.1f}",
                f"{run['events'] / stream['batches'] / stream['seconds'] / 1e6:.2f}",
                f"{p['cpu_stream'] * 1e6:.2f}",
                f"{p['shuffle']:.1f}",
                f"{p['changelog']:.1f}",
                f"{p['state']:,.0f}",
                f"{p['tasks']:.0f}",
                f"{run['matches']:,}",
            ]
        )
    header = ["master", "executors", "batch: million events/s", "CPU µs an event", "shuffle bytes an event"]
    header += ["stream: million events/s", "CPU µs an event", "shuffle bytes an event", "changelog bytes an event"]
    return tables.table([*header, "state bytes a key", "tasks a micro-batch", "matches"], rows)


def steady(found: dict[str, dict[str, Any]]) -> str:
    """Whether what must stay the same for an event does, each with the figure that decides."""
    base = per_event(found[BASE])
    others = [r for n, r in found.items() if n not in (BASE, HALF)]
    if not others:
        return NOTHING
    lines = []
    for figure, bar in STEADY.items():
        off = max((abs(per_event(r)[figure] / base[figure] - 1), r["master"]) for r in others)
        verdict = "PASS" if off[0] <= bar else "MISSED"
        lines.append(f"{verdict}  {figure}, farthest from local[2] on {off[1]}: {off[0]:.1%} (at most {bar:.0%})")
    same = sorted({r["matches"] for n, r in found.items() if n != HALF})
    lines.append(f"{'PASS' if len(same) == 1 else 'MISSED'}  matches, the same on all: {', '.join(map(str, same))}")
    cpu = [per_event(r)["cpu_stream"] / base["cpu_stream"] for r in others]
    # No bar: the executors share two cores.
    lines.append(f"        CPU time of a stream: {min(cpu):.2f} to {max(cpu):.2f} times that on local[2]")
    return "```plain\n" + "\n".join(lines) + "\n```"


def of_costs(c: Costs) -> str:
    rows = [
        ["CPU of an event, batch", f"{c.cpu_batch * 1e6:.2f} µs"],
        ["CPU of an event, stream", f"{c.cpu_stream * 1e6:.2f} µs"],
        ["shuffle of an event, batch", f"{c.shuffle_batch:.1f} bytes"],
        ["shuffle of an event, stream", f"{c.shuffle_stream:.1f} bytes"],
        ["changelog of an event", f"{c.changelog:.1f} bytes"],
        ["state of a key", f"{c.key:,.0f} bytes"],
        ["state of an event in the window", f"{c.kept:,.0f} bytes"],
    ]
    return tables.table(["what", "measured"], rows)


def example(c: Costs, run: dict[str, Any]) -> str:
    """A stream that this machine cannot carry, sized by these figures."""
    e = EXAMPLE
    state = e["keys"] * (c.key + e["each"] * c.kept)
    rows = [
        ["cores", f"rate × CPU / {e['cores']:g}", f"{e['rate'] * c.cpu_stream / e['cores']:,.1f}"],
        ["shuffle, MB/s", "rate × bytes", f"{e['rate'] * c.shuffle_stream / 1e6:,.1f}"],
        ["checkpoint, MB/s", "rate × bytes", f"{e['rate'] * c.changelog / 1e6:,.1f}"],
        ["state, GB", "keys × (key + events × event)", f"{state / 1e9:,.1f}"],
        ["events of a micro-batch", "rate × interval", f"{e['rate'] * e['interval']:,.0f}"],
        ["tasks of a micro-batch", "input partitions + shuffle partitions", f"{per_event(run)['tasks']:.0f} here"],
    ]
    said = (
        f"For example, {e['rate']:,} events a second of {e['keys']:,} keys, {e['each']} events of each in a window, a "
        f"micro-batch every {e['interval']} s, and cores that are busy {e['cores']:.0%} of the time:"
    )
    return f"{said}\n\n{tables.table(['what', 'by', 'needs'], rows)}"
