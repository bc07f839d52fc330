"""The page about other engines shows what `make bench-peers` wrote to docs/peers.json, and nothing else: `make chart`
draws it again. How results are kept, compared and shown is tested on small results written here."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spark_cer._jar import jar
from tests.connect_server import environment

ROOT = Path(__file__).parents[2]
NAMES = ("bars", "counts", "draw", "measure", "processes", "smoke", "store", "tables", "workloads")


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts" / "peers"), *sys.path])
    return {name: importlib.import_module(name) for name in NAMES}


def result(peer: str, workload: str = "sequence-3", **values: Any) -> dict[str, Any]:
    usual = {"workload": workload, "peer": peer, "events": 1000, "read": 1000, "seconds": 0.001, "cpu": 0.002}
    found = {"matches": 7, "timed_out": False, "heap": 1000, "version": "1", "differs": None}
    return {**usual, **found, **values}


def failed(peer: str, workload: str = "sequence-3") -> dict[str, Any]:
    return {"workload": workload, "peer": peer, "error": "it broke", "version": "1", "differs": None}


def entry(*results: dict[str, Any]) -> dict[str, Any]:
    machine = {"date": "2026-01-02", "processor": "P", "cores": "2", "memory": "1 GiB"}
    versions = {"system": "Linux", "java": "17", "python": "3.11", "commit": "abc"}
    options = {"events": 1000, "large": 1000, "warm_up": 5, "rounds": 3, "timeout": 60, "memory": True, "heap": "6g"}
    return {"machine": {**machine, **versions}, "options": options, "results": list(results)}


def whole() -> dict[str, Any]:
    """A peer of each kind: one that is exact, one with other matches, one cut off, one not through, one that failed."""
    three = entry(
        result("spark-cer", seconds=0.0001),
        result("reference"),
        result("esper", seconds=0.002),
        failed("esper-rows"),
        result("siddhi", matches=6, differs="finds fewer"),
        result("flink-cep", read=100, seconds=60.0, timed_out=True, matches=1),
        result("duckdb", read=None, seconds=60.0, timed_out=True, matches=0, heap=None),
        result("reference-large"),
        result("spark-cer-batch-2", seconds=0.0005),
        result("spark-cer-stream", read=750, latency=0.25, slowest=0.5, state=2_000_000),
    )
    six = entry(
        failed("spark-cer", "sequence-6"), result("reference", "sequence-6"), result("esper", "sequence-6", matches=8)
    )
    return {"sequence-3": three, "sequence-6": six}


def test_the_pages_show_what_was_measured(peers: dict[str, ModuleType]) -> None:
    kept = peers["store"].read(ROOT / "docs" / "peers.json")
    for name, parts in peers["tables"].pages(kept).items():
        page = (ROOT / name).read_text(encoding="utf-8")
        assert peers["tables"].filled(page, parts) == page


def test_a_workload_replaces_its_own_results_only(peers: dict[str, ModuleType], tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    first, other = entry(result("spark-cer")), entry(result("spark-cer", "sequence-6"))
    peers["store"].merge(path, "sequence-6", other)
    peers["store"].merge(path, "sequence-3", entry())
    peers["store"].merge(path, "sequence-3", first)
    assert peers["store"].read(path) == {"sequence-3": first, "sequence-6": other}
    assert list(json.loads(path.read_text())) == ["sequence-3", "sequence-6"]
    assert [p.name for p in tmp_path.iterdir()] == ["peers.json"]


def test_an_interrupted_run_changes_nothing(
    peers: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two workloads is interrupted: the first is replaced, and of the second the old results stay."""
    command = load_command()
    path = tmp_path / "peers.json"
    old = entry(result("spark-cer", "sequence-6", matches=1))
    peers["store"].merge(path, "sequence-6", old)
    new = result("spark-cer", matches=2)

    def measure(workloads: Any, *_: Any) -> Any:
        if workloads[0].name == "sequence-6":
            yield result("spark-cer", "sequence-6", matches=3)
            raise KeyboardInterrupt
        yield new

    monkeypatch.setattr(command, "measure", measure)
    monkeypatch.setattr(peers["processes"], "run", lambda *_: ("", "", False))
    monkeypatch.setattr(command.prepare, "prepare", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["peers", "measure", "--only", "sequence-[36]", "--write", str(path)])
    with pytest.raises(KeyboardInterrupt):
        command.main()
    kept = peers["store"].read(path)
    assert kept["sequence-3"]["results"] == [new]
    assert kept["sequence-6"] == old


def test_engines_run_side_by_side_on_a_core_each(peers: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Results come in the order of the engines, though the first is through last, and those that take long begin
    first. The references are run once.
    """
    measure = peers["measure"]
    workload = peers["workloads"].WORKLOADS[0]
    names = ["spark-cer", "reference", "esper", "flink-cep", "duckdb"]
    engines = [e for e in sys.modules["engines"].ENGINES if e.name in names]
    assert [e.name for e in engines] == names
    begun: list[str] = []
    cores: dict[str, set[int]] = {}
    rounds: dict[str, int] = {}

    def measured(runs: Any, options: Any) -> Any:
        ((engine, _),) = runs
        begun.append(engine.name)
        time.sleep(0.5 if engine.name == "spark-cer" else 0.1)
        out, _, _ = peers["processes"].run([sys.executable, "-c", SHOW_CORES], 60)
        cores[engine.name] = set(json.loads(out))
        rounds[engine.name] = options.rounds
        return [result(engine.name)]

    monkeypatch.setattr(measure, "measured", measured)
    mine = os.sched_getaffinity(0)
    two = sorted(mine)[:2]
    monkeypatch.setattr(measure, "cores", lambda: two)
    found = list(measure.side_by_side(workload, engines, load_command().STANDARD))
    assert [r["peer"] for r in found] == [e.name for e in engines]
    assert {len(c) for c in cores.values()} == {1}
    assert set.union(*cores.values()) == set(two)
    assert set(begun[:2]) == {"flink-cep", "duckdb"}
    assert rounds == {"spark-cer": 3, "reference": 1, "esper": 3, "flink-cep": 3, "duckdb": 3}
    assert os.sched_getaffinity(0) == mine


SHOW_CORES = "import json, os; print(json.dumps(sorted(os.sched_getaffinity(0))))"


def test_an_interrupted_run_leaves_no_engine_behind(
    peers: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One engine is through, others would take minutes, and one has not begun."""
    measure = peers["measure"]
    begun: list[str] = []

    def measured(runs: Any, options: Any) -> Any:
        ((engine, _),) = runs
        begun.append(engine.name)
        peers["processes"].run(["sleep", "0" if engine.name == "spark-cer" else "300"], 600)
        return [result(engine.name)]

    monkeypatch.setattr(measure, "measured", measured)
    monkeypatch.setattr(measure, "cores", lambda: sorted(os.sched_getaffinity(0))[:1])
    engines = [e for e in sys.modules["engines"].ENGINES if not e.on_spark and not e.slow]
    results = measure.side_by_side(peers["workloads"].WORKLOADS[0], engines, load_command().STANDARD)
    before = time.monotonic()
    assert next(results)["peer"] == "spark-cer"
    results.close()
    assert time.monotonic() - before < 60
    assert peers["processes"].running == set()
    assert begun[:1] == ["spark-cer"]
    assert len(begun) < len(engines)


def test_a_heap_that_could_not_be_looked_at_takes_nothing_from_the_rate(
    peers: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heap is that of a second process, over fewer events."""
    measure = peers["measure"]
    esper = next(e for e in sys.modules["engines"].ENGINES if e.name == "esper")
    workload = peers["workloads"].WORKLOADS[0]
    options = load_command().STANDARD
    jobs: list[dict[str, str]] = []

    def start(engine: Any, paths: Any, heap: str, seconds: float) -> str:
        lines = Path(*paths).read_text(encoding="utf-8").splitlines()
        said = dict(line.split("=", 1) for line in lines)
        jobs.append(said)
        if said["memory"] == "true":
            raise peers["processes"].RunError("no memory")
        return json.dumps({"workload": workload.name, "peer": "esper", "read": 500_000, "seconds": 1.0})

    monkeypatch.setattr(peers["processes"], "start", start)
    (found,) = measure.measured([(esper, workload)], options)
    assert (found["read"], found["heap"], found["heap_error"]) == (500_000, None, "no memory")
    assert [(j["events"], j["memory"]) for j in jobs] == [("500000", "false"), ("50000", "true")]


def test_a_trial_does_not_go_to_the_docs(peers: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer events, or some engines only, results are not beside those of the others."""
    command = load_command()
    for arguments in (["--events", "5000"], ["--engines", "duckdb"], ["--timeout", "1"]):
        assert command.destination(command.parsed(["measure", *arguments])) == peers["processes"].FILES / "peers.json"
    for arguments in ([], ["--only", "sequence-3"]):
        assert command.destination(command.parsed(["measure", *arguments])) == ROOT / "docs" / "peers.json"


def load_command() -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("peers_command", ROOT / "scripts" / "peers" / "__main__.py")
    assert spec
    assert spec.loader
    command = module_from_spec(spec)
    spec.loader.exec_module(command)
    return command


def test_bars(peers: dict[str, ModuleType]) -> None:
    """What failed, was cut off or has other matches; a figure that is missing is a bar that is missed."""
    assert peers["bars"].lines(peers["store"].flat(whole())) == [
        "PASS  sequence-3, engine against the best exact one, esper, times as fast: 20.00 (at least 10), "
        "and esper-rows failed",
        "PASS  sequence-3, engine against the fastest of all, siddhi, times as fast: 10.00 (at least 1), "
        "and esper-rows failed",
        "PASS  sequence-3, Spark batch, 2 cores, against the fastest alone, siddhi, times as fast: 2.00 (at least 1), "
        "and esper-rows failed",
        "ALONE   sequence-6, engine against the best exact one: there is none",
        "MISSED  sequence-6, engine against the fastest of all: no figure, spark-cer failed: it broke",
        "MISSED  sequence-6, Spark batch, 2 cores, against the fastest alone: no figure, spark-cer was not measured",
    ]


def test_bars_that_are_missed(peers: dict[str, ModuleType]) -> None:
    def lines(workload: str, *results: dict[str, Any]) -> list[str]:
        found: list[str] = peers["bars"].lines([{**r, "workload": workload} for r in results])
        return found

    slow = lines("sequence-3", result("spark-cer"), result("reference"), result("esper", seconds=0.0005))
    assert slow[0].startswith("MISSED  sequence-3, engine against the best exact one, esper, times as fast: 0.50")
    wrong = lines("sequence-3", result("spark-cer", matches=6), result("reference"), result("esper"))
    assert wrong[1].endswith("no figure, spark-cer found 6 of 7 matches")
    unknown = lines("sequence-3", result("spark-cer"), failed("reference"), result("esper"))
    assert unknown[0].endswith("no figure, there is no exact number of matches")
    broken = lines("sequence-3", result("spark-cer"), result("reference"), failed("esper"))
    assert broken[0].endswith("no figure, esper failed")
    heap = lines("window-100", result("spark-cer", heap=200), result("reference"), result("esper"))
    assert heap[-1] == "MISSED  window-100, heap against Esper's: 0.20 (at most 0.1)"
    no_heap = result("esper", heap=None, heap_error="OutOfMemoryError")
    none = lines("window-100", result("spark-cer"), result("reference"), no_heap)
    assert none[-1] == "MISSED  window-100, heap against Esper's: no figure, Esper: OutOfMemoryError"


def test_what_was_counted_decides_who_is_exact(peers: dict[str, ModuleType]) -> None:
    """A statement that may find other matches is exact where it does not; without a match, the statement decides."""
    remark = peers["counts"].remark
    seven, none = result("reference"), result("reference", matches=0)
    may_differ = result("siddhi", differs="finds fewer")
    assert remark(may_differ, [seven]) is None
    assert remark({**may_differ, "matches": 6}, [seven]) == "finds fewer"
    assert remark({**may_differ, "matches": 0}, [none]) == "finds fewer"
    assert remark({**may_differ, "timed_out": True}, [seven]) == "finds fewer"
    assert remark(result("esper", matches=6), [seven]) == peers["counts"].UNKNOWN


def test_complaints_of_the_smoke_test(peers: dict[str, ModuleType]) -> None:
    workloads = {w.name: w for w in peers["workloads"].WORKLOADS}

    def complaints(name: str, *results: dict[str, Any]) -> list[str]:
        found: list[str] = peers["smoke"].complaints([workloads[name]], [{**r, "workload": name} for r in results])
        return found

    assert complaints("sequence-3", result("reference"), result("duckdb")) == []
    assert complaints("sequence-3", result("reference"), result("duckdb", matches=6), failed("flink-cep")) == [
        "sequence-3, duckdb: 6 matches, and 7 by the reference",
        "sequence-3, flink-cep: it broke",
    ]
    assert complaints("sequence-3", result("reference"), result("siddhi", matches=0, differs="finds fewer")) == [
        "sequence-3, siddhi: no matches, and 7 by the reference"
    ]
    assert complaints("sequence-3", result("reference", matches=0)) == [
        "sequence-3: 0 matches, so that counts show nothing"
    ]
    assert complaints("window-10", result("reference", matches=0), result("duckdb", matches=0)) == []


def test_tables(peers: dict[str, ModuleType]) -> None:
    parts = peers["tables"].pages(whole())["docs/peers.md"]
    assert parts["rates"].splitlines()[2] == (
        "| 3 events in sequence, all matches | `sequence-3` | 7 | 10 | 0.5 | failed | 1 [1] | 0.0000017⏱ | < 0.000017⏱ |"
    )
    assert parts["rates"].endswith("\n\n[1] The engine finds fewer.\n\n[2] The engine " + peers["counts"].UNKNOWN + ".")
    assert parts["found"].splitlines()[2] == (
        "| `sequence-3` | 7 | spark-cer, esper, spark-cer-batch-2, spark-cer-stream | siddhi 6 of 7 [1] |"
    )
    assert parts["latencies"].splitlines()[2].endswith("| 0.25 | 0.50 | 2.0 |")
    assert (
        parts["least"]
        == "- `sequence-3`, 3 events in sequence, all matches: 10 times as fast as Siddhi, which finds fewer"
    )
    assert "`window-10`" in parts["conditions"].splitlines()[-1]
    assert parts["conditions"].startswith("- `sequence-3`")
    assert "measured on 2026-01-02, commit abc: P, 2 cores, 1 GiB, Java 17" in parts["conditions"]
    readme = peers["tables"].pages(whole())["README.md"]["short"]
    assert "| 3 events in sequence, all matches | 10 | 0.5 | 1 [1] | 0.0000017⏱ | < 0.000017⏱ |" in readme
    assert "![Throughput against the length of the sequence](docs/peers-length.svg)" in readme
    assert peers["tables"].pages({})["docs/peers.md"]["bars"] == "Not measured yet."


def test_charts_mark_what_failed_or_was_cut_off(peers: dict[str, ModuleType], tmp_path: Path) -> None:
    draw = peers["draw"]
    points = draw.rates(peers["store"].flat(whole()), "sequence", draw.last_number)
    assert [(p["at"], p["engine"], p["kind"]) for p in points if p["kind"] != "all matches"] == [
        (3, "Siddhi", "other matches"),
        (3, "Flink CEP", "cut off"),
        (3, "DuckDB, joins", "not through: at most"),
        (6, "spark-cer, engine alone", "failed"),
        (6, "Esper, patterns", "other matches"),
    ]
    (tmp_path / "docs").mkdir()
    for name in ("docs/peers.md", "README.md"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "docs" / "peers-window.svg").write_text("of another time")
    path = tmp_path / "peers.json"
    path.write_text(json.dumps(whole()))
    draw.draw(path, tmp_path)
    assert sorted(p.name for p in (tmp_path / "docs").glob("*.svg")) == ["peers-length.svg"]
    assert "cut off" in (tmp_path / "docs" / "peers-length.svg").read_text(encoding="utf-8")
    assert "![Throughput against the length of the sequence]" in (tmp_path / "docs" / "peers.md").read_text()


def test_a_workload_that_fails_on_spark_takes_no_other_with_it(peers: dict[str, ModuleType], tmp_path: Path) -> None:
    """One fails in a task, one is refused, one is through; one stream fails, and one is through."""
    events = tmp_path / "events.csv"
    events.write_text("id,type,ts\n" + "".join(f"{i},{'AB'[i % 2]},{i}\n" for i in range(10)), encoding="utf-8")

    def job(name: str, peer: str, statement: str) -> str:
        path = tmp_path / f"{name}.properties"
        usual = {"workload": name, "peer": peer, "file": str(events), "events": "10", "warmUp": "0", "rounds": "1"}
        rest = {"timeout": "60", "memory": "false", "key": "", "statements": "1", "statement.0": statement}
        path.write_text(peers["processes"].properties({**usual, **rest}), encoding="utf-8")
        return str(path)

    pairs = "SELECT * FROM S WHERE A ; B WITHIN 3 [ts]"
    jobs = [
        job("fails", "spark-joins", "SELECT raise_error(type) FROM e"),
        job("refused", "spark-joins", "SELECT nothing FROM e"),
        job("through", "spark-joins", "SELECT * FROM e"),
        job("stream-refused", "spark-cer-stream", "SELECT * FROM"),
        job("stream", "spark-cer-stream", pairs),
        job("batch", "spark-cer-batch-2", pairs),
    ]
    program = [sys.executable, str(ROOT / "scripts" / "peers" / "spark_engine.py"), "spark-joins", *jobs]
    done = subprocess.run(program, capture_output=True, text=True, env=environment())
    found = {r["workload"]: r for r in peers["processes"].results(done.stdout)}
    assert list(found) == ["fails", "refused", "through", "stream-refused", "stream", "batch"], done.stderr
    assert [name for name, r in found.items() if "error" in r] == ["fails", "refused", "stream-refused"]
    assert (found["through"]["matches"], found["through"]["read"]) == (10, 10)
    assert found["stream"]["matches"] == found["batch"]["matches"] == 9
    assert found["stream"]["cpu"] > 0


OURS = ("sparkcer/", "org/apache/spark/sql/cerbridge/")
"""Some classes have to be in a package of Spark."""


def classes(names: list[str]) -> list[str]:
    """Those that are not the product's."""
    measuring = ("sparkcer/peers/", "sparkcer/benchmarks/")
    all_classes = [n for n in names if n.endswith(".class")]
    assert all_classes
    return [n for n in all_classes if n.startswith(measuring) or not n.startswith(OURS)]


def test_the_jar_holds_nothing_of_other_engines() -> None:
    with zipfile.ZipFile(jar()) as file:
        assert classes(file.namelist()) == []


def test_the_wheel_holds_nothing_of_other_engines(peers: dict[str, ModuleType], tmp_path: Path) -> None:
    """Built from all sources, with the jar of this Spark for those of the others too."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    versions = peers["processes"].versions()
    (tmp_path / "dist").mkdir()
    for spark in [versions["spark"], *versions["otherSparks"].split()]:
        shutil.copy(jar(), tmp_path / "dist" / f"spark-cer_{spark.rsplit('.', 1)[0]}_2.13-{versions['version']}.jar")
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheel")]
    subprocess.run(built, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "wheel").iterdir()
    with zipfile.ZipFile(wheel) as file:
        names = [n for n in file.namelist() if "dist-info/" not in n]
        required = next(file.read(n).decode() for n in file.namelist() if n.endswith("METADATA"))
        inside = [n for n in names if n.endswith(".jar")]
        with file.open(inside[0]) as one, zipfile.ZipFile(one) as opened:
            assert classes(opened.namelist()) == []
    assert len(inside) == 4
    assert [n for n in names if not n.startswith("spark_cer/")] == []
    assert [e for e in ("duckdb", "flink", "siddhi", "esper") if f"Requires-Dist: {e}" in required] == []
