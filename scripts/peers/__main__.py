"""Measures spark-cer beside other engines: `make bench-peers`, `make bench-smoke`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import signal
import sys
from pathlib import Path

import bars
import draw
import engines
import machine
import prepare
import processes
import smoke
from measure import Options, measure, told
from statements import Statement
from workloads import WORKLOADS

RESULTS = processes.ROOT / "docs" / "peers.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["measure", "smoke", "statements", "draw"])
    parser.add_argument("--events", type=int, default=500_000, help="events that an engine alone reads")
    parser.add_argument("--large", type=int, default=2_000_000, help="events that Spark reads")
    parser.add_argument("--only", default=".*", help="a regular expression of the names of workloads")
    parser.add_argument("--engines", default=".*", help="a regular expression of the names of engines")
    parser.add_argument("--timeout", type=float, default=60, help="seconds after which a pass is cut off")
    parser.add_argument("--warm-up", type=float, default=5, help="seconds")
    parser.add_argument("--rounds", type=int, default=3, help="passes, of which the best counts")
    parser.add_argument("--heap", default="6g", help="the heap of a Java process")
    parser.add_argument("--built", action="store_true", help="the Java engines are there and compiled already")
    parser.add_argument("--write", type=Path, help="where the results go")
    asked = parser.parse_args()
    # A part of the workloads does not replace the results of all of them.
    whole_run = (asked.only, asked.engines) == (".*", ".*")
    path = asked.write or (RESULTS if whole_run or asked.command == "draw" else processes.FILES / "peers.json")
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
    options = Options(asked.events, asked.large, asked.warm_up, asked.rounds, asked.timeout, True, asked.heap)
    results: list[processes.Result] = []
    try:
        for result in measure(workloads, chosen, options):
            print(told(result), flush=True)
            results.append(result)
    finally:  # what is there is kept, also of a run that was interrupted
        whole = {"machine": machine.description(), "options": dataclasses.asdict(options), "results": results}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    print("\n".join(bars.lines(results)))
    print(f"The results are in {path}.")
    if path == RESULTS:
        draw.draw(path)
    return 0


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
