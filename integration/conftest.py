"""One local session for all tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from integration import stream_job


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = stream_job.session("local[2]")
    yield session
    session.stop()
