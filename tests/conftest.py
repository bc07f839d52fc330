"""The sessions of the tests: every test that uses a session runs on a classic and on a Connect session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import spark_cer
from tests.connect_server import WITH_CER, connect_server

# For the Java processes of all sessions: tests are over in seconds, for which neither the optimizing compiler of Java nor
# its concurrent collector pays.
if not os.environ.get("CER_LONG"):
    os.environ.setdefault(
        "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    )

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder of the Java process of the classic session."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session", params=["classic", "connect"])
def spark(
    request: pytest.FixtureRequest, spark_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """First a classic session. After all tests have run on it, a session on a Spark Connect server."""
    with ExitStack() as resources:
        if request.param == "classic":
            builder = SparkSession.builder.master("local[2]")
            for name, value in SETTINGS.items():
                builder = builder.config(name, value)
        else:
            folder = tmp_path_factory.mktemp("connect-server")
            url = resources.enter_context(connect_server(folder, {**SETTINGS, **WITH_CER}))
            builder = SparkSession.builder.remote(url)
        here = Path.cwd()
        os.chdir(spark_folder)
        session = spark_cer.configure(builder).getOrCreate()
        os.chdir(here)
        resources.callback(session.stop)
        yield session
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # PySpark does not remove it


TRADES = [
    ("SELL", 0, 25.0, "a", "k"),
    ("BUY", 10, 5.0, "b", "k"),
    ("SELL", 20, 10.0, "c", "l"),
    ("BUY", 30, 5.0, "d", "k"),
    ("BUY", 31, 5.0, "e", "k"),
    ("SELL", 40, 30.0, "f", "l"),
    ("HOLD", 50, 1.0, "g", None),
    ("BUY", 60, 5.0, "h", "l"),
]


@pytest.fixture
def trades(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(TRADES, "type STRING, t BIGINT, price DOUBLE, id STRING, card STRING")
