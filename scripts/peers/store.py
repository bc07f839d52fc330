"""The results: for each workload those of all engines in one run, with where and when that was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from processes import Result
from workloads import WORKLOADS

Whole = dict[str, dict[str, Any]]
"""By the name of a workload: its `machine`, its `options` and its `results`."""


def read(path: Path) -> Whole:
    whole: Whole = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return whole


def merge(path: Path, workload: str, entry: dict[str, Any]) -> None:
    """Replaces what is known of a workload."""
    whole = {**read(path), workload: entry}
    ordered = {w.name: whole[w.name] for w in WORKLOADS if w.name in whole}
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, ordered)


def write(path: Path, whole: Whole) -> None:
    """The file is whole at every moment: it is written under another name."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    os.replace(unfinished, path)


def flat(whole: Whole) -> list[Result]:
    return [r for entry in whole.values() for r in entry["results"]]
