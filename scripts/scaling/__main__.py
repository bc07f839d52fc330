"""Measures how cost grows, and whether it is the same on more executors: `make scaling`.

The results are in docs/scaling.json, and `make chart` draws docs/scaling.md and its charts from them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))

import curves
import machine
import page
import papers
import prepare
import processes
import store

RESULTS = processes.ROOT / "docs" / "scaling.json"
EVENTS = processes.FILES / "scaling-events"
PROGRAM = Path(__file__).resolve().parent / "on_spark.py"
EACH = 20
MASTERS = ("local[1]", "local[2]", *(f"local-cluster[{n},1,1024]" for n in (1, 2, 4)))
ON_SPARK = (*((f"spark-{m}", m, EACH) for m in MASTERS), ("spark-half", "local[2]", EACH // 2))
"""Sections: their names, the master, and the events of each key in a window; half of them tells an event from a key."""
LIMIT = 300
"""Seconds that a Spark may take."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["measure", "draw"])
    parser.add_argument("--only", default=".*", help="a regular expression of the names of sections")
    parser.add_argument("--built", action="store_true", help="everything is compiled already")
    asked = parser.parse_args()
    if asked.command == "measure":
        prepare.prepare([], built=asked.built)
        for curve in curves.curves():
            if re.fullmatch(asked.only, curve.name):
                keep(curve.name, told(curves.measured(curve)))
        for name, master, each in ON_SPARK:
            if re.fullmatch(asked.only, name):
                keep(name, told([on_spark(master, each)]))
        if re.fullmatch(asked.only, "views"):
            keep("views", told(papers.views()))
    page.draw(store.read(RESULTS), store.read(processes.ROOT / "docs" / "peers.json"), processes.ROOT / "docs")
    return 0


def told(results: Any) -> list[dict[str, Any]]:
    found = []
    for result in results:
        print(json.dumps(result), flush=True)
        if "error" in result:
            raise processes.RunError(f"It failed: {result['error']}")
        found.append(result)
    return found


def on_spark(master: str, each: int) -> dict[str, Any]:
    command = [str(processes.ROOT / "scripts" / "env"), str(processes.ROOT / ".venv" / "bin" / "python"), str(PROGRAM)]
    out, errors, late = processes.run([*command, master, str(EVENTS), str(each)], LIMIT)
    lines = [line for line in out.splitlines() if line.startswith('{"master"')]
    if late or not lines:
        why = f"it was not through after {LIMIT} s" if late else errors.strip()[-2000:]
        raise processes.RunError(f"{master} failed: {why}")
    found: dict[str, Any] = json.loads(lines[0])
    return found


def keep(section: str, results: list[dict[str, Any]]) -> None:
    """Replaces what is known of a section."""
    store.write(RESULTS, {**store.read(RESULTS), section: {"machine": machine.description(), "results": results}})


if __name__ == "__main__":
    try:
        sys.exit(main())
    except processes.RunError as failed:
        print(failed, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
