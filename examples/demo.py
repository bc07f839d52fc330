"""The demo: runs a query over 20,000 generated trades, as a batch and as a stream, and prints matches as tables."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import spark_cer
from spark_cer import cer

QUERY = """
SELECT * FROM S WHERE (SELL AS x ; BUY AS y)
FILTER x[price > 20] AND y[price < 5]
WITHIN 30000 [stock_time]"""

SCHEMA = "type STRING, id INT, name STRING, volume INT, price DOUBLE, stock_time BIGINT"
EVENTS = 20_000
FILES = 8


def write_trades(folder: Path) -> None:
    """Writes random trades as CSV files, like a feed: prices between 1 and 21, about ten trades per second."""
    rng = random.Random(7)
    now = 34_200_000
    for number in range(FILES):
        lines = ["type,id,name,volume,price,stock_time"]
        for i in range(EVENTS // FILES):
            now += int(rng.expovariate(1 / 100)) + 1
            price = 1 + 20.02 * rng.random() ** 0.5 if rng.random() < 0.5 else 4 + 16 * rng.random()
            name = rng.choice(["INTC", "MSFT", "AMAT", "ORCL", "CSCO"])
            kind = rng.choice(["BUY", "SELL"])
            trade = number * EVENTS // FILES + i
            lines.append(f"{kind},{trade},{name},{rng.randrange(1, 51) * 100},{price:.2f},{now}")
        (folder / f"trades-{number}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        time.sleep(0.01)  # a file stream reads files in order of modification time


def quiet_session(log: Path) -> SparkSession:
    """Like spark_cer.session(), but the log messages of Java and Spark go to a file, because this demo prints its own
    messages."""
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("spark-cer demo")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    terminal = os.dup(2)
    with log.open("wb") as out:
        os.dup2(out.fileno(), 2)  # Java inherits it
    try:
        return spark_cer.configure(builder).getOrCreate()
    except Exception:
        say(f"Spark did not start; what it said is in {log}")
        raise
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def say(text: str) -> None:
    print(text, flush=True)


def progress_line(text: str) -> None:
    """Prints a line that the next one replaces. Prints nothing if the output is not a terminal."""
    if sys.stdout.isatty():
        print(f"\r\033[K{text}", end="", flush=True)


def follow(running: StreamingQuery) -> None:
    """Shows the progress of the stream until it has read all files."""
    started = time.time()
    while True:
        active = running.isActive
        done = [progress for progress in running.recentProgress if progress["numInputRows"]]
        trades = sum(progress["numInputRows"] for progress in done)
        found = sum(row["matches"] for progress in done for row in progress["observedMetrics"].values())
        bar = "█" * (20 * len(done) // FILES)
        seconds = time.time() - started
        progress_line(
            f"  {bar:░<20}  {len(done)} of {FILES} files  {trades:>6,} trades  {found:>6,} matches  {seconds:>4.1f} s"
        )
        if not active:
            break
        time.sleep(0.1)
    progress_line("")
    error = running.exception()
    if error is not None:
        raise error


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="spark-cer-demo-"))
    trades_dir = folder / "trades"
    trades_dir.mkdir()
    write_trades(trades_dir)
    say(f"{EVENTS:,} trades, as CSV, in {trades_dir}")
    say(f"\nThe query: a sale above 20, and within 30 seconds a purchase below 5.\n{QUERY}\n")
    say("Starting Spark ...")
    spark = quiet_session(folder / "spark.log")

    columns = [
        "date_format(timestamp_millis(start), 'HH:mm:ss.SSS') AS start",
        "date_format(timestamp_millis(end), 'HH:mm:ss.SSS') AS end",
        "x.name AS sold",
        "x.price AS sold_at",
        "y.name AS bought",
        "y.price AS bought_at",
    ]
    events = spark.read.schema(SCHEMA).csv(str(trades_dir), header=True)
    started = time.time()
    matches = events.transform(cer(QUERY, time="stock_time")).cache()
    found = matches.count()
    say(f"As a batch: {found:,} matches in {time.time() - started:.1f} s. The first of them:\n")
    matches.orderBy("end", "start").selectExpr(*columns).show(8, truncate=False)

    say("As a stream, file by file:")
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).csv(str(trades_dir), header=True)
    started = time.time()
    running = (
        stream.transform(cer(QUERY, time="stock_time"))
        .writeStream.format("memory")
        .queryName("live")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    follow(running)
    live = spark.table("live")
    say(f"As a stream: {live.count():,} matches in {time.time() - started:.1f} s. The last of them:\n")
    live.orderBy("end", "start", ascending=False).selectExpr(*columns).show(8, truncate=False)

    if {row.match_id for row in live.collect()} != {row.match_id for row in matches.collect()}:
        sys.exit("The batch and the stream differ: this is a bug, please report it.")
    say("Batch and stream gave the same matches.")
    spark.stop()


if __name__ == "__main__":
    main()
