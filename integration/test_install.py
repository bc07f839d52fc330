"""The first steps of a user: pip install and the README, or spark-submit with the jar."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def clean_environment() -> dict[str, str]:
    """The environment without this source tree on the path."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_wheel_in_a_fresh_virtualenv_runs_the_readme(tmp_path: Path) -> None:
    subprocess.run(["make", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("spark_cer-*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel), "pyspark"], check=True)
    done = subprocess.run(
        [python, "-c", blocks("python")[0]], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == blocks("text")[0].strip()


def test_spark_submit_with_the_jar(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        """
from pyspark.sql import SparkSession
from spark_cer import cer

spark = SparkSession.builder.getOrCreate()
events = spark.range(10).withColumnRenamed("id", "n")
pairs = events.transform(cer("SELECT * FROM S WHERE (S AS x ; S AS y) FILTER x[n = 3] WITHIN 2 [n]"))
print("pairs:", sorted((row.x.n, row.y.n) for row in pairs.collect()))
"""
    )
    submit = Path(sys.executable).parent / "spark-submit"
    done = subprocess.run(
        [str(submit), "--master", "local[1]", "--jars", str(ROOT / "dist" / "core.jar"), str(job)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert "pairs: [(3, 4), (3, 5)]" in done.stdout, done.stderr
