"""Programs that write to views, as processes that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from integration.views_job import START


def start(folder: Path, module: str, *arguments: object, log: str = "log") -> subprocess.Popen[bytes]:
    """Starts a program of this folder in its own process group. What it prints is in a file of `folder`, and so are its
    temporary files, which it cannot delete if it is killed."""
    root = Path(__file__).parent.parent
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    with (folder / log).open("a") as output:
        return subprocess.Popen(
            [sys.executable, "-m", f"integration.{module}", str(folder), *map(str, arguments)],
            cwd=root,
            env={
                **os.environ,
                "PYTHONPATH": str(root / "python"),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
                "TMPDIR": str(temporary),
                "SPARK_LOCAL_DIRS": str(temporary),
                "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={temporary}",
            },
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def kill_at_work(process: subprocess.Popen[bytes], folder: Path, log: str = "log") -> None:
    """Kills a program that must not be through yet: otherwise nothing would be tested."""
    assert process.poll() is None, f"The program had ended before it was killed. {printed(folder, log)}"
    kill(process)
    assert process.returncode == -signal.SIGKILL


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the whole process group at once: Python and its JVM."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def printed(folder: Path, log: str = "log") -> str:
    """The end of what a program has printed, for the message of a test that fails."""
    return (folder / log).read_text(errors="replace")[-5000:]


def version(folder: Path) -> int:
    """The newest version of the catalog."""
    names = [p.stem for p in (folder / "views" / "_catalog").glob("[0-9]*.json")]
    return max((int(name) for name in names), default=0)


def minute_of(stamp: datetime) -> int:
    """The number of a part, counted from the start of the test data."""
    return int((stamp.astimezone(timezone.utc) - START).total_seconds()) // 60
