"""A standalone cluster on the loopback interface: processes for a master and for two workers with one core each."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from integration.streams import wait

SPARK_HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.master = self.workers = ""

    def start(self) -> None:
        self._start("master", "master.Master", "--host", HOST, "--port", "0", "--webui-port", "0")
        self.master = self._found("master", r"Starting Spark master at (spark://\S+)")
        for name in ("worker1", "worker2"):
            options = ["--host", HOST, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
            self._start(name, "worker.Worker", *options, "--work-dir", str(self.folder / name), self.master)
        for name in ("worker1", "worker2"):
            self._found(name, r"(Successfully registered with master)")

    def _start(self, name: str, main: str, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
        }
        log = self.folder / f"{name}.log"
        with log.open("wb") as out:
            self.processes.append(
                subprocess.Popen(
                    [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{main}", *arguments],
                    env=environment,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def _found(self, name: str, pattern: str) -> str:
        """Waits until the log of a process contains a pattern, and returns what it found."""
        log = self.folder / f"{name}.log"
        wait(lambda: re.search(pattern, log.read_text(errors="replace")) is not None, 120)
        found = re.search(pattern, log.read_text(errors="replace"))
        assert found
        return found.group(1)

    def executors(self) -> list[int]:
        """The process ids of the executors, which are child processes of the workers."""
        workers = {p.pid for p in self.processes[1:]}
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
            except OSError:
                continue  # the process ended meanwhile
            if int(parent) in workers and state != "Z":
                found.append(int(stat.parent.name))
        return found

    def stop(self) -> None:
        for pid in self.executors():
            os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    folder.mkdir(parents=True)
    running = Cluster(folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()
