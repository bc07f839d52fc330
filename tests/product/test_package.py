"""The jar, the session helper, and the demo."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

import spark_cer
from spark_cer._jar import jar
from tests.connect_server import SUBMIT, environment

ROOT = Path(__file__).parents[2]


def test_the_jar_fits_the_installed_spark() -> None:
    assert jar().name == f"spark-cer_4.3_2.13-{spark_cer.__version__}.jar"


def test_another_spark_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for minor in ("4.1", "4.2"):
        (tmp_path / f"spark-cer_{minor}_2.13-{spark_cer.__version__}.jar").touch()
    monkeypatch.setattr("spark_cer._jar._FOLDERS", [tmp_path])
    assert jar("4.1.9").name == f"spark-cer_4.1_2.13-{spark_cer.__version__}.jar"
    with pytest.raises(PySparkRuntimeError) as caught:
        jar("3.5.1")
    assert str(caught.value) == (
        f"spark-cer {spark_cer.__version__} was built for Spark 4.1, 4.2, and this is PySpark 3.5.1: "
        "install pyspark==4.2.*, or a spark-cer for Spark 3.5."
    )


def test_no_jar_at_all_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_cer._jar._FOLDERS", [tmp_path])
    with pytest.raises(PySparkRuntimeError, match=r"has no jar in .*: run `make jar` in the source tree."):
        jar()


def test_configure_keeps_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.SparkContext._jvm", None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    builder = SparkSession.builder.config("spark.jars", "mine.jar").config(
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "false"
    )
    options = spark_cer.configure(spark_cer.configure(builder))._options
    assert options["spark.jars"] == f"mine.jar,{jar()}"
    assert options["spark.connect.extensions.relation.classes"] == "sparkcer.CerRelationPlugin"
    assert options["spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"] == "false"
    assert options["spark.sql.streaming.stateStore.providerClass"].endswith("RocksDBStateStoreProvider")


@pytest.mark.parametrize("running", [False, True])
def test_configure_puts_no_jar_on_a_server_that_is_there(running: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if running:
        monkeypatch.setenv("SPARK_LOCAL_REMOTE", "1")
        builder = SparkSession.builder
    else:
        builder = SparkSession.builder.remote("sc://somewhere")
    options = spark_cer.configure(builder)._options
    assert not {"spark.jars", "spark.connect.extensions.relation.classes"}.intersection(options)
    assert options["spark.sql.streaming.stateStore.providerClass"].endswith("RocksDBStateStoreProvider")


def run(code: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=environment())


def test_a_session_without_the_jar_gets_a_sentence() -> None:
    done = run(
        """
from pyspark.sql import SparkSession
from spark_cer import cer
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    spark.range(3).transform(cer("SELECT * FROM S WHERE S ; S", time="id"))
except Exception as error:
    print(type(error).__name__, error)
"""
    )
    assert done.stdout.strip() == (
        f"PySparkRuntimeError Spark was started without the spark-cer jar. With spark-submit or pyspark, add --jars {jar()}; "
        "in a program that starts Spark itself, use spark_cer.session() or spark_cer.configure(builder)."
    ), done.stderr


def submitted(tmp_path: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "job.py").write_text(code, encoding="utf-8")
    line = [
        str(SUBMIT),
        "--master",
        "local[1]",
        "--conf",
        "spark.ui.enabled=false",
        *arguments,
        str(tmp_path / "job.py"),
    ]
    return subprocess.run(line, capture_output=True, text=True, env=environment())


def test_spark_submit_without_the_jar_gets_a_sentence(tmp_path: Path) -> None:
    """For each way in which a job can start Spark, and if no jar fits."""
    done = submitted(
        tmp_path,
        """
from pathlib import Path
from pyspark.sql import SparkSession
import spark_cer
from spark_cer import _jar, cer

def plain():
    spark = SparkSession.builder.getOrCreate()
    spark.range(3).transform(cer("SELECT * FROM S WHERE S ; S", time="id"))

def told(job):
    try:
        job()
    except Exception as error:
        print(type(error).__name__, error)

told(spark_cer.session)
told(lambda: spark_cer.configure(SparkSession.builder))
told(plain)
told(spark_cer.session)
_jar._FOLDERS = [Path("nowhere")]
told(plain)
""",
    )
    text = (
        "PySparkRuntimeError Spark was started without the spark-cer jar. With spark-submit or pyspark, add --jars {}; "
        "in a program that starts Spark itself, use spark_cer.session() or spark_cer.configure(builder)."
    )
    absent = f" spark-cer {spark_cer.__version__} has no jar in nowhere: run `make jar` in the source tree."
    assert done.stdout.splitlines() == [
        *[text.format(jar())] * 4,
        text.format("<the spark-cer jar>") + absent,
    ], done.stderr


def test_spark_submit_with_the_jar(tmp_path: Path) -> None:
    """Other jars are kept, and naming the extension, which is not necessary, does no harm."""
    other = tmp_path / "other.jar"
    with zipfile.ZipFile(other, "w"):
        pass
    done = submitted(
        tmp_path,
        """
import spark_cer

spark = spark_cer.session()
spark = spark_cer.session()
spark.range(3).createOrReplaceTempView("events")
query = "SELECT * FROM S WHERE S ; S WITHIN 1 [id]"
print(spark.sql(f"SELECT * FROM cer(TABLE(events), '{query}')").count())
print(spark.conf.get("spark.jars"))
""",
        *("--jars", f"{other},{jar()}"),
        *("--conf", "spark.sql.extensions=sparkcer.CerExtension"),
    )
    assert done.stdout.splitlines() == ["2", f"file://{other},file://{jar()}"], done.stderr
    assert "replaced a previously registered function" not in done.stderr
    assert "Using an existing Spark session" not in done.stderr


def test_the_demo() -> None:
    done = subprocess.run(
        [sys.executable, "examples/demo.py"], capture_output=True, text=True, cwd=ROOT, env=environment()
    )
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"As a (batch|stream): ([\d,]+) matches", done.stdout)
    assert [kind for kind, _ in counts] == ["batch", "stream"], done.stdout
    assert len({n for _, n in counts}) == 1
    assert int(counts[0][1].replace(",", "")) > 1000
    assert done.stdout.rstrip().endswith("Batch and stream gave the same matches.")
