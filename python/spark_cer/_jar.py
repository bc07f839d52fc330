"""Finds the jar with the engine that fits the installed PySpark."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkRuntimeError

_PACKAGE = Path(__file__).parent
# In a wheel, the jars are in the package. In a source tree, `make jar` writes them to dist/.
_FOLDERS = [_PACKAGE / "jars", _PACKAGE.parent.parent / "dist"]


def _version() -> str:
    source = _PACKAGE.parent.parent / "versions.properties"
    if source.is_file():
        found = re.search(r"^version=(.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1)
    return metadata.version("spark-cer")


__version__ = _version()


def jar(pyspark_version: str | None = None) -> Path:
    """Returns the jar for a version of PySpark, by default the installed one.

    Raises PySparkRuntimeError with an explanation if there is none.
    """
    if pyspark_version is None:
        import pyspark

        pyspark_version = pyspark.__version__
    minor = ".".join(pyspark_version.split(".")[:2])
    jars = {
        path.name.split("_")[1]: path
        for folder in reversed(_FOLDERS)
        for path in folder.glob(f"spark-cer_*_2.13-{__version__}.jar")
    }
    if not jars:
        raise PySparkRuntimeError(
            f"spark-cer {__version__} has no jar in {_FOLDERS[0]}: run `make jar` in the source tree."
        )
    if minor not in jars:
        built = ", ".join(sorted(jars))
        first = sorted(jars)[-1]
        raise PySparkRuntimeError(
            f"spark-cer {__version__} was built for Spark {built}, and this is PySpark {pyspark_version}: "
            f"install pyspark=={first}.*, or a spark-cer for Spark {minor}."
        )
    return jars[minor]


def present(entry: Any) -> Any:
    """Returns a class of the jar that was looked up in a running Java process.

    Raises PySparkRuntimeError with an explanation if the process was started without the jar, which cannot be added
    afterwards.
    """
    # If a name is not a class, py4j returns a package.
    if entry.__class__.__name__ != "JavaPackage":
        return entry
    try:
        path, more = str(jar()), ""
    except PySparkRuntimeError as absent:
        path, more = "<the spark-cer jar>", f" {absent}"
    raise PySparkRuntimeError(
        f"Spark was started without the spark-cer jar. With spark-submit or pyspark, add --jars {path}; "
        f"in a program that starts Spark itself, use spark_cer.session() or spark_cer.configure(builder).{more}"
    )
