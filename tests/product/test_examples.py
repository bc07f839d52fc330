"""Each example prints what the text file beside it contains. `CER_UPDATE=1` updates the text files."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.connect_server import only_classic

EXAMPLES = Path(__file__).parents[2] / "examples"
# The demo has its own test, in a separate process, and that of Kafka needs a broker: integration/test_kafka.py.
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in ("demo", "kafka_alerts"))


@only_classic
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example(spark: SparkSession, capsys: pytest.CaptureFixture[str], name: str) -> None:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()
    printed = capsys.readouterr().out
    beside = EXAMPLES / f"{name}.txt"
    if os.environ.get("CER_UPDATE"):
        beside.write_text(printed, encoding="utf-8")
    assert printed == beside.read_text(encoding="utf-8")


def test_the_readme_has_all_of_them() -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(examples/([^)]+)\)", readme)
    assert sorted(named) == sorted(path.name for path in EXAMPLES.glob("*") if path.suffix in (".py", ".ipynb"))
