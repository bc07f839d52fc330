"""One session for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import spark_cer


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder of the session's Java process."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_folder: Path) -> Iterator[SparkSession]:
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "sparkcer.CerExtension")  # for cer() in SQL
    )
    here = Path.cwd()
    os.chdir(spark_folder)
    session = spark_cer.configure(builder).getOrCreate()
    os.chdir(here)
    yield session
    session.stop()


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
