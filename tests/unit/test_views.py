"""Views from Python. Their semantics is tested in Scala; these tests check that the calls work from Python."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyspark.errors import AnalysisException, PySparkRuntimeError, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from spark_cer import views

START = datetime(2015, 1, 1, tzinfo=timezone.utc)

HELPER = """
CREATE VIEW Helper AS
INITIALIZE Helper[i] AS
  SELECT src, dest, 1 AS ct, loss AS sum_loss FROM M[i] WHERE loss > 10
UPDATE Helper[j] AS
  SELECT New.src, New.dest, coalesce(Prev.ct, 0) + 1, coalesce(Prev.sum_loss, 0) + New.loss
  FROM M[j] AS New LEFT OUTER JOIN Helper[j-1] AS Prev ON New.src = Prev.src AND New.dest = Prev.dest
  WHERE New.loss > 10
PARTITION LENGTH 60"""

VIEW2 = """
CREATE VIEW View2 AS
INITIALIZE View2[i] AS SELECT * FROM Helper[i] WHERE ct >= 4
UPDATE View2[j] AS SELECT * FROM Helper[j] WHERE ct >= 4
PARTITION LENGTH 60"""


def losses(spark: SparkSession, values: dict[int, int]) -> DataFrame:
    rows = [(START + timedelta(minutes=minute), "s", "d", loss) for minute, loss in values.items()]
    return spark.createDataFrame(rows, "t TIMESTAMP, src STRING, dest STRING, loss INT")


@pytest.fixture
def net(spark: SparkSession, tmp_path: Path) -> views.Views:
    if not hasattr(spark, "_jvm"):
        pytest.skip("views need a classic session")
    v = views.open(spark, str(tmp_path / "net"))
    v.create_table("M", "t TIMESTAMP, src STRING, dest STRING, loss INT", time="t", length="1 minute")
    return v


def test_views_are_kept_up_to_date(spark: SparkSession, net: views.Views) -> None:
    statements = net.sql(HELPER + ";" + VIEW2)
    assert [row.statement.split()[2] for row in statements.collect()] == ["Helper", "View2"]
    net.append("M", losses(spark, {0: 6, 1: 12, 2: 15, 3: 24, 4: 20, 5: 16, 6: 7}))
    report = net.maintain()
    assert report.columns == [
        "view",
        "part",
        "part_timestamp",
        "action",
        "because",
        "rows",
        "rows_read",
        "ms",
        "parts",
        "error",
    ]
    assert report.groupBy("view", "action").count().count() == 4  # initialized and updated
    found = net.read("View2").orderBy("ct").collect()
    assert [(r.ct, r.sum_loss) for r in found] == [(4, 71), (5, 87)]
    assert [r.PART_TIMESTAMP.astimezone(timezone.utc) for r in found] == [START + timedelta(minutes=m) for m in (4, 5)]
    assert net.read("View2", part=START + timedelta(minutes=4)).count() == 1
    assert net.read("View2", part=int(START.timestamp()) // 60 + 6).count() == 0
    assert net.sql("SELECT * FROM View2 JOIN Helper USING (src, PART_TIMESTAMP)").count() == 2
    net.append("M", losses(spark, {2: 0}).selectExpr("t", "'late' AS src", "dest", "loss"))
    changed = net.maintain().collect()
    assert [(r.view, r.action) for r in changed] == [("Helper", "unchanged")]
    assert changed[0].because == f"M[{int(START.timestamp()) // 60 + 2}] changed"


def test_upkeep(spark: SparkSession, net: views.Views, capsys: pytest.CaptureFixture[str]) -> None:
    net.sql(HELPER)
    net.append("M", losses(spark, dict.fromkeys(range(6), 20)))
    net.maintain()
    first = int(START.timestamp()) // 60
    assert net.roll_up("M", before=START + timedelta(minutes=4), length="2 minutes") == 4
    assert net.drop_parts("M", before=START + timedelta(minutes=2)) == [f"M[{first}..{first + 1}]"]
    assert [r.rows for r in net.parts("M").collect()] == [1, 1, 1, 1]
    net.explain()
    assert "next: " in capsys.readouterr().out
    assert 'Helper -->|"[j-1]"| Helper' in net.diagram()
    assert net.diagram("dot").startswith("digraph")
    assert net.drop("Helper") == ["Helper"]


def test_sink(spark: SparkSession, net: views.Views, tmp_path: Path) -> None:
    net.sql(HELPER)
    losses(spark, {0: 20, 1: 20, 2: 20}).repartition(1).write.parquet(str(tmp_path / "in"))
    for _ in range(2):
        stream = spark.readStream.schema(losses(spark, {0: 0}).schema).parquet(str(tmp_path / "in"))
        query = (
            stream.writeStream.foreachBatch(net.sink("M", delay="30 seconds"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
    # The first micro-batch, as Spark runs it again if the driver stopped before it was noted as done.
    spark.sparkContext.setLocalProperty("sql.streaming.queryId", str(query.id))
    try:
        net.sink("M", delay="30 seconds")(losses(spark, {0: 20, 1: 20, 2: 20}), 0)
    finally:
        spark.sparkContext.setLocalProperty("sql.streaming.queryId", None)  # type: ignore[arg-type]
    assert [(r.state, r.rows) for r in net.parts("M").collect()] == [("complete", 1), ("open", 1), ("open", 1)]
    assert [r.ct for r in net.read("Helper").collect()] == [1]
    assert net.aside("M").count() == 0


def test_edges(spark: SparkSession, net: views.Views, tmp_path: Path) -> None:
    net.sql(VIEW2.replace("Helper", "M").replace("*", "src, loss").replace("ct >= 4", "100 div loss > 1"))
    assert net.append("M", losses(spark, {0: 20, 1: 0}), batch="first") == 0
    assert net.append("M", losses(spark, {0: 20, 1: 0}), batch="first") == 0
    assert net.append("M", losses(spark, {2: 20, 20_000_000: 20})) == 1
    assert net.append("M", losses(spark, {2: 20}), ahead="1 hour") == 0
    assert (net.read("M").count(), net.aside("M").count()) == (4, 1)
    report = {r.action: r.error for r in net.maintain().collect()}
    assert report.keys() == {"initialized", "failed"}
    assert report["failed"].startswith("[DIVIDE_BY_ZERO]")
    net.sql("DROP VIEW IF EXISTS View2; DROP VIEW IF EXISTS View2")
    spark.sql("SELECT 's' AS src, 'x' AS place").createOrReplaceTempView("places")
    net.sql(VIEW2.replace("Helper", "M").replace("WHERE ct >= 4", "JOIN places USING (src)"), backfill=True)
    assert net.maintain().count() == 3
    assert {r.because for r in net.maintain(changed="places").collect()} == {"places changed"}
    # One that is read: files of earlier versions stay in the folder for a while.
    Path(urlparse(net.read("View2").inputFiles()[0]).path).unlink()
    assert [(r.action, r.because) for r in net.repair().collect()] == [("recomputed", "its files were lost")]
    assert net.repair().count() == 0
    kept = net.read("M").where("loss = 0").collect()[0]
    part = net.read("M", part=kept.PART_TIMESTAMP)
    rows = part.drop("PART_TIMESTAMP")
    again = rows.collect()
    Path(urlparse(part.inputFiles()[0]).path).unlink()
    assert [r.action for r in net.repair().collect()] == ["lost"]
    assert net.append("M", spark.createDataFrame(again, rows.schema)) == 0
    assert [r.action for r in net.maintain().collect()] == ["frozen"]
    assert [r.action for r in net.repair(restored="M").collect()] == ["unchanged"]


def test_errors_are_of_pyspark(spark: SparkSession, net: views.Views) -> None:
    with pytest.raises(AnalysisException) as wrong:
        net.sql(HELPER.replace("M[j]", "N[j]"))
    assert str(wrong.value).startswith(
        "[CER_VIEW_DEFINITION] In the UPDATE of view Helper, line 6, column 8: N[j] is a part"
    )
    assert "\n" not in str(wrong.value).strip()
    with pytest.raises(AnalysisException, match="There is already a table or view 'M'"):
        net.create_table("M", "t TIMESTAMP", time="t", length=60)
    with pytest.raises(AnalysisException, match="The column 'loss' is STRING in the rows and INT in the table M"):
        net.append("M", losses(spark, {0: 1}).selectExpr("t", "src", "dest", "'1' AS loss"))
    with pytest.raises(AnalysisException, match="'soon' is not a time"):
        net.drop_parts("M", before="soon")
    with pytest.raises(PySparkTypeError, match="A time is a datetime or a str, not float"):
        net.drop_parts("M", before=1.0)  # type: ignore[arg-type]


def test_spark_connect_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    if hasattr(spark, "_jvm"):
        pytest.skip("a classic session has views")
    with pytest.raises(PySparkRuntimeError, match="Views are not available on Spark Connect"):
        views.open(spark, str(tmp_path))
