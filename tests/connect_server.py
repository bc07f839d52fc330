"""A separate Spark Connect server, as users run it: a process that was started with the jar and its plugin."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from spark_cer._jar import jar
from spark_cer._session import PLUGIN

SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
WITH_CER = {"spark.jars": str(jar()), PLUGIN[0]: PLUGIN[1]}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("localhost", port)) == 0


# For tests of what only one kind of session has, and of what a query means, which the server decides: on Connect a few
# of them are enough.
only_classic = pytest.mark.parametrize("spark", ["classic"], indirect=True)
only_connect = pytest.mark.parametrize("spark", ["connect"], indirect=True)


def environment() -> dict[str, str]:
    """The environment for processes that create their own session, without the marks that PySpark sets for Connect."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SPARK_CONNECT")}


@contextmanager
def connect_server(folder: Path, settings: Mapping[str, str], master: str = "local[2]") -> Iterator[str]:
    """Starts a server with these settings and yields its URL. Its log and its output are in the folder."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        **settings,
    }
    command = [str(SUBMIT), "--master", master, "--class", MAIN]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=out, stderr=out, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 300
        while not listens(port):
            assert server.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.2)
        yield f"sc://localhost:{port}"
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
        server.wait()
