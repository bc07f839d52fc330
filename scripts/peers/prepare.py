"""Fetches the engines and compiles their runners."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterable

import processes
from engines import Engine

REQUIREMENTS = processes.HERE / "requirements.txt"


def prepare(engines: Iterable[Engine], *, built: bool) -> None:
    used = list(engines)
    if any(e.version == "duckdb" for e in used):
        install()
    # Whatever is measured, our benchmarks write the events.
    projects = {"benchmarks", *(e.project for e in used if e.project)}
    missing = sorted(p for p in projects if not (built and processes.classpath(p).exists()))
    if missing:
        compile_all(missing)


def install() -> None:
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        name, _, wanted = line.partition("==")
        if not wanted or line.startswith("#"):
            continue
        try:
            if importlib.metadata.version(name) == wanted:
                continue
        except importlib.metadata.PackageNotFoundError:
            pass
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "3", line]
        if subprocess.run(pip, cwd=processes.ROOT, check=False).returncode:
            raise processes.RunError(
                f"{line} could not be installed: check that this machine reaches the network and try again."
            )
        importlib.invalidate_caches()


def compile_all(projects: list[str]) -> None:
    command = [str(processes.ROOT / "scripts" / "sbt"), *(f"{project}/classpath" for project in projects)]
    done = subprocess.run(command, cwd=processes.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        what = "\n".join(line for line in done.stdout.splitlines() if line.startswith("[error]"))[:3000]
        if "ResolveException" in what:
            raise processes.RunError(
                "Some engines could not be fetched: check that this machine reaches the network (or its package "
                f"mirror) and try again.\n{what}"
            )
        raise processes.RunError(f"The runners of {', '.join(projects)} did not compile:\n{what}")
