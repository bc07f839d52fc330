"""Matches into tables, each of them once: Delta and Iceberg, and PostgreSQL where it is installed."""

from __future__ import annotations

import os
import pwd
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import spark_cer
from integration import stream_job
from integration.streams import LONG, ROOT, START
from tests.connect_server import free_port

LAKES = ROOT / ".tools" / "spark-4.0.5"


@pytest.mark.skipif(not LONG, reason="takes a minute: make test-long")
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_delta_and_iceberg(tmp_path: Path, kind: str) -> None:
    """250 events, of which 50 come twice, for two rules: 500 rows."""
    assert LAKES.is_dir(), "`make test-long` fetches this Spark, and `make .tools/spark-4.0.5` alone"
    done = subprocess.run(
        [sys.executable, "-m", "integration.merge_job", str(tmp_path), kind],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": f"{LAKES}:{ROOT / 'python'}:{ROOT}",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout.splitlines() == ["delta 500 500", "iceberg 500 500"]


def postgres() -> Path | None:
    """Where its programs are: on the path, or where Debian has them."""
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return places[-1] if places else None


@pytest.fixture
def database() -> Iterator[dict[str, str]]:
    """A new server of PostgreSQL, with a table for matches."""
    programs = postgres()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    folder, port = Path("/tmp") / f"spark-cer-postgres-{os.getpid()}", free_port()
    folder.mkdir(mode=0o700)
    user: str | None = None
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = "postgres"
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)

    def run(*command: str) -> None:
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    try:
        run(str(programs / "initdb"), "-A", "trust", "-U", "cer", "-D", f"{folder}/data")
        options = f"-F -c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        run(str(programs / "pg_ctl"), "-w", "-D", f"{folder}/data", "-l", f"{folder}/log", "-o", options, "start")
        create = (
            "CREATE TABLE alerts (match_id TEXT PRIMARY KEY, key TEXT, start TIMESTAMPTZ, ended TIMESTAMPTZ, n INTEGER)"
        )
        run(str(programs / "psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "cer", "-c", create, "postgres")
        yield {
            "url": f"jdbc:postgresql://127.0.0.1:{port}/postgres",
            "user": "cer",
            "driver": "org.postgresql.Driver",
        }
    finally:
        subprocess.run(
            [str(programs / "pg_ctl"), "-D", f"{folder}/data", "-m", "immediate", "stop"],
            user=user,
            cwd="/",
            stdout=subprocess.DEVNULL,
        )
        shutil.rmtree(folder)


def test_postgresql(spark: SparkSession, database: dict[str, str], tmp_path: Path) -> None:
    """A stream whose function fails after it has written, then the rest of it, and all matches once more."""
    rng = random.Random(5)
    rows = [
        (rng.choice("ABBC"), START + timedelta(seconds=i * 0.1), i, f"k{rng.randrange(9)}", rng.randrange(3), "n")
        for i in range(400)
    ]
    events = spark.createDataFrame(rows, stream_job.SCHEMA).coalesce(1)
    for half in ("id < 200", "id >= 200"):
        events.where(half).write.mode("append").parquet(str(tmp_path / "events"))
    batch = flat(stream_job.matches(events))
    right = {tuple(row) for row in batch.collect()}
    assert len(right) > 50

    def stored() -> DataFrame:
        return spark.read.format("jdbc").options(**database, dbtable="alerts").load().select(*batch.columns)

    failed = tmp_path / "failed"

    def write(found: DataFrame, _: int) -> None:
        spark_cer.merge(found, "alerts", jdbc=database)
        if not failed.exists():
            failed.touch()
            raise RuntimeError("killed")

    stream = spark.readStream.schema(stream_job.SCHEMA).option("maxFilesPerTrigger", 1).parquet(f"{tmp_path}/events")
    out = flat(stream_job.matches(stream.withWatermark("ts", "1 second"))).writeStream.foreachBatch(write)
    out = out.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    with pytest.raises(Exception, match="killed"):
        out.start().awaitTermination()
    before = stored().count()
    assert 20 < before < len(right)
    out.start().awaitTermination()
    assert before < stored().count() < len(right)  # the last second waits
    spark_cer.merge(batch, "alerts", jdbc=database)
    assert stored().count() == len(right)
    assert {tuple(row) for row in stored().collect()} == right


def flat(matches: DataFrame) -> DataFrame:
    return matches.selectExpr("match_id", "key", "start", "`end` AS ended", "size(ys) AS n")
