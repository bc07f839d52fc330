"""Measures spark-cer beside other engines: `make bench-peers`, `make bench-smoke`."""

from __future__ import annotations

import argparse
import dataclasses
import re
import signal
import sys
from pathlib import Path

import bars
import counts
import draw
import engines
import machine
import prepare
import processes
import smoke
import store
from measure import Options, measure, told
from statements import Statement
from workloads import WORKLOADS

STANDARD = Options(500_000, 2_000_000, warm_up=5, rounds=3, timeout=60, memory=True, heap="6g")
"""As the results in docs are measured."""
RESULTS = processes.ROOT / "docs" / "peers.json"


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["measure", "smoke", "statements", "draw"])
    parser.add_argument("--events", type=int, default=STANDARD.events, help="events that an engine alone reads")
    parser.add_argument("--large", type=int, default=STANDARD.large, help="events that Spark reads")
    parser.add_argument("--only", default=".*", help="a regular expression of the names of workloads")
    parser.add_argument("--engines", default=".*", help="a regular expression of the names of engines")
    parser.add_argument("--timeout", type=float, default=STANDARD.timeout, help="seconds after which a pass is cut off")
    parser.add_argument("--warm-up", type=float, default=STANDARD.warm_up, help="seconds")
    parser.add_argument("--rounds", type=int, default=STANDARD.rounds, help="passes, of which the best counts")
    parser.add_argument("--heap", default=STANDARD.heap, help="the heap of a Java process")
    parser.add_argument("--built", action="store_true", help="the Java engines are there and compiled already")
    parser.add_argument("--write", type=Path, help="where the results go")
    return parser.parse_args(arguments)


def options(asked: argparse.Namespace) -> Options:
    return Options(asked.events, asked.large, asked.warm_up, asked.rounds, asked.timeout, True, asked.heap)


def destination(asked: argparse.Namespace) -> Path:
    """Workloads can be measured one by one, but in docs each is with all engines, and not otherwise than the others."""
    whole = asked.engines == ".*" and options(asked) == STANDARD
    return asked.write or (RESULTS if whole or asked.command == "draw" else processes.FILES / "peers.json")


def main() -> int:
    asked = parsed(sys.argv[1:])
    path = destination(asked)
    workloads = [w for w in WORKLOADS if re.fullmatch(asked.only, w.name)]
    chosen = [e for e in engines.ENGINES if re.fullmatch(asked.engines, e.name)]
    if asked.command == "draw":
        draw.draw(path)
        return 0
    if asked.command == "statements":
        for workload in workloads:
            for engine in chosen:
                print(f"{workload.name}, {engine.title}: {said(engine.say(workload))}")
        return 0
    if asked.command == "smoke":
        chosen = [e for e in chosen if e.free]
    prepare.prepare(chosen, built=asked.built)
    if asked.command == "smoke":
        return smoke.run(workloads, chosen)
    wrong: list[str] = []
    for workload in workloads:
        where = machine.description()
        results: list[processes.Result] = []
        for result in measure([workload], chosen, options(asked)):
            print(told(result), flush=True)
            results.append(result)
        # Only what is whole is kept: a run that is interrupted here leaves the results of before.
        entry = {"machine": where, "options": dataclasses.asdict(options(asked)), "results": results}
        store.merge(path, workload.name, entry)
        print("\n".join(bars.lines(results)), flush=True)
        wrong += [line for r in results if (line := counts.complaint(r, results))]
    print(f"The results are in {path}.")
    if path == RESULTS:
        draw.draw(path)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def said(statement: Statement | None) -> str:
    if statement is None:
        return "cannot be said"
    texts = "\n  ".join(statement.texts[:2]) + ("\n  …" if len(statement.texts) > 2 else "")
    return texts + (f"\n  ({statement.differs})" if statement.differs else "")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also if it was started in the background
    try:
        sys.exit(main())
    except processes.RunError as failed:
        print(failed, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
