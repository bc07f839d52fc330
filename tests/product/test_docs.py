"""Every code block of README.md and docs/ does what the page says.

The blocks of a page run in order, in one namespace and one folder:

- ``python`` is executed, each line ``$ spark-cer …`` of ``console`` is run as a command, Spark runs and shows ``sql``;
- a ``text`` block directly after one of these is its output; without a ``text`` block it must print nothing;
- ``ceql`` is a query that the engine must accept;
- a block with ``title="name"`` is also written to a file of that name.

`CER_UPDATE=1` updates the ``text`` blocks.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from scripts import chart, diagrams
from spark_cer import cer
from spark_cer.cli import main
from tests.connect_server import only_classic

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[ \t]*([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Blocks that are only shown to readers and cannot run here: other tools, another language.
ONLY_SHOWN = {"sh", "scala", "csv", "plain"}


class Block(NamedTuple):
    language: str
    rest: str
    code: str
    begin: int
    end: int


def blocks(page: str) -> list[Block]:
    return [Block(found[1], found[2], found[3], found.start(3), found.end(3)) for found in BLOCK.finditer(page)]


@pytest.fixture
def folder(spark_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder of Python and Spark, which is empty for each page."""
    monkeypatch.chdir(spark_folder)
    yield spark_folder
    for left in spark_folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def printed(block: Block, names: dict[str, Any]) -> str:
    """Runs a block and returns what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        if block.language == "python":
            exec(compile(block.code, "snippet", "exec"), names)
        elif block.language == "sql":
            names["spark"].sql(block.code).show(truncate=False)
        else:
            for line in block.code.splitlines():
                assert line.startswith("$ spark-cer "), line
                main(shlex.split(line)[2:])
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


@only_classic
@pytest.mark.parametrize("name", PAGES)
def test_the_page(spark: SparkSession, folder: Path, request: pytest.FixtureRequest, name: str) -> None:
    request.addfinalizer(lambda: spark.conf.unset("spark.sql.session.timeZone"))  # a page may set it
    page = (ROOT / name).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "snippet", "spark": spark}
    output: str | None = None
    updates: list[tuple[Block, str]] = []
    for block in blocks(page):
        if block.language == "text":
            assert output is not None, f"{name}: nothing prints\n{block.code}"
            if os.environ.get("CER_UPDATE"):
                updates.append((block, f"{output}\n"))
            else:
                assert output == block.code.rstrip("\n"), f"in {name}"
            output = None
            continue
        assert not output, f"{name}: a text block should show\n{output}"
        output = None
        if title := re.search(r'title="([^"]+)"', block.rest):
            (folder / title[1]).write_text(block.code, encoding="utf-8")
        if block.language in ("python", "sql", "console"):
            output = printed(block, names)
        elif block.language == "ceql":
            assert cer(block.code).plan, block.code
        else:
            assert block.language in ONLY_SHOWN, f"{name}: a block of {block.language}"
    assert not output, f"{name}: a text block should show\n{output}"
    for block, text in reversed(updates):
        page = page[: block.begin] + text + page[block.end :]
    if updates:
        (ROOT / name).write_text(page, encoding="utf-8")


def test_fences_are_all_named() -> None:
    """The test above would miss a block without a language."""
    for name in PAGES:
        opened = re.findall(r"^```(.*)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)[::2]
        assert all(re.match(r"\w", fence) for fence in opened), name


def test_an_event_can_be_followed_in_seven_files() -> None:
    """Each file has the method that the page names, with its body, and each method is called in a file before it."""
    page = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    section = page.split("## Follow an event\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\d\. (.*?), in (.*?)\. (.*)$", section, re.MULTILINE)
    assert 3 <= len(rows) <= 7
    before: list[str] = []
    for methods, names, what in rows:
        files = [ROOT / name for name in re.findall(r"`([^`]+)`", names)]
        texts = [file.read_text(encoding="utf-8") for file in files]
        called = [method.split(".") for method in re.findall(r"`([^`]+)`", methods)]
        assert [file.stem for file in files] == [owner for owner, _ in called]
        assert what
        for (owner, method), text in zip(called, texts, strict=True):
            assert len(text.splitlines()) <= 300, owner
            assert re.search(rf"\bclass {owner}\b", text), owner
            assert re.search(rf"\bdef {method}\((?:[^()]|\([^()]*\))*\)[^=\n]*=\s", text), (owner, method)
            # What Spark calls comes first: the generated code, and the tasks behind the shuffle.
            if len(before) >= 3:
                assert any(re.search(rf"(?<!def )\b{method}\(", t) for t in before), (owner, method)
        before += texts


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        line, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    html = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html"))
    # A page loads nothing from other sites.
    loaded = re.findall(
        r'<(?:script|img|link rel="(?:stylesheet|preconnect|icon)")[^>]*?(?:src|href)="(http[^"]+)"', html
    )
    assert loaded == []


@only_classic
def test_the_pictures_show_what_the_engine_finds(spark: SparkSession) -> None:
    """`make diagrams` draws the pictures again."""
    drawn = diagrams.drawings()
    kept = {path.name: path.read_text(encoding="utf-8") for path in diagrams.FOLDER.glob("*.svg")}
    assert kept.keys() - drawn.keys() == {"timeline.svg"}
    assert drawn == {name: kept.get(name) for name in drawn}


def test_the_chart_shows_what_was_measured() -> None:
    table = (ROOT / "docs/throughput.tsv").read_text(encoding="utf-8")
    spec = chart.chart(table).to_dict()
    drawn = {(point["window"], point["rate"]) for point in spec["data"]["values"]}
    rows = [line.split("\t") for line in table.splitlines()[2:]]
    assert drawn == {(int(name.rsplit("w", 1)[1]) / 1000, float(rate)) for name, *rates in rows for rate in rates}
    picture = (ROOT / "docs/throughput.svg").read_text(encoding="utf-8")
    assert table.splitlines()[0].removeprefix("# ") in picture
    assert all(f">{int(rate + 0.5)}<" in picture for _, rate in drawn)
