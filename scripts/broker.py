#!/usr/bin/env python3
"""A Kafka broker of its own, in a process that can be killed and started again:

    scripts/broker.py COMMAND ...

runs a command with the address of a new broker in the environment variable KAFKA and the jars of Spark's connector in
KAFKA_JARS, and ends the broker after it, also if this script gets SIGTERM. All jars come from scripts/setup.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / ".tools"
# Spark's connector, with what it needs beside Spark, for `spark.jars`.
CONNECTOR = sorted(str(jar) for jar in (TOOLS / "kafka-connector").glob("*.jar"))

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.partitions={partitions}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class Broker:
    """One broker on the loopback interface. A topic is created when it is first written to or read.

    :param partitions: of each topic
    """

    def __init__(self, folder: Path, partitions: int = 2) -> None:
        self.folder = folder
        self.port, controller = _free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.properties = folder / "server.properties"
        self.properties.write_text(
            PROPERTIES.format(port=self.port, controller=controller, folder=folder, partitions=partitions)
        )
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        formatting = self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.properties))
        if formatting.wait() != 0:
            raise RuntimeError(f"Kafka's folder was not made:\n{self.log.read_text(errors='replace')[-3000:]}")

    def start(self) -> None:
        """Returns when the broker takes connections."""
        self.process = self._java("kafka.Kafka", str(self.properties))
        deadline = time.monotonic() + 120
        while not _listens(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"Kafka did not start:\n{self.log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """At once, with -9. What was written is there when it starts again."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def _java(self, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        home = os.environ.get("JAVA_HOME")
        java = os.path.join(home, "bin", "java") if home else "java"
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(TOOLS / "kafka-broker" / "*")]
        with self.log.open("ab") as out:
            return subprocess.Popen(
                [java, *options, main, *arguments], stdout=out, stderr=out, cwd=self.folder, start_new_session=True
            )


@contextmanager
def broker(folder: Path, partitions: int = 2) -> Iterator[Broker]:
    running = Broker(folder, partitions)
    try:
        running.start()
        yield running
    finally:
        running.kill()


def environment(running: Broker) -> dict[str, str]:
    """What a program finds the broker and the connector by."""
    return {"KAFKA": running.address, "KAFKA_JARS": ",".join(CONNECTOR)}


def _free_ports(n: int) -> list[int]:
    probes = [socket.socket() for _ in range(n)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="spark-cer-kafka-"))
    try:
        with broker(folder) as running:
            return subprocess.call(sys.argv[1:], env={**os.environ, **environment(running)})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
