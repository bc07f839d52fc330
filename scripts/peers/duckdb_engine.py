"""DuckDB on one thread, over a table in memory. It reads a table as a whole, so a query that is cut off has no number
of events that were read.
"""

from __future__ import annotations

import resource
import sys
import threading
import time

import duckdb
from jobs import ENOUGH, TEXTS, Job, fail, tell


def texts(job: Job) -> str:
    """The columns that are texts for the other engines too, though they look like numbers."""
    with job.file.open(encoding="utf-8") as file:
        present = file.readline().strip().split(",")
    types = ", ".join(f"'{c}': 'VARCHAR'" for c in TEXTS if c in present)
    return f", types = {{{types}}}" if types else ""


def measure(job: Job) -> None:
    connection = duckdb.connect(config={"threads": 1})
    source = f"read_csv('{job.file}', header = true{texts(job)})"
    connection.execute(f"CREATE TABLE e AS SELECT * FROM {source} WHERE id < {job.events} ORDER BY id")
    # Every match is made, with each of its events.
    queries = [f"SELECT count(*), sum(COLUMNS(*)) FROM ({text})" for text in job.statements]

    def once(limit: float) -> tuple[float, float, int] | None:
        timer = threading.Timer(limit, connection.interrupt)
        timer.start()
        cpu, begun = time.process_time(), time.monotonic()
        try:
            matches = sum(row[0] for query in queries for row in connection.execute(query).fetchall())
        except duckdb.InterruptException:
            return None
        finally:
            timer.cancel()
        return time.monotonic() - begun, time.process_time() - cpu, matches

    begun = time.monotonic()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while time.monotonic() - begun < job.warm_up:
        if once(job.warm_up) is None:
            break
    passes: list[tuple[float, float, int]] = []
    while len(passes) < job.rounds and sum(seconds for seconds, *_ in passes) < ENOUGH:
        done = once(job.timeout)
        if done is None:
            tell(job, read=None, seconds=job.timeout, cpu=job.timeout, matches=0, timed_out=True, heap=None)
            return
        passes.append(done)
    seconds, cpu, matches = min(passes)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * 1024
    tell(job, read=job.events, seconds=seconds, cpu=cpu, matches=matches, timed_out=False, heap=grown)


if __name__ == "__main__":
    for job in map(Job.read, sys.argv[2:]):
        try:
            measure(job)
        except duckdb.Error as error:
            fail(job, error)
