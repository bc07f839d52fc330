"""The command ``spark-cer``: runs a query or a set of rules over files, explains a query, or checks a query against a
schema."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as PySpark's users know it)
from pyspark.sql.types import StructType

import spark_cer
from spark_cer import Cer, cer, cer_rules
from spark_cer._hints import for_command_line
from spark_cer._not_given import NOT_GIVEN

_EVENTS = "files or folders of events: .csv with a header, .json, .parquet"
_FORMATS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
_READ = {"csv": {"header": "true", "inferSchema": "true"}, "json": {}, "parquet": {}}


class Problem(Exception):  # noqa: N818  (a message for the user, not a bug)
    """An error message for the user. The exit code is then 1."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line. Returns the exit code: 0, or 1 if there is an error in the query or the data. If the command
    line itself is wrong, argparse exits with 2."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (Problem, PySparkException) as problem:
        print(f"spark-cer: {_words(problem)}", file=sys.stderr)
        return 1
    except Py4JJavaError as error:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        print(f"spark-cer: {cause.getMessage() or cause.toString()}", file=sys.stderr)
        return 1
    return 0


def _words(problem: Exception) -> str:
    """The message, with hints for the command line. For a failed stream, the cause without the plan of the stream."""
    text = str(problem)
    if isinstance(problem, StreamingQueryException):
        text = re.sub(
            r"^\[STREAM_FAILED\].*? terminated with exception: ", "", text.split("\n=== Streaming Query ===")[0]
        )
    return for_command_line(re.sub(r" SQLSTATE: \w+$", "", text))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="spark-cer", description="Find patterns of events with CEQL queries.")
    parser.add_argument("--version", action="version", version=f"spark-cer {spark_cer.__version__}")
    commands = parser.add_subparsers(required=True, metavar="run | rules | explain | check")

    run = commands.add_parser("run", help="print the matches of a query over files of events")
    run.add_argument("query", help="a file with a query")
    run.add_argument("events", nargs="+", help=f"{_EVENTS}; NAME=FILE for FROM NAME")
    run.add_argument("--stream", action="store_true", help="read the files as a stream, until all are read")
    run.set_defaults(command=_run)

    sets = commands.add_parser("rules", help="print the matches of a set of rules, or explain it")
    set_commands = sets.add_subparsers(required=True, metavar="run | explain")
    rules = set_commands.add_parser("run", help="print the matches of all rules over files of events")
    rules.add_argument("rules", help="a folder of .ceql files, each with a rule that has the name of the file")
    rules.add_argument("events", nargs="+", help=f"{_EVENTS}; NAME=FILE for FROM NAME")
    rules.add_argument("--skip-invalid", action="store_true", help="leave out rules that are wrong, with a warning")
    rules.set_defaults(command=_run_rules)
    explain_rules = set_commands.add_parser("explain", help="print what the rules share, in words")
    explain_rules.add_argument("rules", help="a folder of .ceql files")
    explain_rules.set_defaults(command=_explain_rules)
    for command in (run, rules):
        command.add_argument(
            "--until",
            metavar="TIME",
            help="for a query that ends with NO: the time up to which the events are complete, or forever",
        )
        command.add_argument("--rows", type=int, default=100, metavar="N", help="print at most N matches (100)")

    explain = commands.add_parser("explain", help="print what a query will do, in words")
    explain.add_argument("query", help="a file with a query")
    explain.set_defaults(command=_explain)

    check = commands.add_parser("check", help="check a query against the columns of its events")
    check.add_argument("query", help="a file with a query")
    check.add_argument(
        "--schema", action="append", required=True, help='such as "ts TIMESTAMP, type STRING"; NAME=… for FROM NAME'
    )
    check.set_defaults(command=_check)

    for command in (run, rules, check):
        command.add_argument("--time", metavar="COLUMN", help="the column that orders the events")
        kind = command.add_mutually_exclusive_group()
        kind.add_argument(
            "--type", metavar="COLUMN", default=NOT_GIVEN, help="the column with each event's type (type)"
        )
        kind.add_argument(
            "--no-type", dest="type", action="store_const", const=None, help="the type of each event is its FROM name"
        )
        command.add_argument("--order", metavar="COLUMN", help="a column that decides between events of the same time")
        named = (
            ("RULE.NAME=VALUE", "the value of :NAME in a rule")
            if command is rules
            else ("NAME=VALUE", "the value of :NAME")
        )
        command.add_argument("--param", action="append", default=[], type=_param, metavar=named[0], help=named[1])
    return parser


def _query(options: argparse.Namespace) -> Cer:
    return cer(
        _text(options.query),
        time=getattr(options, "time", None),
        type=getattr(options, "type", NOT_GIVEN),
        order=getattr(options, "order", None),
        until=getattr(options, "until", None),
        params=dict(getattr(options, "param", [])),
    )


def _rule_texts(folder: str) -> dict[str, str]:
    """The rules of a folder by the names of their files."""
    files = sorted(Path(folder).glob("*.ceql"))
    if not files:
        raise Problem(f"There is no .ceql file in {folder}.")
    return {file.stem: _text(str(file)) for file in files}


def _rules_with_values(options: argparse.Namespace) -> dict[str, Cer]:
    """The rules of a folder, with the values of their parameters."""
    texts = _rule_texts(options.rules)
    values: dict[str, dict[str, Any]] = {name: {} for name in texts}
    for name, value in options.param:
        rule, dot, parameter = name.rpartition(".")
        if not dot:
            raise Problem(f"--param {name} names no rule: write RULE.{name}=…, with the name of the rule.")
        if rule not in values:
            raise Problem(f"--param {name} is for the rule '{rule}'. The rules are {', '.join(texts)}.")
        values[rule][parameter] = value
    return {name: cer(text, params=values[name]) for name, text in texts.items()}


def _run_rules(options: argparse.Namespace) -> None:
    sources = _sources(options)
    skipped = "skip" if options.skip_invalid else "fail"
    rules = cer_rules(
        _rules_with_values(options),
        time=options.time,
        type=options.type,
        order=options.order,
        until=options.until,
        invalid=skipped,
    )
    spark = _quiet_session()
    frames = _frames(spark, sources, stream=False)
    alerts = rules(frames[""]) if "" in frames else rules.over(frames)
    alerts = alerts.cache()
    shown = alerts.select(
        "rule_id",
        F.concat_ws(" ", F.map_values("key")).alias("key"),
        "start",
        "end",
        F.size("events").alias("events"),
        F.to_json("measures").alias("measures"),
        "matches",
        F.when(F.col("truncated"), "more").alias("truncated"),
    )
    _show(shown, options.rows, ["rule_id"])
    cut = alerts.where("truncated").groupBy("rule_id").agg(F.count("*"), F.max("matches")).orderBy("rule_id").collect()
    for rule, times, count in cut:
        if count is None:
            what = (
                f"more than 1,000 matches of one event, {times} times, of which 1,000 are returned. LIMIT changes that"
            )
        else:
            what = f"more matches than can be counted, {times} times"
        print(f"Rule {rule} has {what}.")


def _explain_rules(options: argparse.Namespace) -> None:
    _quiet_session()
    cer_rules(_rule_texts(options.rules)).explain()


def _param(text: str) -> tuple[str, Any]:
    """``n=20`` is a number, ``yes=True`` is a boolean, ``name=x`` and ``name='20'`` are strings, ``ids=[1, 2]`` is a
    list, as in Python or JSON."""
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        if not re.fullmatch(r"\s*\[.*\]\s*", value, re.DOTALL):
            return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{value}' is not a list: put its strings in quotes; or, if it is a string, put all of it in quotes"
        ) from None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Problem(f"Cannot read the query {path}: {error.strerror}.") from None


def _run(options: argparse.Namespace) -> None:
    query = _query(options)
    sources = _sources(options)
    frames = _frames(_quiet_session(), sources, options.stream)
    found = query(frames[""]) if "" in frames else query.over(frames)
    if options.stream:
        with _finished(found) as table:
            _show(table, options.rows)
    elif not _show(found, options.rows):
        _show_missing_types(query, frames)


def _sources(options: argparse.Namespace) -> dict[str, list[tuple[str, str]]]:
    """The files of events by the names of their inputs, with their formats."""
    return {name: [_source(path) for path in paths] for name, paths in _named(options.events).items()}


def _frames(spark: SparkSession, sources: dict[str, list[tuple[str, str]]], stream: bool) -> dict[str, DataFrame]:
    return {
        name: reduce(DataFrame.unionByName, [_read(spark, *source, stream) for source in parts])
        for name, parts in sources.items()
    }


def _show_missing_types(query: Cer, frames: dict[str, DataFrame]) -> None:
    """Prints the types of the query that never occur, which can explain why there is no match."""
    try:
        query.validate(frames.get("", frames), types=True)
    except AnalysisException as error:
        if error.getCondition() != "CER_UNKNOWN_TYPE":
            raise
        print(_words(error))


def _explain(options: argparse.Namespace) -> None:
    query = _query(options)
    _quiet_session()
    print(query.plan.replace("idle='7 days'", "the option idle of Python and SQL"))


def _check(options: argparse.Namespace) -> None:
    query = _query(options)
    spark = _quiet_session()
    frames = {name: spark.createDataFrame([], schemas[0]) for name, schemas in _named(options.schema).items()}
    schema = query.schema(frames.get("", frames))
    print("The query fits. A match has the columns:")
    for field in schema:
        print(f"  {field.name} {field.dataType.simpleString()}")


def _named(values: Sequence[str]) -> dict[str, list[str]]:
    """The values by name: ``NAME=value`` has its name, any other value has the empty name."""
    found: dict[str, list[str]] = {}
    for text in values:
        name = re.match(r"(\w+)=", text)
        found.setdefault(name[1] if name else "", []).append(text[name.end() :] if name else text)
    if "" in found and len(found) > 1:
        raise Problem(
            f"'{found[''][0]}' has no name: write NAME={found[''][0]}, with its name in FROM, as for the others."
        )
    return found


def _source(path: str) -> tuple[str, str]:
    """Returns a path and its format. A folder has the format of the files in it."""
    place = Path(path)
    if not place.exists():
        raise Problem(f"There is no file {path}.")
    inside = sorted(place.rglob("*")) if place.is_dir() and place.suffix not in _FORMATS else []
    for name in [place, *inside]:
        if name.suffix in _FORMATS:
            return str(place.absolute()), _FORMATS[name.suffix]
    raise Problem(f"{path} is not .csv, .json or .parquet.")


def _read(spark: SparkSession, path: str, kind: str, stream: bool) -> DataFrame:
    batch = spark.read.format(kind).options(**_READ[kind]).load(path)
    if not stream:
        return batch
    stream_reader = spark.readStream.format(kind).options(header="true").schema(batch.schema)
    if Path(path).is_dir():
        return stream_reader.load(_plain(path))
    # A stream reads folders, so a single file is read as the only file with this name in its folder.
    return stream_reader.option("pathGlobFilter", _plain(Path(path).name)).load(_plain(str(Path(path).parent)))


def _plain(path: str) -> str:
    """Escapes a path, so that as a glob pattern it matches only itself."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


@contextmanager
def _finished(found: DataFrame) -> Iterator[DataFrame]:
    """Runs a stream until all input is read, and returns what it found."""
    folder = tempfile.mkdtemp(prefix="spark-cer-")
    try:
        running = (
            found.writeStream.format("parquet")
            .option("checkpointLocation", f"{folder}/checkpoint")
            .trigger(availableNow=True)
            .start(f"{folder}/matches")
        )
        running.awaitTermination()
        yield found.sparkSession.read.schema(found.schema).parquet(f"{folder}/matches")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _show(found: DataFrame, most: int, first: Sequence[str] = ()) -> bool:
    """Prints the first `most` matches as a table, ordered by these columns, `end` and `start`. If a variable has one
    event, each column of the event is a column of the table. Returns whether there is any match."""
    order = [*first, *(name for name in ("end", "start") if name in found.columns)]
    rows = found.orderBy(*order).select(*_flat(found.schema)).limit(most + 1).collect()
    shown = rows[:most]
    names = shown[0].__fields__ if shown else []
    cells = [list(names), *([_cell(value) for value in row] for row in shown)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for number, line in enumerate(cells):
        if names:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if number == 0 and names:
            print("  ".join("-" * width for width in widths))
    if len(rows) > most:
        print(f"The first {most} matches; --rows shows more.")
    else:
        print(f"{len(rows) or 'No'} match{'' if len(rows) == 1 else 'es'}.")
    return bool(rows)


def _flat(schema: StructType) -> list[Any]:
    columns = []
    for field in schema:
        if field.name == "match_id":
            continue
        parts = field.dataType.fields if isinstance(field.dataType, StructType) else []
        own = F.col(f"`{field.name.replace('`', '``')}`")
        columns += [own.getField(part.name).alias(f"{field.name}.{part.name}") for part in parts] or [own]
    return columns


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "(" + ", ".join(_cell(item) for item in value) + ")"
    if isinstance(value, list):
        return " ".join(_cell(item) for item in value)
    return str(value)


def _quiet_session() -> SparkSession:
    """Returns a session whose Java process writes its messages to a file instead of the terminal. If the session does
    not start, the messages are printed."""
    if SparkSession.getActiveSession() is not None:
        return spark_cer.session()
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            builder = SparkSession.builder.config("spark.ui.enabled", "false")
            builder = builder.config("spark.ui.showConsoleProgress", "false")
            builder = builder.config("spark.sql.shuffle.partitions", str(os.cpu_count() or 2))
            spark = spark_cer.configure(builder).getOrCreate()
        except Exception:
            log.seek(0)
            os.write(terminal, log.read())
            raise
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
    return spark
