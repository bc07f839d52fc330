"""Starts an engine in a process of its own and reads the lines of JSON that it prints."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engines import Engine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = ROOT / "target" / "peers"
Result = dict[str, Any]


class RunError(Exception):
    """One or two sentences for the user."""


def versions() -> dict[str, str]:
    lines = (ROOT / "versions.properties").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def properties(values: Mapping[str, str]) -> str:
    """As java.util.Properties reads them."""
    escaped = {k: v.replace("\\", "\\\\").replace("\n", "\\n") for k, v in values.items()}
    return "".join(f"{k}={v}\n" for k, v in escaped.items())


running: set[subprocess.Popen[str]] = set()
"""Several threads start processes."""


def run(command: list[str], seconds: float) -> tuple[str, str, bool]:
    """What a command prints on both streams, and whether it had to be ended after so many seconds."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    running.add(process)
    try:
        out, errors = process.communicate(timeout=seconds)
        return out, errors, False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
        return out, errors, True
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        running.discard(process)


def end_all() -> None:
    """What was started and is not over."""
    for process in list(running):
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)


def results(out: str) -> list[Result]:
    return [json.loads(line) for line in out.splitlines() if line.startswith('{"workload"')]


def classpath(project: str) -> Path:
    """A file that the build writes when it has compiled the project."""
    return ROOT / "jvm" / ("" if project == "benchmarks" else "peers") / project / "target" / "classpath"


def java(project: str, main: str, arguments: Iterable[str], heap: str, seconds: float) -> str:
    with tempfile.NamedTemporaryFile("w", prefix="peers", suffix=".arguments") as file:
        # By a file: a class path can be longer than a command line.
        file.write(f'-cp "{classpath(project).read_text(encoding="utf-8")}"\n')
        file.flush()
        command = [str(ROOT / "scripts" / "env"), "java", f"-Xmx{heap}", f"-Xms{heap}", "-XX:+UseSerialGC", *OPENED]
        return checked(main, *run([*command, f"@{file.name}", main, *arguments], seconds))


OPENED = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in ("lang", "util")]
"""What the serializers of Flink look into."""


def python(script: str, arguments: Iterable[str], seconds: float) -> str:
    command = [str(ROOT / "scripts" / "env"), str(ROOT / ".venv" / "bin" / "python"), str(HERE / script)]
    return checked(script, *run([*command, *arguments], seconds))


def checked(what: str, out: str, errors: str, late: bool) -> str:
    if not results(out) and not late and ("Exception" in errors or "Error" in errors):
        raise RunError(f"{what} failed: {errors.strip()[-3000:]}")
    return out


def start(engine: Engine, jobs: Iterable[str], heap: str, seconds: float) -> str:
    if engine.project:
        return java(engine.project, engine.main, jobs, heap, seconds)
    return python(engine.main, [engine.name, *jobs], seconds)


def version(engine: Engine) -> str:
    known = versions()
    return known[engine.version] if engine.version in known else importlib.metadata.version(engine.version)
