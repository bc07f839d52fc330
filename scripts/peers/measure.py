"""Measures workloads: each engine in a process of its own, all engines of a workload one after the other."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import processes
from engines import Engine
from processes import FILES, Result
from statements import Statement
from workloads import Workload


@dataclass(frozen=True)
class Options:
    events: int
    """Events that an engine alone reads."""
    large: int
    """Events that Spark reads."""
    warm_up: float
    rounds: int
    timeout: float
    memory: bool
    heap: str


FULL = 500_000


def size(workload: Workload, engine: Engine, options: Options) -> int:
    events = options.large if engine.large else options.events
    # A workload that needs more events for its keys has them, unless this is a run on few events.
    return max(events, workload.events or 0) if events >= FULL else events


def write_files(pairs: Iterable[tuple[str, int]], heap: str) -> None:
    """The events of streams, unless they are there."""
    missing = [(stream, n) for stream, n in sorted(set(pairs)) if not path(stream, n).exists()]
    if missing:
        arguments = [str(folder()), *(str(word) for pair in missing for word in pair)]
        processes.java("benchmarks", "sparkcer.benchmarks.peers.EventFiles", arguments, heap, 900)
    for stream, n in missing:
        if not path(stream, n).exists():
            raise processes.RunError(f"The events of the stream {stream} could not be written to {folder()}.")


GENERATORS = ("Streams.scala", "Events.scala", "peers/EventFiles.scala")


def folder() -> Path:
    """One for each version of the generators, so that no older events are measured."""
    sources = processes.ROOT / "jvm" / "benchmarks" / "src" / "main" / "scala" / "sparkcer" / "benchmarks"
    text = b"".join((sources / name).read_bytes() for name in GENERATORS)
    return FILES / hashlib.sha256(text).hexdigest()[:12]


def path(stream: str, events: int) -> Path:
    return folder() / f"{stream}-{events}.csv"


def job(workload: Workload, engine: Engine, statement: Statement, options: Options) -> dict[str, str]:
    events = size(workload, engine, options)
    return {
        "workload": workload.name,
        "peer": engine.name,
        "file": str(path(workload.stream, events)),
        "events": str(events),
        "warmUp": str(options.warm_up),
        "rounds": str(options.rounds),
        "timeout": str(options.timeout),
        "memory": str(options.memory).lower(),
        "key": workload.pattern.key or "",
        "statements": str(len(statement.texts)),
        **{f"statement.{i}": text for i, text in enumerate(statement.texts)},
    }


def measured(runs: Iterable[tuple[Engine, Workload]], options: Options) -> list[Result]:
    """The results of one process; the engines are all in the same program."""
    said = [(e, w, s) for e, w in runs if (s := e.say(w)) is not None]
    if not said:
        return []
    why = "the process ended"
    with tempfile.TemporaryDirectory(prefix="peers") as jobs:
        paths = []
        for e, w, s in said:
            file = Path(jobs) / f"{e.name}-{w.name}.properties"
            file.write_text(processes.properties(job(w, e, s, options)), encoding="utf-8")
            paths.append(str(file))
        seconds = 60 + len(said) * ((options.rounds + 1) * (options.timeout + 20) + options.warm_up + 60)
        try:
            out = processes.start(said[0][0], paths, options.heap, seconds)
        except processes.RunError as error:  # of one engine: the others are measured all the same
            out, why = "", str(error)
    found = {(r["peer"], r["workload"]): r for r in processes.results(out)}
    results = []
    for e, w, s in said:
        result = found.get((e.name, w.name), {"workload": w.name, "peer": e.name, "error": why})
        results.append({**result, "version": processes.version(e), "differs": s.differs})
    return results


def rate(result: Result) -> float:
    """Events in a second."""
    return float((result["read"] or 0) / result["seconds"])


def told(result: Result) -> str:
    name = f"{result['workload']:<16} {result['peer']:<18}"
    if "error" in result:
        return f"{name} failed: {result['error']}"
    if result["read"] is None:
        return f"{name} not through after {result['seconds']:.0f} s"
    over = f", cut off after {result['read']:,} events" if result["timed_out"] else ""
    heap = "" if result["heap"] is None else f", {result['heap'] / 1e6:.1f} MB"
    return f"{name} {rate(result) / 1e6:10.3f} million events/s, {result['matches']:,} matches{heap}{over}"


def measure(workloads: Sequence[Workload], engines: Sequence[Engine], options: Options) -> Iterator[Result]:
    """Each result when it is there."""
    write_files(((w.stream, size(w, e, options)) for w in workloads for e in engines if e.say(w)), options.heap)
    for workload in workloads:
        for engine in engines:
            yield from measured([(engine, workload)], options)
