"""Matches as one row for each of their events."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.errors import PySparkValueError
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  (as PySpark's users know it)
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

_FIXED = ("match_id", "start", "end", "late")
_OWN = ("match_id", "match_number", "variable", "classifier", "position")


def rows(matches: DataFrame, *, time: str | None = None) -> DataFrame:
    """Returns one row for each event of each match, like ALL ROWS PER MATCH of MATCH_RECOGNIZE: ``match_id``, the
    PARTITION BY columns, the measures, in a batch the ``match_number``, the ``variable`` that the event is bound to
    (``classifier`` is SQL's name for it), its ``position`` among the rows of the match (from 0), and the columns of the
    event.

    The rows of a match are in time order. Rows with the same time are in the order of the variables in SELECT, and rows
    of one variable are in stream order. An event that is bound to two variables has a row for each of them. Columns
    that were added to the matches are kept. ``match_number`` counts the matches of each key from 1, by ``end`` and
    ``start``. A stream has none, nor have matches without these columns. It needs a shuffle by key, unless nobody reads
    it. The rest is a projection, for batches and streams.

    :param matches: the matches of :func:`cer`, with all or some of their variables
    :param time: the time column of the events, if the matches no longer know it, for example because they were read
        from CSV

    >>> spark_cer.rows(matches).orderBy("match_id", "position").show()
    """
    key = _key(matches)
    variables = _variables(matches)
    carried = [name for name in matches.columns if key(name) not in _FIXED and name not in variables]
    columns = {
        field.name: field.dataType
        for event in variables.values()
        for field in _event(event).fields
        if key(field.name) not in map(key, carried)
    }
    for name in _OWN:
        if name in map(key, [*columns, *carried]):
            raise PySparkValueError(
                f"rows() has a column '{name}' of its own, and so have the events: rename theirs before cer()."
            )
    clock = _time(matches, variables, time)
    entries = [
        F.transform(_array(name, event), _entry(number, name, event, columns, clock))
        for number, (name, event) in enumerate(variables.items())
    ]
    found = matches.where(F.col("match_id").isNotNull()) if "late" in matches.columns else matches
    ordered = entries[0] if len(entries) == 1 else F.array_sort(F.concat(*entries), _before)
    number = _number(matches)
    shown = ["match_id", *map(_quoted, carried), *(["match_number"] if number is not None else [])]
    numbered = found if number is None else found.withColumn("match_number", number)
    return numbered.select(*shown, F.posexplode(ordered).alias("position", "entry")).select(
        *shown, "entry.variable", F.col("entry.variable").alias("classifier"), "position", "entry.event.*"
    )


def _number(matches: DataFrame) -> Column | None:
    """The number of a match among those of its key, by the interval. Spark cannot number the rows of a stream."""
    if matches.isStreaming or "start" not in matches.columns or "end" not in matches.columns:
        return None
    before = matches.columns[: matches.columns.index("start")]
    keys: list[str | Column] = [_quoted(name) for name in before if name != "match_id"]
    # A window over nothing is one that Spark warns about, also where nobody reads the number.
    return F.row_number().over(Window.partitionBy(*(keys or [F.lit(0)])).orderBy("end", "start", "match_id"))


def _key(matches: DataFrame) -> Callable[[str], str]:
    """A function that maps two names to the same string if the session treats them as the same name. It does not change
    lower-case names."""
    sensitive = matches.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    return str if sensitive else str.lower


def _variables(matches: DataFrame) -> dict[str, DataType]:
    if "match_id" not in matches.columns:
        raise PySparkValueError(
            "rows() takes the matches of cer(), which have a match_id; those of COUNT(*) have no events."
        )
    found = _events(matches)
    if not found:
        raise PySparkValueError(
            "rows() finds no variable in the matches: list one in SELECT, without FLAT. Measures show no events."
        )
    return found


def _events(matches: DataFrame) -> dict[str, DataType]:
    """The columns that have events."""
    # The PARTITION BY columns are before the interval, and can be structs too.
    fields = matches.schema.fields
    after = fields[matches.columns.index("end") + 1 :] if "end" in matches.columns else fields
    return {field.name: field.dataType for field in after if field.name not in _FIXED and _is_event(field)}


def _is_event(field: StructField) -> bool:
    """A measure that has the form of events says so in its metadata."""
    kind = field.dataType
    one = kind.elementType if isinstance(kind, ArrayType) else kind
    return isinstance(one, StructType) and "spark.cer.measure" not in field.metadata


def _event(kind: DataType) -> StructType:
    event = kind.elementType if isinstance(kind, ArrayType) else kind
    assert isinstance(event, StructType)
    return event


def _time(matches: DataFrame, variables: dict[str, DataType], given: str | None) -> str | None:
    """The column that orders the events of different variables. A single variable is already in order."""
    if len(variables) == 1:
        return None
    start = matches.schema["start"].metadata if "start" in matches.columns else {}
    name = given or start.get("spark.cer.time")
    if name is None:
        raise PySparkValueError('rows() does not know the time of the events any more: name it, as in time="ts".')
    key = _key(matches)
    for variable, kind in variables.items():
        if key(str(name)) not in map(key, _event(kind).fieldNames()):
            raise PySparkValueError(
                f"rows() orders events by '{name}', which the variable {variable} does not show: "
                f"add it in SELECT {variable}[…, {name}]."
            )
    return str(name)


def _array(name: str, kind: DataType) -> Column:
    """The events of a variable as an array, which is empty if the variable has no events."""
    column = F.col(_quoted(name))
    many = column if isinstance(kind, ArrayType) else F.array(column)
    return F.filter(many, lambda event: event.isNotNull())


def _entry(
    number: int, name: str, kind: DataType, columns: dict[str, DataType], time: str | None
) -> Callable[[Column, Column], Column]:
    """Returns a function that turns an event and its index in the variable into the struct that is sorted and shown."""
    shown = _event(kind).fieldNames()

    def entry(event: Column, index: Column) -> Column:
        fields = [
            (event.getField(column) if column in shown else F.lit(None).cast(of)).alias(column)
            for column, of in columns.items()
        ]
        return F.struct(
            (event.getField(time) if time else F.lit(0)).alias("time"),
            F.lit(number).alias("number"),
            index.alias("index"),
            F.lit(name).alias("variable"),
            F.struct(*fields).alias("event"),
        )

    return entry


def _before(left: Column, right: Column) -> Column:
    """Compares entries by time, variable and index in the variable. Other columns of events may not be orderable."""
    result = F.lit(0)
    for name in ("index", "number", "time"):
        a, b = left.getField(name), right.getField(name)
        result = F.when(a < b, -1).when(a > b, 1).otherwise(result)
    return result


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
