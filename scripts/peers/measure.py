"""Measures workloads: each engine in a process of its own.

The engines alone of a workload run side by side, each on a core of its own that nothing else of it can use; those on
Spark use all cores and run one after the other.
"""

from __future__ import annotations

import hashlib
import os
import queue
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
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
HEAP_EVENTS = 50_000
"""Enough to see the largest state: the longest window of the workloads, 1,000 s, is 10,000 events of the stocks."""
HEAP_SECONDS = 10
"""The state is at its largest as soon as a window is full."""


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


def job(
    workload: Workload, engine: Engine, statement: Statement, options: Options, *, memory: bool = False
) -> dict[str, str]:
    events = size(workload, engine, options)
    return {
        "workload": workload.name,
        "peer": engine.name,
        "file": str(path(workload.stream, events)),
        "events": str(min(events, HEAP_EVENTS) if memory else events),
        "warmUp": str(options.warm_up),
        "rounds": str(options.rounds),
        "timeout": str(min(options.timeout, HEAP_SECONDS) if memory else options.timeout),
        "memory": str(memory).lower(),
        "key": workload.pattern.key or "",
        "statements": str(len(statement.texts)),
        **{f"statement.{i}": text for i, text in enumerate(statement.texts)},
    }


def measured(runs: Iterable[tuple[Engine, Workload]], options: Options) -> list[Result]:
    """The results of one process; the engines are all in the same program. The heap is that of another process."""
    said = [(e, w, s) for e, w in runs if (s := e.say(w)) is not None]
    if not said:
        return []
    seconds = 60 + len(said) * ((options.rounds + 1) * (options.timeout + 20) + options.warm_up + 60)
    found = ran(said[0][0], [job(w, e, s, options) for e, w, s in said], options, seconds)
    heaps: list[Result] = [{} for _ in said]
    if options.memory and said[0][0].project:
        heaps = ran(said[0][0], [job(w, e, s, options, memory=True) for e, w, s in said], options, 60 * len(said))
    return [
        {"heap": None, **r, **of_heap(h), "version": processes.version(e), "differs": s.differs}
        for (e, _, s), r, h in zip(said, found, heaps, strict=True)
    ]


def of_heap(result: Result) -> Result:
    """What looking at the heap adds to a result; if it went wrong, this takes nothing from the others."""
    if "error" in result:
        return {"heap_error": result["error"]}
    return {"heap": result["heap"]} if result else {}


def ran(engine: Engine, jobs: Sequence[dict[str, str]], options: Options, seconds: float) -> list[Result]:
    """The line of each job, or that there is none and why."""
    why = "the process ended"
    with tempfile.TemporaryDirectory(prefix="peers") as folder:
        paths = [Path(folder) / f"{i}.properties" for i in range(len(jobs))]
        for file, said in zip(paths, jobs, strict=True):
            file.write_text(processes.properties(said), encoding="utf-8")
        try:
            out = processes.start(engine, map(str, paths), options.heap, seconds)
        except processes.RunError as error:  # of one engine: the others are measured all the same
            out, why = "", str(error)
    found = {(r["peer"], r["workload"]): r for r in processes.results(out)}
    names = [{"workload": said["workload"], "peer": said["peer"]} for said in jobs]
    return [found.get((n["peer"], n["workload"]), {**n, "error": why}) for n in names]


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
    heap = "" if result["heap"] is None else f", {result['heap'] / 1e6:.2f} MB"
    return f"{name} {rate(result) / 1e6:10.3f} million events/s, {result['matches']:,} matches{heap}{over}"


def measure(workloads: Sequence[Workload], engines: Sequence[Engine], options: Options) -> Iterator[Result]:
    """The results in the order of the engines, each when it is there."""
    write_files(((w.stream, size(w, e, options)) for w in workloads for e in engines if e.say(w)), options.heap)
    for workload in workloads:
        yield from side_by_side(workload, [e for e in engines if not e.on_spark], options)
        for engine in engines:
            if engine.on_spark:
                yield from measured([(engine, workload)], options)


def side_by_side(workload: Workload, engines: Sequence[Engine], options: Options) -> Iterator[Result]:
    """As many at a time as there are cores. An engine, its collector and its compiler share one core, so the time on
    the wall is that of one core for all of them.
    """
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    for core in cores():
        free.put(core)

    def take_a_core() -> None:
        """What a thread starts has the same core."""
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {free.get()})

    pool = ThreadPoolExecutor(len(cores()), initializer=take_a_core)
    all_of = {
        e.name: pool.submit(measured, [(e, workload)], options_of(e, options))
        for e in sorted(engines, key=lambda e: not e.slow)
    }
    try:
        for e in engines:
            yield from all_of[e.name].result()
    finally:
        # After an interruption, nothing may run on, nor what a thread starts after another of its processes has ended.
        pool.shutdown(wait=False, cancel_futures=True)
        while not all(one.done() for one in all_of.values()):
            processes.end_all()
            time.sleep(0.1)


def cores() -> list[int]:
    """Those that this process may use; one where the system cannot hold a process on a core."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def options_of(engine: Engine, options: Options) -> Options:
    """Of the references only the number of matches is asked for."""
    return replace(options, warm_up=0, rounds=1, memory=False) if engine.name.startswith("reference") else options
