"""The pages about scaling and about the papers show what `make scaling` wrote to docs/scaling.json, and nothing else.
The model that predicts a cluster is tested on small results written here."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scaling(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    folders = [str(ROOT / "scripts" / name) for name in ("scaling", "peers")]
    monkeypatch.setattr(sys, "path", [*folders, *sys.path])
    return {name: importlib.import_module(name) for name in ("curves", "model", "page", "papers", "on_spark", "store")}


MACHINE = {"date": "2026-01-02", "processor": "P", "cores": "2", "memory": "1 GiB", "java": "17", "commit": "abc"}


def run(master: str, each: int = 20, shuffled: int = 32_000, kept: int = 60_000) -> dict[str, Any]:
    batch = {"tasks": 10, "executors": 1, "cpu": 0.002, "shuffled": 30_000, "shuffled_rows": 1000, "seconds": 0.5}
    stream = {"tasks": 40, "executors": 1, "cpu": 0.004, "shuffled": shuffled, "shuffled_rows": 1000, "batches": 4}
    more = {"seconds": 0.25, "keys": 10, "bytes": kept, "written": 5_000.0}
    usual = {"master": master, "events": 1000, "keys": 10, "each": each, "partitions": 8, "matches": 7}
    return {**usual, "batch": batch, "stream": {**stream, **more}}


def section(*results: dict[str, Any]) -> dict[str, Any]:
    return {"machine": MACHINE, "results": list(results)}


def test_the_pages_show_what_was_measured(scaling: dict[str, ModuleType]) -> None:
    tables = importlib.import_module("tables")
    kept, peers = (scaling["store"].read(ROOT / "docs" / name) for name in ("scaling.json", "peers.json"))
    for name, parts in scaling["page"].pages(kept, peers).items():
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert tables.filled(page, parts) == page


def test_two_windows_tell_a_key_from_an_event(scaling: dict[str, ModuleType]) -> None:
    """10 keys with 6,000 bytes each for 20 events, and 4,000 for 10: 200 for an event, 2,000 for the key."""
    costs = scaling["model"].costs(run("local[2]"), run("local[2]", each=10, kept=40_000))
    assert (costs.kept, costs.key) == (200, 2000)
    assert (costs.cpu_batch, costs.cpu_stream) == (2e-6, 4e-6)
    assert (costs.shuffle_batch, costs.shuffle_stream, costs.changelog) == (30, 32, 20)


def test_what_does_not_stay_the_same_is_missed(scaling: dict[str, ModuleType]) -> None:
    steady = scaling["model"].steady
    runs = {"spark-local[2]": run("local[2]"), "spark-a": run("a"), "spark-b": run("b", shuffled=40_000)}
    lines = steady(runs).splitlines()
    assert steady({"spark-local[2]": run("local[2]"), "spark-half": run("local[2]", each=10)}) == "Not measured yet."
    assert lines[1] == "MISSED  shuffle, farthest from local[2] on b: 25.0% (at most 2%)"
    assert lines[2].startswith("PASS  changelog")
    assert steady({**runs, "spark-c": {**run("c"), "matches": 8}}).splitlines()[5] == (
        "MISSED  matches, the same on all: 7, 8"
    )


def test_a_stream_is_sized(scaling: dict[str, ModuleType]) -> None:
    whole = {
        "spark-local[2]": section(run("local[2]")),
        "spark-half": section(run("local[2]", each=10, kept=40_000)),
    }
    parts = scaling["page"].parts(whole)
    assert "| cores | rate × CPU / 0.7 | 0.6 |" in parts["example"]
    assert "| state, GB | keys × (key + events × event) | 60.0 |" in parts["example"]
    assert parts["keys"] == "Not measured yet."


def test_curves_show_their_points(scaling: dict[str, ModuleType], tmp_path: Path) -> None:
    points = [
        {
            "curve": "window",
            "at": at,
            "read": 1000,
            "seconds": 0.0001,
            "matches": 0,
            "heap": 2_000_000,
            "timed_out": False,
        }
        for at in (1, 1000)
    ]
    whole = {"window": section(*points)}
    assert "| 1,000 | 100 | 0.00 | 2.0 |" in scaling["page"].parts(whole)["window"]
    for name in ("scaling.md", "papers.md"):
        (tmp_path / name).write_text((ROOT / "docs" / name).read_text(encoding="utf-8"), encoding="utf-8")
    scaling["page"].draw(whole, {}, tmp_path)
    assert [p.name for p in tmp_path.glob("*.svg")] == ["scaling-window.svg"]
    assert "10 to 10 million events/s, windows of 1 to 1,000 s" in (tmp_path / "papers.md").read_text(encoding="utf-8")


def test_bytes_and_tasks_come_from_the_files_of_spark(scaling: dict[str, ModuleType], tmp_path: Path) -> None:
    def task(stage: int, shuffled: int) -> dict[str, Any]:
        written = {"Shuffle Bytes Written": shuffled, "Shuffle Records Written": 2}
        metrics = {"Executor CPU Time": 1_000_000_000, "Shuffle Write Metrics": written}
        return {
            "Event": "SparkListenerTaskEnd",
            "Stage ID": stage,
            "Task Info": {"Executor ID": str(stage)},
            "Task Metrics": metrics,
        }

    logs = tmp_path / "logs"
    logs.mkdir()
    jobs = [
        {"Event": "SparkListenerJobStart", "Stage IDs": [n], "Properties": {"spark.jobGroup.id": group}}
        for n, group in ((1, "warm"), (2, "asked"))
    ]
    events = [jobs[0], task(1, 500), jobs[1], task(2, 100), task(2, 50)]
    (logs / "log").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    wanted = scaling["on_spark"].tasks(logs, lambda p: p.get("spark.jobGroup.id") == "asked")
    assert scaling["on_spark"].sums(wanted) == {
        "tasks": 2,
        "executors": 1,
        "cpu": 2.0,
        "shuffled": 150,
        "shuffled_rows": 4,
    }
    for partition, version, size in ((0, "1", 10), (1, "1_abc", 5), (0, "2", 7)):
        file = tmp_path / "state" / "0" / str(partition) / f"{version}.changelog"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    assert scaling["on_spark"].changelogs(tmp_path) == [15, 7]
