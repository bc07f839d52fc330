"""The command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_cer._hints import for_command_line
from spark_cer.cli import main
from tests.connect_server import environment, only_classic

QUERY = """
SELECT x, y[name] FROM Trades WHERE (SELL AS x ; BUY AS y)
FILTER x[price > :least]
WITHIN 30 [t]
"""

TRADES = """\
type,t,name,price
SELL,1,MSFT,25.1
BUY,4,ORCL,4.2
SELL,9,INTC,18.0
BUY,21,AMAT,
SELL,60,CSCO,22.7
"""

TABLE = """\
start  end  x.type  x.t  x.name  x.price  y.name
-----  ---  ------  ---  ------  -------  ------
1      4    SELL    1    MSFT    25.1     ORCL
1      21   SELL    1    MSFT    25.1     AMAT
2 matches.
"""


BIG = """\
big           1      4    2
big           1      21   2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "query.ceql").write_text(QUERY)
    (tmp_path / "trades.csv").write_text(TRADES)
    return tmp_path


@only_classic
def test_run(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "query.ceql", "trades.csv", "--param", "least=20"]) == 0
    assert capsys.readouterr() == (TABLE, "")


@only_classic
def test_until(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "query.ceql").write_text("SELECT x[name] FROM Trades WHERE SELL AS x ; NO BUY FOR 20 [t]")
    head = "start  end  x.name\n-----  ---  ------\n"
    # The trades are complete until the last one, at 60, or as somebody knows.
    for until, rows in [([], ""), (["--until", "80"], "60     80   CSCO\n"), (["--until", "79"], "")]:
        assert main(["run", "query.ceql", "trades.csv", *until]) == 0
        found = f"{head}{rows}1 match.\n" if rows else "No matches.\n"
        assert capsys.readouterr() == (found, "")
    (folder / "rules").mkdir()
    (folder / "rules" / "silent.ceql").write_text("SELECT * FROM Trades WHERE SELL ; NO BUY FOR 20 [t]")
    assert main(["rules", "run", "rules", "trades.csv", "--until", "forever"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:3] == ["silent", "60", "80"]


@only_classic
def test_rules(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "pairs.ceql").write_text(QUERY.replace(":least", "20"))
    (folder / "rules" / "count.ceql").write_text("SELECT COUNT(*) FROM Trades WHERE BUY WITHIN 30 [t]")
    assert main(["rules", "run", "rules", "trades.csv"]) == 0
    table = """\
rule_id  key  start  end  events  measures  matches  truncated
-------  ---  -----  ---  ------  --------  -------  ---------
count                4                      1
count                21                     1
pairs         1      4    2
pairs         1      21   2
4 matches.
"""
    assert capsys.readouterr() == (table, "")
    assert main(["rules", "run", "rules", "Trades=trades.csv"]) == 0
    assert capsys.readouterr() == (table, "")
    assert main(["rules", "explain", "rules"]) == 0
    assert "2 rules, 2 different conditions" in capsys.readouterr().out
    (folder / "rules" / "wrong.ceql").write_text("SELECT * FROM Trades WHERE SELL FILTER SELL[prise > 1] WITHIN 3 [t]")
    assert main(["rules", "run", "rules", "trades.csv"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "spark-cer: [CER_RULES] 1 of 3 rules are wrong; --skip-invalid leaves them out and runs the others.\n"
    )
    assert "Rule 'wrong': [CER_UNKNOWN_COLUMN]" in said
    (folder / "rules" / "big.ceql").write_text(QUERY)
    assert main(["rules", "run", "rules", "trades.csv", "--until", "9"]) == 1
    said = capsys.readouterr().err
    assert "Rule 'big': [CER_PARAMETER] Line 3, column 18: the parameter :least has no value. " in said
    assert "Give it one with --param big.least=….\nFILTER x[price > :least]\n" in said
    (folder / "rules" / "wrong.ceql").unlink()
    assert main(["rules", "run", "rules", "trades.csv", "--param", "big.least=25", "--param", "big.least=24"]) == 0
    assert capsys.readouterr().out == table.replace("4 matches", "6 matches").replace("count ", BIG + "count ", 1)
    for wrong, words in (
        ("least", "names no rule: write RULE.least=…, with the name of the rule."),
        ("bog.least", "is for the rule 'bog'. The rules are big, count, pairs."),
    ):
        assert main(["rules", "run", "rules", "trades.csv", "--param", f"{wrong}=1"]) == 1
        assert capsys.readouterr().err == f"spark-cer: --param {wrong} {words}\n"
    assert main(["rules", "run", "rules", "trades.csv", "--param", "big.least=1", "--until", "soon"]) == 1
    assert capsys.readouterr().err == (
        "spark-cer: [CER_UNTIL] --until is only for a query that ends with NO … FOR: "
        "other matches do not depend on what comes after them. Leave it out.\n"
    )
    (folder / "rules" / "big.ceql").unlink()
    (folder / "rules" / "wrong.ceql").write_text("SELECT")
    assert main(["rules", "run", "rules", "trades.csv", "--skip-invalid"]) == 0
    assert capsys.readouterr().out == table
    (folder / "many").mkdir()
    (folder / "many" / "all.ceql").write_text("SELECT * FROM S WHERE (A AS a ; A AS b ; A AS c) WITHIN 100 [t]")
    (folder / "many" / "count.ceql").write_text("SELECT COUNT(*) FROM S WHERE A+ HAVING matches > 999999999999999999")
    (folder / "many.csv").write_text("type,t\n" + "".join(f"A,{t}\n" for t in range(70)))
    assert main(["rules", "run", "many", "many.csv", "--time", "t", "--rows", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["all", "0", "2", "3"]
    # 46 events before it close more than 1,000 pairs; 63 events have more subsets than a BIGINT can count.
    assert lines[3:] == [
        "The first 1 matches; --rows shows more.",
        "Rule all has more than 1,000 matches of one event, 24 times, of which 1,000 are returned. LIMIT changes that.",
        "Rule count has more matches than can be counted, 7 times.",
    ]
    (folder / "none").mkdir()
    assert main(["rules", "run", "none", "trades.csv"]) == 1
    assert capsys.readouterr().err == "spark-cer: There is no .ceql file in none.\n"


@only_classic
def test_a_query_that_ends_with_a_semicolon(
    spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "query.ceql").write_text(f"{QUERY.rstrip()};  -- the end\n")
    assert main(["run", "query.ceql", "trades.csv", "--param", "least=20"]) == 0
    assert capsys.readouterr() == (TABLE, "")


@only_classic
def test_parameters(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "names.ceql").write_text(
        "SELECT x[name] FROM Trades WHERE SELL AS x FILTER x[name IN (:names)] WITHIN 9 [t]"
    )
    table = "start  end  x.name\n-----  ---  ------\n1      1    MSFT\n9      9    INTC\n2 matches.\n"
    for value in ('["MSFT", "INTC"]', "['INTC', 'MSFT']", "('MSFT', 'INTC')", '["MSFT", "INTC", "ORCL"]'):
        assert main(["run", "names.ceql", "trades.csv", "--param", f"names={value}"]) == 0
        assert capsys.readouterr() == (table, "")
    assert main(["run", "names.ceql", "trades.csv", "--param", 'names=["MSFT", null]']) == 1
    assert capsys.readouterr().err.startswith("spark-cer: [CER_PARAMETER] Line 1, column 62: the list of the parameter")
    with pytest.raises(SystemExit) as caught:
        main(["run", "names.ceql", "trades.csv", "--param", "names=[MSFT, INTC]"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith(
        "error: argument --param: '[MSFT, INTC]' is not a list: put its strings in quotes; "
        "or, if it is a string, put all of it in quotes\n"
    )
    (folder / "times.csv").write_text("ts,id\n2026-01-01 00:00:00,1\n2026-01-01 00:20:00,2\n2026-01-01 01:00:00,3\n")
    (folder / "near.ceql").write_text("SELECT x[id], y[id] FROM S WHERE S AS x ; S AS y WITHIN :window")
    for value in ("20 minutes", "20 min"):
        assert main(["run", "near.ceql", "times.csv", "--time", "ts", "--param", f"window={value}"]) == 0
        assert capsys.readouterr().out.endswith("1     2\n1 match.\n")


@only_classic
def test_run_as_a_stream(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "query.ceql", "trades.csv", "--stream", "--time", "t", "--param", "least=20"]) == 0
    assert capsys.readouterr() == (TABLE, "")


@only_classic
def test_other_formats(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trades = spark.read.csv(str(folder / "trades.csv"), header=True, inferSchema=True)
    trades.coalesce(1).write.parquet(str(folder / "trades.parquet"))
    trades.coalesce(1).write.json(str(folder / "as_json"))
    columns = ["--param", "least=20", "--type", "type"]
    assert main(["run", "query.ceql", str(folder / "trades.parquet"), *columns]) == 0
    assert capsys.readouterr().out == TABLE
    # Spark sorts the columns of JSON by name.
    assert main(["run", "query.ceql", "as_json", *columns, "--rows", "1"]) == 0
    assert capsys.readouterr().out == (
        "start  end  x.name  x.price  x.t  x.type  y.name\n"
        "-----  ---  ------  -------  ---  ------  ------\n"
        "1      4    MSFT    25.1     1    SELL    ORCL\n"
        "The first 1 matches; --rows shows more.\n"
    )


@only_classic
def test_several_inputs(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "buys.csv").write_text("t,id\n4,b1\n")
    (folder / "sells.csv").write_text("t,id\n1,s1\n2,s2\n")
    (folder / "pairs.ceql").write_text(
        "SELECT MAX s[id], b[id] FROM Sells, Buys WHERE (Sells+ AS s ; Buys AS b) WITHIN 9 [t]"
    )
    assert main(["run", "pairs.ceql", "Sells=sells.csv", "Buys=buys.csv"]) == 0
    assert capsys.readouterr().out == (
        "start  end  s          b.id\n-----  ---  ---------  ----\n1      4    (s1) (s2)  b1\n1 match.\n"
    )


@only_classic
def test_no_type_column(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mixed.ceql").write_text("SELECT NONE FROM BUY WHERE SELL ; BUY WITHIN 5 [t]")
    (folder / "every.ceql").write_text("SELECT NONE FROM BUY WHERE BUY ; BUY WITHIN 5 [t]")
    table = "start  end\n-----  ---\n1      4\n{}1 match.\n"
    assert main(["run", "mixed.ceql", "trades.csv"]) == 0
    assert capsys.readouterr().out == table.format("")
    for options in ([], ["--no-type"]):
        assert main(["run", "every.ceql", "trades.csv", *options]) == 0
        assert capsys.readouterr().out == table.format("4      9\n").replace("1 match", "2 matches")
    assert main(["run", "every.ceql", "trades.csv", "--type", "type"]) == 0
    assert capsys.readouterr().out == "No matches.\n"
    schema = ["--schema", "type STRING, t BIGINT, name STRING"]
    for arguments in (["run", "mixed.ceql", "trades.csv"], ["check", "mixed.ceql", *schema]):
        assert main([*arguments, "--no-type"]) == 1
        assert capsys.readouterr() == (
            "",
            "spark-cer: [CER_UNKNOWN_TYPE] Line 1, column 28: no event has the type 'SELL': BUY has no type column, so the "
            "type of all its events is 'BUY'. Name the type column, which can be --type type or --type name, or write "
            "BUY in the pattern.\n"
            "SELECT NONE FROM BUY WHERE SELL ; BUY WITHIN 5 [t]\n"
            "                           ^\n",
        )


@only_classic
def test_types_that_never_occur(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "typo.ceql").write_text("SELECT * FROM S WHERE SEL ; BUY WITHIN 9 [t]")
    assert main(["run", "typo.ceql", "trades.csv"]) == 0
    assert capsys.readouterr() == (
        "No matches.\n"
        "[CER_UNKNOWN_TYPE] Line 1, column 23: no event has the type 'SEL' (did you mean 'SELL'?). "
        "The types that occur are BUY, SELL.\n"
        "SELECT * FROM S WHERE SEL ; BUY WITHIN 9 [t]\n"
        "                      ^\n",
        "",
    )


@only_classic
def test_explain(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "query.ceql"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Pattern\n  SELL AS x ; BUY AS y FILTER x[price > :least]\n")
    assert printed.err == ""


@only_classic
def test_check(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = "type STRING, t BIGINT, name STRING, price DOUBLE"
    assert main(["check", "query.ceql", "--schema", schema, "--param", "least=1.5"]) == 0
    assert capsys.readouterr() == (
        "The query fits. A match has the columns:\n"
        "  match_id string\n"
        "  start bigint\n"
        "  end bigint\n"
        "  x struct<type:string,t:bigint,name:string,price:double>\n"
        "  y struct<name:string>\n",
        "",
    )
    assert main(["check", "query.ceql", "--schema", schema.replace("price", "prize"), "--param", "least=1"]) == 1
    assert capsys.readouterr() == (
        "",
        "spark-cer: [CER_UNKNOWN_COLUMN] Line 3, column 10: 'price' is not a column. "
        "The columns are type, t, name, prize. Did you mean 'prize'?\n"
        "FILTER x[price > :least]\n"
        "         ^\n",
    )


@only_classic
def test_a_stream_that_fails_says_why(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "many.ceql").write_text("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 100 [t]")
    spark.conf.set("spark.cer.maxMatchesPerEvent", "1")
    try:
        assert main(["run", "many.ceql", "trades.csv", "--stream"]) == 1
    finally:
        spark.conf.unset("spark.cer.maxMatchesPerEvent")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1] == (
        "spark-cer: [CER_TOO_MANY_MATCHES] The event at 21 closes more than 1 matches. "
        "Use LIMIT, a shorter WITHIN, SELECT NEXT, LAST or COUNT(*), or raise spark.cer.maxMatchesPerEvent."
    )


REFUSED = {
    "no query": (["run", "no.ceql", "trades.csv"], "Cannot read the query no.ceql: No such file or directory."),
    "no events": (["run", "query.ceql", "no.csv"], "There is no file no.csv."),
    "another format": (["run", "query.ceql", "query.ceql"], "query.ceql is not .csv, .json or .parquet."),
    "half named": (
        ["run", "query.ceql", "A=trades.csv", "trades.csv"],
        "'trades.csv' has no name: write NAME=trades.csv, with its name in FROM, as for the others.",
    ),
    "no parameter": (
        ["run", "query.ceql", "trades.csv"],
        "[CER_PARAMETER] Line 3, column 18: the parameter :least has no value. Give it one with --param least=….\n"
        "FILTER x[price > :least]\n"
        "                 ^",
    ),
    "another parameter": (
        ["run", "query.ceql", "trades.csv", "--param", "least=1", "--param", "most=2"],
        "[CER_PARAMETER] --param has 'most', but the query has no parameter :most. Its parameters are :least.",
    ),
    "another time": (
        ["run", "query.ceql", "trades.csv", "--param", "least=1", "--time", "ts"],
        "[CER_UNKNOWN_COLUMN] --time ts is not a column. The columns are type, t, name, price.",
    ),
}

SPELLED = {
    "[CER_NO_TIME] Name the column, which can be time='ts' or time='day'.": (
        "[CER_NO_TIME] Name the column, which can be --time ts or --time day."
    ),
    "[CER_SEVERAL_STREAMS] Line 1, column 21: FROM names several inputs, but the query is applied to one DataFrame. "
    'Give each input its own: cer(query).over({"Buys": …, "Sells": …}).\nSELECT': (
        "[CER_SEVERAL_STREAMS] Line 1, column 21: FROM names several inputs, but the query is given one. "
        "Write Buys=FILE, Sells=FILE.\nSELECT"
    ),
    "[CER_UNKNOWN_STREAM] Line 1, column 21: FROM names Sells, but over() has no DataFrame for it.": (
        "[CER_UNKNOWN_STREAM] Line 1, column 21: FROM names Sells, but there is no file for it."
    ),
    "[CER_WINDOW_DECREASES] Order the events by that column (time=...), or limit the window.": (
        "[CER_WINDOW_DECREASES] Order the events by that column (--time), or limit the window."
    ),
    "[CER_UNKNOWN_COLUMN] Line 1, column 10: 'prize' is not a column.\nFILTER x[type='a' AND prize > 1]": None,
    "[CER_TYPE_MISMATCH] Line 1, column 10: the condition 'type='a' || 'b'' is STRING, but it must be BOOLEAN.": None,
    "[CER_UNTIL] until='soon' is not a value of the time column 'ts', which is TIMESTAMP. Write a value of that type, or "
    "until='forever'.": (
        "[CER_UNTIL] --until soon is not a value of the time column 'ts', which is TIMESTAMP. Write a value of that "
        "type, or --until forever."
    ),
    "[CER_UNTIL] until='2 March' is not a value.": "[CER_UNTIL] --until '2 March' is not a value.",
    "[CER_UNTIL] until is for a batch. A stream returns": "[CER_UNTIL] --until is for a batch. A stream returns",
    "[CER_RULES] 2 of 3 rules are wrong; invalid='skip' leaves them out and runs the others.\n\n"
    "Rule 'a.b': [CER_PARAMETER] Line 1, column 1: the parameter :n has no value. Give it one with params={\"n\": …}.\n"
    "WITHIN :n\n\n"
    "Rule 'c': [CER_SYNTAX] Line 1, column 1: expected 'SELECT', found 'time='x''.\ntime='x'": (
        "[CER_RULES] 2 of 3 rules are wrong; --skip-invalid leaves them out and runs the others.\n\n"
        "Rule 'a.b': [CER_PARAMETER] Line 1, column 1: the parameter :n has no value. Give it one with --param a.b.n=….\n"
        "WITHIN :n\n\n"
        "Rule 'c': [CER_SYNTAX] Line 1, column 1: expected 'SELECT', found 'time='x''.\ntime='x'"
    ),
    "There is no file time='x'.": None,
}


@pytest.mark.parametrize("message", list(SPELLED))
def test_hints_for_the_command_line(message: str) -> None:
    assert for_command_line(message) == (SPELLED[message] or message)


@only_classic
@pytest.mark.parametrize("name", list(REFUSED))
def test_the_message(spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    arguments, text = REFUSED[name]
    assert main(arguments) == 1
    assert capsys.readouterr() == ("", f"spark-cer: {text}\n")


def test_a_wrong_line_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "query.ceql"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("error: the following arguments are required: events\n")


def test_a_process_of_its_own_prints_nothing_else(folder: Path) -> None:
    line = [sys.executable, "-m", "spark_cer", "run", "query.ceql", "trades.csv", "--param", "least=20"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, TABLE, "")
