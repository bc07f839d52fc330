"""What the programs in Python read and print: the same as `sparkcer.peers` of the Java ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENOUGH = 10
"""Seconds of passes that count, after which there are no more."""
TEXTS = ("x", "y")
"""Columns that look like numbers and are texts."""


@dataclass(frozen=True)
class Job:
    workload: str
    peer: str
    statements: tuple[str, ...]
    file: Path
    events: int
    warm_up: float
    rounds: int
    timeout: float
    key: str

    @staticmethod
    def read(path: str) -> Job:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        p = dict(line.split("=", 1) for line in lines)
        texts = (p[f"statement.{i}"].replace("\\n", "\n") for i in range(int(p["statements"])))
        return Job(
            p["workload"],
            p["peer"],
            tuple(texts),
            Path(p["file"]),
            int(p["events"]),
            float(p["warmUp"]),
            int(p["rounds"]),
            float(p["timeout"]),
            p["key"],
        )


def tell(job: Job, **values: Any) -> None:
    print(json.dumps({"workload": job.workload, "peer": job.peer, "events": job.events, **values}), flush=True)


def fail(job: Job, error: BaseException) -> None:
    print(json.dumps({"workload": job.workload, "peer": job.peer, "error": str(error)[:300]}), flush=True)
