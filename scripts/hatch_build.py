"""What the Python build takes from elsewhere: the Spark version from versions.properties, the jar from dist/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


def versions(root: str) -> dict[str, str]:
    lines = Path(root, "versions.properties").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


class Metadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        """PySpark is an extra, so that installing never replaces the Spark of a platform."""
        major, minor, _ = versions(self.root)["spark"].split(".")
        spark = f">={major}.{minor},<{major}.{int(minor) + 1}"
        metadata["optional-dependencies"] = {
            "spark": [f"pyspark{spark}"],
            "connect": [f"pyspark[connect]{spark}"],
            "plot": ["altair>=5.5", "vl-convert-python>=1.7"],
        }


class Jar(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # the package then finds the jar in dist/
            return
        known = versions(self.root)
        for spark in [known["spark"], *known["otherSparks"].split()]:
            jar = f"spark-cer_{spark.rsplit('.', 1)[0]}_2.13-{known['version']}.jar"
            if not Path(self.root, "dist", jar).is_file():
                raise SystemExit(f"There is no dist/{jar} to put into the wheel: run `make wheel`, which builds it.")
            build_data["force_include"][f"dist/{jar}"] = f"spark_cer/jars/{jar}"
