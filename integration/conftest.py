"""One local session for all tests in this folder, with the connector for Kafka and the driver of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from integration import stream_job
from integration.streams import ROOT
from scripts.broker import CONNECTOR


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    drivers = [str(jar) for jar in (ROOT / ".tools" / "postgresql").glob("*.jar")]
    session = stream_job.session("local[2]", [*CONNECTOR, *drivers])
    yield session
    session.stop()
