"""Runs the Scala tests on all Sparks and, at the same time, the Python tests: `make test`, `make test-long`.

Both are lanes of commands. When a lane is through with its own tests, it takes the next of the other Sparks. What the
lane of the Python tests prints is shown at the end. Each command has a process group of its own, so that Ctrl-C ends it
with all processes of the group. Tests start brokers and databases in groups of their own; so a command first gets what
Ctrl-C sends, and has some time to end them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / ".tools" / "python-tests.log"
SBT = str(ROOT / "scripts" / "sbt")
PYTHON = (str(ROOT / "scripts" / "env"), str(ROOT / ".venv" / "bin" / "python"))
PYTEST = (*PYTHON, "-m", "pytest", "--durations=20")
# Other engines on a few events, with all that they need. Those on Spark take minutes: `make bench-smoke` has them too.
RUNNERS = ("benchmarks/classpath", "flink/classpath", "siddhi/classpath")
ENGINES = "spark-cer|reference|siddhi|flink.*|duckdb"
SMOKE = (*PYTHON, str(ROOT / "scripts" / "peers"), "smoke", "--built", "--engines", ENGINES)

# Seconds in which an interrupted command ends what it has started.
PATIENCE = 30

running: list[subprocess.Popen[bytes]] = []
interrupted = threading.Event()


def run(*command: str, output: IO[bytes] | None = None, **environment: str) -> bool:
    """Whether a command succeeded."""
    if interrupted.is_set():
        return False
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        start_new_session=True,
    )
    running.append(process)
    return process.wait() == 0


def end_all() -> None:
    interrupted.set()
    for send, seconds in ((signal.SIGINT, PATIENCE), (signal.SIGKILL, PATIENCE)):
        for process in running:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, send)
        deadline = time.monotonic() + seconds
        while any(process.poll() is None for process in running) and time.monotonic() < deadline:
            time.sleep(0.1)


class Others:
    """The other Sparks, each of which is taken by the lane that comes first."""

    def __init__(self, sparks: list[str]) -> None:
        self.left: queue.SimpleQueue[str] = queue.SimpleQueue()
        for spark in sparks:
            self.left.put(spark)

    def run(self, output: IO[bytes] | None = None) -> bool:
        passed = True
        with contextlib.suppress(queue.Empty):
            while spark := self.left.get_nowait():
                passed = run("echo", f"On Spark {spark}:", output=output) and passed
                # build.sbt says which suites these are.
                passed = run(SBT, "spark/test", "views/test", output=output, SBT_OPTS=f"-Dspark={spark}") and passed
        return passed


def scala(others: Others) -> bool:
    return all([run(SBT, "test"), others.run()])


def python(first: list[str], others: Others) -> bool:
    with LOG.open("wb") as log:
        own = [run(*PYTEST, *first, output=log), run(*PYTEST, "tests", output=log), run(*SMOKE, output=log)]
        return all([*own, others.run(log)])


def prepare(fetch: list[str]) -> bool:
    """Compiles, and meanwhile fetches what the tests need besides, by its names for scripts/setup.py."""
    with ThreadPoolExecutor(1) as lane:
        fetching = lane.submit(run, sys.executable, str(ROOT / "scripts" / "setup.py"), *fetch)
        try:
            compiled = run(SBT, "dist", "Test/compile", *RUNNERS)
            fetched = fetching.result()
        except BaseException:  # also Ctrl-C; the lane would be waited for
            end_all()
            raise
    if not compiled:
        print("The sources did not compile, so no tests were run.", file=sys.stderr)
    return compiled and fetched


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", nargs="+", required=True, help="what is fetched while the sources are compiled")
    parser.add_argument("--first", nargs="+", required=True, help="the tests with several processes: they run first")
    options = parser.parse_args()
    lines = (ROOT / "versions.properties").read_text(encoding="utf-8").splitlines()
    versions = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    started = time.monotonic()
    if not prepare(options.fetch):
        return 1
    print("The Python tests run at the same time as the Scala tests; what they print follows.", flush=True)
    with ThreadPoolExecutor(1) as lane:
        others = Others(versions["otherSparks"].split())
        of_python = lane.submit(python, options.first, others)
        try:
            scala_passed = scala(others)
            print(f"This lane took {time.monotonic() - started:.0f} s.", flush=True)
            python_passed = of_python.result()
        except BaseException:  # also Ctrl-C; the lane would be waited for
            end_all()
            raise
    # The build deletes the temporary folders of the suites, also those that a suite has left.
    left = [str(p) for pattern in ("target/tmp", "target/spark-*/tmp") for p in ROOT.glob(f"jvm/*/{pattern}")]
    if left:
        print(f"The Scala tests have left folders behind: {', '.join(left)}", file=sys.stderr)
    sys.stdout.write(LOG.read_text(encoding="utf-8", errors="replace"))
    print(f"All tests took {time.monotonic() - started:.0f} s.")
    if not scala_passed:
        print("Tests failed in the lane of the Scala tests (see above).", file=sys.stderr)
    return 0 if scala_passed and python_passed and not left else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        end_all()
        sys.exit(130)
